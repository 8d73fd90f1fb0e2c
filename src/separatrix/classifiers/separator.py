"""The base class of classifiers that search for a separating hyperplane: one search per problem, one certificate.

Two classes are one problem. K > 2 classes are K problems, each class against the rest, and the largest score decides.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic

import numpy as np

from separatrix.base import errors
from separatrix.base.arrays import Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.messages import Message
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.claim import Claim, Recomputed
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.linear import Approach, LinearClassifier
from separatrix.objectives.problem import Objective
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.linear_programs import least_violation
from separatrix.proofs.offsets import Offsets
from separatrix.proofs.verdicts import Verdict
from separatrix.rows import Rows
from separatrix.rows.in_memory import InMemory
from separatrix.scorers.scorer import Scorer
from separatrix.solvers import Record, State, Status
from separatrix.solvers.state import Memory_co

# Number of entries (rows times columns) up to which the linear program for weights of least violation is solved; larger
# ones would take minutes.
MOST_VIOLATION_ENTRIES = 400_000
COMPROMISE = InMemory("compromise", "its linear program has a constraint for each row")

Facts = Mapping[str, str | float | int]


@dataclass(frozen=True)
class Search(Generic[Memory_co]):
    """The outcome of one search.

    ``W``: weights (1, d + 1) in raw units. ``status``: why the search ended. ``state``: where it ended. ``verdict``:
    what was proven about separability, None if nothing was.
    """

    W: Array
    status: Status
    state: State[Memory_co]
    trace: tuple[Record, ...]
    problem: Objective
    verdict: Verdict | None = None


class SeparatingClassifier(LinearClassifier):
    """A classifier with weights from searches and without probabilities (docs/tour.md, P13).

    ``verdicts_``: what was proven about separability, one entry per problem, None where nothing was proven.
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
        solver: str,
        why: str,
        facts: Facts,
        asked_to_end: bool = True,
    ) -> None:
        """Set one certificate for all searches; with ``asked_to_end``, warn if one did not converge."""
        status = combined_status([search.status for search in searches], task.classes.tolist())
        status = replace(status, sentence=task.told(status.sentence))
        first = searches[0].problem
        with one_blas_thread:
            rank = first.rank
        self.certificate_ = Certificate(
            status=status.sentence,
            code=status.code,
            met=status.met,
            **at.fields(),
            iterations=sum(search.state.iteration for search in searches),
            passes=_passes(searches),
            solver=solver,
            why=f"{solver}: {why}",
            rank=rank,
            full_rank=first.rows.n_features + first.fit_intercept,
            n_parameters=self.n_parameters_,
            n_rows=task.n_rows,
            claim=claim,
            facts=facts,
        )
        if asked_to_end and not status.met:
            warnings.warn(status.sentence, errors.NotConvergedWarning, stacklevel=4)


def _passes(searches: Sequence[Search]) -> int:
    """The passes of all searches. Those over rows outside memory share one counter."""
    return sum({id(search.problem.rows.counter): search.problem.passes for search in searches}.values())


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

    >>> from separatrix.rows import memory_rows
    >>> rows = memory_rows(np.array([[0.0], [3.0], [1.0], [4.0]]), np.array([-1.0, -1.0, 1.0, 1.0]))
    >>> W, what = compromise(rows, True)
    >>> bool(W[0, 1] > 0), what
    (True, 'these weights minimise the mean of max(0, 1 - m) of each class, summed')
    """
    block = COMPROMISE.block(rows)
    X, t = block.X, block.t
    if X.shape[0] * (X.shape[1] + 1) <= MOST_VIOLATION_ENTRIES:
        D = replace(Differences.of_block(block, 2, fit_intercept), is_part=True)
        offsets = Offsets.of(D)
        v = least_violation(offsets.moved(D).take(np.arange(D.count)), t > 0)
        if v is not None:
            return offsets.given(
                D.weights(v)[1:]
            ), "these weights minimise the mean of max(0, 1 - m) of each class, summed"
    low, high = (np.asarray(X[t == sign].mean(axis=0), dtype=np.float64).ravel() for sign in (-1, 1))
    b = -0.5 * float((high - low) @ (high + low)) if fit_intercept else 0.0
    return np.concatenate([[b], high - low])[None, :], "these weights bisect the means of the classes"
