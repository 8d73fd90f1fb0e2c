"""One update of a run, in the units of the columns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.textbook.steps.blackboard import written
from separatrix.textbook.steps.methods import HullPoints


@dataclass(frozen=True, eq=False)
class Step:
    """One update: the rows it used, what it added to the weights, and the quality of the new weights.

    ``steps`` returns a sequence of these. ``print(step)`` writes it as on a blackboard. With two classes, or one class
    against the rest, weights ``w`` have the shape (d,) and ``b``, ``z`` and ``m`` are numbers. A softmax model has K
    scores: ``w`` (K, d), ``b``, ``z`` and ``t`` (K,), ``m`` None.

    Attributes
    ----------
    number : int
        k, the number of updates so far. 0 is the start.
    kind : "start", "update" or "answer"
        An answer is the last item if the fitted weights are not those of the last update: a mean, a pocket, or the
        weights after final Newton steps.
    method : str
        The name of the solver.
    part : int
        The row of ``coef_`` that the run finds: with K classes, one run follows the other. 0 for two classes.
    epoch : int or None
        The epoch, counted from 1, for methods with epochs.
    rows : array of int, or None
        The numbers of the rows that the update used, None for all rows.
    x, t, z, m : array (d,), float, float, float
        If the update used a single row: the row, its target, and its score and margin before the update; else None.
    z_after, m_after : float
        The score and margin of that row after the update.
    mistake : bool
        Whether that row was on the wrong side before the update.
    eta : float or None
        The step size: the learning rate; for Newton's method the share of the full step; for Kozinec's algorithm the
        share of the way to the row that the point moves. None if the method has none.
    w_before, b_before, w, b : array (d,) and float
        The weights before and after the update, in the form of ``coef_`` and ``intercept_``.
    w_added, b_added : array (d,) and float
        The amounts that were added to the weights.
    w_gradient, b_gradient : array (d,) and float, or None
        The gradient of the cost before the update, for methods that follow it.
    cost, cost_before : float
        The cost over all rows, after and before the update.
    cost_name : str
        "E_p": the perceptron's Σ max(0, −m). "E": the objective, as ``certificate_.objective``. "½‖α − β‖": half the
        distance of two points of the classes' hulls.
    wrong, n_rows : int
        The number of rows on the wrong side after the update, and the number of all rows.
    wrong_rows : array (wrong,) of int
        The numbers of the rows on the wrong side.
    bound : float or None
        A proven bound on the run.
    bound_name : str
        The quantity that ``bound`` limits. "mistakes": the perceptron makes at most this many updates. "gap": E exceeds
        its minimum by at most this. "margin": no hyperplane has a larger one.
    margin : float or None
        For methods that search for a margin: the smallest signed distance of a row to the hyperplane, negative if the
        row is misclassified.
    hull : HullPoints or None
        For Kozinec's algorithm: its points ``alpha`` and ``beta``, and ``factor`` with w = factor · (α − β).
    weighted : bool
        For perceptrons: whether classes have weights, so that a row of weight s adds s times as much.
    status : str
        For an answer: the certificate's sentence. Otherwise empty.

    Examples
    --------
    >>> import separatrix as sx
    >>> first = sx.steps(sx.Perceptron(shuffle=False), [[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])[1]
    >>> first.kind, first.mistake, first.w.tolist(), first.b
    ('update', True, [-1.0], -1.0)
    >>> print(first)
    Step 1: row 0, x = (1), t = −1
      z = w·x + b = 0·1 + 0 = 0
      m = t z = (−1)·0 = 0: wrong
      w ← w + η t x = (0) + 1·(−1)·(1) = (−1)
      b ← b + η t = 0 + 1·(−1) = −1
      E_p = 11, 2 of 4 rows wrong; at most 260 mistakes
    """

    number: int
    kind: Literal["start", "update", "answer"]
    method: str
    part: int
    epoch: int | None
    rows: Integers | None
    x: Array | None
    t: Any
    z: Any
    m: float | None
    z_after: Any
    m_after: float | None
    mistake: bool | None
    eta: float | None
    w_before: Array
    b_before: Any
    w: Array
    b: Any
    w_added: Array
    b_added: Any
    w_gradient: Array | None
    b_gradient: Any
    cost: float
    cost_before: float
    cost_name: str
    wrong: int
    wrong_rows: Integers
    n_rows: int
    bound: float | None
    bound_name: str
    margin: float | None = None
    hull: HullPoints | None = None
    weighted: bool = False
    status: str = ""

    @property
    def row(self) -> int | None:
        """The number of the row that the update used; None if it used several or all."""
        return int(self.rows[0]) if self.rows is not None and len(self.rows) == 1 else None

    @property
    def gain(self) -> float | None:
        """How much the margin of the row rose, η‖x̄‖² for a perceptron; None without a single row."""
        return None if self.m is None or self.m_after is None else self.m_after - self.m

    def to_dict(self) -> dict[str, Any]:
        """All fields as numbers, strings, lists and None, for JSON.

        Returns
        -------
        dict
        """
        found = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        return {**found, "row": self.row, "gain": self.gain}

    def __str__(self) -> str:
        return written(self)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, HullPoints):
        return {"alpha": value.alpha.tolist(), "beta": value.beta.tolist(), "factor": value.factor}
    return value
