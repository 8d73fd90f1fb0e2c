r"""The likelihood of K classes in the limit along a recession direction, where each row keeps only some classes.

Along v, the difference between the scores of a row's own class and of another class k either grows without bound or is
constant. In the second case the row i and the class k are a touching pair. In the limit the other classes have
probability zero. So if S_i has the row's own class and the classes that touch it, then

    ℓ(W) = Σ_i s_i [z_{y_i} − log Σ_{k ∈ S_i} exp z_k],

summed over the rows with more than one class left. An offset far below zero excludes a class exactly, because its exp
underflows. The maximum exists, and is unique on the span of the differences x̄_i (e_{y_i} − e_k) of the touching pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.inference.estimate import Estimate, build_objective_of, raw_weights, refined
from separatrix.inference.expansion import expansion
from separatrix.inference.pair_directions import Directions
from separatrix.inference.request import SummaryRequest
from separatrix.objectives.problem import Objective
from separatrix.objectives.subspace import Subspace
from separatrix.proofs.class_differences import Differences, chunks
from separatrix.rows.in_memory import InMemory

# The offset that excludes a class: low enough that exp underflows, and high enough that scores lose no digits.
EXCLUDED_CLASS_OFFSET = -1e4
# Singular values below this share of the largest are treated as zero when the rank of a span is determined.
SMALLEST_SINGULAR_SHARE = 1e-10
SUPREMUM = InMemory("recession", "the supremum of the likelihood depends on the rows that touch a hyperplane")


@dataclass(frozen=True)
class Spans:
    """Orthonormal bases of the span of some pairs, (width, r), and of its complement, (width, width − r)."""

    inside: Array
    across: Array


def spans(D: Differences, pairs: Integers) -> Spans:
    """The spans of some pairs, by a QR factorisation of batches of them and the singular values of its factor R.

    >>> D = Differences(np.array([[1.0], [1.0]]), np.array([0, 1]), 2)
    >>> spans(D, np.arange(2)).across.shape
    (2, 1)
    """
    R = np.zeros((0, D.width))
    for part in chunks(pairs):
        R = np.asarray(np.linalg.qr(np.vstack([R, D.dense(part)]), mode="r"))
    _, values, V = np.linalg.svd(R, full_matrices=True)
    rank = int(np.sum(values > SMALLEST_SINGULAR_SHARE * values.max(initial=0.0)))
    return Spans(np.ascontiguousarray(V[:rank].T), np.ascontiguousarray(V[rank:].T))


def framed(problem: Objective, codes: Integers, K: int, rows: Integers) -> Differences:
    """The differences of some rows in the frame's coordinates, in the columns that are not pinned."""
    X = SUPREMUM.block(problem.rows).homogeneous()[np.ix_(rows, ~problem.pinned)]
    return Differences(X[:, 1:] if problem.fit_intercept else X, codes, K, problem.fit_intercept)


def at_the_supremum(
    among: SummaryRequest, rows: Integers, against: Integers, estimate: Estimate
) -> tuple[Estimate, SummaryRequest, Integers]:
    """The maximum likelihood estimate with the touching classes, and its rows: those with more than one class left."""
    K = len(among.claim.scorer.classes)
    left = np.arange(K) == among.codes[:, None]
    left[rows, against] = True
    inside = np.flatnonzero(left.sum(axis=1) > 1)
    part, left = among.only(inside), left[inside]
    beside = 0.0 if part.offset is None else part.offset
    part = replace(part, offset=np.where(left, beside, EXCLUDED_CLASS_OFFSET))
    problem = build_objective_of(part)
    problem = problem.with_(pinned=problem.pinned | constant(problem, part, estimate.held))
    D = framed(problem, part.codes, K, np.arange(len(inside)))
    i, k = np.nonzero(left & (np.arange(K) != part.codes[:, None]))
    basis = spans(D, D.numbers(i, k)).inside
    # `Directions` has every method of a `Subspace` that an objective calls here.
    problem = problem.with_(known={"subspace": cast(Subspace, Directions(basis, ~problem.pinned))})
    W = problem.offsets
    assert W is not None, "an offset was given"
    raw = problem.rows.frame.to_original(W)[:, : part.X.shape[1] + 1]
    at, hessian = expansion(problem, W)
    start = Estimate(problem, W, raw, estimate.A, raw_weights(problem), part.total_weight, at, hessian, estimate.held)
    return refined(start), part, inside


def constant(problem: Objective, part: SummaryRequest, held: Any) -> Any:
    """Which columns of W are held in the fit to all rows, (width,)."""
    found = np.zeros(problem.shape[1], dtype=bool)
    found[1 : part.X.shape[1] + 1] = held[int(part.claim.fit_intercept) :]
    return found
