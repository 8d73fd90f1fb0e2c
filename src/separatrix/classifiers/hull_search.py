"""Shared code of ``KozinecClassifier`` and ``MaxMarginClassifier``: coordinates, a fallback, a certificate.

Both move a point in the convex hull of each class towards the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.messages import Message
from separatrix.base.watching import part
from separatrix.certificates.separation_claims import NO_MARGIN, MarginClaim, SeparationClaim, Support
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.separator import Search, SeparatingClassifier, compromise
from separatrix.objectives.problem import Objective
from separatrix.rows import Frame, Rows, summarise
from separatrix.rows.frame import power_of_two
from separatrix.rows.one_against_rest import one_against_rest
from separatrix.solvers.separating.kozinec import Extremes
from separatrix.solvers.separating.search_memories import HullMemory
from separatrix.solvers.separating.separation_objective import build_separation_objective


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


def searched(
    rows: Rows, task: FitInput, search: Callable[[Rows, list[str] | None], tuple[Search[HullMemory], Support]]
) -> list[tuple[Search[HullMemory], Support]]:
    """The outcome of the search for every problem, each class against the rest."""
    every, found = one_against_rest(rows, task.n_classes), list[tuple[Search[HullMemory], Support]]()
    for k, each in enumerate(every, 1):
        with part("class", k, len(every)):
            found.append(search(each, task.names))
    return found


class HullClassifier(SeparatingClassifier):
    """A classifier with one search and its support rows per problem; if a search fails, weights of least violation."""

    margin_: float

    def _keep_hulls(
        self,
        task: FitInput,
        rows: Rows,
        found: Sequence[tuple[Search[HullMemory], Support]],
        solver: str,
        why: str,
        fit_intercept: bool,
    ) -> None:
        """Set the fitted attributes. If a problem has no separator, the certificate states the perceptron's cost."""
        parts = zip(one_against_rest(rows, task.n_classes), found, strict=True)
        searches = [self._or_compromise(each, search, fit_intercept) for each, (search, _) in parts]
        if len(searches) > 1:  # so that scores compare: rows held at the same margin by two classes would tie
            searches = [replace(search, W=_unit(search.W)) for search in searches]
        self._keep_searches(task, searches)
        claim = MarginClaim(self.scorer_, fit_intercept, tuple(support for _, support in found))
        margins = claim.margins(rows)
        self.margin_ = min(lower for lower, _ in margins)
        at = claim.at(margins)
        facts: dict[str, str | float | int] = {"margin": self.margin_}
        if np.isfinite(at.objective):
            facts["ceiling"] = "no margin exceeds " + ", ".join(f"{upper:.10g}" for _, upper in margins)
            self._certify(task, searches, claim, at, solver, why, facts)
            return
        plain = SeparationClaim(self.scorer_, fit_intercept, bound=NO_MARGIN)
        self._certify(task, searches, plain, plain.of_rows(rows), solver, why, facts)

    def _or_compromise(self, rows: Rows, search: Search[HullMemory], fit_intercept: bool) -> Search[HullMemory]:
        """The search; if it found no separator, with the weights of ``compromise``, which its status describes."""
        if search.state.memory.lower > 0:
            return search
        W, what = compromise(rows, fit_intercept)
        wrong = rows.fold(Extremes(W)).errors
        they = "and separate the rows" if wrong == 0 else f"and have {wrong} row{'' if wrong == 1 else 's'} wrong"
        status = replace(search.status, sentence=Message(search.status.sentence, f"; {what}, {they}"))
        return replace(search, W=W, status=status)
