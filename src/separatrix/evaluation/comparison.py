"""Every classifier on the same rows and the same folds: which one to take, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.folds import stratified_folds
from separatrix.base.labels import encode
from separatrix.certificates.certificate import as_matrix
from separatrix.evaluation.entrants import Contest, Entrant, entrants
from separatrix.evaluation.standings import BASELINE, CRITERIA, Comparison, Standing
from separatrix.evaluation.trials import Trial, guessed, run
from separatrix.proofs.verdicts import as_rows
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.table import RawTable


def compare(
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    seed: int = 0,
    by: str = "accuracy",
    only: Sequence[str] | None = None,
) -> Comparison:
    """Cross-validate every classifier of the package with its defaults on rows X (n, d), dense or sparse, labels y.

    The same ``cv`` stratified folds for all, drawn by ``seed``. Inside each fold columns are standardised by the rows
    of the fit for those to which scales matter. ``by``: "accuracy" or "log_loss", for the order and the choice.
    ``only``: some classifiers by name. One that cannot be fitted, or takes too long, is there with its reason.

    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]
    >>> found = compare(X, [0, 0, 1, 0, 1, 0, 1, 1], cv=2, only=["logistic", "max-margin"])
    >>> found.chosen.name, found["max-margin"].reason
    ('logistic', 'not fitted: the classes are not linearly separable (3 rows prove it)')
    """
    rows = as_rows(as_matrix(X))
    classes, codes = encode(y)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row a label")
    refuse_not_finite(memory_rows(rows, codes))
    return _compared(RawTable("X", rows, None), classes, codes, cv, seed, by, only)


def compare_table(
    table: RawTable, *, cv: int = 5, seed: int = 0, by: str = "accuracy", only: Sequence[str] | None = None
) -> Comparison:
    """The same for a table that nothing was learned from yet: in each fold it is coded by the rows of the fit alone.

    >>> from separatrix.table import read_raw
    >>> compare_table(read_raw("demo:iris"), cv=3, only=["lda"])["lda"].accuracy.mean > 0.95
    True
    """
    return _compared(table, *encode(table.y), cv, seed, by, only)


def _compared(
    table: RawTable, classes: AnyArray, codes: Integers, cv: int, seed: int, by: str, only: Sequence[str] | None
) -> Comparison:
    if by not in CRITERIA:
        raise ParameterError("by", f"got {by!r}", f"give one of {', '.join(map(repr, CRITERIA))}")
    contest = Contest(table, codes, classes, _folds(codes, classes.tolist(), cv, seed), seed)
    chosen = _named(list(entrants(seed)), only)
    reasons = {entrant.name: entrant.refused(contest) for entrant in chosen}
    found = run(contest, [entrant for entrant in chosen if reasons[entrant.name] is None])
    held = tuple(codes[contest.fold == k] for k in contest.folds)

    def standing(entrant: Entrant) -> Standing:
        trials: list[Trial] = found.get(entrant.name, [])
        failed = next((trial.failed for trial in trials if trial.failed is not None), None)
        reason = reasons[entrant.name] or failed
        return Standing(entrant.name, tuple(trials), held, classes, entrant.linear, entrant.standardised, reason)

    guesses = tuple(guessed(codes, contest.fold == k, len(classes)) for k in contest.folds)
    baseline = Standing(BASELINE, guesses, held, classes)
    standings = sorted([*map(standing, chosen), baseline], key=lambda one: _place(one, by))
    return Comparison(tuple(standings), baseline, by, contest.n_folds, seed)


def _place(standing: Standing, by: str) -> tuple[bool, float, float]:
    """By the criterion, then by the other; without one, last."""
    if not standing.fitted:
        return (True, 0.0, 0.0)
    loss = np.inf if standing.log_loss is None else standing.log_loss.mean
    first, second = (-standing.accuracy.mean, loss) if by == "accuracy" else (loss, -standing.accuracy.mean)
    return (False, first, second)


def _named(known: list[Entrant], only: Sequence[str] | None) -> list[Entrant]:
    if only is None:
        return known
    by_name = {entrant.name: entrant for entrant in known}
    for name in only:
        if name not in by_name:
            raise ParameterError("only", f"got {name!r}", f"name some of {', '.join(map(repr, by_name))}")
    return [by_name[name] for name in only]


def _folds(codes: Integers, labels: list[Any], cv: int, seed: int) -> Integers:
    """The fold of each row, the same share of every class in each; as many as the smallest class has rows, at most."""
    counts = np.bincount(codes)
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ParameterError("cv", f"got {cv!r}", "give a whole number of folds, at least 2")
    if len(counts) < 2:
        raise LabelError("y", f"it has one class only, {labels[0]!r}", "give rows of at least two classes")
    if counts.min() < 2:
        came = f"class {labels[int(np.argmin(counts))]!r} has one row only"
        raise LabelError("y", came, "leave it out, or join it with another: a row cannot be both fitted and held out")
    return stratified_folds(codes, min(int(cv), int(counts.min())), seed)
