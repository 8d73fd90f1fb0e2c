"""Classification of K classes by two-class models: one versus one, one versus rest (docs/tour.md, M1, M2, M4, M5).

A scheme defines the rows that each model is trained on, how the scores of the models are combined to one score for each
class, and which classes the signs of the models allow. For two classes both schemes train a single model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, final

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError

# Weight of the tie-breaking term. The number of pairs that a class wins is whole, so a term below ½ orders only classes
# with equal numbers.
TIE_SHARE = 1.0 / 3.0


class Part(NamedTuple):
    """The training set of one model: row numbers, and the target 1 for the rows of its class, else 0.

    ``names``: the number of the class that a positive score speaks for, and that of the other, None for the rest.
    """

    names: tuple[int, int | None]
    rows: Integers
    target: Integers


class Scheme(Protocol):
    """The interface of a scheme that classifies K classes by two-class models."""

    @property
    def name(self) -> str: ...
    def n_models(self, n_classes: int) -> int: ...
    def parts(self, codes: Integers, n_classes: int) -> Iterator[Part]: ...
    def combine(self, H: Array, lengths: Array, n_classes: int) -> Array: ...
    def contenders(self, signs: Any, n_classes: int) -> Any: ...


@lru_cache(maxsize=16)
def pairs(n_classes: int) -> tuple[tuple[int, int], ...]:
    """All pairs (i, j) with i < j, in order. A positive score h_ij speaks for i.

    >>> pairs(3)
    ((0, 1), (0, 2), (1, 2))
    """
    return tuple((i, j) for i in range(n_classes) for j in range(i + 1, n_classes))


def votes(H: Any, n_classes: int) -> Integers:
    """Σ_j sgn h_ij for each class i, (n, K), from h_ij, (n, K(K−1)/2), in the order of ``pairs`` (docs/tour.md, M1).

    h_ji = −h_ij. A score h_ij of exactly zero is a vote for i, the first of the two, since z = 0 predicts +
    (docs/tour.md, D1). scikit-learn does the same.

    >>> votes([[-1.0, -1.0, 1.0]], 3).tolist()  # lecture 003: h₁₂ = −1, h₁₃ = −1, h₂₃ = 1
    [[-2, 2, 0]]
    """
    return np.asarray(_sums(_signs(_pairwise(H, n_classes)), n_classes), dtype=np.int64)


def _signs(H: Array) -> Array:
    return np.where(H >= 0, 1.0, -1.0)


def _pairwise(H: Any, n_classes: int) -> Array:
    scores = np.atleast_2d(np.asarray(H, dtype=np.float64))
    wanted = n_classes * (n_classes - 1) // 2
    if scores.ndim != 2 or scores.shape[1] != wanted:
        raise ParameterError(
            "H", f"its shape is {scores.shape}", f"give {wanted} scores per row, one for each pair of classes"
        )
    return scores


def _sums(H: Array, n_classes: int) -> Array:
    """Σ_j h_ij with h_ji = −h_ij, (n, K)."""
    total = np.zeros((n_classes, len(H))).T  # the sums of a class are contiguous, which halves the time
    for k, (i, j) in enumerate(pairs(n_classes)):
        total[:, i] += H[:, k]
        total[:, j] -= H[:, k]
    return total


@final
@dataclass(frozen=True)
class OneVersusOne:
    """argmax_i Σ_j sgn h_ij(x), each h_ij trained on the rows of classes i and j alone (docs/tour.md, M1).

    Ties between votes are broken by s_i = Σ_j h_ij/‖w_ij‖, the sum of signed distances (of scores, for a model without
    ‖w‖). ``combine`` returns the number of pairs that a class wins plus s_i/(3 (|s_i| + 1)). This is scikit-learn's
    decision function, except that scikit-learn does not divide by ‖w_ij‖.

    >>> [part.rows.tolist() for part in OneVersusOne().parts(np.array([0, 1, 2, 0]), 3)]
    [[0, 1, 3], [0, 2, 3], [1, 2]]
    """

    name: str = "one-versus-one"

    def n_models(self, n_classes: int) -> int:
        return n_classes * (n_classes - 1) // 2

    def parts(self, codes: Integers, n_classes: int) -> Iterator[Part]:
        for i, j in pairs(n_classes):
            rows = np.flatnonzero((codes == i) | (codes == j))
            # With two classes the second is the positive one, as in the whole package.
            for_, against = (i, j) if n_classes > 2 else (j, i)
            yield Part((for_, against), rows, (codes[rows] == for_).astype(np.int64))

    def combine(self, H: Array, lengths: Array, n_classes: int) -> Array:
        s = self.confidence(H, lengths, n_classes)
        won = 0.5 * (_sums(_signs(H), n_classes) + (n_classes - 1))
        return np.asarray(won + TIE_SHARE * s / (np.abs(s) + 1.0))

    def confidence(self, H: Array, lengths: Array, n_classes: int) -> Array:
        """Σ_j h_ij/‖w_ij‖ for each class i, (n, K), which breaks ties between votes."""
        return _sums(H / lengths, n_classes)

    def contenders(self, signs: Any, n_classes: int) -> Any:
        """The classes with the most votes, (n, K)."""
        counted = votes(signs if n_classes > 2 else -np.asarray(signs), n_classes)
        return counted == counted.max(axis=1, keepdims=True)


@final
@dataclass(frozen=True)
class OneVersusRest:
    """argmax_i h_i(x), each h_i trained on all rows, class i against the rest (docs/tour.md, M2).

    >>> [part.target.tolist() for part in OneVersusRest().parts(np.array([0, 1, 2, 0]), 3)]
    [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]
    """

    name: str = "one-versus-rest"

    def n_models(self, n_classes: int) -> int:
        return n_classes if n_classes > 2 else 1

    def parts(self, codes: Integers, n_classes: int) -> Iterator[Part]:
        every = np.arange(len(codes))
        for i in range(n_classes) if n_classes > 2 else (1,):
            yield Part((i, None if n_classes > 2 else 0), every, (codes == i).astype(np.int64))

    def combine(self, H: Array, lengths: Array, n_classes: int) -> Array:
        return H

    def contenders(self, signs: Any, n_classes: int) -> Any:
        """The classes whose own model predicts them, (n, K)."""
        claimed = np.asarray(signs) > 0
        return claimed if n_classes > 2 else np.column_stack([~claimed[:, 0], claimed[:, 0]])


# -------------------------------------------------------------------------------------------------- cost


@dataclass(frozen=True)
class SchemeCost:
    """The cost of a scheme for classes of given sizes (docs/tour.md, M4, M5).

    Attributes
    ----------
    scheme : str
        The name of the scheme.
    models : int
        The number of models.
    rows_trained : int
        The total size of all training sets.
    imbalance : array (models, 2)
        How many rows each model has for its class and against it.
    scores_per_row : int
        The number of models that a prediction evaluates.
    """

    scheme: str
    models: int
    rows_trained: int
    imbalance: Integers
    scores_per_row: int

    @property
    def worst_imbalance(self) -> float:
        """The largest ratio of the larger to the smaller side of a model."""
        return float(np.max(self.imbalance.max(axis=1) / self.imbalance.min(axis=1)))

    def __str__(self) -> str:
        return (
            f"{self.scheme}: {self.models} models, {self.rows_trained} training rows in all, "
            f"worst imbalance 1 : {self.worst_imbalance:.3g}, {self.scores_per_row} scores per prediction"
        )


def cost_of(scheme: Scheme, class_counts: Any) -> SchemeCost:
    """The cost of a scheme for classes of the given sizes; nothing is fitted.

    >>> cost_of(OneVersusRest(), [7, 7, 7]).imbalance.tolist()
    [[7, 14], [7, 14], [7, 14]]
    """
    try:
        counts = np.asarray(class_counts, dtype=np.int64)
    except (TypeError, ValueError):
        counts = np.zeros(0, dtype=np.int64)
    if counts.ndim != 1 or len(counts) < 2 or np.any(counts < 1):
        remedy = (
            "give how many rows each of two or more classes has, as np.unique(y, return_counts=True)[1] of labels y"
        )
        raise ParameterError("class_counts", f"got {class_counts!r}", remedy)
    total = int(counts.sum())
    by_model = []
    for (i, j), _, _ in scheme.parts(np.arange(len(counts)), len(counts)):
        by_model.append([int(counts[i]), total - int(counts[i]) if j is None else int(counts[j])])
    imbalance = np.array(by_model, dtype=np.int64)
    models = len(imbalance)
    return SchemeCost(scheme.name, models, int(imbalance.sum()), imbalance, models)


class Comparison(NamedTuple):
    """The costs of both schemes. ``compare_schemes`` returns one.

    Attributes
    ----------
    one_versus_one, one_versus_rest : SchemeCost
    """

    one_versus_one: SchemeCost
    one_versus_rest: SchemeCost

    def __str__(self) -> str:
        return f"{self.one_versus_one}\n{self.one_versus_rest}"


def compare_schemes(class_counts: Any) -> Comparison:
    """Compare the costs of one versus one and one versus rest, without fitting (docs/tour.md, M5).

    Parameters
    ----------
    class_counts : list of int
        The number of rows of each class.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from separatrix import compare_schemes
    >>> print(compare_schemes([7, 7, 7]))
    one-versus-one: 3 models, 42 training rows in all, worst imbalance 1 : 1, 3 scores per prediction
    one-versus-rest: 3 models, 63 training rows in all, worst imbalance 1 : 2, 3 scores per prediction
    >>> ten = compare_schemes([100] * 10)
    >>> ten.one_versus_one.models, ten.one_versus_rest.models, ten.one_versus_rest.worst_imbalance
    (45, 10, 9.0)
    """
    return Comparison(cost_of(OneVersusOne(), class_counts), cost_of(OneVersusRest(), class_counts))
