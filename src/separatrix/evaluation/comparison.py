"""``compare``: cross-validation of all classifiers on the same rows and folds, and the choice of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.folds import stratified_folds
from separatrix.base.labels import encode
from separatrix.base.renamed_messages import Rows, over_rows
from separatrix.certificates.certificate import as_matrix
from separatrix.checks import Finding
from separatrix.checks.encoded import check_encoded
from separatrix.evaluation.budget import checked_seconds
from separatrix.evaluation.comparison_result import Comparison
from separatrix.evaluation.entrants import Contest, Entrant, entrants
from separatrix.evaluation.standings import BASELINE, CRITERIA, Standing
from separatrix.evaluation.trials import Trial, guessed, run
from separatrix.proofs.asked_rows import as_rows
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.rows.in_memory import InMemory
from separatrix.table import RawTable, read_raw
from separatrix.table.formats import open_frame
from separatrix.table.formats.frames import holds_numbers, is_frame

# The limit of processor time for all fits of one classifier, in seconds. It is generous: the slowest classifier in
# comparisons of tables in memory, a perceptron on overlapping classes, took 25 s.
DEFAULT_SECONDS = 60.0


# Cross-validation divides the rows into folds.
COMPARE = InMemory(
    "compare",
    "it selects the rows of folds by index",
    "fit each classifier to one table and evaluate it on another",
)


@COMPARE.refusing_tables
def compare(
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    seed: int = 0,
    by: str = "accuracy",
    only: Sequence[str] | None = None,
    missing: str = "error",
    seconds: float = DEFAULT_SECONDS,
    text: Any = (),
    reference: Mapping[str, str] | None = None,
) -> Comparison:
    """Cross-validate all classifiers of the package, with their defaults, on the same stratified folds.

    For classifiers that depend on the scales of the columns, each fit standardises the columns by its own rows. The
    categories and dates of a data frame are encoded as ``read_table`` encodes them, and each fit learns the encoding
    from its own rows.

    Parameters
    ----------
    X : (n, d) array, sparse matrix or data frame
        The rows. A frame of pandas, polars or PyArrow may have columns of text, categories, truth values and dates.
    y : (n,) sequence
        The labels.
    cv : int, default 5
        The number of folds, at most the number of rows of the smallest class.
    seed : int, default 0
        The seed of the folds, and of classifiers that draw random numbers.
    by : {"accuracy", "log_loss"}, default "accuracy"
        The criterion of the order and the choice.
    only : sequence of str, optional
        The names of the classifiers, by default all.
    missing : {"error", "impute", "indicator", "drop"}
        What to do with missing values of a data frame: raise an error; fill them with the mean of a number and the
        most frequent level of a category in the fitted rows; also mark them in a 0/1 column; or leave the row out.
    text : str, sequence of str, or dict of str to TextSettings
        Columns of free text in a data frame. Each fit learns the n-grams of their words from its own rows.
    seconds : float, default 60
        The processor time that all fits of one classifier may take together. A classifier that needs more is stopped
        at the next step of its solver and listed with that reason; the others are compared. ``math.inf`` sets no limit.
    reference : mapping of str to str, optional
        The reference level of a category of a data frame, by column; by default the first in alphabetical order.

    Returns
    -------
    Comparison
        All figures, the best classifier and the choice. A classifier that cannot be fitted is listed with the reason.

    Raises
    ------
    LabelError
        There is one class only, or a class has one row.
    ParameterError
        X and y differ in length, or another argument is not as described.
    TableError
        A column of a data frame cannot be encoded, or a value is missing.

    Examples
    --------
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0], [6.0], [7.0]]
    >>> found = compare(X, [0, 0, 1, 0, 1, 0, 1, 1], cv=2, only=["logistic", "max-margin"])
    >>> found.chosen.name, found["max-margin"].reason
    ('logistic', 'not fitted: the classes are not linearly separable (3 rows prove it)')

    Text is encoded inside each fold:

    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 25, 47, 52, 38, 29], "sex": ["f", "m", "f", "m", "m", "f"]})
    >>> compare(frame, ["no", "no", "yes", "yes", "yes", "no"], cv=2, only=["logistic"])["logistic"].fitted
    True
    """
    of_frames = {"text": text, "reference": reference}
    if is_frame(X) and (missing != "error" or any(of_frames.values()) or not holds_numbers(X)):
        frame = _labelled_frame(X, y, missing, **of_frames)
        return compare_table(frame, cv=cv, seed=seed, by=by, only=only, seconds=seconds)
    for name, value in of_frames.items():
        if value:
            problem = f"got {value!r:.80}, and X is not a data frame"
            raise ParameterError(name, problem, "give a data frame, whose columns have names and levels")
    if missing != "error":
        problem = f"got {missing!r}, and X is not a data frame"
        raise ParameterError("missing", problem, "give a data frame, or fill missing values before the comparison")
    rows = as_rows(as_matrix(X))
    classes, codes = encode(y)
    if rows.ndim != 2 or rows.shape[0] != len(codes):
        raise ParameterError("X", f"its shape is {rows.shape} for {len(codes)} labels", "give one row for each label")
    refuse_not_finite(memory_rows(rows, codes))
    return _compared(RawTable("X", rows, None), classes, codes, cv, seed, by, only, seconds)


def compare_table(
    table: RawTable,
    *,
    cv: int = 5,
    seed: int = 0,
    by: str = "accuracy",
    only: Sequence[str] | None = None,
    seconds: float = DEFAULT_SECONDS,
) -> Comparison:
    """``compare`` for a table that is not encoded yet: each fit learns the encoding from its own rows.

    >>> from separatrix.table import read_raw
    >>> compare_table(read_raw("demo:iris"), cv=3, only=["lda"])["lda"].accuracy.mean > 0.95
    True
    """
    return _compared(table, *encode(table.y), cv, seed, by, only, seconds)


def _labelled_frame(X: Any, y: Any, missing: str, **asked: Any) -> RawTable:
    """The columns of a data frame with labels y, read as ``separatrix compare`` reads a file."""
    columns = open_frame(X).columns
    classes, codes = encode(y)
    if columns.num_rows != len(codes):
        problem = f"it has {columns.num_rows} rows for {len(codes)} labels"
        raise ParameterError("X", problem, "give one row for each label")
    _refuse_one_class(classes.tolist())
    name = "y"
    while name in columns.column_names:
        name += "_"
    table = read_raw(columns.append_column(name, pa.array(codes)), name, missing=missing, **asked)
    places = None if table.rows is None else table.rows - 1  # Rows of a frame are counted from 0.
    return replace(table, y=classes[table.y], rows=places)


def _compared(
    table: RawTable,
    classes: AnyArray,
    codes: Integers,
    cv: int,
    seed: int,
    by: str,
    only: Sequence[str] | None,
    seconds: float,
) -> Comparison:
    if by not in CRITERIA:
        raise ParameterError("by", f"got {by!r}", f"give one of {', '.join(map(repr, CRITERIA))}")
    contest = Contest(table, codes, classes, _folds(codes, classes.tolist(), cv, seed), seed, checked_seconds(seconds))
    chosen = _named(list(entrants(seed)), only)
    reasons = {entrant.name: entrant.refused(contest) for entrant in chosen}
    found = run(contest, [entrant for entrant in chosen if reasons[entrant.name] is None])
    held = tuple(codes[contest.fold == k] for k in contest.folds)

    names: Rows = np.arange(len(codes)) if table.rows is None else table.row_names

    def standing(entrant: Entrant) -> Standing:
        trials, reason = _in_table(found.get(entrant.name, []), reasons[entrant.name], names)
        return Standing(entrant.name, trials, held, classes, entrant.linear, entrant.standardised, reason)

    guesses = tuple(guessed(codes, contest.fold == k, len(classes)) for k in contest.folds)
    baseline = Standing(BASELINE, guesses, held, classes)
    standings = sorted([*map(standing, chosen), baseline], key=lambda one: _place(one, by))
    return Comparison(tuple(standings), baseline, by, contest.n_folds, seed, _leaks(table, classes[codes]))


def _leaks(table: RawTable, y: AnyArray) -> tuple[Finding, ...]:
    """The columns and categories of the whole table that alone determine the class, exactly or nearly."""
    checks = check_encoded(table.learned(), y, only=["leakage"])
    return tuple(finding for finding in checks if finding.severity != "ok")


def _in_table(trials: Sequence[Trial], refused: str | None, names: Rows) -> tuple[tuple[Trial, ...], str | None]:
    """The trials of an entrant, and why it was refused or failed. ``names`` are the row names in the user's table."""
    failed = next((trial.failed for trial in trials if trial.failed is not None), None)
    named = tuple(replace(trial, status=over_rows(trial.status, names)) for trial in trials)
    return named, over_rows(refused or failed or "", names) or None


def _place(standing: Standing, by: str) -> tuple[bool, float, float]:
    """The sort key: the criterion, then the other one; classifiers without figures are last."""
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
    """The stratified fold of each row. There are at most as many folds as the smallest class has rows."""
    counts = np.bincount(codes)
    if isinstance(cv, bool) or not isinstance(cv, int | np.integer) or cv < 2:
        raise ParameterError("cv", f"got {cv!r}", "give a whole number of folds, at least 2")
    _refuse_one_class(labels)
    if counts.min() < 2:
        problem = f"class {labels[int(np.argmin(counts))]!r} has one row only"
        raise LabelError(
            "y", problem, "leave the class out, or merge it with another: a row cannot be both fitted and held out"
        )
    return stratified_folds(codes, min(int(cv), int(counts.min())), seed)


def _refuse_one_class(labels: list[Any]) -> None:
    if len(labels) < 2:
        raise LabelError("y", f"it has one class only, {labels[0]!r}", "give rows of at least two classes")
