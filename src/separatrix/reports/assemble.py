"""A report on a fitted model: one HTML file that needs nothing else, for somebody who has not seen the model before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.base.arrays import Integers
from separatrix.base.errors import ParameterError
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics.coefficients import column_names
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
) -> str:
    """An HTML page on a fitted classifier of this package: verdict, certificate, pictures, rows that stand out.

    Of a pipeline, on its last step, with columns as the steps before make them.
    ``X``, ``y``: the rows of the fit. ``test``: rows and labels that it has not seen, by which it is judged; without
    them it is judged by its own, and the page says so. ``names`` of the columns, by default the fit's. ``notes``:
    sentences to be shown. ``checks``: what was found in the data, (severity, title, sentence) each, with severities
    "error", "warning", "note" or "ok"; ``checks_of``: which rows those are, in words. ``rows``, ``test_rows``: what
    rows are called, by default their places in X and in ``test``, counted from 0. ``validated``: what cross-validation
    said of such fits. Write it with ``Path("report.html").write_text(page, encoding="utf-8")``.

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
    model, X, encoded = taken_apart(model, X)
    if not hasattr(model, "certificate_") or not hasattr(model, "n_features_in_"):
        came = f"got {type(model).__name__}"
        raise ParameterError("model", came, "give a fitted classifier of this package, or a pipeline that ends in one")
    scores_of(model)
    scored, known = rows_to_score(model, X)
    named = column_names(scored.shape[1], known or encoded, names)
    found = None if checks is None else tuple(checks)
    subject = ReportedModel(model, X, y, named, test, tuple(notes), found, level, rows, test_rows, validated, checks_of)
    sections = [section for make in SECTIONS if (section := make(subject)) is not None]
    return page(f"Report on a {subject.kind}" if title is None else title, lead(subject), sections)


def _seen(test: Any) -> tuple[Any, Any]:
    """Rows and labels to judge by, of which there must be some."""
    if len(test) != 2:
        raise ParameterError("test", f"it has {len(test)} parts", "give rows and labels, (X, y)")
    if len(test[1]) == 0:
        raise ParameterError("test", "it has no rows", "give rows that the model has not seen, or leave it out")
    return test[0], test[1]
