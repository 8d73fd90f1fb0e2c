"""From two states of a run to the `Step` between them: all numbers in the units of the columns."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from separatrix.base.arrays import Array
from separatrix.rows import Block
from separatrix.rows.csr import is_sparse
from separatrix.solvers.state import State
from separatrix.textbook.steps.methods import Used, WholeSteps, mistaken, user_weights
from separatrix.textbook.steps.step import Step


class Moment(NamedTuple):
    """A place in the sequence of steps: the run, the number of its updates so far, and the states before and after.

    For an answer, both states are the last one of the run.
    """

    part: int
    number: int
    kind: Literal["start", "update", "answer"]
    before: State[Any]
    state: State[Any]


class _Row(NamedTuple):
    """A single row: x, t, its scores and margins before and after, and whether it was on the wrong side before."""

    x: Array | None = None
    t: Any = None
    z: Any = None
    m: float | None = None
    z_after: Any = None
    m_after: float | None = None
    mistake: bool | None = None


def read(method: WholeSteps, moment: Moment, answer: Array, bound: float | None, status: str) -> Step:
    """The step at a moment.

    Parameters
    ----------
    method : WholeSteps
        The method of the run.
    moment : Moment
        The place in the run.
    answer : array (K or 1, d + 1)
        The fitted weights.
    bound : float or None
        What is proven at this moment.
    status : str
        Why the fit ended, for an answer.

    Returns
    -------
    Step
    """
    problem, is_answer = method.problem, moment.kind == "answer"
    before = user_weights(problem, moment.before.W)
    after = answer if is_answer else user_weights(problem, moment.state.W)
    used = method.used(moment.before, moment.state) if moment.kind == "update" else Used(np.zeros(0, dtype=np.int64))
    added = after - before if used.added is None else used.added
    gradient = method.gradient(moment.before, used, added) if moment.kind == "update" else None
    block = problem.rows.resident()
    assert block is not None
    z = _scores(block, after)
    wrong = np.flatnonzero(mistaken(z, block.t, method.zero))
    cost = _cost_of_answer(method, moment.state, answer) if is_answer else method.cost(moment.state)
    margin = method.margin(moment.state)
    if margin is not None and is_answer:
        margin = float(np.min(block.t * z[:, 0]) / np.linalg.norm(answer[0, 1:]))
    w_gradient, b_gradient = (None, None) if gradient is None else _split(gradient)
    (w_before, b_before), (w, b), (w_added, b_added) = _split(before), _split(after), _split(added)
    return Step(
        number=moment.number,
        kind=moment.kind,
        method=method.run.method.name,
        part=moment.part,
        epoch=method.epoch(moment.state),
        rows=used.rows,
        **_row(block, used, before, z, method.zero)._asdict(),
        eta=used.eta,
        w_before=w_before,
        b_before=b_before,
        w=w,
        b=b,
        w_added=w_added,
        b_added=b_added,
        w_gradient=w_gradient,
        b_gradient=b_gradient,
        cost=cost,
        cost_before=method.cost(moment.before),
        cost_name=method.cost_name,
        wrong=len(wrong),
        wrong_rows=wrong,
        n_rows=block.n_rows,
        bound=bound,
        bound_name=method.bound_name,
        margin=margin,
        hull=used.hull,
        weighted=method.weighted,
        status=status if is_answer else "",
    )


def _scores(block: Block, W: Array) -> Array:
    """The scores of all rows under weights in the units of the columns, (n, K or 1)."""
    X: Any = block.X
    return np.asarray(X @ W[:, 1:].T) + W[:, 0]


def _row(block: Block, used: Used, before: Array, z_after: Array, zero: str) -> _Row:
    """The row that an update used, if it was a single one."""
    if used.rows is None or len(used.rows) != 1:
        return _Row()
    i = int(used.rows[0])
    X: Any = block.X
    x = np.asarray(X[[i]].toarray()[0] if is_sparse(X) else X[i], dtype=np.float64)
    z = before[:, 1:] @ x + before[:, 0]
    wrong = bool(mistaken(z[None, :], block.t[[i]], zero)[0])
    if len(z) > 1:
        return _Row(x, (np.arange(len(z)) == block.t[i]).astype(float), z, None, z_after[i], None, wrong)
    t, then = float(block.t[i]), float(z_after[i, 0])
    return _Row(x, t, float(z[0]), t * float(z[0]), then, t * then, wrong)


def _split(W: Array) -> tuple[Array, Any]:
    """(w, b): (d,) and a number for one score, (K, d) and (K,) for several."""
    return (W[0, 1:], float(W[0, 0])) if len(W) == 1 else (W[:, 1:], W[:, 0])


def _cost_of_answer(method: WholeSteps, last: State[Any], answer: Array) -> float:
    """The cost of the fitted weights; for hull methods, whose cost belongs to two points, that of the last state."""
    if method.bound_name == "margin":
        return method.cost(last)
    problem = method.problem
    at = problem.value_gradient(problem.rows.frame.from_original(answer))
    return method.cost(State(last.W, at))
