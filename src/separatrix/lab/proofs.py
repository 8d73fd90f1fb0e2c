"""The verdict on separability as a page shows it: its word, its numbers, and the rows that prove it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import SeparatrixError
from separatrix.lab.fits import fitted
from separatrix.lab.models import Chosen
from separatrix.lab.words import brief_number
from separatrix.proofs.separability import separability
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable
from separatrix.textbook.novikoff import novikoff_bound

# The multipliers of a proof are whole numbers. Larger ones than this are shown as shares of their sum.
LARGEST_MULTIPLIER = 999
# The bound is a whole number on some sets of points, which rounding may put just below itself.
ROUNDING_OF_BOUND = 1e-6


def described_proof(X: Array, y: Integers, names: list[str]) -> dict[str, Any]:
    """The verdict on rows X (n, m) with its facts: the margin and the perceptron's mistakes, or the multipliers λ.

    >>> xor = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    >>> found = described_proof(xor, np.array([0, 0, 1, 1]), ["x₁", "x₂"])
    >>> found["word"], found["facts"]
    ('Not separable', [('λ', 'row 0: 1, row 1: 1, row 2: 1, row 3: 1')])
    """
    try:
        verdict = separability(X, y, names=names)
    except SeparatrixError as error:
        return {"fine": False, "word": "Nothing to separate", "facts": [], "sentence": str(error)} | _NO_ROWS
    words, checked = str(verdict.explain()), " Checked again from the rows." if verdict.verify(X, y) else ""
    shared = {"fine": bool(verdict), "sentence": f"{words[:1].upper()}{words[1:]}.{checked}"}
    match verdict:
        case Separable():
            facts = [("margin", brief_number(verdict.margin)), *_mistakes(X, y)]
            return shared | {"word": "Separable", "facts": facts} | _NO_ROWS
        case Doubtful():
            return shared | {"word": "In doubt", "facts": []} | _NO_ROWS
        case _:
            return shared | {"word": "Not separable"} | _multipliers(verdict)


_NO_ROWS: dict[str, Any] = {"rows": [], "multipliers": []}


def _multipliers(verdict: Inseparable | QuasiSeparable) -> dict[str, Any]:
    """The rows of a proof that no hyperplane separates the classes, and their λ > 0."""
    shares = max(verdict.multipliers) > LARGEST_MULTIPLIER
    shown = [brief_number(one) for one in (verdict.weights if shares else verdict.multipliers)]
    listed = ", ".join(f"row {i}: {one}" for i, one in zip(verdict.rows, shown, strict=True))
    return {"facts": [("λ as shares" if shares else "λ", listed)], "rows": verdict.rows, "multipliers": shown}


def _mistakes(X: Array, y: Integers) -> list[tuple[str, str]]:
    """The mistakes of the perceptron on separable rows of two classes, and the most that the theorem allows."""
    if len(np.unique(y)) != 2:
        return []
    try:
        bound = novikoff_bound(X, y).bound
    except SeparatrixError:  # rows that are separable by less than rounding leave no bound
        return []
    model = fitted(Chosen("perceptron", {}), X, y)
    finished = "" if model.certificate_.code == "separated" else ", not finished"
    most = brief_number(math.floor(bound + ROUNDING_OF_BOUND))
    return [("mistakes of the perceptron", f"{model.mistakes_}{finished}"), ("most that the theorem allows", most)]
