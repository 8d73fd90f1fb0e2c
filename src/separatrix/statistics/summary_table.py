"""Renders a summary as text, JSON, HTML or a DataFrame, all from the same records, one for each coefficient."""

from __future__ import annotations

import json
import textwrap
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from separatrix.core.base.errors import SeparatrixError
from separatrix.core.base.messages import number_text, ratio_text
from separatrix.core.certificate import Bound, WeightErrorBound
from separatrix.statistics.coefficient_states import ESTIMATED
from separatrix.statistics.covariance import COVARIANCES

if TYPE_CHECKING:
    from separatrix.statistics.summary import Summary

Rows: TypeAlias = list[dict[str, Any]]

# The longest line of a text table, in characters.
WIDTH = 100
# Text columns are made narrower so that lines fit, but never below this many characters.
NARROWEST_TEXT_COLUMN = 8
# A p-value below this is printed as a bound, as in R.
SMALLEST_P = 1e-16
# DIGITS_OF_COLUMN has the number of significant digits by column; the default is four.
STATISTIC = "statistic"
DIGITS_OF_COLUMN = {"p_value": 3, "z": 3, STATISTIC: 6}
HEADS = {"term": "", "state": "", "std_err": "std. error", "p_value": "p", "low": "lower", "high": "upper"}
FIRST = ("term", "coef", "std_err", "z", "p_value", "low", "high")
SECOND = ("term", "ratio", "ratio_low", "ratio_high")
STATISTICS = (
    "n",
    "n_coefficients",
    "log_likelihood",
    "null_log_likelihood",
    "lr_statistic",
    "lr_df",
    "lr_p_value",
    "aic",
    "bic",
    "mcfadden",
)


def records(found: Summary) -> Rows:
    """A dictionary for each coefficient, class by class."""
    keys = ("coef", "std_err", "z", "p_value", "low", "high", "ratio", "ratio_low", "ratio_high")
    arrays = [np.atleast_2d(getattr(found, key)) for key in keys]
    states = found.findings.states
    return [
        {"class": label, "term": name, **{key: float(a[k, j]) for key, a in zip(keys, arrays, strict=True)}}
        | {"state": states[k][j]}
        for k, label in enumerate(found.classes)
        for j, name in enumerate(found.names)
    ]


def as_dict(found: Summary) -> dict[str, Any]:
    """The summary as plain values; NaN as None, infinity as a string."""
    about = ("reference", "classes", "covariance_kind", "weights", "intervals", "level", "ratio_name", "withheld")
    corrected, error = found.prior_corrected_intercept, weight_error(found)
    plain: dict[str, Any] = _plain(
        {key: getattr(found, key) for key in about}
        | {"notes": found.notes, "coefficients": records(found)}
        | {key: getattr(found, key) for key in STATISTICS}
        | {"raw_intercept": None if corrected is None else np.atleast_2d(found.coef)[:, 0].tolist()}
        | {"prior_corrected_intercept": None if corrected is None else corrected.tolist()}
        | {"weight_error": error.value, "weight_error_unit": error.unit, "weight_error_reason": error.reason}
    )
    return plain


def as_json(found: Summary) -> str:
    return json.dumps(as_dict(found), indent=2, ensure_ascii=False)


def dumped(rows: Rows) -> str:
    return json.dumps(_plain(rows), indent=2, ensure_ascii=False)


def as_frame(rows: Rows) -> Any:
    try:
        import pandas  # type: ignore[import-untyped,unused-ignore]
    except ImportError as error:
        raise SeparatrixError("to_frame needs pandas, which is not installed; use to_dict() or install it") from error
    return pandas.DataFrame.from_records(rows)


def _plain(value: Any) -> Any:
    """Lists, dictionaries, strings and numbers; NaN as None, infinity by name."""
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None if np.isnan(value) else "inf" if value > 0 else "-inf"
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


# --- Text


def number(key: str, value: Any) -> str:
    """The text of a cell: four significant digits, more for a ratio close to 1; empty for NaN.

    A p-value below 1e-16 is a bound.

    >>> number("p_value", 1e-20), number("coef", 12.34567), number("coef", float("-inf"))
    ('<1e-16', '12.35', '-inf')
    """
    if not isinstance(value, float):
        return str(value)
    if np.isnan(value):
        return ""
    if key == "p_value" and value < SMALLEST_P:
        return f"<{SMALLEST_P:.0e}"
    return ratio_text(value) if key in SECOND else number_text(value, DIGITS_OF_COLUMN.get(key, 4))


def table(rows: Rows, keys: tuple[str, ...] | None = None, heads: dict[str, str] | None = None) -> list[str]:
    """Aligned lines, text to the left and numbers to the right.

    The longest texts continue on further lines if a line exceeds WIDTH; the numbers stand on the last of them.

    >>> table([{"term": "x0", "coef": 1.5}, {"term": "age", "coef": -0.25}])
    ['      coef', 'x0     1.5', 'age  -0.25']
    """
    chosen = keys or tuple(rows[0] if rows else ())
    named = HEADS | (heads or {})
    cells = [[named.get(key, key) for key in chosen], *([number(key, row[key]) for key in chosen] for row in rows)]
    left = [bool(rows) and not isinstance(rows[0][key], float) for key in chosen]
    widths = _widths(cells, left)
    return [line for row in cells for line in _lines(row, widths, left)]


def _widths(cells: list[list[str]], left: list[bool]) -> list[int]:
    """The width of each column: that of its longest cell, or less for text columns if a line exceeds WIDTH."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    while sum(widths) + 2 * (len(widths) - 1) > WIDTH and any(left):
        widest = max((k for k, text in enumerate(left) if text), key=lambda k: widths[k])
        if widths[widest] <= NARROWEST_TEXT_COLUMN:
            break
        widths[widest] -= 1
    return widths


def _lines(row: list[str], widths: list[int], left: list[bool]) -> list[str]:
    """The lines of one row. Cells of one line stand on the last of them.

    >>> _lines(["a long name", "1.5"], [6, 4], [True, False])
    ['a long', 'name     1.5']
    """
    parts = [
        textwrap.wrap(cell, width) or [""] if text else [cell]
        for cell, width, text in zip(row, widths, left, strict=True)
    ]
    height = max(map(len, parts))
    padded = [[""] * (height - len(part)) + part for part in parts]
    aligned = [str.ljust if text else str.rjust for text in left]
    return [
        "  ".join(align(cell, width) for align, cell, width in zip(aligned, line, widths, strict=True)).rstrip()
        for line in zip(*padded, strict=True)
    ]


def as_text(found: Summary) -> str:
    lines = [*_opening(found), ""]
    rows = records(found)
    for label in found.classes:
        lines += [f"{label!r} against {found.reference!r}"]
        lines += _class_tables([row for row in rows if row["class"] == label], found.ratio_name)
        lines.append("")
    for remark in remarks(found):
        lines += textwrap.wrap(remark, WIDTH, initial_indent="- ", subsequent_indent="  ")
    return "\n".join(lines).rstrip()


def _class_tables(rows: Rows, ratio_name: str | None) -> list[str]:
    """The coefficients of one class, and a table of their ratios if these have a name and an interval."""
    lines = table(*_marked(rows))
    if not ratio_name or not any(np.isfinite(row["ratio_low"]) for row in rows):
        return lines
    shown = [row for row in rows if row["state"] == ESTIMATED and not np.isnan(row["ratio"])]
    heads = {"ratio": ratio_name, "ratio_low": "lower", "ratio_high": "upper"}
    return [*lines, "", *table(shown, SECOND, heads)]


def remarks(found: Summary) -> list[str]:
    """Remarks on the numbers, one sentence each."""
    said = [*([f"withheld: {found.withheld}"] if found.withheld else []), *found.notes]
    if found.prior_corrected_intercept is not None:
        raw, moved = np.atleast_2d(found.coef)[:, 0], found.prior_corrected_intercept
        pairs = "; ".join(f"raw {a:.6g}, prior-corrected {b:.6g}" for a, b in zip(raw, moved, strict=True))
        said.append(f"intercept: {pairs}")
    error = weight_error(found)
    return said if error.value is None else [*said, f"weights: {error}, as the fit's certificate proves"]


def weight_error(found: Summary) -> WeightErrorBound:
    """The bound on the error of the weights from the certificate of the fit."""
    claimed: Bound = found.asked.model.certificate_.claimed
    return claimed.weights


def _marked(rows: Rows) -> tuple[Rows, tuple[str, ...]]:
    """The rows and the columns to show; states are shown only if one of them is unusual."""
    if all(row["state"] == ESTIMATED for row in rows):
        return rows, FIRST
    return [row | {"state": "" if row["state"] == ESTIMATED else row["state"]} for row in rows], (*FIRST, "state")


def _opening(found: Summary) -> list[str]:
    """The lines about the whole fit, above the coefficients."""
    sort = found.intervals.replace("wald", "Wald")
    kind = f"{100 * found.level:g} % {sort} intervals; covariance: {COVARIANCES[found.covariance_kind].says}"
    kind = "coefficients without standard errors, for the reason below" if found.withheld else kind
    pairs = [
        ("observations", str(found.n)),
        ("log-likelihood", number(STATISTIC, found.log_likelihood)),
        ("coefficients", str(found.n_coefficients)),
        ("of the null model", number(STATISTIC, found.null_log_likelihood)),
        ("AIC", number(STATISTIC, found.aic)),
        ("LR statistic", f"{number(STATISTIC, found.lr_statistic)} on {found.lr_df} df" if found.is_likelihood else ""),
        ("BIC", number(STATISTIC, found.bic)),
        ("p", number("p_value", found.lr_p_value)),
        ("McFadden R²", number(STATISTIC, found.mcfadden)),
    ]
    cells = [f"{name:<18}{text or '-':>16}" for name, text in pairs]
    columns = [f"{a}      {b}" for a, b in zip(cells[::2], [*cells[1::2], ""], strict=True)]
    return [kind, "", *(line.rstrip() for line in columns)]


# --- HTML


def html_table(rows: Rows, heads: dict[str, str] | None = None) -> str:
    """A table; names and labels are escaped."""
    keys = tuple(rows[0] if rows else ())
    named = HEADS | (heads or {})
    head = "".join(f"<th>{escape(named.get(key, key))}</th>" for key in keys)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(number(key, row[key]))}</td>" for key in keys) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def as_html(found: Summary) -> str:
    said = "".join(f"<p>{escape(line)}</p>" for line in remarks(found))
    opening = escape("\n".join(_opening(found)))
    ratios = {"ratio": found.ratio_name or "ratio"}
    return f"<pre>{opening}</pre>{html_table(records(found), ratios)}{said}"
