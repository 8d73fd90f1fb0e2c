"""Likelihoods without a maximum: whether the classes are separated, and by which columns, categories and rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from separatrix.classifiers.fit_input import FitInput
from separatrix.core.base.arrays import Array, Booleans, Integers
from separatrix.core.base.messages import (
    Detail,
    Message,
    Parameter,
    Remedy,
    Setting,
    joined,
    number_text,
    over_columns,
    reason,
    remedy,
)
from separatrix.core.linear_algebra import limiting_columns
from separatrix.core.problem import Objective
from separatrix.core.proofs.naming import NAMED, About, causes, numbered
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS, extremes
from separatrix.core.proofs.row_claims import Moved, View
from separatrix.core.proofs.separability import Decided, decide, decide_streamed
from separatrix.core.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict
from separatrix.core.rows.block import Block
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import Coding
from separatrix.core.solvers.driver import Run
from separatrix.core.solvers.separation_problem import STANDARDISE_ALL, unlike_sizes
from separatrix.core.solvers.stopping import APART, Code, Status

# With more weights than this, linear programs take seconds (1000 rows of 900 columns take 15), and weights of the fit
# that separate the classes are proof enough. With fewer, the programs give a separation with wider margins.
MOST_PROGRAM_DIRECTIONS = 300
# The status code of a fit to separated classes.
CODE_OF_VERDICT: dict[type, Code] = {Separable: "separated", QuasiSeparable: "quasi-separated"}
_FIRTH, _FINITE_C = Setting("bias_reduction", "firth"), Message("a finite ", Parameter("C"))


@dataclass(frozen=True)
class Remedies:
    """What to do about weights without a bound: in a message that names no column, and in one that names some."""

    penalise: Message
    penalise_or_drop: Message


_FACTORS = Parameter("penalty_factors")
WITHOUT_PENALTY = Remedies(
    Message("use ", _FIRTH, " or ", _FINITE_C),
    Message("use ", _FIRTH, ", ", _FINITE_C, ", or leave these columns out"),
)
# With a finite C, columns have no penalty because their factors are zero. Firth's likelihood takes no such factors.
WITH_FACTORS_OF_ZERO = Remedies(
    Message("give all columns a positive factor in ", _FACTORS),
    Message("give these columns a positive factor in ", _FACTORS, ", or leave them out"),
)


def explained(
    task: FitInput, coding: Coding, problem: Objective, outcome: Run, fit_intercept: bool
) -> tuple[Verdict | None, Run]:
    """The verdict on separation, and the outcome with that verdict in its status; None if the classes overlap.

    If a fit without a penalty diverges, or its bound does not prove that an optimum exists, the rows are tested for
    separation. The divergence of Newton's method reveals most separated classes but not all, and small gradients and
    small decreases of the objective prove nothing.
    """
    diverged = outcome.status.code in APART
    if not diverged and len(problem.free_columns) * max(1, task.n_classes - 1) > MOST_EXACT_ROWS:
        return None, outcome  # a proof would take too long
    verdict, how, columns = _verdict(task, coding, problem, outcome, fit_intercept)
    if isinstance(verdict, Inseparable) or (isinstance(verdict, Doubtful) and not diverged):
        return None, replace(outcome, status=_out_of_range(problem)) if diverged else outcome
    if isinstance(verdict, Doubtful):
        return verdict, replace(outcome, status=_undecided(verdict, problem))
    status = outcome.status
    if status.code != CODE_OF_VERDICT[type(verdict)]:
        sentence = "no optimum exists: without a penalty the likelihood has no maximum"
        status = Status(CODE_OF_VERDICT[type(verdict)], sentence, False)
    sentence = Message(status.sentence, over_columns(how, columns.tolist()))
    return verdict, replace(outcome, status=replace(status, sentence=sentence))


def _remedies(problem: Objective) -> Remedies:
    return WITHOUT_PENALTY if problem.penalty.strength == 0 else WITH_FACTORS_OF_ZERO


def _out_of_range(problem: Objective) -> Status:
    """The status of a run whose optimum exists, but is too far away."""
    sentence = Message(
        "the classes overlap so little that the optimum, which exists, is outside the range of float64; these weights "
        "are on the way there",
        Remedy(_remedies(problem).penalise),
    )
    return Status("rounding", sentence, False)


def _varying(problem: Objective) -> Booleans:
    """Which columns are not constant. A constant column separates nothing and needs no penalty."""
    return np.isfinite(problem.rows.frame.scale)


def _verdict(
    task: FitInput, coding: Coding, problem: Objective, outcome: Run, fit_intercept: bool
) -> tuple[Verdict, Message, Integers]:
    """The verdict on the unpenalised columns, what it says about the fit, and the numbers of these columns."""
    d = task.n_features
    # Constant columns stay in, so that the verdict is about X as given.
    columns = np.flatnonzero(problem.unpenalised[1:][:d] | ~_varying(problem)[:d])
    names = None if task.names is None else [task.names[j] for j in columns]
    reached = None
    if outcome.status.code == "separated" and not problem.n_offsets:
        reached = problem.rows.frame.to_original(outcome.state.W)[:, np.concatenate([[0], columns + 1])]
    about = About(bool(fit_intercept), task.classes, tuple(names or ()))
    verdict, how = separation_of(task.table.rows(coding), about, reached, columns, _remedies(problem))
    return verdict, how, columns


def _undecided(verdict: Doubtful, problem: Objective) -> Status:
    """The status of a run that diverged although separation could not be proven, with the columns that may be why."""
    remedies = _remedies(problem)
    cause = limiting_columns(problem) or unlike_sizes(problem.rows.frame, problem.names, STANDARDISE_ALL)
    sentence = Message(
        "the weights grow as they do where no optimum exists, but whether the classes are separated could not be "
        "proven: ",
        joined("; ", filter(None, [verdict.reason, reason(cause)])),
        Remedy(joined(", or ", [remedy(cause), remedies.penalise]) if cause else remedies.penalise_or_drop),
    )
    return Status("rounding", sentence, False)


def separation_of(
    rows: Rows,
    about: About,
    reached: Array | None = None,
    columns: Integers | None = None,
    remedies: Remedies = WITHOUT_PENALTY,
) -> tuple[Verdict, Message]:
    """The verdict on the rows of positive weight, and what it says about the fit, as the end of a sentence.

    ``rows``: ``labelled_rows``, in memory or elsewhere. ``reached``: weights (K or 1, d + 1) that seem to separate the
    classes; they are tried as a proof. ``columns``: the numbers of the columns that the verdict is about; None for all.
    ``remedies``: what to do about it.
    """
    K = len(about.classes)
    W = None
    if reached is not None:
        shared = np.ldexp(reached, -np.frexp(np.abs(reached).max())[1])
        W = np.vstack([np.zeros_like(shared), shared]) if K == 2 else shared
    columns = None if columns is None or len(columns) == rows.n_features else columns
    view = View(K, about.fit_intercept, columns=columns)
    block = rows.resident()
    if block is None:
        found = decide_streamed(rows, view, about, W)
    else:
        found = _in_memory(block, view, about, W)
    return found.verdict, _said(found, about, remedies)


def _in_memory(block: Block, view: View, about: About, reached: Array | None) -> Decided:
    """The verdict on rows in memory.

    ``reached``: weights (K, d + 1), tried if the linear programs leave doubt, or before them if they would be large.
    """
    D, counted = view.of(block)
    D = replace(D, is_part=False)
    by_weights = None
    if reached is not None and D.width > MOST_PROGRAM_DIRECTIONS:
        by_weights = Separable.by(D, D.flat(reached), about)
    verdict = decide(D, about) if by_weights is None else by_weights
    if isinstance(verdict, Doubtful) and reached is not None:
        verdict = Separable.by(D, D.flat(reached), about) or verdict
    moved = None
    if isinstance(verdict, QuasiSeparable):
        off = counted[verdict.gaining(D)]
        moved = Moved(verdict.touching, verdict.touching_against, off[:NAMED], len(off))
    none = np.zeros((0, 0))
    low, high = extremes(D) if isinstance(verdict, Separable | QuasiSeparable) else (none, none)
    return Decided(verdict, low, high, moved)


def _said(found: Decided, about: About, remedies: Remedies) -> Message:
    """What the verdict says about the fit."""
    verdict = found.verdict
    if isinstance(verdict, Separable):
        alone = _alone(found.low, found.high, about)
        if alone is not None:
            return Message(": ", alone, Remedy(remedies.penalise_or_drop))
        # The short form of the message has no direction. It names no column, so it cannot advise to leave columns out.
        direction = Detail(Message(": ", _direction(verdict.v, found, about)))
        return Message(direction, Remedy(Message(Detail(remedies.penalise_or_drop, remedies.penalise))))
    if isinstance(verdict, QuasiSeparable) and found.moved is not None:
        direction = Detail(Message("; ", _direction(verdict.v, found, about)))
        return Message(": ", _moving(found.moved, verdict), direction, Remedy(remedies.penalise_or_drop))
    return Message(Remedy(remedies.penalise_or_drop))


def _alone(low: Array, high: Array, about: About) -> Message | None:
    """A message that names the columns each of which separates two classes by itself; None if there is none."""
    if len(about.classes) != 2 or not about.fit_intercept:
        return None
    (low0, low1), (high0, high1) = low, high
    separating = np.flatnonzero((high0 < low1) | (high1 < low0))
    if len(separating) == 0:
        return None
    named = joined(", ", [about.column(int(j)) for j in separating[:NAMED]])
    named += ", …" if len(separating) > NAMED else ""
    j = int(separating[0])
    above = 1 if high0[j] < low1[j] else 0
    cut = 0.5 * (high0[j] + low1[j]) if above else 0.5 * (high1[j] + low0[j])
    where = Message(
        f"every row of {about.label(above)} has ", about.column(j), f" above {number_text(cut, 6)} and no other row has"
    )
    return Message(named, f" alone separate{'s' if len(separating) == 1 else ''} them: ", where)


def _moving(moved: Moved, verdict: QuasiSeparable) -> Message:
    """The columns that cause a quasi-complete separation, and the rows whose likelihood it raises."""
    n = moved.n_moved
    more = ", …" if n > len(moved.first) else ""
    return Message(causes(verdict), f", by {n} row{'' if n == 1 else 's'} (", numbered(moved.first), more, ")")


def _direction(v: Array, found: Decided, about: About) -> Message:
    """The weights that grow without bound, those that change the scores most first."""
    held = np.isfinite(found.low).all(axis=1)  # a class may have no rows of positive weight
    largest = np.maximum(np.abs(found.low[held]), np.abs(found.high[held])).max(axis=0)
    W, parts = np.atleast_2d(v), []
    for k, row in enumerate(W):
        unit = np.abs(row[1:]).max(initial=0.0) or np.abs(row[0])
        used = [int(j) for j in np.argsort(-np.abs(row[1:]) * largest, kind="stable") if row[j + 1] != 0]
        most = 5  # the verdict holds all of them
        shown: list[str] = [Message(f"{row[j + 1] / unit:+.3g} for ", about.column(j)) for j in used[:most]]
        if len(used) > most:
            shown.append(f"{len(used) - most} more columns")
        if row[0] != 0:
            shown.append(f"{row[0] / unit:+.3g} for the intercept")
        of = f" of class {about.label(k)}" if len(W) > 1 else ""
        if shown:
            parts.append(Message(f"the weights{of} grow without bound along ", joined(", ", shown)))
    return joined("; ", parts)
