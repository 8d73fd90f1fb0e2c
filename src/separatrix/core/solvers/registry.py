"""The registry of solvers by name, and the automatic choice of a solver (``auto``).

To add a solver, write a class in a new file and register it by one line here. A solver's module is imported when it is
first looked up, since a fit needs only one of them.
"""

from __future__ import annotations

from collections import UserDict
from collections.abc import MutableMapping
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import ByAudience, Message, Parameter
from separatrix.core.gap_bounds import MOST_PASSES_FOR_CURVATURE, hessian_passes
from separatrix.core.losses import Kinked
from separatrix.core.problem import Objective
from separatrix.core.rows.protocol import SAMPLE_ROWS
from separatrix.core.solvers.state import Need, Solver, State

if TYPE_CHECKING:
    from separatrix.core.solvers.lbfgs import Preconditioner

# Name of a solver -> its module in this package, and its class.
OFFERED = {
    "newton": "newton:Newton",
    "lbfgs": "lbfgs:LBFGS",
    "dual": "dual_descent:DualDescent",
    "span": "span:Span",
    "proximal": "proximal:Proximal",
    "smoothing": "smoothing:Smoothing",
    "gradient-descent": "gradient_descent:GradientDescent",
    "sgd": "gradient_descent:StochasticDescent",
}


class _Solvers(UserDict[str, Any]):
    """A dictionary of solvers, which makes those of ``OFFERED`` when they are first looked up."""

    def __getitem__(self, name: str) -> Any:
        offered = self.data[name]
        if isinstance(offered, str):
            module, kind = offered.split(":")
            self.data[name] = getattr(import_module(f"{__package__}.{module}"), kind)()
        return self.data[name]


SOLVERS: MutableMapping[str, Solver] = _Solvers(OFFERED)

# Why a problem may have no penalty on some columns although C is finite.
FACTOR_IS_ZERO = ByAudience(", or one of penalty_factors is zero", shell="")

# scikit-learn's solvers that do not exist here. All solvers find the same minimum, so these names select the automatic
# choice, whose result is certified. "lbfgs" is not listed because both libraries have it.
SCIKIT_LEARN_SOLVERS: dict[str, str] = dict.fromkeys(
    ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga"), "auto"
)

# Up to this many parameters, a Newton step (factoring the Hessian) costs less than the passes of L-BFGS that it saves.
NEWTON_PARAMETERS = 1000
# With one score and more parameters than this, a factor that is kept for many steps costs less than Newton's method.
CHORD_PARAMETERS = 64
# With more parameters than this and fewer rows than columns, a basis of the rows costs less, if there are at most
# SPAN_ROWS rows: up to this number, their Gram matrix costs less than the passes it saves.
SPAN_PARAMETERS, SPAN_ROWS = 150, 3000
# With several classes, Newton's method is used only if a Hessian takes at most this many multiplications
# (rows × parameters²): then it is cheap compared with the rest of a fit.
CLASS_WORK = 5e6
# With several classes, the Hessian of a sample is used only if the sample's rows × parameters is at most this many
# times the number of all rows: beyond this, second derivatives of the sample cost more than the passes they save.
SAMPLE_WORK = 16
# The Hessian of a sample is used only if there are at least this many times as many rows as the sample has: then second
# derivatives of the sample are cheap compared with a pass.
ROWS_PER_SAMPLE_ROW = 2
# Dual descent is used if `row_length` is at most this. It is then faster if columns tend to be nonzero in the same
# rows, as words in texts do, and slower if they do not.
SHORT_ROWS = 4.0


def named(solver: str | Solver) -> Solver | None:
    """The solver of that name, the given solver object, or None for ``auto`` and the names in SCIKIT_LEARN_SOLVERS.

    Parameters
    ----------
    solver : str or Solver
        A name or a solver object.

    Returns
    -------
    Solver or None

    Raises
    ------
    ParameterError
        If there is no solver of that name.

    Examples
    --------
    >>> named("newton").name, named("auto"), named("saga")
    ('newton', None, None)
    """
    if isinstance(solver, str):  # tested first, because the protocol check below reads all attributes
        solver = SCIKIT_LEARN_SOLVERS.get(solver, solver)
    elif isinstance(solver, Solver) and not isinstance(solver, type):
        return solver
    if solver == "auto":
        return None
    if not isinstance(solver, str) or solver not in SOLVERS:
        names = ", ".join(["auto", *SOLVERS])
        raise ParameterError("solver", f"got {solver!r}", f"choose one of {names}, or give a solver object")
    return SOLVERS[solver]


def choose(problem: Objective, near: bool = False) -> tuple[Solver, str]:
    """The solver that suits the problem, and a phrase that gives the reason.

    Parameters
    ----------
    problem : Objective
        The optimisation problem.
    near : bool
        Whether the start is near the minimum, found during a search for C.

    Returns
    -------
    solver : Solver
    reason : str

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> from separatrix.core.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> choose(problem)[1]
    'Newton: the Hessian is cheap with 2 parameters, and few passes are needed'
    """
    if near and problem.smooth and problem.has_hessian:
        return SOLVERS[
            "newton"
        ], "Newton: started at the weights found during the search for C, so that few steps are needed"
    if not problem.loss.traits.smooth:
        return SOLVERS["smoothing"], "smoothing: the loss has kinks, and smooth losses near it have none"
    if problem.has_absolute:
        return SOLVERS["proximal"], f"proximal: absolute values of {problem.n_free} parameters are penalised"
    if problem.loss.traits.convex and not _suits_sample(problem):
        if problem.size > SPAN_PARAMETERS and _is_wide(problem):
            n, d = problem.n_rows, problem.rows.n_features
            return SOLVERS["span"], f"span of the rows: {n} rows are fewer than {d} columns, and span the optimum"
        if _has_few_parameters(problem) and not _suits_chord(problem) and not _is_crowded(problem):
            why = f"Newton: the Hessian is cheap with {problem.n_free} parameters, and few passes are needed"
            return SOLVERS["newton"], why
        if problem.rows.is_sparse and _has_short_rows(problem):
            return SOLVERS["dual"], "dual coordinate descent: sparse rows are short for this penalty"
    from separatrix.core.solvers.lbfgs import LBFGS

    preconditioner, why = suited_preconditioner(problem)
    return LBFGS(preconditioner), why


def suited_preconditioner(problem: Objective) -> tuple[Preconditioner, str]:
    """The preconditioner of L-BFGS that suits the problem, and a phrase that gives the reason."""
    from separatrix.core.solvers.preconditioners import Chord, Diagonal, Identity, Kronecker, Sample

    n, d, p = problem.n_rows, problem.rows.n_features, problem.n_free
    if not problem.loss.traits.convex:
        return Identity(), "L-BFGS: the cost is not convex, and its second derivatives may point uphill"
    if _suits_sample(problem):
        why = f"L-BFGS around the Hessian of a sample: {n} rows are many for {p} parameters"
        return Sample(), why
    if problem.rows.is_sparse or not problem.has_gram:
        kind = "sparse" if problem.rows.is_sparse else "too many for a matrix of their products"
        return Diagonal(), f"L-BFGS around a diagonal: the {d} columns are {kind}"
    if problem.has_hessian and problem.shape[0] == 1:
        return Chord(), f"L-BFGS around a Hessian: a factor for {p} parameters is kept for many steps"
    return Kronecker(), f"L-BFGS around a Kronecker product: {p} parameters are many, {d + 1} columns few"


def chosen_by_user(solver: Solver, problem: Objective) -> tuple[Solver, str]:
    """The solver that the user chose, and a phrase that says so; an error if it does not suit the problem.

    L-BFGS by name gets the preconditioner that suits the problem.
    """
    from separatrix.core.solvers.lbfgs import LBFGS

    refuse_unmet(solver, problem)
    why = f"{solver.name}: chosen by the user"
    if isinstance(solver, LBFGS) and solver.preconditioner is None:
        preconditioner, reason = suited_preconditioner(problem)
        return replace(solver, preconditioner=preconditioner), f"{why}; {reason}"
    return solver, why


def with_settings(why: str, solver: Solver, state: State[Any]) -> str:
    """Why a solver ran, with the settings of its steps if they have a learning rate."""
    if not hasattr(state.memory, "eta"):
        return why
    from separatrix.core.solvers.gradient_descent import settings_of_descent

    return f"{why}, with {settings_of_descent(solver, state)}"


def _has_few_parameters(problem: Objective) -> bool:
    return problem.has_hessian and problem.size <= NEWTON_PARAMETERS


def _suits_sample(problem: Objective) -> bool:
    """Whether rows are many for the parameters, and second derivatives of a sample cost less than what they save."""
    if not _has_few_parameters(problem) or problem.n_rows < ROWS_PER_SAMPLE_ROW * max(SAMPLE_ROWS, 20 * problem.size):
        return False
    if problem.shape[0] == 1 or not problem.penalty.holds_every_column:
        return True
    return problem.framed.sample_size * problem.size <= SAMPLE_WORK * problem.n_rows


def _suits_chord(problem: Objective) -> bool:
    """Whether factoring the Hessian in every step is too expensive: one score, and many dense, penalised columns."""
    many = problem.has_hessian and problem.size > CHORD_PARAMETERS and problem.shape[0] == 1
    return many and not problem.rows.is_sparse and problem.penalty.holds_every_column


def _is_crowded(problem: Objective) -> bool:
    """Whether second derivatives cost more than the passes they save, because of several classes or of sparse rows."""
    if not problem.penalty.holds_every_column:
        return False
    if problem.rows.is_sparse:
        return hessian_passes(problem) > MOST_PASSES_FOR_CURVATURE
    return problem.shape[0] > 1 and problem.n_rows * problem.size * problem.size > CLASS_WORK


def _is_wide(problem: Objective) -> bool:
    """Whether rows are dense and fewer than the columns. For sparse rows, passes are cheaper than a Gram matrix."""
    rows = problem.rows.resident()
    if rows is None or problem.rows.is_sparse or not problem.penalty.holds_every_column:
        return False
    return rows.n_rows <= min(SPAN_ROWS, problem.rows.n_features)


def _has_short_rows(problem: Objective) -> bool:
    """Whether rows are short relative to the penalty, as for normalised text with a moderate C."""
    from separatrix.core.solvers.dual_descent import row_length

    return row_length(problem) <= SHORT_ROWS


def refuse_unmet(solver: Solver, problem: Objective) -> None:
    """Raise an error if the problem does not meet a need of the solver.

    Parameters
    ----------
    solver : Solver
        The solver.
    problem : Objective
        The problem that it would solve.

    Raises
    ------
    ParameterError
        It names the need, and says what to use instead.

    Examples
    --------
    >>> import numpy as np
    >>> from separatrix.core.problem import build_objective
    >>> from separatrix.core.penalty import Penalty
    >>> from separatrix.core.rows.labelled_table import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> lasso = build_objective(rows, 2, Penalty(1.0, np.ones(1), l1_ratio=1.0))
    >>> refuse_unmet(SOLVERS["newton"], lasso)
    Traceback (most recent call last):
        ...
    separatrix.core.base.errors.ParameterError: solver: 'newton' needs a penalty without absolute values (l1_ratio=0)...
    """
    smooth, on_all = problem.loss.traits.smooth, Message(": ", Parameter("C"), " is infinite", FACTOR_IS_ZERO)
    # Need.STANDARD is not among these, because the caller provides the coordinates.
    for need, met, since, instead in (
        (Need.SMOOTH, smooth, "", "use 'smoothing' or 'auto'"),
        (Need.SMOOTHED, smooth or isinstance(problem.loss, Kinked), "", "use another loss"),
        (Need.RIDGE, not problem.has_absolute, "", "use 'auto'"),
        (Need.RESIDENT, problem.rows.resident() is not None, "", "use 'lbfgs' or 'auto'"),
        (Need.HELD, problem.penalty.holds_every_column, on_all, "use 'lbfgs' or 'auto'"),
        (Need.GRAM, problem.has_gram, f", and there are {problem.shape[1]}", "use 'lbfgs' or 'auto'"),
        (Need.HESSIAN, problem.has_hessian, f", and there are {problem.size}", "use 'lbfgs' or 'auto'"),
    ):
        if need in solver.needs and not met:
            raise ParameterError("solver", Message(f"{solver.name!r} needs {need.value}", since), instead)
