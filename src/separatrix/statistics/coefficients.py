"""The effect of each column on the scores, which columns matter most, and how they are distributed.

The effect of a column is given per comparable step: one standard deviation, or 0 to 1 for a binary column. A logistic
regression without a penalty has confidence intervals and odds ratios exp(β·step). Any other linear model has the
weights alone, since a penalised weight is biased by an unknown amount. On dividing columns by their spread to compare
coefficients: Gelman, Scaling regression inputs by dividing by two standard deviations, Stat. Med. 27 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from separatrix.classifiers.fit_input import rows_to_score
from separatrix.classifiers.model_file import taken_apart as pipeline_parts
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.messages import number_text
from separatrix.core.likelihood_claims import LikelihoodClaim, LikelihoodOfRows
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.scorer import scores_of, taken_apart
from separatrix.statistics.summary import summary
from separatrix.statistics.weights_and_odds_ratios import RATIOS, compared_with

if TYPE_CHECKING:
    from separatrix.tables.encoder import Encoder, Scaling


@dataclass(frozen=True)
class Coefficients:
    """The effect of each column on the scores. ``coefficients`` returns one.

    Attributes
    ----------
    names : tuple of str
        The columns.
    classes : tuple
        The q classes with coefficients.
    reference : label or None
        The class that the others are compared with; None if each class has its own score.
    value, low, high : arrays (q, d)
        The change of the score of each class per step of each column, and the ends of its confidence interval (NaN if
        there is none).
    steps : array (d,)
        The length of a step of each column, in the units of the table.
    binary : array (d,) of bool
        Which columns have a step from 0 to 1.
    level : float
        The level of the confidence intervals.
    ratio : str or None
        The name of exp(value), such as "odds ratio"; None if it has no meaning.
    says : str
        The kind of the intervals, or why there are none.
    compared : tuple of str
        For each column the reference level that it is compared with, empty if there is none.
    odds : str or None
        The name of exp(value) for a model with a single score, also if it has no intervals.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    reference: Any
    value: Array
    low: Array
    high: Array
    steps: Array
    binary: Any
    level: float
    ratio: str | None
    says: str
    compared: tuple[str, ...] = ()
    odds: str | None = None

    @property
    def per_unit(self) -> Array:
        """The change of the scores (q, d) per unit of each column; NaN for a constant column."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.steps > 0, self.value / self.steps, np.nan)

    def name_of(self, j: int) -> str:
        """The name of column j, with the reference level that it is compared with."""
        against = self.compared[j] if self.compared else ""
        return f"{self.names[j]} (against {against})" if against else self.names[j]

    @property
    def has_intervals(self) -> bool:
        return bool(np.any(np.isfinite(self.low)))

    def largest(self, top: int) -> Integers:
        """The numbers of the ``top`` columns with the largest absolute value for any class, the largest first.

        Columns without a value come last.
        """
        size = np.max(np.where(np.isnan(self.value), -1.0, np.abs(self.value)), axis=0)
        return np.argsort(-size, kind="stable")[:top]

    def step_of(self, j: int) -> str:
        """The step of column j in words."""
        return "0 to 1" if self.binary[j] else f"+{number_text(self.steps[j], 3)}"


@dataclass(frozen=True)
class FromZeroToOne:
    """A fold over rows that finds which of d columns range exactly from 0 to 1, as the column of a category does.

    Values in between, such as imputed means, are allowed.

    >>> rows = memory_rows(np.array([[0.0, 2.0, 0.0], [1.0, 1.0, 1.0], [0.5, 0.0, 1.0]]), np.zeros(3))
    >>> rows.fold(FromZeroToOne(3)).all(axis=0).tolist()
    [True, False, True]
    """

    d: int

    def zero(self) -> Any:
        """The state before any row, (3, d): no value outside [0, 1], no 0 and no 1 has occurred."""
        return np.array([[True], [False], [False]]).repeat(self.d, axis=1)

    def add(self, total: Any, block: Block) -> Any:
        X: Any = block.X
        if is_sparse(X):
            total[0, X.indices[(X.data < 0) | (X.data > 1)]] = False
            total[2, X.indices[X.data == 1]] = True
            total[1] |= np.bincount(X.indices[X.data != 0], minlength=self.d) < block.n_rows
        else:
            total[0] &= np.all((X >= 0) & (X <= 1), axis=0)
            total[1] |= np.any(X == 0, axis=0)
            total[2] |= np.any(X == 1, axis=0)
        return total

    def merge(self, a: Any, b: Any) -> Any:
        a[0] &= b[0]
        a[1:] |= b[1:]
        return a


def coefficients(
    model: Any,
    X: Any,
    y: Any,
    *,
    names: Any = None,
    level: float = 0.95,
    scaling: Scaling | None = None,
    encoder: Encoder | None = None,
    sample_weight: Any = None,
    offset: Any = None,
) -> Coefficients:
    """Return the coefficients of a fitted linear model per comparable step of each column.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier, or a pipeline that ends in one.
    X, y
        The data of the fit.
    names : list of str or None
        Names of the columns; by default those of the fit.
    level : float, default 0.95
        The level of the confidence intervals.
    scaling : Scaling, optional
        How the columns of X were scaled; steps are then in the units before scaling. By default, that of a pipeline.
    encoder : Encoder, optional
        How the table became X; it knows the reference levels. By default, that of a pipeline.
    sample_weight, offset : arrays, optional
        The weights and the offset of the fit. With weights there are no intervals, since these depend on what the
        weights mean; ``summary`` takes their meaning.

    Returns
    -------
    Coefficients

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> found = coefficients(LogisticRegression(C=np.inf).fit(X, y), X, y)
    >>> found.ratio, found.steps.round(2).tolist(), np.exp(found.value).round(2).tolist()
    ('odds ratio', [1.71], [[7.95]])
    >>> coefficients(LogisticRegression(C=1.0).fit(X, y), X, y).has_intervals
    False
    """
    scaling, encoder = before_model(model, scaling, encoder)
    model, X, encoded = taken_apart(model, X)
    if not hasattr(model, "coef_"):
        problem = f"{type(model).__name__} has no weight for each column"
        raise ParameterError("model", problem, "give a fitted linear classifier")
    rows, known = rows_to_score(model, X)
    seen = memory_rows(rows, np.zeros(rows.shape[0]))
    std = summarise(seen, ranges=False).std
    binary = seen.fold(FromZeroToOne(len(std))).all(axis=0)
    steps = np.where(binary, 1.0, std)
    named = column_names(len(std), known or encoded, names)
    told = steps if scaling is None else steps * scaling.scale
    compared = () if encoder is None else compared_with(encoder)
    table, reason = _inferred(model, X, y, level, sample_weight, offset)
    if table is not None:
        slopes = slice(len(table.names) - len(named), None)  # an intercept comes first
        value, low, high = (np.atleast_2d(a)[:, slopes] * steps for a in (table.coef, table.low, table.high))
        classes, reference, ratio = table.classes, table.reference, table.ratio_name
        odds, says = ratio if len(value) == 1 else None, f"{100 * level:g} % Wald intervals"
    else:
        value = np.asarray(model.coef_) * steps
        low, high = np.full(value.shape, np.nan), np.full(value.shape, np.nan)
        classes, reference, ratio = tuple(np.asarray(model.classes_).tolist()), None, None
        odds, says = None, f"no intervals: {reason}"
        if len(value) == 1:
            reference, classes = classes[0], classes[1:]
            odds = RATIOS.get(getattr(scores_of(model), "link_name", ""))
    return Coefficients(named, classes, reference, value, low, high, told, binary, level, ratio, says, compared, odds)


def before_model(model: Any, scaling: Scaling | None, encoder: Encoder | None) -> tuple[Scaling | None, Encoder | None]:
    """The scaling and the encoder before a model: those given, or those of its pipeline, if it has such steps alone."""
    if not hasattr(model, "steps") or scaling is not None or encoder is not None:
        return scaling, encoder
    try:
        parts = pipeline_parts(model)
    except ParameterError:  # Another transformer, whose columns have units of their own.
        return None, None
    return parts.scaling, parts.encoder


def column_names(d: int, known: list[str] | None, given: Any = None) -> tuple[str, ...]:
    """The names of d columns: those given, else those of the fit, else x0, x1, ….

    >>> column_names(2, None)
    ('x0', 'x1')
    """
    if given is None:
        return tuple(known) if known is not None else tuple(f"x{j}" for j in range(d))
    names = tuple(str(name) for name in given)
    if len(names) != d:
        raise ParameterError("names", f"got {len(names)} for {d} columns", "give one per column")
    return names


def _inferred(model: Any, X: Any, y: Any, level: float, sample_weight: Any, offset: Any) -> tuple[Any, str]:
    """The summary table, or None and the reason why there is none."""
    claim: Any = getattr(getattr(model, "certificate_", None), "claim", None)
    if not isinstance(claim, LikelihoodOfRows):
        return None, f"{type(model).__name__} has no standard errors"
    claim = cast(LikelihoodClaim, claim)  # a Firth claim has the same attributes
    if np.isfinite(claim.C) and np.any(claim.penalty_factors > 0):
        return None, f"the fit is penalised (C={number_text(claim.C)}), so its weights are biased towards zero"
    if sample_weight is not None:
        return None, "its standard errors depend on what the sample weights mean, frequencies or probabilities"
    robust = "HC1" if np.any(claim.class_weights != 1.0) else None
    try:
        table = summary(model, X, y, offset=offset, covariance=robust, level=level)
    except InputError as error:
        return None, str(error)
    return (None, table.withheld) if table.withheld else (table, "")


def important_columns(rows: Any, codes: Integers, n_classes: int, found: Coefficients | None, top: int) -> Integers:
    """The numbers of at most ``top`` columns: by the size of their weights per step, without those of weight zero.

    Without coefficients, ``found`` is None, and columns are ordered by how far the class means differ in standard
    deviations.

    >>> X = np.array([[0.0, 5.0], [1.0, 5.5], [0.0, 9.0], [1.0, 9.5]])
    >>> important_columns(X, np.array([0, 0, 1, 1]), 2, None, 1).tolist()
    [1]
    """
    if found is not None:
        order = found.largest(top)
        return np.asarray(order[np.any(found.value[:, order] != 0, axis=0)])
    counts = np.bincount(codes, minlength=n_classes)
    present = np.flatnonzero(counts)
    share = (codes[:, None] == present) / counts[present]
    means = np.asarray(rows.T @ share).T
    columns = summarise(memory_rows(rows, codes), ranges=False)
    usable = ~columns.constant & (columns.std > 0)
    apart = np.where(usable, means.std(axis=0) / np.where(usable, columns.std, 1.0), 0.0)
    return np.argsort(-apart, kind="stable")[:top]


# --- The distribution of a column in each class

# The number of bins of a column with many values.
BINS = 24
# A column with at most this many distinct values has a bin for each.
MOST_DISTINCT = 8
# Bins end at these quantiles of all rows. Values beyond them count to the outer bins, so outliers do not squash them.
ENDS = (0.005, 0.995)
# The quantiles of each class.
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Distribution:
    """One column by class. ``distribution`` returns one.

    Attributes
    ----------
    name : str
        The column.
    edges : array (bins + 1,)
        The ends of the bins.
    levels : array (bins,) or None
        The distinct values, if the column has few.
    shares : array (K, bins)
        The share of the rows of each class in each bin; 0 for a class without rows.
    quantiles : array (K, 5)
        The quantiles ``QUANTILES`` of each class; NaN for a class without rows.
    """

    name: str
    edges: Array
    levels: Array | None
    shares: Array
    quantiles: Array

    @property
    def median(self) -> Array:
        """The median of each class, (K,)."""
        return np.asarray(self.quantiles[:, 2])

    @property
    def overlap(self) -> float:
        """The share that the two classes with the least overlap have in common, from 0 to 1."""
        present = self.shares[self.shares.sum(axis=1) > 0]
        pairs = [np.minimum(a, b).sum() for i, a in enumerate(present) for b in present[i + 1 :]]
        return float(min(pairs, default=1.0))


def distribution(x: Array, codes: Integers, n_classes: int, name: str) -> Distribution:
    """The distribution of the values x (n,) in each class: shares of rows in common bins, and quantiles.

    >>> found = distribution(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0, 1, 1, 1]), 2, "smoker")
    >>> found.levels.tolist(), found.shares.round(2).tolist()
    ([0.0, 1.0], [[1.0, 0.0], [0.33, 0.67]])
    """
    distinct = np.unique(x)
    levels = distinct if len(distinct) <= MOST_DISTINCT else None
    if levels is not None:
        edges, place = np.arange(len(levels) + 1.0) - 0.5, np.searchsorted(levels, x)
    else:
        low, high = np.quantile(x, ENDS)
        if not high > low:
            low, high = float(distinct[0]), float(distinct[-1])
        edges = np.linspace(low, high, BINS + 1)
        place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, BINS - 1)
    bins = len(edges) - 1
    counts = np.bincount(codes * bins + place, minlength=n_classes * bins).reshape(n_classes, bins)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    rows = counts.sum(axis=1)
    none = np.full(len(QUANTILES), np.nan)
    quantiles = [np.quantile(x[codes == k], QUANTILES) if rows[k] else none for k in range(n_classes)]
    return Distribution(name, edges, levels, shares, np.array(quantiles))


def column_of(X: Any, j: int) -> Array:
    """Column j of dense or sparse rows.

    >>> column_of(np.array([[1.0, 2.0]]), 1).tolist()
    [2.0]
    """
    x = X[:, [j]].toarray()[:, 0] if is_sparse(X) else X[:, j]
    return np.asarray(x, dtype=np.float64)
