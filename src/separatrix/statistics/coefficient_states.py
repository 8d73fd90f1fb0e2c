"""The state of each coefficient of a maximum-likelihood fit: estimated, not identified, infinite, or not estimable.

Such a fit has three outcomes, which ``certificate_.code`` distinguishes. If there is a maximum, the fit's weights are
the estimates. If the classes are separated, there is no maximum, and no coefficient can be estimated. If they are
quasi-separated, that is, separated except for rows that touch the boundary, the finite coefficients are estimated from
the touching rows (``recession``). If the fit does not show which outcome it has, a proof of separability decides.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias, cast

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.messages import Message, Parameter, Setting
from separatrix.core.linear_algebra import Subspace
from separatrix.core.problem import Objective
from separatrix.core.proofs.class_differences import Differences, chunks
from separatrix.core.proofs.linear_programs import furthest
from separatrix.core.proofs.row_claims import as_rows
from separatrix.core.proofs.separability import touching
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, Separable
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.solvers.driver import delivered, run
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.stopping import Stopping
from separatrix.statistics.covariance import (
    COVARIANCES,
    Covariance,
    Directions,
    Estimate,
    build_objective_of,
    expansion,
    raw_weights,
    refined,
    unmoved,
)
from separatrix.statistics.summary_request import SummaryRequest

ESTIMATED, HELD, OPEN = "estimated", "constant", "not identified"
UP, DOWN, EITHER, NONE = "infinite", "minus infinite", "no finite value", "not estimable"
SAYINGS = {
    HELD: "constant, so not identified beside the intercept, which counts it as zero",
    OPEN: "not identified: collinear with other columns, so other values fit as well",
    UP: "infinite: every direction in which the likelihood grows raises it",
    DOWN: "minus infinite: every direction in which the likelihood grows lowers it",
    EITHER: "without a value: directions in which the likelihood grows disagree on its sign",
}
# A state for each contrast and coefficient.
States: TypeAlias = tuple[tuple[str, ...], ...]


# Distances between the fit and the maximum, in standard errors: above the first, a note reports the distance; above the
# second, the fitted weights are not accepted as estimates.
SMALLEST_NOTED_DISTANCE, LARGEST_ESTIMATE_DISTANCE = 0.01, 0.5
REMEDIES = Message(
    "fit with ",
    Setting("bias_reduction", "firth"),
    ", with a ridge (a finite ",
    Parameter("C"),
    "), or without the columns that separate",
)


@dataclass(frozen=True)
class Findings:
    """Coefficients (q, m), their states (q, m), and their covariance, or the reason for its absence (``withheld``).

    ``estimate`` and ``asked`` refer to the rows that the numbers were computed from. ``on_the_way`` is the estimate
    from all rows, if the fit stopped while its weights diverged.
    """

    estimate: Estimate
    asked: SummaryRequest
    coef: Array
    states: States
    covariance: Covariance | None
    withheld: str | None
    notes: tuple[str, ...] = ()
    has_likelihood: bool = True
    on_the_way: Estimate | None = None

    @property
    def estimated(self) -> Any:
        """Which coefficients have a standard error, (q, m)."""
        return (np.array(self.states) == ESTIMATED) & (self.covariance is not None)


def find(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a fit, which depend on its outcome."""
    certificate = asked.model.certificate_
    finite = asked.penalised or asked.firth or (certificate.met and not estimate.is_flat)
    cases = {"separated": separated, "quasi-separated": quasi_separated}
    case = cases.get(certificate.code, at_a_maximum if finite else unfinished)
    return case(asked, estimate, kind, groups)


def at_a_maximum(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a likelihood that has a maximum, or for a penalised fit."""
    states = tuple(
        HELD if held else ESTIMATED if known else OPEN
        for held, known in zip(estimate.held, estimate.identified, strict=True)
    )
    withheld = _withheld(asked, estimate, kind)
    at, notes = estimate, list[str]()
    if not (asked.penalised or asked.firth or withheld):
        at = refined(estimate)
        if estimate.distance > SMALLEST_NOTED_DISTANCE:
            notes = [
                f"the numbers are those of the maximum, {estimate.distance:.2g} standard errors from where the fit "
                "stopped; a smaller tol brings the model nearer"
            ]
    covariance = None if withheld else COVARIANCES[kind].build(at, asked, groups)
    alike = (states,) * len(estimate.A)
    notes += _named_states(asked, estimate, alike)
    return Findings(at, asked, at.coefficients, alike, covariance, withheld, tuple(notes))


def separated(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for separated classes: no coefficient can be estimated."""
    sentence = Message(
        "the classes are separated: the likelihood keeps growing and has no maximum, so no coefficient can be "
        "estimated; ",
        REMEDIES,
    )
    return _nothing(asked, estimate, sentence)


def unfinished(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a fit without a penalty that did not converge or whose likelihood is nearly flat.

    Its weights may be diverging.
    """
    found = recession(asked, estimate)
    if isinstance(found, Doubtful):
        there = at_a_maximum(asked, estimate, kind, groups)
        unproven = f"whether the likelihood has a maximum could not be proven: {found.explain()}"
        return replace(there, notes=(*there.notes, unproven))
    if isinstance(found, Inseparable):
        return at_a_maximum(asked, estimate, kind, groups)
    return without_a_maximum(found, asked, estimate, kind, groups)


def quasi_separated(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a fit whose certificate says that the classes are quasi-separated."""
    sentence = "the classes are separated but for rows that touch, so some coefficients are infinite"
    if asked.penalised:
        return _nothing(asked, estimate, Message(sentence, "; the fit is penalised in other columns; ", REMEDIES))
    found = recession(asked, estimate)
    if isinstance(found, Inseparable | Doubtful):
        unproven = f"which coefficients are infinite could not be proven: {found.explain()}"
        return _nothing(asked, estimate, Message(sentence, f"; {unproven}; ", REMEDIES))
    return without_a_maximum(found, asked, estimate, kind, groups)


def without_a_maximum(
    found: Recession | Separable, asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any
) -> Findings:
    """The findings for quasi-separated classes, whose touching rows determine the finite coefficients."""
    if isinstance(found, Separable):
        return separated(asked, estimate, kind, groups)
    part = found.estimate
    named = {0.0: ESTIMATED, 1.0: UP, -1.0: DOWN}
    states = tuple(
        tuple(
            HELD if held else OPEN if not known else named.get(float(sign), EITHER)
            for held, known, sign in zip(estimate.held, estimate.identified, signs, strict=True)
        )
        for signs in found.signs
    )
    coef = part.coefficients
    with np.errstate(invalid="ignore"):  # 0 · ∞ for finite coefficients
        coef[found.signs != 0] = (found.signs * np.inf)[found.signs != 0]
    withheld = _withheld(found.asked, part, kind)
    within = None if groups is None else np.asarray(groups)[found.touching]
    covariance = None if withheld else COVARIANCES[kind].build(part, found.asked, within)
    notes = (
        Message(
            "the classes are separated but for rows that touch: the likelihood has a supremum and no maximum; finite "
            f"coefficients are estimated from the {len(found.touching)} touching rows, the others have probability one "
            "in the limit; ",
            REMEDIES,
        ),
        *_named_states(asked, estimate, states),
    )
    return Findings(part, found.asked, coef, states, covariance, withheld, notes, on_the_way=estimate)


def _nothing(asked: SummaryRequest, estimate: Estimate, sentence: str) -> Findings:
    """The findings if no coefficient has a value, with the reason."""
    coef = np.full((len(estimate.A), len(estimate.Phi)), np.nan)
    states = ((NONE,) * len(estimate.Phi),) * len(estimate.A)
    return Findings(estimate, asked, coef, states, None, sentence, has_likelihood=False)


def _withheld(asked: SummaryRequest, estimate: Estimate, kind: str) -> str | None:
    """Why there are no standard errors; None if there are."""
    if asked.penalised:
        return Message(
            f"the fit is penalised (C={asked.claim.C:g}): its coefficients are biased by an amount that the rows "
            "do not show, so standard errors, p-values, intervals, AIC and BIC would mislead; fit with ",
            Setting("C", np.inf),
        )
    if asked.class_weighted and not COVARIANCES[kind].robust:
        return (
            "the fit has class weights, so its curvature is not the information in the rows and classical standard "
            "errors would be wrong; ask for covariance='HC1', or fit without class_weight"
        )
    certificate = asked.model.certificate_
    if not certificate.met and not asked.firth and estimate.distance > LARGEST_ESTIMATE_DISTANCE:
        return f"the fit has not reached the maximum ({certificate.status}); fit with more iterations"
    return None


def estimate_names(asked: SummaryRequest) -> tuple[str, ...]:
    """The names of the coefficients; the intercept, if there is one, comes first."""
    return (*(("intercept",) if asked.claim.fit_intercept else ()), *asked.names)


def _named_states(asked: SummaryRequest, estimate: Estimate, states: States) -> list[str]:
    """A sentence for each unusual state, with the names of the coefficients in it.

    A coefficient whose state differs between classes is named together with its class.
    """
    names, classes = estimate_names(asked), asked.claim.scorer.classes.tolist()
    labels = [classes[int(np.argmax(row))] for row in estimate.A]
    said: dict[str, list[str]] = {state: [] for state in SAYINGS}
    for name, own in zip(names, zip(*states, strict=True), strict=True):
        for label, state in zip(labels, own, strict=True) if len(set(own)) > 1 else [(None, own[0])]:
            if state in said:
                said[state].append(name if label is None else f"{name} of {label!r}")
    return [f"{', '.join(held)}: {SAYINGS[state]}" for state, held in said.items() if held]


# --- The supremum of the likelihood if the classes are quasi-separated

# A coefficient that changes by less than this, relative to the size of the box, is taken to be constant. The tolerance
# of the linear programs is 1e-7.
SMALLEST_MOVE = 1e-6
# The number of rows in the first working set, and the most rows that one round adds.
ROWS_PER_ROUND = 500
# The tolerance of the fit to the touching rows, relative to the null model's loss.
SUPREMUM_TOLERANCE = 1e-14
# The offset that excludes a class: low enough that exp underflows, and high enough that scores lose no digits.
EXCLUDED_CLASS_OFFSET = -1e4
# Singular values below this share of the largest are treated as zero when the rank of a span is determined.
SMALLEST_SINGULAR_SHARE = 1e-10
SUPREMUM = InMemory("recession", "the supremum of the likelihood depends on the rows that touch a hyperplane")


@dataclass(frozen=True)
class Recession:
    """The finite part, estimated on the ``touching`` rows, and the ``signs`` (q, m) of the coefficients.

    A sign is 0 for a finite coefficient, ±1 for an infinite one, and NaN if directions disagree.
    """

    estimate: Estimate
    asked: SummaryRequest
    touching: Integers
    signs: Array


def recession(asked: SummaryRequest, estimate: Estimate) -> Recession | Separable | Inseparable | Doubtful:
    """The supremum of a likelihood without a maximum, or the verdict on the rows if they are not quasi-separable.

    ``estimate`` is the point at which the fit stopped; it supplies the coordinates and the fixed coefficients.

    With A the rows t_i x̄_i (of K classes the differences (e_{y_i} − e_k) ⊗ x̄_i, a row for each pair of a row and
    another class), the log-likelihood never falls along v if A v ≥ 0: these v are the recession cone. If the classes
    are quasi-separable, the touching rows have A v = 0 for the whole cone, and some v has A v > 0 on all others. So the
    supremum is that of the touching rows alone, since the others have probability one in the limit, and

        a coefficient is finite       if it is constant along the whole cone, that is, if the touching rows identify it
        it is +∞ (or −∞)              if it grows (falls) along every direction inside the cone
        it has no value               if directions disagree

    Albert and Anderson, On the existence of maximum likelihood estimates in logistic regression models, Biometrika 71
    (1984), which also treats K classes; Geyer, Likelihood inference in exponential families and directions of
    recession, Electronic Journal of Statistics 3 (2009).
    """
    K = len(asked.claim.scorer.classes)
    counted = np.flatnonzero(asked.weight * asked.claim.class_weights[asked.codes] > 0)
    among = asked.only(counted)
    D = Differences(as_rows(among.X), among.codes, K, among.claim.fit_intercept)
    on = touching(D)
    if not isinstance(on, np.ndarray):
        return on
    supremum = _supremum_of_classes if K > 2 else _supremum_of_two
    finite, part, inside = supremum(among, *D.named(on), estimate)
    signs = _signs(framed(estimate.problem, among.codes, K, counted), on, estimate)
    return Recession(finite, part, counted[inside], signs)


def _supremum_of_two(
    among: SummaryRequest, rows: Integers, against: Integers, estimate: Estimate
) -> tuple[Estimate, SummaryRequest, Integers]:
    """The maximum likelihood estimate on the touching rows of two classes. It exists, because these rows overlap."""
    part = among.only(rows)
    problem = build_objective_of(part)
    problem = problem.with_(pinned=problem.pinned | _held_columns(problem, part, estimate.held))
    start = np.zeros(problem.shape) if problem.offsets is None else problem.offsets
    outcome = run(Newton(), problem, start, Stopping(tol=SUPREMUM_TOLERANCE, max_iter=200))
    raw, outcome = delivered(outcome, problem)
    W = outcome.state.W
    at, hessian = expansion(problem, W)
    total = part.total_weight
    found = Estimate(problem, W, raw, estimate.A, raw_weights(problem), total, at, hessian, estimate.held)
    return found, part, rows


def _supremum_of_classes(
    among: SummaryRequest, rows: Integers, against: Integers, estimate: Estimate
) -> tuple[Estimate, SummaryRequest, Integers]:
    """The maximum likelihood estimate with the touching classes, and its rows: those with more than one class left.

    Along a recession direction, the difference between the scores of a row's own class and of another class k either
    grows without bound or is constant. In the second case the row i and the class k are a touching pair. In the limit
    the other classes have probability zero. So if S_i has the row's own class and the classes that touch it, then

        ℓ(W) = Σ_i s_i [z_{y_i} − log Σ_{k ∈ S_i} exp z_k],

    summed over the rows with more than one class left. An offset far below zero excludes a class exactly, because its
    exp underflows. The maximum exists, and is unique on the span of the differences x̄_i (e_{y_i} − e_k) of the
    touching pairs.
    """
    K = len(among.claim.scorer.classes)
    left = np.arange(K) == among.codes[:, None]
    left[rows, against] = True
    inside = np.flatnonzero(left.sum(axis=1) > 1)
    part, left = among.only(inside), left[inside]
    beside = 0.0 if part.offset is None else part.offset
    part = replace(part, offset=np.where(left, beside, EXCLUDED_CLASS_OFFSET))
    problem = build_objective_of(part)
    problem = problem.with_(pinned=problem.pinned | _held_columns(problem, part, estimate.held))
    D = framed(problem, part.codes, K, np.arange(len(inside)))
    i, k = np.nonzero(left & (np.arange(K) != part.codes[:, None]))
    basis, _ = spans(D, D.numbers(i, k))
    # `Directions` has every method of a `Subspace` that an objective calls here.
    problem = problem.with_(subspace=cast(Subspace, Directions(basis, ~problem.pinned)))
    W = problem.offsets
    assert W is not None, "an offset was given"
    raw = problem.rows.frame.to_original(W)[:, : part.X.shape[1] + 1]
    at, hessian = expansion(problem, W)
    start = Estimate(problem, W, raw, estimate.A, raw_weights(problem), part.total_weight, at, hessian, estimate.held)
    return refined(start), part, inside


def _held_columns(problem: Objective, part: SummaryRequest, held: Any) -> Any:
    """Which columns of W are held in the fit to all rows, (width,)."""
    found = np.zeros(problem.shape[1], dtype=bool)
    found[1 : part.X.shape[1] + 1] = held[int(part.claim.fit_intercept) :]
    return found


def _signs(D: Differences, on: Integers, estimate: Estimate) -> Array:
    """The sign of each coefficient inside the cone {v: A v ≥ 0}, (q, m).

    Zero for a coefficient that does not change, NaN if directions disagree. Two linear programs determine the sign:
    they maximise and minimise the coefficient over the cone within a box.
    """
    A, problem = estimate.A, estimate.problem
    F: Array = np.asarray(np.kron(A if D.K == 2 else A[:, 1:], estimate.Phi[:, ~problem.pinned]), dtype=np.float64)
    _, N = spans(D, on)
    off = np.setdiff1d(np.arange(D.count), on, assume_unique=True)
    across = np.vstack([D.dense(part) @ N for part in chunks(off)])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    found = np.zeros(len(F))
    moving = ~unmoved(F, N, problem.rows.frame) & np.tile(estimate.identified, len(A))
    for j in np.flatnonzero(moving):
        along = F[j] @ N
        along /= np.linalg.norm(along)
        most, least = reach(across, along), -reach(across, -along)
        # The touching rows do not identify the coefficient, so it changes along the cone. If neither program finds a
        # change, the cone is too narrow for their tolerance.
        up, down = most > SMALLEST_MOVE, least < -SMALLEST_MOVE
        found[j] = np.nan if up == down else 1.0 if up else -1.0
    return found.reshape(len(A), -1)


def reach(B: Array, along: Array) -> float:
    """The largest ``along``·u with B u ≥ 0 and |u| ≤ 1; NaN if HiGHS fails.

    A working set holds the rows of B that the linear program needs; rows that the last solution violates are added.

    >>> reach(np.array([[1.0, 0.0], [-1.0, -1.0]]), np.array([0.0, 1.0]))
    0.0
    """
    working = np.unique(np.linspace(0, len(B) - 1, min(len(B), ROWS_PER_ROUND)).astype(np.int64))
    while True:
        u = furthest(B[working], along)
        if u is None:
            return float("nan")
        margins = B @ u
        margins[working] = 0.0
        broken = np.flatnonzero(margins < -SMALLEST_MOVE / 10)
        if not len(broken):
            return float(along @ u)
        working = np.union1d(working, broken[np.argsort(margins[broken])[:ROWS_PER_ROUND]])


def framed(problem: Objective, codes: Integers, K: int, rows: Integers) -> Differences:
    """The differences of some rows in the frame's coordinates, in the columns that are not pinned."""
    X = SUPREMUM.block(problem.rows).homogeneous()[np.ix_(rows, ~problem.pinned)]
    return Differences(X[:, 1:] if problem.fit_intercept else X, codes, K, problem.fit_intercept)


def spans(D: Differences, pairs: Integers) -> tuple[Array, Array]:
    """Orthonormal bases of the span of some pairs, (width, r), and of its complement, (width, width − r).

    They come from a QR factorisation of batches of pairs and the singular values of its factor R.

    >>> D = Differences(np.array([[1.0], [1.0]]), np.array([0, 1]), 2)
    >>> [basis.shape for basis in spans(D, np.arange(2))]
    [(2, 1), (2, 1)]
    """
    R = np.zeros((0, D.width))
    for part in chunks(pairs):
        R = np.asarray(np.linalg.qr(np.vstack([R, D.dense(part)]), mode="r"))
    _, values, V = np.linalg.svd(R, full_matrices=True)
    rank = int(np.sum(values > SMALLEST_SINGULAR_SHARE * values.max(initial=0.0)))
    return np.ascontiguousarray(V[:rank].T), np.ascontiguousarray(V[rank:].T)
