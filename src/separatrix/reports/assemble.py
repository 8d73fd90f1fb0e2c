"""A report about a fitted model: one self-contained HTML page for readers who do not know the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.base.arrays import Integers
from separatrix.base.errors import ParameterError
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics.coefficients import before_model, column_names
from separatrix.evaluation.proportions import check_level
from separatrix.reports.page import page
from separatrix.reports.reported_model import Check, ReportedModel
from separatrix.reports.sections import SECTIONS, lead
from separatrix.scorers.scorer import scores_of, taken_apart


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
    rows: Sequence[int] | Integers | None = None,
    test_rows: Sequence[int] | Integers | None = None,
    validated: str | None = None,
    checks_of: str | None = None,
    scaling: Any = None,
    encoder: Any = None,
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
        The numbers by which the page names rows, by default their positions in X and in ``test``, counted from 0.
    validated : str, optional
        A sentence about cross-validation of such fits.
    checks_of : str, optional
        Which rows the checks are about, in words.
    scaling : Scaling, optional
        How the columns of X were scaled, so that steps are in the units of the table; that of a pipeline by default.
    encoder : Encoder, optional
        How the table became X, so that reference levels are named; that of a pipeline by default.

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
    if test is not None:
        held_out, labels = _seen(test)
        test = (taken_apart(model, held_out)[1], labels)
    scaling, encoder = before_model(model, scaling, encoder)
    model, X, encoded = taken_apart(model, X)
    if not hasattr(model, "certificate_") or not hasattr(model, "n_features_in_"):
        came = f"got {type(model).__name__}"
        raise ParameterError("model", came, "give a fitted classifier of this package, or a pipeline that ends in one")
    scores_of(model)
    scored, known = rows_to_score(model, X)
    named = column_names(scored.shape[1], known or encoded, names)
    findings = None if checks is None else tuple(checks)
    subject = ReportedModel(
        model, X, y, named, test, tuple(notes), findings, level, rows, test_rows, validated, checks_of, scaling, encoder
    )
    sections = [section for make in SECTIONS if (section := make(subject)) is not None]
    return page(f"Report on a {subject.kind}" if title is None else title, lead(subject), sections)


def _seen(test: Any) -> tuple[Any, Any]:
    """The held-out rows and labels; there must be at least one."""
    if len(test) != 2:
        raise ParameterError("test", f"it has {len(test)} parts", "give rows and labels, (X, y)")
    if len(test[1]) == 0:
        raise ParameterError("test", "it has no rows", "give rows that the model has not seen, or leave it out")
    return test[0], test[1]
