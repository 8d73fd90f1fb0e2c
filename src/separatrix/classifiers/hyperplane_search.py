"""Base classes of classifiers that search for a separating hyperplane.

Two classes are one problem. K > 2 classes are K problems, each class against the rest, and the largest score decides.
Each problem has one search, and all searches have one certificate. ``HullClassifier`` is the base of the two
classifiers that move a point in the convex hull of each class towards the other, ``KozinecClassifier`` and
``MaxMarginClassifier``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self

import numpy as np

from separatrix.classifiers.base import Approach, LinearClassifier
from separatrix.classifiers.fit_input import FitInput, validate
from separatrix.core.base.arrays import Array, check_count, check_flag
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Message
from separatrix.core.base.watching import part
from separatrix.core.certificate import Certificate, Claim, Recomputed
from separatrix.core.problem import Objective
from separatrix.core.proofs.class_differences import Differences
from separatrix.core.proofs.coordinates import Coordinates
from separatrix.core.proofs.linear_programs import least_violation
from separatrix.core.proofs.verdicts import Verdict
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.frame import Frame, power_of_two
from separatrix.core.rows.labelled_table import InMemory
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.views import one_against_rest
from separatrix.core.scorer import Scorer
from separatrix.core.separation_claims import NO_MARGIN, MarginClaim, SeparationClaim, Support, separation_rows
from separatrix.core.solvers.convex_hulls import Extremes
from separatrix.core.solvers.separation_problem import HullMemory, build_separation_objective
from separatrix.core.solvers.state import Memory_co, State
from separatrix.core.solvers.stopping import Record, Status

# Number of entries (rows times columns) up to which the linear program for weights of least violation is solved; larger
# ones would take minutes.
MOST_VIOLATION_ENTRIES = 400_000
COMPROMISE = InMemory("compromise", "its linear program has a constraint for each row")

Facts = Mapping[str, str | float | int]


@dataclass(frozen=True)
class Search(Generic[Memory_co]):
    """The outcome of one search.

    ``W``: weights (1, d + 1) in raw units. ``status``: why the search ended. ``state``: where it ended. ``solver``: the
    name of the solver, and ``why`` it was chosen. ``verdict``: what was proven about separability, None if nothing was.
    """

    W: Array
    status: Status
    state: State[Memory_co]
    trace: tuple[Record, ...]
    problem: Objective
    solver: str
    why: str
    verdict: Verdict | None = None


class SeparatingClassifier(LinearClassifier):
    """A classifier with weights from searches and without probabilities (docs/tour.md, P13).

    ``verdicts_``: what was proven about separability, one entry per problem, None where nothing was proven. Soft
    margins prove nothing about it, so ``LinearSVC`` has none.
    """

    approach: ClassVar[Approach] = "discriminant function"

    def _keep_searches(self, task: FitInput, searches: Sequence[Search]) -> None:
        W = np.vstack([search.W for search in searches])
        self._keep_scorer(Scorer(W, task.classes, "sign" if len(W) == 1 else "identity"))
        self.verdicts_ = tuple(search.verdict for search in searches)
        self.n_iter_ = max(search.state.iteration for search in searches)
        self.trace_ = tuple(record for search in searches for record in search.trace)
        self.n_parameters_ = len(W) * (W.shape[1] - 1 + searches[0].problem.fit_intercept)

    def _certify(
        self,
        task: FitInput,
        searches: Sequence[Search],
        claim: Claim,
        at: Recomputed,
        facts: Facts | None = None,
    ) -> None:
        """Set one certificate for all searches. Its reason for a solver is that of the search whose status it has."""
        status = combined_status([search.status for search in searches], task.classes.tolist())
        status = replace(status, sentence=task.told(status.sentence))
        shown = next((search for search in searches if not search.status.met), searches[0])
        first = searches[0].problem
        with one_blas_thread:
            rank = (first.standard or first).columns.rank
        self.certificate_ = Certificate(
            status=status.sentence,
            code=status.code,
            met=status.met,
            **at.fields(),
            iterations=sum(search.state.iteration for search in searches),
            # Searches over rows outside memory share one counter of passes.
            passes=sum({id(search.problem.rows.counter): search.problem.passes for search in searches}.values()),
            solver=", ".join(sorted({search.solver for search in searches})),
            why=shown.why,
            rank=rank,
            full_rank=first.rows.n_features + first.fit_intercept,
            n_parameters=self.n_parameters_,
            n_rows=task.n_rows,
            claim=claim,
            facts=facts or {},
        )


def combined_status(statuses: Sequence[Status], classes: Sequence[Any]) -> Status:
    """One status for all searches: that of the first one that did not converge, or of the first one."""
    if len(statuses) == 1:
        return statuses[0]
    unmet = [k for k, status in enumerate(statuses) if not status.met]
    if not unmet:
        return Status(statuses[0].code, Message("each class against the rest: ", statuses[0].sentence), True)
    k = unmet[0]
    others = f" ({len(unmet)} of {len(statuses)} classes)" if len(unmet) > 1 else ""
    sentence = Message(f"class {classes[k]!r} against the rest{others}: ", statuses[k].sentence)
    return Status(statuses[k].code, sentence, False)


def compromise(rows: Rows, fit_intercept: bool) -> tuple[Array, str]:
    """Weights (1, d + 1) for classes that no hyperplane separates, and a description of these weights.

    They minimise the sum over the classes of the mean of max(0, 1 − m). If the table is too large for that linear
    program, they are the perpendicular bisector of the classes' means.

    >>> from separatrix.core.rows.memory_rows import memory_rows
    >>> rows = memory_rows(np.array([[0.0], [3.0], [1.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0]))
    >>> W, what = compromise(rows, True)
    >>> bool(W[0, 1] > 0), what
    (True, 'these weights minimise the mean of max(0, 1 - m) of each class, summed')
    """
    block = COMPROMISE.block(rows)
    X, t = block.X, block.t
    if X.shape[0] * (X.shape[1] + 1) <= MOST_VIOLATION_ENTRIES:
        D = replace(Differences.of_block(block, 2, fit_intercept), is_part=True)
        coordinates = Coordinates.of(D)
        v = least_violation(coordinates.moved(D).take(np.arange(D.count)), t > 0)
        if v is not None:
            what = "these weights minimise the mean of max(0, 1 - m) of each class, summed"
            return coordinates.rounded(D.weights(v)[1:]), what
    low, high = (np.asarray(X[t == sign].mean(axis=0), dtype=np.float64).ravel() for sign in (-1, 1))
    b = -0.5 * float((high - low) @ (high + low)) if fit_intercept else 0.0
    return np.concatenate([[b], high - low])[None, :], "these weights bisect the means of the classes"


# --- Convex hulls


def isotropic(rows: Rows, fit_intercept: bool, names: list[str] | None) -> Objective:
    """The objective of rows centred at their mean and divided by one power of two, which keeps angles and ratios."""
    problem = build_separation_objective(rows, fit_intercept, names)
    summary = summarise(problem.rows)
    spread = summary.std if fit_intercept else np.hypot(summary.std, summary.mean)
    unit = power_of_two(np.array([spread.max(initial=0.0)]))[0]
    center = summary.mean if fit_intercept else np.zeros_like(summary.mean)
    return problem.with_(frame=Frame(center, np.full(len(center), unit)))


def _unit(W: Array) -> Array:
    """(b, w)/‖w‖: scores are then signed distances."""
    length = float(np.linalg.norm(W[0, 1:]))
    return W / length if length > 0 else W


class HullClassifier(SeparatingClassifier):
    """A classifier with one search and its support rows per problem; if a search fails, weights of least violation."""

    fit_intercept: bool = True
    max_iter: int
    margin_: float

    @abstractmethod
    def _search(self, rows: Rows, names: list[str] | None) -> tuple[Search[HullMemory], Support]:
        """Search for the hyperplane of one problem."""

    def _check_settings(self) -> None:
        check_flag("fit_intercept", self.fit_intercept)
        check_count("max_iter", self.max_iter)

    def _keep_supports(self, found: Sequence[tuple[Search[HullMemory], Support]]) -> None:
        """Set what a classifier keeps of its support rows."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            Rows.
        y : array (n,)
            Class labels.

        Returns
        -------
        self
        """
        self._check_settings()
        task, fit_intercept = validate(self, X, y), bool(self.fit_intercept)
        rows = separation_rows(task.X, task.codes, task.n_classes)
        every, found = one_against_rest(rows, task.n_classes), list[tuple[Search[HullMemory], Support]]()
        for k, each in enumerate(every, 1):
            with part("class", k, len(every)):
                found.append(self._search(each, task.names))
        # The certificate counts the passes of the searches, and these rows have counters of their own.
        parts = zip(one_against_rest(rows, task.n_classes), found, strict=True)
        searches = [self._or_compromise(each, searched, fit_intercept) for each, (searched, _) in parts]
        if len(searches) > 1:  # so that scores compare: rows held at the same margin by two classes would tie
            searches = [replace(one, W=_unit(one.W)) for one in searches]
        self._keep_searches(task, searches)
        claim = MarginClaim(self.scorer_, fit_intercept, tuple(support for _, support in found))
        margins = claim.margins(rows)
        self.margin_ = min(lower for lower, _ in margins)
        at = claim.at(margins)
        facts: dict[str, str | float | int] = {"margin": self.margin_}
        if np.isfinite(at.objective):
            facts["ceiling"] = "no margin exceeds " + ", ".join(f"{upper:.10g}" for _, upper in margins)
            self._certify(task, searches, claim, at, facts)
        else:  # a problem without a separator: the certificate states the perceptron's cost
            plain = SeparationClaim(self.scorer_, fit_intercept, bound=NO_MARGIN)
            self._certify(task, searches, plain, plain.of_rows(rows), facts)
        self._keep_supports(found)
        self._warn_if_unmet()
        return self

    def _or_compromise(self, rows: Rows, search: Search[HullMemory], fit_intercept: bool) -> Search[HullMemory]:
        """The search; if it found no separator, with the weights of ``compromise``, which its status describes."""
        if search.state.memory.lower > 0:
            return search
        W, what = compromise(rows, fit_intercept)
        wrong = rows.fold(Extremes(W)).errors
        they = "and separate the rows" if wrong == 0 else f"and have {wrong} row{'' if wrong == 1 else 's'} wrong"
        status = replace(search.status, sentence=Message(search.status.sentence, f"; {what}, {they}"))
        return replace(search, W=W, status=status)
