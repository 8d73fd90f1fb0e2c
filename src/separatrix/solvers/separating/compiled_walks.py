"""Calls the compiled perceptron loops for dense or CSR rows in memory. Kernels are loaded on first use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.losses.margin import Zero
from separatrix.rows import Block
from separatrix.rows.csr import is_sparse

# The settings of a walk: η, whether a score of zero is a mistake, whether there is an intercept.
How = tuple[float, bool, bool]


class _Arrays(NamedTuple):
    """The arrays of the rows, and the suffix of the kernel names for them."""

    kind: str
    X: tuple[Any, ...]


def _arrays(rows: Block) -> _Arrays:
    X: Any = rows.X
    if is_sparse(X):
        return _Arrays("sparse", (X.data, X.indices, X.indptr))
    return _Arrays("dense", (np.ascontiguousarray(X),))


def compiled_walk(
    rows: Block,
    order: Integers,
    begin: int,
    end: int,
    w: Array,
    how: How,
    rest: tuple[Any, ...],
    shrinking: bool = False,
) -> tuple[int, int, float]:
    """Process rows ``begin`` to ``end`` by perceptron updates; changes w in place.

    Returns the end position, the number of updates, and Σ max(0, −m), with each margin m computed just before the row
    is processed. ``rest`` holds the remaining arguments of the kernel: whether to end at the first update, and, for the
    mean of the weights, u and the number of rows seen. With ``shrinking`` it holds ρ and τ instead.
    """
    from separatrix.kernels import penalised_perceptron, perceptron

    kind, X = _arrays(rows)
    walk: Any = getattr(penalised_perceptron if shrinking else perceptron, f"walk_{kind}")
    if kind == "dense" and not shrinking and _is_plane_mean(rows, order, *rest):
        from separatrix.kernels import plane_perceptron

        walk, rest = plane_perceptron.walk_plane, rest[1:]
    return walk(*X, rows.t, rows.weight, order, begin, end, w, *how, *rest)  # type: ignore[no-any-return]


def _is_plane_mean(rows: Block, order: Integers, once: bool, u: Array, seen: int) -> bool:
    """Whether the walk takes the mean of the weights over two columns, for which there is a faster loop."""
    return rows.X.shape[1] == 2 and len(order) > 0 and len(u) > 0 and not once


def compiled_walk_of_classes(
    rows: Block, targets: Sequence[Array], order: Integers, W: Array, how: How, U: Array, seen: int
) -> tuple[Integers, Array]:
    """``compiled_walk`` of dense rows of two columns for several targets, (n,) each; changes W and U, (K, 3), in place.

    Returns the number of updates and Σ max(0, −m) for each of the targets.
    """
    from separatrix.kernels import plane_perceptron

    (X,) = _arrays(rows).X
    K, width = len(W), plane_perceptron.CLASSES_AT_ONCE
    made, cost = np.zeros(K, dtype=np.int64), np.zeros(K)
    for first in range(0, K, width):
        own, n_own = slice(first, first + width), min(width, K - first)
        # Targets and weights of zero fill up the last group of classes.
        T, weights, sums = np.zeros((len(X), width)), np.zeros((3, width)), np.zeros((3, width))
        T[:, :n_own] = np.column_stack(targets[own])
        weights[:, :n_own], sums[:, :n_own] = W[own].T, U[own].T
        updates, total = np.zeros(width, dtype=np.int64), np.zeros(width)
        plane_perceptron.walk_plane_classes(X, T, rows.weight, order, weights, *how, sums, seen, updates, total)
        W[own], U[own] = weights[:, :n_own].T, sums[:, :n_own].T
        made[own], cost[own] = updates[:n_own], total[:n_own]
    return made, cost


def compiled_pocket(
    rows: Block, order: Integers, begin: int, end: int, w: Array, how: How, best: tuple[Array, int]
) -> Any:
    """As ``compiled_walk``, but also returns the smallest number of mistakes so far; changes w and the best weights."""
    from separatrix.kernels import perceptron

    kind, X = _arrays(rows)
    walk = getattr(perceptron, f"pocket_{kind}")
    return walk(*X, rows.t, rows.weight, order, begin, end, w, *how, *best)


def compiled_count(rows: Block, order: Integers, w: Array, zero: Zero, most: int) -> tuple[int, int]:
    """The number of mistakes and the number of rows read; counting ends at ``most`` mistakes."""
    from separatrix.kernels import perceptron

    kind, X = _arrays(rows)
    count = getattr(perceptron, f"count_{kind}")
    return count(*X, rows.t, order, w, zero == "mistake", most)  # type: ignore[no-any-return]


def compiled_survey(rows: Block, w: Array, zero: Zero, fit_intercept: bool) -> tuple[int, float, float, Array]:
    """The number of mistakes, Σ max(0, −m), the smallest margin m, and Σ_{mistakes} t x̄."""
    from separatrix.kernels import perceptron

    kind, X = _arrays(rows)
    pull = np.zeros_like(w)
    survey = getattr(perceptron, f"survey_{kind}")
    wrong, cost, smallest = survey(*X, rows.t, w, zero == "mistake", fit_intercept, pull)
    return wrong, cost, smallest, pull
