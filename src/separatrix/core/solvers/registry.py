"""The registry of solvers by name, and the automatic choice of a solver (``auto``).

To add a solver, write a class in a new file and register it by one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from separatrix.core.base.errors import ParameterError
from separatrix.core.base.messages import ByAudience, Message, Parameter
from separatrix.core.gap_bounds import MOST_PASSES_FOR_CURVATURE, hessian_passes
from separatrix.core.losses import Kinked
from separatrix.core.problem import Objective
from separatrix.core.rows.protocol import SAMPLE_ROWS
from separatrix.core.solvers.dual_descent import DualDescent, row_length
from separatrix.core.solvers.gradient_descent import GradientDescent, StochasticDescent
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.newton import Newton
from separatrix.core.solvers.preconditioned_lbfgs import ChordNewton, DiagonalLBFGS, KroneckerLBFGS, SampledNewton
from separatrix.core.solvers.proximal_newton import ProximalNewton, WorkingSet
from separatrix.core.solvers.smoothing import Smoothing
from separatrix.core.solvers.span import Span
from separatrix.core.solvers.state import Need, Solver

SOLVERS: dict[str, Solver] = {
    "newton": Newton(),
    "chord": ChordNewton(),
    "sampled-newton": SampledNewton(),
    "kronecker": KroneckerLBFGS(),
    "diagonal": DiagonalLBFGS(),
    "dual": DualDescent(),
    "span": Span(),
    "lbfgs": LBFGS(),
    "proximal-newton": ProximalNewton(),
    "working-set": WorkingSet(),
    "gradient-descent": GradientDescent(),
    "smoothing": Smoothing(),
    "sgd": StochasticDescent(),
}

# scikit-learn's solvers that do not exist here. All solvers find the same minimum, so these names select the automatic
# choice, whose result is certified. "lbfgs" is not listed because both libraries have it.
SCIKIT_LEARN_SOLVERS: dict[str, str] = dict.fromkeys(
    ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga"), "auto"
)

# Limits on the number of parameters. Up to NEWTON_PARAMETERS, a Newton step (factoring the Hessian) costs less than the
# L-BFGS passes that it saves. With one score and more than CHORD_PARAMETERS, chord Newton, with fewer factors and more
# passes, costs less. With more than SPAN_PARAMETERS and fewer rows than columns, a basis of the rows costs less.
NEWTON_PARAMETERS, CHORD_PARAMETERS, SPAN_PARAMETERS = 1000, 64, 150
# With several classes, Newton's method is used only if a Hessian takes at most this many multiplications
# (rows × parameters²): then it is cheap compared with the rest of a fit.
CLASS_WORK = 5e6
# With several classes, sampled Newton is used only if the sample's rows × parameters is at most this many times the
# number of all rows: beyond this, second derivatives of the sample cost more than the passes they save.
SAMPLE_WORK = 16
# The most parameters for proximal Newton, which builds the Hessian of all columns. With more, a working set is used,
# which builds only that of the columns in use.
PROXIMAL_PARAMETERS = 300
# Sampled Newton needs at least this many times as many rows as the sample has: then second derivatives of the sample
# are cheap compared with a pass.
ROWS_PER_SAMPLE_ROW = 2
# The most rows for the method in the span of the rows: up to this number, the Gram matrix of the rows costs less than
# the passes it saves.
SPAN_ROWS = 3000
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


def choose(problem: Objective) -> tuple[Solver, str]:
    """The solver that suits the problem, and a phrase that gives the reason.

    Parameters
    ----------
    problem : Objective
        The optimisation problem.

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
    if not problem.loss.traits.smooth:
        return Smoothing(), "smoothing: the loss has kinks, and smooth losses near it have none"
    if problem.has_absolute:
        if problem.has_hessian and problem.size <= PROXIMAL_PARAMETERS:
            why = f"proximal Newton: absolute values are penalised, and {problem.n_free} parameters are few"
            return ProximalNewton(), why
        why = f"working set: absolute values are penalised, and most of {problem.n_free} parameters will be zero"
        return WorkingSet(), why
    if not problem.loss.traits.convex:
        return LBFGS(), "L-BFGS: the cost is not convex, and its second derivatives may point uphill"
    return _by_second_derivatives(problem) or _by_passes(problem)


def _by_second_derivatives(problem: Objective) -> tuple[Solver, str] | None:
    """The method for a smooth, convex objective whose second derivatives are worth their cost; None if they are not."""
    small = problem.has_hessian and problem.size <= NEWTON_PARAMETERS
    n_rows = problem.n_rows
    if (
        small
        and n_rows >= ROWS_PER_SAMPLE_ROW * max(SAMPLE_ROWS, 20 * problem.size)
        and not _is_crowded_sample(problem)
    ):
        why = f"sampled Newton: {n_rows} rows are many for {problem.n_free} parameters, so a sample's curvature serves"
        return SampledNewton(), why
    if problem.size > SPAN_PARAMETERS and _is_wide(problem):
        why = f"span of the rows: {n_rows} rows are fewer than {problem.rows.n_features} columns, and span the optimum"
        return Span(), why
    if _suits_chord(problem):
        return ChordNewton(), f"chord: of {problem.n_free} parameters a factor is kept for many steps"
    if small and not _is_crowded(problem):
        return Newton(), f"Newton: the Hessian is cheap with {problem.n_free} parameters, and few passes are needed"
    return None


def _by_passes(problem: Objective) -> tuple[Solver, str]:
    """The method for a smooth, convex objective with too many parameters for second derivatives."""
    if problem.has_gram and not problem.rows.is_sparse:
        why = f"L-BFGS around a Kronecker product: {problem.n_free} parameters are many, {problem.shape[1]} columns few"
        return KroneckerLBFGS(), why
    # Rows are short relative to the penalty, as for normalised text with a moderate C.
    if problem.rows.is_sparse and row_length(problem) <= SHORT_ROWS:
        why = "dual coordinate descent: sparse rows are short for this penalty, so it needs few epochs"
        return DualDescent(), why
    kind = "sparse" if problem.rows.is_sparse else "too many for a matrix of their products"
    return DiagonalLBFGS(), f"L-BFGS around a diagonal: the {problem.rows.n_features} columns are {kind}"


def _is_crowded(problem: Objective) -> bool:
    """Whether second derivatives cost more than the passes they save, because of several classes or of sparse rows."""
    if not problem.penalty.holds_every_column:
        return False
    if problem.rows.is_sparse:
        return hessian_passes(problem) > MOST_PASSES_FOR_CURVATURE
    return problem.shape[0] > 1 and problem.n_rows * problem.size * problem.size > CLASS_WORK


def _suits_chord(problem: Objective) -> bool:
    """Whether factoring the Hessian in every step is too expensive: one score, and many dense, penalised columns."""
    many = problem.has_hessian and problem.size > CHORD_PARAMETERS and problem.shape[0] == 1
    return many and not problem.rows.is_sparse and problem.penalty.holds_every_column


def _is_crowded_sample(problem: Objective) -> bool:
    """Whether, with several classes, even the second derivatives of a sample cost more than the passes they save."""
    work = problem.sample_size * problem.size
    return problem.shape[0] > 1 and problem.penalty.holds_every_column and work > SAMPLE_WORK * problem.n_rows


def _is_wide(problem: Objective) -> bool:
    """Whether rows are dense and fewer than the columns. For sparse rows, passes are cheaper than a Gram matrix."""
    rows = problem.rows.resident()
    if rows is None or problem.rows.is_sparse or not problem.penalty.holds_every_column:
        return False
    return rows.n_rows <= min(SPAN_ROWS, problem.rows.n_features)


class Met(NamedTuple):
    """How a need is checked, and how the error message explains that it is not met.

    ``by``: whether a problem meets the need. ``instead``: what to use otherwise. ``since``: what the message adds after
    the need's name.
    """

    by: Callable[[Objective], bool]
    instead: str
    since: Callable[[Objective], str] = lambda problem: ""


# The needs that a problem may not meet. Need.STANDARD is not among them, because the caller provides the coordinates.
MET: dict[Need, Met] = {
    Need.SMOOTH: Met(lambda problem: problem.loss.traits.smooth, "use 'smoothing' or 'auto'"),
    Need.SMOOTHED: Met(
        lambda problem: problem.loss.traits.smooth or isinstance(problem.loss, Kinked), "use another loss"
    ),
    Need.RIDGE: Met(lambda problem: not problem.has_absolute, "use 'auto'"),
    Need.RESIDENT: Met(lambda problem: problem.rows.resident() is not None, "use 'lbfgs' or 'auto'"),
    Need.HELD: Met(
        lambda problem: problem.penalty.holds_every_column,
        "use 'diagonal' or 'auto'",
        lambda problem: Message(
            ": ", Parameter("C"), " is infinite", ByAudience(", or one of penalty_factors is zero", shell="")
        ),
    ),
    Need.GRAM: Met(
        lambda problem: problem.has_gram,
        "use 'lbfgs' or 'auto'",
        lambda problem: f", and there are {problem.shape[1]}",
    ),
    Need.HESSIAN: Met(
        lambda problem: problem.has_hessian,
        "use 'lbfgs' or 'auto'",
        lambda problem: f", and there are {problem.size}",
    ),
}


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
    for need, met in MET.items():
        if need in solver.needs and not met.by(problem):
            fault = Message(f"{solver.name!r} needs {need.value}", met.since(problem))
            raise ParameterError("solver", fault, met.instead)
