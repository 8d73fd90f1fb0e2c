"""Messages about likelihoods without a maximum: which columns, categories and rows separate the classes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Booleans, Integers
from separatrix.base.messages import Detail, Message, Parameter, Remedy, Setting, joined
from separatrix.base.renamed_messages import over_columns
from separatrix.classifiers.fit_input import FitInput
from separatrix.objectives.problem import Objective
from separatrix.proofs.asked_rows import as_rows
from separatrix.proofs.class_differences import PROOF, Differences
from separatrix.proofs.existence import exists
from separatrix.proofs.naming import NAMED, About, causes, numbered
from separatrix.proofs.overlap_proof import MOST_EXACT_ROWS
from separatrix.proofs.separability import decide
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.rows import Rows, memory_rows
from separatrix.rows.coding import Coding
from separatrix.rows.csr import is_sparse
from separatrix.solvers.driver import Run
from separatrix.solvers.stopping import Code, Status

# How many columns of a direction a message names; the verdict holds all of them.
MOST_COLUMNS_IN_DIRECTION = 5
# The status code of a fit to separated classes.
CODE_OF_VERDICT: dict[type, Code] = {Separable: "separated", QuasiSeparable: "quasi-separated"}
APART = tuple(CODE_OF_VERDICT.values())
_FIRTH, _FINITE_C = Setting("bias_reduction", "firth"), Message("a finite ", Parameter("C"))
# The remedy in a message that names no column, and in one that names some.
PENALISE = Message("use ", _FIRTH, " or ", _FINITE_C)
PENALISE_OR_DROP = Message("use ", _FIRTH, ", ", _FINITE_C, ", or leave these columns out")
OPTIMUM_OUT_OF_RANGE = Status(
    "rounding",
    Message(
        "the classes overlap so little that the optimum, which exists, is outside the range of float64; these weights "
        "are on the way there",
        Remedy(PENALISE),
    ),
    False,
)


def explained(
    task: FitInput, coding: Coding, problem: Objective, outcome: Run, fit_intercept: bool
) -> tuple[Verdict | None, Run]:
    """The verdict on separation, and the outcome with that verdict in its status; None if the classes overlap.

    If the bound of a fit without a penalty does not prove that an optimum exists, the rows are tested for separation.
    The divergence of Newton's method reveals most separated classes but not all, and small gradients and small
    decreases of the objective prove nothing.
    """
    diverged = outcome.status.code in APART
    if not task.is_in_memory:  # the proofs name single rows
        return None, outcome
    if not diverged and not _optimum_in_doubt(task, problem, outcome):
        return None, outcome
    verdict, how, columns = _verdict(task, coding, problem, outcome, fit_intercept)
    if isinstance(verdict, Inseparable) or (isinstance(verdict, Doubtful) and not diverged):
        return None, replace(outcome, status=OPTIMUM_OUT_OF_RANGE) if diverged else outcome
    if isinstance(verdict, Doubtful):
        return verdict, replace(outcome, status=_undecided(verdict))
    status = outcome.status
    if status.code != CODE_OF_VERDICT[type(verdict)]:
        sentence = "no optimum exists: without a penalty the likelihood grows without bound"
        status = Status(CODE_OF_VERDICT[type(verdict)], sentence, False)
    sentence = Message(status.sentence, over_columns(how, columns.tolist()))
    return verdict, replace(outcome, status=replace(status, sentence=sentence))


def _varying(problem: Objective) -> Booleans:
    """Which columns are not constant. A constant column separates nothing and needs no penalty."""
    return np.isfinite(problem.rows.frame.scale)


def _optimum_in_doubt(task: FitInput, problem: Objective, outcome: Run) -> bool:
    """Whether unpenalised weights may grow without bound, and the rows are few enough for a proof."""
    if not problem.has_unpenalised:
        return False
    free = np.flatnonzero((problem.unpenalised[1:] & _varying(problem))[: task.n_features])
    if len(free) == 0 or not problem.loss.traits.likelihood:
        return False
    if len(free) * max(1, task.n_classes - 1) > MOST_EXACT_ROWS:
        return False
    factor = None if outcome.curvature is None else outcome.curvature.factor
    return not exists(problem, outcome.state.W, outcome.bound, factor)


def _verdict(
    task: FitInput, coding: Coding, problem: Objective, outcome: Run, fit_intercept: bool
) -> tuple[Verdict, Message, Integers]:
    """The verdict on the unpenalised columns, what it says about the fit, and the numbers of these columns."""
    d = task.n_features
    # Constant columns stay in, so that the verdict is about X as given.
    columns = np.flatnonzero(problem.unpenalised[1:][:d] | ~_varying(problem)[:d])
    X = task.X if len(columns) == d else task.X[:, columns]
    names = None if task.names is None else [task.names[j] for j in columns]
    reached = None
    if outcome.status.code == "separated" and not problem.n_offsets:
        reached = problem.rows.frame.to_original(outcome.state.W)[:, np.concatenate([[0], columns + 1])]
    t, weight = coding.of(task.codes, task.weight)
    rows = memory_rows(X, t, weight, weight_unit=coding.unit)
    verdict, how = separation_of(rows, About(bool(fit_intercept), task.classes, tuple(names or ())), reached)
    return verdict, how, columns


def _undecided(verdict: Doubtful) -> Status:
    """The status of a run that diverged although separation could not be proven."""
    sentence = Message(
        "the weights grow as they do where no optimum exists, but whether the classes are separated could not be "
        "proven: ",
        verdict.reason,
        Remedy(PENALISE_OR_DROP),
    )
    return Status("rounding", sentence, False)


def separation_of(rows: Rows, about: About, reached: Array | None = None) -> tuple[Verdict, Message]:
    """The verdict on the rows of positive weight, and what it says about the fit, as the end of a sentence.

    ``rows``: ``labelled_rows`` in memory. ``reached``: weights (K or 1, d + 1) that seem to separate the classes. If
    the linear programs leave doubt, these weights are tried as a proof.
    """
    D = Differences.of_rows(rows, len(about.classes), about.fit_intercept)
    counted = np.flatnonzero(PROOF.block(rows).weight > 0)
    if len(counted) < len(D.codes):
        D = replace(D, X=D.X[counted], codes=D.codes[counted])
    D = replace(D, X=as_rows(D.X))
    verdict = decide(D, about)
    if isinstance(verdict, Doubtful) and reached is not None:
        W = np.vstack([np.zeros_like(reached), reached]) if D.K == 2 else reached
        shared = D.flat(np.ldexp(W, -np.frexp(np.abs(W).max())[1]))
        verdict = Separable.by(D, shared, about) or verdict
    if isinstance(verdict, Separable):
        alone = _alone(D.X, D.codes, about)
        if alone is not None:
            return verdict, Message(": ", alone, Remedy(PENALISE_OR_DROP))
        # The short form of the message has no direction. It names no column, so it cannot advise to leave columns out.
        direction = Detail(Message(": ", _direction(verdict.v, D.X, about)))
        return verdict, Message(direction, Remedy(Message(Detail(PENALISE_OR_DROP, PENALISE))))
    if isinstance(verdict, QuasiSeparable):
        off = counted[verdict.gaining(D)]
        direction = Detail(Message("; ", _direction(verdict.v, D.X, about)))
        return verdict, Message(": ", _moving(off, verdict), direction, Remedy(PENALISE_OR_DROP))
    return verdict, Message(Remedy(PENALISE_OR_DROP))


def _alone(X: Any, codes: Integers, about: About) -> Message | None:
    """A message that names the columns each of which separates two classes by itself; None if there is none."""
    if len(about.classes) != 2 or not about.fit_intercept:
        return None
    lower, upper = X[codes == 0], X[codes == 1]
    (low0, high0), (low1, high1) = ((_dense(part.min(axis=0)), _dense(part.max(axis=0))) for part in (lower, upper))
    separating = np.flatnonzero((high0 < low1) | (high1 < low0))
    if len(separating) == 0:
        return None
    named = joined(", ", [about.column(int(j)) for j in separating[:NAMED]])
    named += ", …" if len(separating) > NAMED else ""
    j = int(separating[0])
    above = 1 if high0[j] < low1[j] else 0
    cut = 0.5 * (high0[j] + low1[j]) if above else 0.5 * (high1[j] + low0[j])
    where = Message(
        f"every row of {about.label(above)} has ", about.column(j), f" above {cut:.6g} and no other row has"
    )
    return Message(named, f" alone separate{'s' if len(separating) == 1 else ''} them: ", where)


def _dense(extreme: Any) -> Array:
    return np.asarray(extreme.toarray() if is_sparse(extreme) else extreme, dtype=np.float64).ravel()


def _moving(off: Integers, verdict: QuasiSeparable) -> Message:
    """The columns that cause a quasi-complete separation, and the rows whose likelihood it raises."""
    return Message(causes(verdict), f", by {len(off)} row{'' if len(off) == 1 else 's'} (", numbered(off), ")")


def _direction(v: Array, X: Any, about: About) -> Message:
    """The weights that grow without bound, those that change the scores most first."""
    largest = np.maximum(np.abs(_dense(X.max(axis=0))), np.abs(_dense(X.min(axis=0))))
    W, parts = np.atleast_2d(v), []
    for k, row in enumerate(W):
        unit = np.abs(row[1:]).max(initial=0.0) or np.abs(row[0])
        used = [int(j) for j in np.argsort(-np.abs(row[1:]) * largest, kind="stable") if row[j + 1] != 0]
        most = MOST_COLUMNS_IN_DIRECTION
        shown: list[str] = [Message(f"{row[j + 1] / unit:+.3g} for ", about.column(j)) for j in used[:most]]
        if len(used) > most:
            shown.append(f"{len(used) - most} more columns")
        if row[0] != 0:
            shown.append(f"{row[0] / unit:+.3g} for the intercept")
        of = f" of class {about.label(k)}" if len(W) > 1 else ""
        if shown:
            parts.append(Message(f"the weights{of} grow without bound along ", joined(", ", shown)))
    return joined("; ", parts)
