"""Novikoff's theorem on a perceptron's fit: how many mistakes it can have made (docs/tour.md, P6, P12)."""

from __future__ import annotations

from typing import Any

from separatrix.base.arrays import Array
from separatrix.classifiers.separator import Facts, Search
from separatrix.proofs.verdicts import Separable
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.textbook.novikoff import Theorem, theorem


def theorem_facts(model: Any, search: Search[PerceptronMemory], starts: Array) -> Facts:
    """The theorem's bounds by the separator that is known: these weights, or the proof's.

    The theorem is about whole updates by one row of all, so it says nothing of a batch, of weighted updates, of a
    penalty or of rows set aside.
    """
    if model.update == "batch" or model.class_weight is not None or model.penalty is not None or model.early_stopping:
        return {}
    if search.state.memory.errors == 0 and search.state.memory.known_survey.smallest > 0:
        separator, whose = search.W[0], "these weights"
    elif isinstance(search.verdict, Separable):
        separator, whose = search.verdict.v, "a separator known from a linear program"
    else:
        return {}
    try:
        found: Theorem = theorem(search.problem, separator, starts[0], float(model.eta0))
    except (OverflowError, ZeroDivisionError):  # rows or rates at the ends of float64
        return {}
    sentence = (
        f"at most {found.bound:.4g} mistakes from w = 0, {found.bound_from_start:.4g} from this start "
        f"(R = {found.R:.4g}, γ/‖w*‖ = {found.gamma / found.length:.4g}, w*: {whose})"
    )
    return {"theorem": sentence}
