"""A report about a fitted model: one self-contained HTML page for readers who do not know the model.

``report`` measures the model and puts the sections together; ``held_out_report`` does so for a fit to some rows of a
table, measured on the others.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.classifiers import lacks_probabilities
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.classifiers.logistic import OffsetPredictions
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import RowNumbering, many
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.targets import row_weights
from separatrix.core.scorer import scores_of, taken_apart
from separatrix.output.report.column_sections import coefficients, decision, distributions, influence, surprise
from separatrix.output.report.lead import fitted, lead, worries
from separatrix.output.report.model_sections import (
    certificate,
    checks,
    comparison,
    missing,
    penalty,
    separation,
    settings,
)
from separatrix.output.report.page import Section, findings, page
from separatrix.output.report.performance_sections import calibration, confusion, ranking, thresholds
from separatrix.output.report.reported_model import Check, ReportedModel, today
from separatrix.statistics.checks import check_encoded
from separatrix.statistics.coefficients import before_model, column_names
from separatrix.statistics.column_checks import SHARE_MISSING_TO_WARN, absent, handled
from separatrix.statistics.comparison import Comparison
from separatrix.statistics.finding import Checks, Finding, share
from separatrix.statistics.held_out_fit import HeldOutFit
from separatrix.statistics.intervals import check_level
from separatrix.statistics.model_decisions import Costs, decision_rule
from separatrix.tables.formats.opening import is_frame, open_frame
from separatrix.tables.read_table import Table

# --- The report

# The sections in their order. A function returns a section, or None if there is nothing to show.
SECTIONS: tuple[Callable[[ReportedModel], Section | None], ...] = (
    certificate,
    separation,
    confusion,
    thresholds,
    ranking,
    calibration,
    comparison,
    coefficients,
    distributions,
    decision,
    surprise,
    influence,
    missing,
    checks,
    penalty,
    settings,
)
# A report shows single rows.
REPORT = InMemory(
    "report", "it shows single rows and refits the model without them", "print certificate_, evaluate and summary"
)


@REPORT.refusing_tables
def report(
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Sequence[str] | None = None,
    test: tuple[Any, Any] | None = None,
    notes: Sequence[str] = (),
    checks: Sequence[Check] | None = None,
    title: str | None = None,
    level: float = 0.95,
    rows: RowNumbering | None = None,
    test_rows: RowNumbering | None = None,
    validated: str | None = None,
    checks_of: str | None = None,
    cost: Mapping[str, float] | None = None,
    missing: Mapping[str, int] | None = None,
    comparison: Comparison | None = None,
    about: Mapping[str, str] | None = None,
    date: datetime.date | None = None,
    scaling: Any = None,
    encoder: Any = None,
    sample_weight: Any = None,
    offset: Any = None,
) -> str:
    """Make an HTML page about a fitted classifier: verdict, certificate, figures and rows that stand out.

    For a pipeline, the page is about its last step, with the columns that the steps before it produce.

    Parameters
    ----------
    model : classifier or pipeline
        A fitted classifier of this package, or a pipeline that ends in one.
    X, y
        The rows and labels of the fit.
    names : sequence of str, optional
        The names of the columns, by default those of the fit.
    test : (X, y), optional
        Held-out rows and labels. The model is measured on them; without them it is measured on the rows of the fit,
        and the page says so.
    notes : sequence of str
        Sentences to show on the page.
    checks : sequence of (severity, title, sentence), optional
        Findings about the data, such as ``check(X, y).for_report()``. The severities are "error", "warning", "note"
        and "ok".
    title : str, optional
        The title of the page.
    level : float
        The level of the confidence intervals.
    rows, test_rows : sequence of int, optional
        The numbers by which the page names rows. By default the rows of a table that ``read_table`` returns are named
        as in the table, and others by their positions in X and in ``test``, counted from 0.
    validated : str, optional
        A sentence about cross-validation of such fits.
    checks_of : str, optional
        Which rows the checks are about, in words.
    cost : {"FP": float, "FN": float}, optional
        For two classes, the costs of both mistakes; the second class is the positive one. The page then shows what the
        mistakes cost, and the threshold with the lowest cost.
    missing : mapping from column names to int, optional
        The number of missing values of each column before they were filled. For a pipeline and a data frame they are
        counted.
    comparison : Comparison, optional
        The result of ``separatrix.compare`` on the same rows.
    about : mapping of str, optional
        Further facts about the origin of the fit, such as the name of the table or the seed of the split.
    date : datetime.date, optional
        The date of the report, by default today, or the day of the environment variable SOURCE_DATE_EPOCH.
    scaling : Scaling, optional
        How the columns of X were scaled, so that steps are in the units of the table; that of a pipeline by default.
    encoder : Encoder, optional
        How the table became X, so that reference levels are named; that of a pipeline by default.
    sample_weight, offset : arrays, optional
        The weights and the offset of the fit, if it had any. The certificate is verified with them, and the offset is
        added to the scores of the rows of the fit. Measures count each row once, as ``evaluate`` does, and held-out
        rows and pictures have an offset of zero. If they are left out and the certificate does not hold without them,
        the page says that they are not known.

    Returns
    -------
    str
        The page. Write it with ``Path("report.html").write_text(page, encoding="utf-8")``.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> page = report(LogisticRegression().fit(X, y), X, y)
    >>> page[:15], "proven optimal" in page, "<script" in page
    ('<!doctype html>', True, False)
    """
    check_level(level)
    rows = _numbers_of(X, rows)
    if test is not None:
        test_rows = _numbers_of(test[0], test_rows)
        held_out, labels = _seen(test)
        test = (taken_apart(model, held_out)[1], labels)
    if missing is None and len(getattr(model, "steps", ())) > 1:
        missing = _missing_values(X)
    scaling, encoder = before_model(model, scaling, encoder)
    model, X, encoded = taken_apart(model, X)
    _refuse_other_models(model)
    if sample_weight is not None:
        sample_weight = row_weights(sample_weight, len(y))
    if offset is not None and not isinstance(model, OffsetPredictions):
        raise ParameterError("offset", f"{type(model).__name__} takes none", "leave it out")
    scored, known = rows_to_score(model, X)
    named = column_names(scored.shape[1], known or encoded, names)
    checked = None if checks is None else tuple(checks)
    subject = ReportedModel(
        model,
        X,
        y,
        named,
        test,
        (*notes, *_weight_notes(sample_weight, offset, test)),
        checked,
        level,
        rows,
        test_rows,
        validated,
        checks_of,
        scaling,
        encoder,
        _costs(model, cost),
        missing,
        comparison,
        about or {},
        today() if date is None else date,
        sample_weight,
        offset,
    )
    return _page(f"Report on a {subject.kind}" if title is None else title, subject)


def _numbers_of(X: Any, rows: RowNumbering | None) -> RowNumbering | None:
    """The numbers that were given for the rows of X, or else those that a table has."""
    return getattr(X, "row_names", None) if rows is None else rows


def _refuse_other_models(model: Any) -> None:
    """Refuse what is not a fitted classifier of this package."""
    if not hasattr(model, "certificate_") or not hasattr(model, "n_features_in_"):
        problem = f"got {type(model).__name__}"
        raise ParameterError(
            "model", problem, "give a fitted classifier of this package, or a pipeline that ends in one"
        )
    scores_of(model)


def _weight_notes(sample_weight: Any, offset: Any, test: Any) -> Iterator[str]:
    """What the measures do with the weights and the offset of the fit."""
    if sample_weight is not None:
        yield "The fit had sample weights. The measures count each row once, whatever its weight."
    if offset is not None and test is not None:
        yield "The fit had an offset. The held-out rows are scored with an offset of zero."


def _page(title: str, subject: ReportedModel) -> str:
    """The page, with each worry's sentence at the top of the section that has its details."""
    found = worries(subject)
    sections = [section for make in SECTIONS if (section := make(subject)) is not None]
    told = []
    for section in sections:
        own = [(w.severity, w.sentence) for w in found if w.section == section.id and w.sentence]
        told.append(replace(section, body=findings(own) + section.body))
    start = lead(subject, found, frozenset(section.id for section in sections))
    return page(title, fitted(subject), start, told)


def _costs(model: Any, cost: Any) -> Costs | None:
    """The costs of both mistakes, which need a model of two classes with probabilities."""
    if cost is None:
        return None
    costs = Costs.of(cost)
    decision_rule(np.asarray(model.classes_), cost=costs)
    if not getattr(model, "has_probabilities", True):
        remedy = "leave it out, or fit a model that has probabilities"
        raise ParameterError("cost", lacks_probabilities(type(model).__name__), remedy)
    return costs


def _missing_values(X: Any) -> dict[str, int] | None:
    """The number of missing values of each column of a data frame that has any; None for other rows."""
    if not is_frame(X):
        return None
    columns = open_frame(X).columns
    counts = {name: columns.column(name).null_count for name in columns.column_names}
    return {name: count for name, count in counts.items() if count}


def _seen(test: Any) -> tuple[Any, Any]:
    """The held-out rows and labels; there must be at least one."""
    if len(test) != 2:
        raise ParameterError("test", f"it has {len(test)} parts", "give rows and labels, (X, y)")
    if len(test[1]) == 0:
        raise ParameterError("test", "it has no rows", "give rows that the model has not seen, or leave it out")
    return test[0], test[1]


def held_out_report(
    fit: HeldOutFit, checks: Checks, missing: Mapping[str, int], notes: Sequence[str], **more: Any
) -> str:
    """The page on a fit. ``checks`` are the findings about its table; ``more`` are other arguments of ``report``.

    ``missing``: the number of missing values by column, before they were filled.
    """
    table, held = fit.table, fit.held
    training = fit.training()
    about = {"table": str(training["source"]), "rows in the table": f"{training['rows']:,}"}
    if fit.rule.share:
        about["held out"] = f"{fit.rule.share:g} of each class"
    if more.get("validated") is not None:
        about["cross-validation"] = more["validated"]
    return report(
        fit.model,
        *fit.rows(~held),
        names=table.names,
        test=fit.rows(held) if held.any() else None,
        notes=notes,
        checks=checks.for_report(),
        title=f"{table.target}, predicted from {training['source']}",
        rows=table.row_names[~held],
        test_rows=table.row_names[held],
        missing=missing if table.encoder is not None else None,
        about={**about, "random seed": str(fit.rule.seed)},
        scaling=table.scaling,
        encoder=table.encoder,
        **more,
    )


# --- Data checks


def data_checks(table: Table, missing: Mapping[str, int] | None) -> Checks:
    """The findings about a table that was read for a model. ``for_report()`` makes the ``checks`` of a report of them.

    ``missing`` gives the number of missing values of each column before they were filled; None if it is not known.

    >>> import pandas as pd
    >>> from separatrix.tables.read_table import read_raw
    >>> ages = [31, None, 47, 52, 38, 60, 29, 44]
    >>> raw = read_raw(pd.DataFrame({"age": ages, "ill": [0, 0, 1, 1, 0, 1, 1, 0]}), target="ill", missing="impute")
    >>> finding = data_checks(raw.learned(), raw.holes).of("missing")[0]
    >>> finding.severity, finding.told[:60]
    ('warning', "In 'age' 1 (12.5 %), of 8 rows. A fit fills them with the me")
    """
    assert table.y is not None
    assert table.rows is not None
    return check_encoded(table, table.y, [] if missing is None else [_lacking(table, missing)])


def _lacking(table: Table, missing: Mapping[str, int]) -> Finding:
    """The finding about missing values and what was done with them. Rows left out lacked a value or their label."""
    n, lost = table.X.shape[0], table.n_rows - table.X.shape[0]
    if lost > 0 and not missing:
        severity = "warning" if lost >= SHARE_MISSING_TO_WARN * table.n_rows else "note"
        sentence = f"{many(lost, 'row')} of {table.n_rows:,} ({share(lost, table.n_rows)}) lacked a value or a label."
        remedy = "They were left out, so this page is about the other rows. Find out why they are missing."
        return Finding(severity, "missing", "Rows with missing values were left out.", sentence, remedy)
    if not missing:
        return absent(missing, n, "")
    return handled(missing, n, "error" if table.encoder is None else table.encoder.missing)
