"""What the classifiers that bring two hulls' points together share: coordinates, a fallback, a certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.messages import Message
from separatrix.base.watching import part
from separatrix.certificates.separation_claims import NO_MARGIN, MarginClaim, SeparationClaim, Support, targets
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.separator import Search, SeparatingClassifier, compromise
from separatrix.objectives.problem import Objective
from separatrix.rows import Frame, memory_rows, summarise
from separatrix.rows.frame import power_of_two
from separatrix.solvers.separating.kozinec import sides
from separatrix.solvers.separating.rules import build_separation_objective
from separatrix.solvers.separating.search_memories import HullMemory


def isotropic(task: FitInput, t: Array, fit_intercept: bool) -> Objective:
    """The rows around their mean, all columns in one unit, a power of two: distances stay as they are, but for it."""
    problem = build_separation_objective(memory_rows(task.X, t), fit_intercept, task.names)
    summary = summarise(problem.rows)
    spread = summary.std if fit_intercept else np.hypot(summary.std, summary.mean)
    unit = power_of_two(np.array([spread.max(initial=0.0)]))[0]
    center = summary.mean if fit_intercept else np.zeros_like(summary.mean)
    return problem.with_(frame=Frame(center, np.full(len(center), unit)))


def _unit(W: Array) -> Array:
    """(b, w)/‖w‖: scores are then signed distances."""
    length = float(np.linalg.norm(W[0, 1:]))
    return W / length if length > 0 else W


def searched(
    task: FitInput, search: Callable[[FitInput, Array], tuple[Search[HullMemory], Support]]
) -> list[tuple[Search[HullMemory], Support]]:
    """The outcome of the search for every problem."""
    every, found = targets(task.codes, task.n_classes), list[tuple[Search[HullMemory], Support]]()
    for k, t in enumerate(every, 1):
        with part("class", k, len(every)):
            found.append(search(task, t))
    return found


class HullClassifier(SeparatingClassifier):
    """A search and the support of its hull points for each problem; weights of least violation where it failed."""

    margin_: float

    def _keep_hulls(
        self,
        task: FitInput,
        found: Sequence[tuple[Search[HullMemory], Support]],
        solver: str,
        why: str,
        fit_intercept: bool,
    ) -> None:
        """Set all that is fitted, with the certificate; where a problem has no separator, by the perceptron's cost."""
        parts = list(zip(targets(task.codes, task.n_classes), [search for search, _ in found], strict=True))
        searches = [self._or_compromise(task, t, search, fit_intercept) for t, search in parts]
        if len(searches) > 1:  # so that scores compare: rows held at the same margin by two classes would tie
            searches = [replace(search, W=_unit(search.W)) for search in searches]
        self._keep_searches(task, searches)
        claim = MarginClaim(self.scorer_, fit_intercept, tuple(support for _, support in found))
        margins = [claim.margins(task.X, t, k) for k, (t, _) in enumerate(parts)]
        self.margin_ = min(lower for lower, _ in margins)
        at = claim.of_codes(task.X, task.codes)
        facts: dict[str, str | float | int] = {"margin": self.margin_}
        if np.isfinite(at.objective):
            facts["ceiling"] = "no margin exceeds " + ", ".join(f"{upper:.10g}" for _, upper in margins)
            self._certify(task, searches, claim, at, solver, why, facts)
            return
        plain = SeparationClaim(self.scorer_, fit_intercept, bound=NO_MARGIN)
        at = plain.recompute(task.X, task.classes[task.codes])
        self._certify(task, searches, plain, at, solver, why, facts)

    def _or_compromise(
        self, task: FitInput, t: Array, search: Search[HullMemory], fit_intercept: bool
    ) -> Search[HullMemory]:
        """The search, or where it found no separator the weights of least violation, said so in its status."""
        if search.state.memory.lower > 0:
            return search
        W, what = compromise(task.X, t, fit_intercept)
        wrong = sides(build_separation_objective(memory_rows(task.X, t), fit_intercept), W).errors
        they = "and separate the rows" if wrong == 0 else f"and have {wrong} row{'' if wrong == 1 else 's'} wrong"
        status = replace(search.status, sentence=Message(search.status.sentence, f"; {what}, {they}"))
        return replace(search, W=W, status=status)
