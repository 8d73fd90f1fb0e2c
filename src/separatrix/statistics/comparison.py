"""``compare``: all classifiers cross-validated on the same rows and folds, and the choice of one.

The figure of a classifier is its mean over the folds, ± s/√K with s the standard deviation of the figures of K folds.
All classifiers have the same folds, so differences are taken fold by fold. The fits share rows, so the standard error
is too small; no unbiased estimate of it exists (Bengio and Grandvalet, No unbiased estimator of the variance of K-fold
cross-validation, JMLR 5, 2004). With few folds, s may be tiny or zero by chance: two folds with the same figure have
s = 0. So two classifiers are also compared by all held-out rows, in pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.labels import encode
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import over_rows
from separatrix.core.certificate import as_matrix
from separatrix.core.proofs.row_claims import as_rows
from separatrix.core.rows.column_statistics import refuse_not_finite
from separatrix.core.rows.hold_out import stratified_folds
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.statistics.checks import check_encoded
from separatrix.statistics.comparison_trials import Contest, Entrant, Trial, checked_seconds, entrants, guessed, run
from separatrix.statistics.finding import Finding
from separatrix.statistics.intervals import sign_test
from separatrix.statistics.measures import accuracy, log_loss, true_class_log_probability
from separatrix.statistics.reliability import reliability_of
from separatrix.tables.formats.opening import holds_numbers, is_frame, open_frame
from separatrix.tables.read_table import RawTable, read_raw

# The figures by which classifiers may be ordered and chosen.
CRITERIA = ("accuracy", "log_loss")
# The name of the null model, which always predicts the most frequent class.
BASELINE = "majority"
# The probability that a normal variable is more than one standard error from its mean, 2 (1 − Φ(1)).
P_OF_ONE_STANDARD_ERROR = math.erfc(math.sqrt(0.5))


@dataclass(frozen=True)
class Figure:
    """A mean over folds, its standard error, and the value of each fold."""

    mean: float
    error: float
    by_fold: tuple[float, ...]

    @classmethod
    def of(cls, values: Sequence[float]) -> Figure:
        """From the values of the folds. The standard error is NaN for one fold or values that are not finite.

        >>> Figure.of([0.5, 1.0]).mean, Figure.of([0.5, 1.0]).error
        (0.75, 0.25)
        """
        finite = bool(np.all(np.isfinite(values)))
        error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if finite and len(values) > 1 else float("nan")
        return cls(float(np.mean(values)), error, tuple(float(value) for value in values))

    def less(self, other: Figure) -> Figure:
        """The difference, fold by fold."""
        return Figure.of([a - b for a, b in zip(self.by_fold, other.by_fold, strict=True)])

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.error:.4f}"


@dataclass(frozen=True)
class Standing:
    """The figures of one classifier.

    Parameters
    ----------
    name : str
        The name of the classifier.
    trials : tuple of Trial
        The result of each fold.
    codes : tuple of arrays of int
        The classes of the held-out rows of each fold, as numbers into ``classes``.
    classes : (K,) array
        The labels.
    linear : bool
        Whether the boundaries between classes are linear.
    standardised : bool
        Whether the columns were standardised before each fit.
    reason : str or None
        Why the classifier was not fitted; None if it was.
    """

    name: str
    trials: tuple[Trial, ...]
    codes: tuple[Integers, ...]
    classes: AnyArray
    linear: bool = True
    standardised: bool = False
    reason: str | None = None

    @property
    def fitted(self) -> bool:
        return self.reason is None

    @cached_property
    def accuracy(self) -> Figure:
        return Figure.of([accuracy(trial.right) for trial in self.trials])

    @cached_property
    def log_loss(self) -> Figure | None:
        """In nats; None without probabilities."""
        if any(trial.log_P is None for trial in self.trials):
            return None
        pairs = zip(self.trials, self.codes, strict=True)
        return Figure.of([log_loss(_known(trial), codes) for trial, codes in pairs])

    @cached_property
    def calibration_error(self) -> float | None:
        """The expected calibration error of all held-out rows, over ten bins; None without probabilities."""
        if self.log_loss is None:
            return None
        log_P = np.vstack([_known(trial) for trial in self.trials])
        return reliability_of(np.exp(log_P), log_P, np.concatenate(self.codes), self.classes).expected_error

    @property
    def seconds(self) -> float:
        """The processor time of a fit in seconds, the mean over folds."""
        return float(np.mean([trial.seconds for trial in self.trials]))

    @property
    def n_met(self) -> int:
        """The number of fits whose certificate is met."""
        return sum(trial.met for trial in self.trials)

    @property
    def n_parameters(self) -> int:
        return max(trial.n_parameters for trial in self.trials)

    @property
    def status(self) -> str:
        """The status of the first fit whose certificate is not met, or else of the first fit."""
        return next((trial.status for trial in self.trials if not trial.met), self.trials[0].status)

    def figure(self, by: str) -> Figure | None:
        """The criterion ``by``, with a sign such that larger is better; None if there is none."""
        if not self.fitted:
            return None
        if by == "accuracy":
            return self.accuracy
        return None if self.log_loss is None else Figure.of([-value for value in self.log_loss.by_fold])

    @cached_property
    def _right(self) -> AnyArray:
        """Which held-out rows are classified correctly, of all folds, (n,)."""
        return np.concatenate([trial.right for trial in self.trials])

    @cached_property
    def _losses(self) -> Array:
        """The log loss of each held-out row, of all folds, (n,)."""
        pairs = zip(self.trials, self.codes, strict=True)
        return -np.concatenate([true_class_log_probability(_known(trial), codes) for trial, codes in pairs])

    def distinct_from(self, other: Standing, by: str) -> bool:
        """Whether the held-out rows, in pairs, tell the two classifiers apart by the criterion ``by``.

        For accuracy, that is the exact sign test of the rows that only one of them classifies correctly, at the level
        of one standard error, P ≤ 0.317. For log loss, the mean difference is more than its standard error over rows.
        """
        if by == "accuracy":
            gained, lost = int(np.sum(self._right & ~other._right)), int(np.sum(~self._right & other._right))
            return sign_test(gained, lost) <= P_OF_ONE_STANDARD_ERROR
        with np.errstate(invalid="ignore"):  # both losses of a row may be infinite
            gap = self._losses - other._losses
        return not np.all(np.isfinite(gap)) or abs(gap.mean()) > gap.std(ddof=1) / math.sqrt(len(gap))

    def plain(self) -> dict[str, Any]:
        """All figures, in the types of JSON."""
        head: dict[str, Any] = {"name": self.name, "linear": self.linear, "standardised": self.standardised}
        if not self.fitted:
            return {**head, "reason": self.reason}
        figures = {"accuracy": self.accuracy, "log_loss": self.log_loss}
        for name, figure in figures.items():
            parts = None if figure is None else (figure.mean, figure.error, list(figure.by_fold))
            keys = (name, f"{name}_error", f"{name}_by_fold")
            head |= dict(zip(keys, parts or (None,) * 3, strict=True))
        head |= {"calibration_error": self.calibration_error, "fit_seconds": self.seconds, "fits": len(self.trials)}
        return {**head, "certificates_met": self.n_met, "status": self.status, "parameters": self.n_parameters}


def _known(trial: Trial) -> Array:
    """The log probabilities of a trial that has them."""
    assert trial.log_P is not None
    return trial.log_P


@dataclass(frozen=True)
class Comparison:
    """The result of ``compare``: the order of the classifiers, the choice of one of them, and the reasons in words.

    The choice is by the rule of one standard error (Breiman, Friedman, Olshen and Stone, Classification and Regression
    Trees, 1984): of all classifiers that are not clearly worse than the best, one with probabilities, the most
    certificates met and the fewest parameters. One classifier is clearly better than another only if the difference is
    more than one standard error over the folds, and a paired comparison of all held-out rows tells the two apart
    (``Standing.distinct_from``). A lead of one or two rows is thus never clear. A lead of three rows is clear only if
    the other classifier leads in none.

    Parameters
    ----------
    standings : tuple of Standing
        All classifiers and the baseline, the best first; those that could not be fitted are last.
    baseline : Standing
        The null model, which always predicts the most frequent class.
    by : {"accuracy", "log_loss"}
        The criterion of the order and the choice.
    n_folds : int
        The number of folds.
    seed : int
        The seed of the folds.
    warnings : tuple of Finding
        Columns and categories that alone tell the class, exactly or nearly, and may not be known before the outcome.

    Examples
    --------
    >>> from separatrix import compare
    >>> found = compare([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1], cv=2, only=["logistic", "lda"])
    >>> [standing.name for standing in found.standings], found.chosen.name
    (['logistic', 'majority', 'lda'], 'logistic')
    """

    standings: tuple[Standing, ...]
    baseline: Standing
    by: str
    n_folds: int
    seed: int
    warnings: tuple[Finding, ...] = ()

    def __getitem__(self, name: str) -> Standing:
        return next(standing for standing in self.standings if standing.name == name)

    @cached_property
    def best(self) -> Standing | None:
        """The best classifier with linear boundaries; None if none could be fitted."""
        return max(self._eligible, key=self._value, default=None)

    @cached_property
    def chosen(self) -> Standing | None:
        """The choice by the rule of one standard error; None if no linear classifier could be fitted.

        The candidates are the linear classifiers that are within one standard error of the best, and those that a
        paired test of the held-out rows does not distinguish from the best. So a standard error that is zero by chance
        does not decide. Candidates with probabilities are preferred to those without, then those with
        the most certificates met, then with the fewest parameters, then with the best figure.
        """
        best = self.best
        if best is None:
            return None
        near = [one for one in self._eligible if self._within_error(best, one) or not best.distinct_from(one, self.by)]
        return min(near, key=lambda one: (one.log_loss is None, -one.n_met, one.n_parameters, -self._value(one)))

    def _within_error(self, best: Standing, one: Standing) -> bool:
        """Whether the figure is within one standard error, over the folds, of the best one."""
        top = self._figure(best)
        return self._value(one) >= top.mean - (top.error if np.isfinite(top.error) else 0.0)

    def _clearly_better(self, one: Standing, other: Standing, by: str) -> bool:
        """Whether ``one`` is better by more than one standard error over the folds, and by the test of the rows."""
        gain = self._gain(one, other, by)
        return gain is not None and gain.mean > gain.error and one.distinct_from(other, by)

    @property
    def _eligible(self) -> list[Standing]:
        """The linear classifiers that have the criterion."""
        return [one for one in self.standings if one.linear and one is not self.baseline and one.figure(self.by)]

    def _figure(self, standing: Standing) -> Figure:
        figure = standing.figure(self.by)
        assert figure is not None
        return figure

    def _value(self, standing: Standing) -> float:
        return self._figure(standing).mean

    @property
    def why(self) -> str:
        """The reasons for the choice, in sentences."""
        if self.best is None or self.chosen is None:
            return "No classifier could be fitted."
        parts = [self._reason(self.best, self.chosen), *self._gained(self.chosen), *self._curved_ahead(self.best)]
        return "; ".join(parts) + "."

    def _reason(self, best: Standing, chosen: Standing) -> str:
        """Why this classifier and not another linear one."""
        what, sign = self.by.replace("_", " "), 1 if self.by == "accuracy" else -1
        value = f"{sign * self._value(chosen):.4f}"
        if chosen is best:
            return f"{chosen.name} has the best {what} of the linear classifiers, {value}"
        gap = self._figure(best).less(self._figure(chosen))
        paired = f"better by {gap.mean:.4f} ± {gap.error:.4f} on the same folds" if gap.mean else "no better"
        other = f"{best.name} ({sign * self._value(best):.4f}; {paired})"
        if self._within_error(best, chosen):
            near = f"{chosen.name} ({what} {value}) is within one standard error of the best linear classifier, {other}"
        else:
            untold = "a paired test of the rows does not distinguish it from the best linear classifier"
            near = f"{chosen.name} ({what} {value}): {untold}, {other}"
        return f"{near}, and {self._preferred_for(best, chosen)}"

    def _curved_ahead(self, best: Standing) -> list[str]:
        """The classifiers with curved boundaries that are clearly better."""
        parts = []
        for standing in self.standings:
            if not standing.linear and self._clearly_better(standing, best, self.by):
                ahead = self._figure(standing).less(self._figure(best))
                parts.append(f"{standing.name}, whose boundaries are curved, is {ahead} better than {best.name}")
        return parts

    def _gained(self, chosen: Standing) -> list[str]:
        """The difference in accuracy from the baseline; if it may be chance, also the difference in log loss."""
        gain = self._gain(chosen, self.baseline, "accuracy")
        assert gain is not None
        gained = f"its accuracy exceeds that of always guessing the majority by {gain}"
        if self._clearly_better(chosen, self.baseline, "accuracy"):
            return [gained]
        if not gain.mean < -gain.error:
            return [f"{gained}, which may be chance", self._gained_log_loss()]
        lost = f"its accuracy is {-gain.mean:.4f} ± {gain.error:.4f} below that of always guessing the majority"
        any_better = any(self._clearly_better(one, self.baseline, "accuracy") for one in self.standings)
        return [lost if any_better else f"{lost}, and no other classifier exceeds that", self._gained_log_loss()]

    def _gained_log_loss(self) -> str:
        """The classifier whose log loss is furthest below the baseline's, if it is clearly better."""
        clearly = [one for one in self.standings if self._clearly_better(one, self.baseline, "log_loss")]
        gains = {one.name: self._gain(one, self.baseline, "log_loss") for one in clearly}
        better = {name: gain for name, gain in gains.items() if gain is not None}
        if not better:
            return "these columns may not tell the classes apart linearly"
        name = max(better, key=lambda name: better[name].mean)
        return f"by log loss {name} does better than class frequencies alone, by {better[name]} nats per row"

    def _gain(self, one: Standing, other: Standing, by: str) -> Figure | None:
        """The difference of two classifiers, fold by fold; None if one of the two lacks this figure."""
        own, base = one.figure(by), other.figure(by)
        return None if own is None or base is None else own.less(base)

    def _preferred_for(self, best: Standing, chosen: Standing) -> str:
        """Why a classifier that is not clearly worse than the best is preferred to it."""
        if best.log_loss is None and chosen.log_loss is not None:
            return f"gives probabilities, which {best.name} does not"
        if chosen.n_met > best.n_met:
            return f"is certified in {chosen.n_met} of {self.n_folds} fits ({best.name} in {best.n_met})"
        return f"is simpler: {chosen.n_parameters} parameters ({best.name} {best.n_parameters})"

    def plain(self) -> dict[str, Any]:
        """All figures, as values that JSON can hold."""
        return {
            "folds": self.n_folds,
            "seed": self.seed,
            "by": self.by,
            "best": None if self.best is None else self.best.name,
            "chosen": None if self.chosen is None else self.chosen.name,
            "why": self.why,
            "warnings": [finding.plain() for finding in self.warnings],
            "classifiers": [standing.plain() for standing in self.standings],
        }

    def __str__(self) -> str:
        lines = [
            f"{one.name:<28}{one.accuracy}" if one.fitted else f"{one.name:<28}{one.reason}" for one in self.standings
        ]
        return "\n".join([*lines, self.why, *map(str, self.warnings)])


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
    fits: dict[str, Any] = {"cv": cv, "seed": seed, "by": by, "only": only, "seconds": seconds}
    if is_frame(X) and (missing != "error" or any(of_frames.values()) or not holds_numbers(X)):
        frame = _labelled_frame(X, y, missing, **of_frames)
        return compare_table(frame, names=frame.row_names.numbers - 1, **fits)
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
    return compare_table(RawTable("X", rows, classes[codes]), names=np.arange(len(codes)), **fits)


def compare_table(
    table: RawTable,
    *,
    cv: int = 5,
    seed: int = 0,
    by: str = "accuracy",
    only: Sequence[str] | None = None,
    seconds: float = DEFAULT_SECONDS,
    names: Integers | None = None,
) -> Comparison:
    """``compare`` for a table that is not encoded yet: each fit learns the encoding from its own rows.

    ``names``: the numbers by which messages name the rows; by default as in the table.

    >>> from separatrix.tables.read_table import read_raw
    >>> compare_table(read_raw("demo:iris"), cv=3, only=["lda"])["lda"].accuracy.mean > 0.95
    True
    """
    classes, codes = encode(table.y)
    if by not in CRITERIA:
        raise ParameterError("by", f"got {by!r}", f"give one of {', '.join(map(repr, CRITERIA))}")
    fold = _folds(codes, table.row_names.numbers - 1, classes.tolist(), cv, seed)
    contest = Contest(table, codes, classes, fold, seed, checked_seconds(seconds))
    chosen = _named(list(entrants(seed)), only)
    reasons = {entrant.name: entrant.refused(contest) for entrant in chosen}
    found = run(contest, [entrant for entrant in chosen if reasons[entrant.name] is None])
    held = tuple(codes[contest.fold == k] for k in contest.folds)

    called = table.row_names if names is None else names

    def standing(entrant: Entrant) -> Standing:
        """The figures of an entrant, or why it was refused or failed, with the row names of the user's table."""
        trials = found.get(entrant.name, [])
        failed = next((trial.failed for trial in trials if trial.failed is not None), None)
        reason = over_rows(reasons[entrant.name] or failed or "", called) or None
        named = tuple(replace(trial, status=over_rows(trial.status, called)) for trial in trials)
        return Standing(entrant.name, named, held, classes, entrant.linear, entrant.standardised, reason)

    guesses = tuple(guessed(codes, contest.fold == k, len(classes)) for k in contest.folds)
    baseline = Standing(BASELINE, guesses, held, classes)
    standings = sorted([*map(standing, chosen), baseline], key=lambda one: _place(one, by))
    leaks = check_encoded(table.learned(), classes[codes], only=["leakage"])
    warnings = tuple(finding for finding in leaks if finding.severity != "ok")
    return Comparison(tuple(standings), baseline, by, contest.n_folds, seed, warnings)


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
    return replace(table, y=classes[table.y])


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


def _folds(codes: Integers, rows: Integers, labels: list[Any], cv: int, seed: int) -> Integers:
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
    return stratified_folds(codes, rows, min(int(cv), int(counts.min())), seed)


def _refuse_one_class(labels: list[Any]) -> None:
    if len(labels) < 2:
        raise LabelError("y", f"it has one class only, {labels[0]!r}", "give rows of at least two classes")
