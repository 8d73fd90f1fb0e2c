"""Names to solvers, and the choice of ``auto``.

A new solver is one class in a file of its own, and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.base.messages import ByAudience, Message, Parameter
from separatrix.losses.traits import Kinked
from separatrix.objectives.pass_costs import MOST_PASSES_FOR_CURVATURE, hessian_passes
from separatrix.objectives.problem import SAMPLE_ROWS, Objective
from separatrix.rows.csr import is_sparse
from separatrix.solvers.chord import ChordNewton
from separatrix.solvers.diagonal import DiagonalLBFGS
from separatrix.solvers.dual import DualDescent, row_length
from separatrix.solvers.gradient_descent import GradientDescent
from separatrix.solvers.kronecker import KroneckerLBFGS
from separatrix.solvers.lbfgs import LBFGS
from separatrix.solvers.newton import Newton
from separatrix.solvers.proximal import ProximalNewton
from separatrix.solvers.row_space import Span
from separatrix.solvers.sampled import SampledNewton
from separatrix.solvers.smoothing import Smoothing
from separatrix.solvers.state import Need, Solver
from separatrix.solvers.variance_reduced import VarianceReduced
from separatrix.solvers.working_set import WorkingSet

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
    "sgd": VarianceReduced(),
    "minibatch": VarianceReduced(batch_size=32),
}

# scikit-learn's names of solvers that are none of ours. The objective has one minimum, whoever finds it, so these stand
# for the automatic choice, which is certified; "lbfgs" is a name that both have.
SCIKIT_LEARN_SOLVERS: dict[str, str] = dict.fromkeys(
    ("liblinear", "newton-cg", "newton-cholesky", "sag", "saga"), "auto"
)

# Up to here a Newton step (a factor of the Hessian) costs less than the L-BFGS passes that it saves; past the second
# number, of one score, fewer factors and more passes cost less; past the third a basis of rows fewer than columns does.
NEWTON_PARAMETERS, CHORD_PARAMETERS, SPAN_PARAMETERS = 1000, 64, 150
# Up to so many products second derivatives for several classes cost little beside what else a fit does.
CLASS_WORK = 5e6
# Products with a sample's rows, for each row and parameter, that cost as much as the passes they save.
SAMPLE_WORK = 16
# The same where absolute values are penalised: past it a matrix of the columns in use is enough.
PROXIMAL_PARAMETERS = 300
# With so many times the rows of a sample, second derivatives of the sample cost little beside a pass.
MANY = 2
# Up to so many rows their products cost less than the passes that solving among them saves.
SPAN_ROWS = 3000
# Up to this row length dual descent is faster where columns occur together, as words do, and slower where they do not.
SHORT_ROWS = 4.0


def named(solver: str | Solver) -> Solver | None:
    """The solver of that name, the solver itself, or None for ``auto`` and for scikit-learn's own names.

    >>> named("newton").name, named("auto"), named("saga")
    ('newton', None, None)
    """
    if isinstance(solver, str):  # asked first: whether an object is a solver takes a look at all its attributes
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
    """The solver for a problem's shape, and why, in a sentence.

    >>> import numpy as np
    >>> from separatrix.objectives.build import build_objective
    >>> from separatrix.rows import labelled_rows
    >>> from separatrix.objectives.penalty import Penalty
    >>> rows, codes = np.arange(4.0)[:, None], np.array([0, 1, 0, 1])
    >>> problem = build_objective(labelled_rows(rows, codes, 2), 2, Penalty(1.0, np.ones(1)))
    >>> choose(problem)[1]
    'Newton: the Hessian is cheap with 2 parameters, and few passes are needed'
    """
    if not problem.loss.traits.smooth:
        return Smoothing(), "smoothing: the loss has kinks, and smooth losses near it have none"
    if problem.has_absolute:
        return _for_absolute(problem)
    if not problem.loss.traits.convex:
        return LBFGS(), "L-BFGS: the cost is not convex, and its second derivatives may point uphill"
    return _by_second_derivatives(problem) or _by_passes(problem)


def _by_second_derivatives(problem: Objective) -> tuple[Solver, str] | None:
    """The method for a smooth, convex objective whose second derivatives are worth their cost; None if they are not."""
    small = problem.has_hessian and problem.size <= NEWTON_PARAMETERS
    n_rows = problem.n_rows
    if small and n_rows >= MANY * max(SAMPLE_ROWS, 20 * problem.size) and not _is_crowded_sample(problem):
        why = f"sampled Newton: {n_rows} rows are many for {problem.size} parameters, so a sample's curvature serves"
        return SampledNewton(), why
    if problem.size > SPAN_PARAMETERS and _is_wide(problem):
        why = f"span of the rows: {n_rows} rows are fewer than {problem.rows.n_features} columns, and span the optimum"
        return Span(), why
    if _suits_chord(problem):
        return ChordNewton(), f"chord: of {problem.size} parameters a factor is kept for many steps"
    if small and not _is_crowded(problem):
        return Newton(), f"Newton: the Hessian is cheap with {problem.size} parameters, and few passes are needed"
    return None


def _by_passes(problem: Objective) -> tuple[Solver, str]:
    """The method for a smooth, convex objective with too many parameters for second derivatives."""
    if problem.has_gram and not _is_sparse(problem):
        why = f"L-BFGS around a Kronecker product: {problem.size} parameters are many, {problem.shape[1]} columns few"
        return KroneckerLBFGS(), why
    if _is_short(problem):
        why = "dual coordinate descent: sparse rows are short for this penalty, so it needs few epochs"
        return DualDescent(), why
    kind = "sparse" if _is_sparse(problem) else "too many for a matrix of their products"
    return DiagonalLBFGS(), f"L-BFGS around a diagonal: the {problem.rows.n_features} columns are {kind}"


def _is_crowded(problem: Objective) -> bool:
    """Whether second derivatives cost more than passes do: a matrix for each pair of classes, or of sparse rows."""
    if not _is_held(problem):
        return False
    if _is_sparse(problem):
        return hessian_passes(problem) > MOST_PASSES_FOR_CURVATURE
    return problem.shape[0] > 1 and problem.n_rows * problem.size * problem.size > CLASS_WORK


def _suits_chord(problem: Objective) -> bool:
    """Whether one score has so many dense columns, held by the penalty, that not each step is worth a factor."""
    many = problem.has_hessian and problem.size > CHORD_PARAMETERS and problem.shape[0] == 1
    return many and not _is_sparse(problem) and _is_held(problem)


def _is_crowded_sample(problem: Objective) -> bool:
    """Whether for several classes second derivatives even of a sample cost more than the passes that they save."""
    work = problem.sample_size * problem.size
    return problem.shape[0] > 1 and _is_held(problem) and work > SAMPLE_WORK * problem.n_rows


def _is_sparse(problem: Objective) -> bool:
    rows = problem.rows.resident()
    return rows is not None and is_sparse(rows.X)


def _is_wide(problem: Objective) -> bool:
    """Whether dense rows are few beside their columns. Sparse ones are read faster than they are multiplied."""
    rows = problem.rows.resident()
    if rows is None or _is_sparse(problem) or not _is_held(problem):
        return False
    return rows.n_rows <= min(SPAN_ROWS, problem.rows.n_features)


def _is_short(problem: Objective) -> bool:
    """Whether sparse rows are short as the penalty measures them: normalised text at a moderate C."""
    return _is_sparse(problem) and row_length(problem) <= SHORT_ROWS


def _is_held(problem: Objective) -> bool:
    return bool(np.all(problem.penalty.quadratic > 0))


def _for_absolute(problem: Objective) -> tuple[Solver, str]:
    if problem.has_hessian and problem.size <= PROXIMAL_PARAMETERS:
        why = f"proximal Newton: absolute values are penalised, and {problem.size} parameters are few"
        return ProximalNewton(), why
    why = f"working set: absolute values are penalised, and most of {problem.size} parameters will be zero"
    return WorkingSet(), why


class Met(NamedTuple):
    """When a need is met; what is so where it is not, after the need in the sentence; what to use then."""

    by: Callable[[Objective], bool]
    instead: str
    since: Callable[[Objective], str] = lambda problem: ""


# Needs of which a problem may lack what they ask for; standard coordinates are the caller's to give.
MET: dict[Need, Met] = {
    Need.SMOOTH: Met(lambda problem: problem.loss.traits.smooth, "use 'smoothing' or 'auto'"),
    Need.SMOOTHED: Met(
        lambda problem: problem.loss.traits.smooth or isinstance(problem.loss, Kinked), "use another loss"
    ),
    Need.RIDGE: Met(lambda problem: not problem.has_absolute, "use 'auto'"),
    Need.RESIDENT: Met(lambda problem: problem.rows.resident() is not None, "use 'lbfgs' or 'auto'"),
    Need.RANDOM_ORDER: Met(lambda problem: problem.rows.resident() is not None, "use 'lbfgs' or 'auto'"),
    Need.HELD: Met(
        _is_held,
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
        lambda problem: problem.has_hessian, "use 'lbfgs' or 'auto'", lambda problem: f", and there are {problem.size}"
    ),
}


def refuse_unmet(solver: Solver, problem: Objective) -> None:
    """Raise where the problem lacks what the solver needs."""
    for need, met in MET.items():
        if need in solver.needs and not met.by(problem):
            came = Message(f"{solver.name!r} needs {need.value}", met.since(problem))
            raise ParameterError("solver", came, met.instead)
