"""Novikoff's bound on the number of mistakes, for the certificate of a perceptron (docs/tour.md, P6, P12)."""

from __future__ import annotations

from typing import Any

from separatrix.base.arrays import Array
from separatrix.classifiers.separator import Facts, Search
from separatrix.proofs.verdicts import Separable
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.textbook.novikoff import Theorem, theorem


def theorem_facts(model: Any, search: Search[PerceptronMemory], starts: Array) -> Facts:
    """The theorem's bounds for a known separator: the fitted weights, or the proof of separability.

    The theorem is about unweighted updates by single rows of the whole table. It does not apply to batch updates, class
    weights, a penalty or validation rows.
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
    except (OverflowError, ZeroDivisionError):  # rows or learning rates near the limits of float64
        return {}
    sentence = (
        f"at most {found.bound:.4g} mistakes from w = 0, {found.bound_from_start:.4g} from this start "
        f"(R = {found.R:.4g}, γ/‖w*‖ = {found.gamma / found.length:.4g}, w*: {whose})"
    )
    return {"theorem": sentence}
