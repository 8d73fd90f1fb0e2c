"""Why a likelihood has no maximum, in words: columns, categories and rows that separate, and the way to infinity."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.messages import Detail, Message, Parameter, Remedy, Setting, joined, over_columns
from separatrix.classifiers.fit_input import FitInput
from separatrix.objectives.problem import Objective
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.existence import exists
from separatrix.proofs.naming import NAMED, About, causes, numbered
from separatrix.proofs.separability import MOST_EXACT_ROWS, decide
from separatrix.proofs.verdicts import Doubtful, Inseparable, QuasiSeparable, Separable, Verdict, as_rows
from separatrix.rows.block import is_sparse
from separatrix.solvers.driver import Run
from separatrix.solvers.stopping import Code, Status

# Columns of a direction that are named; the verdict has them all.
SHOWN = 5
# How a fit of separated classes ends.
CODES: dict[type, Code] = {Separable: "separated", QuasiSeparable: "quasi-separated"}
APART = tuple(CODES.values())
_FIRTH, _FINITE_C = Setting("bias_reduction", "firth"), Message("a finite ", Parameter("C"))
# What to do where no column is named, and where some are.
PENALISE = Message("use ", _FIRTH, " or ", _FINITE_C)
PENALISE_OR_DROP = Message("use ", _FIRTH, ", ", _FINITE_C, ", or leave these columns out")
FAR_OUT = Status(
    "rounding",
    Message(
        "the classes overlap by so little that the optimum, which exists, is out of float64's reach, and these weights "
        "are on the way there",
        Remedy(PENALISE),
    ),
    False,
)


def explained(
    task: FitInput, weight: Array, problem: Objective, outcome: Run, fit_intercept: bool
) -> tuple[Verdict | None, Run]:
    """What separates the classes, and the outcome with that in its status; None where nothing does.

    A fit without a penalty is put to a proof unless its own bound is one: Newton's way shows most directions to
    infinity, not all, and small gradients and gains prove nothing.
    """
    known = outcome.status.code in APART
    seen = np.isfinite(problem.rows.frame.scale)  # a constant column says nothing, and needs no penalty
    free = np.flatnonzero((problem.unpenalised[1:] & seen)[: task.X.shape[1]])
    provable = len(free) * max(1, task.n_classes - 1) <= MOST_EXACT_ROWS and problem.loss.traits.likelihood
    held = None if outcome.curvature is None else outcome.curvature.factor
    if not known and not (len(free) and provable and not exists(problem, outcome.state.W, outcome.bound, held)):
        return None, outcome
    penalised = np.flatnonzero(~problem.unpenalised[1:][: task.X.shape[1]] & seen[: task.X.shape[1]])
    asked = np.setdiff1d(np.arange(task.X.shape[1]), penalised)  # constant columns too: the verdict is one on X
    X = task.X if len(asked) == task.X.shape[1] else task.X[:, asked]
    names = None if task.names is None else [task.names[j] for j in asked]
    reached = None
    if outcome.status.code == "separated" and not problem.n_offsets:
        reached = problem.rows.frame.to_original(outcome.state.W)[:, np.concatenate([[0], asked + 1])]
    verdict, how = separation_of(X, task.codes, task.classes, weight, fit_intercept, names, reached)
    if isinstance(verdict, Inseparable) or (isinstance(verdict, Doubtful) and not known):
        return None, replace(outcome, status=FAR_OUT) if known else outcome
    if isinstance(verdict, Doubtful):
        return verdict, replace(outcome, status=_undecided(verdict))
    status = outcome.status
    if status.code != CODES[type(verdict)]:
        sentence = "no optimum exists: without a penalty the likelihood grows without bound"
        status = Status(CODES[type(verdict)], sentence, False)
    sentence = Message(status.sentence, over_columns(how, asked.tolist()))
    return verdict, replace(outcome, status=replace(status, sentence=sentence))


def _undecided(verdict: Doubtful) -> Status:
    """The end of a run towards infinity that no proof goes with."""
    sentence = Message(
        "the weights grow as they do where no optimum exists, but whether the classes are separated could not be "
        "proven: ",
        verdict.reason,
        Remedy(PENALISE_OR_DROP),
    )
    return Status("rounding", sentence, False)


def separation_of(
    X: Any,
    codes: Integers,
    classes: AnyArray,
    weight: Array,
    fit_intercept: bool,
    names: list[str] | None,
    reached: Array | None = None,
) -> tuple[Verdict, Message]:
    """The verdict on the rows that have weight, and what it says about the fit, as the end of a sentence.

    ``reached``: weights (K or 1, d + 1) that seem to separate. Where a proof leaves doubt, they may be one themselves.
    """
    counted = np.flatnonzero(weight > 0)
    whole = len(counted) == len(codes)
    rows, own = (as_rows(X), codes) if whole else (as_rows(X[counted]), codes[counted])
    about = About(bool(fit_intercept), classes, tuple(names or ()))
    D = Differences(rows, own, len(classes), bool(fit_intercept))
    verdict = decide(D, about)
    if isinstance(verdict, Doubtful) and reached is not None:
        W = np.vstack([np.zeros_like(reached), reached]) if len(classes) == 2 else reached
        shared = D.flat(np.ldexp(W, -np.frexp(np.abs(W).max())[1]))
        verdict = Separable.by(D, shared, about) or verdict
    if isinstance(verdict, Separable):
        alone = _alone(rows, own, about)
        if alone is not None:
            return verdict, Message(": ", alone, Remedy(PENALISE_OR_DROP))
        # Without the direction no column is named, so that none can be left out.
        direction = Detail(Message(": ", _direction(verdict.v, rows, about)))
        return verdict, Message(direction, Remedy(Message(Detail(PENALISE_OR_DROP, PENALISE))))
    if isinstance(verdict, QuasiSeparable):
        # Of K classes a row may tie with one and gain on another: it gains unless it ties with all others.
        ties = np.bincount(verdict.touching, minlength=len(counted))
        off = counted[ties < len(classes) - 1]
        direction = Detail(Message("; ", _direction(verdict.v, rows, about)))
        return verdict, Message(": ", _moving(off, verdict), direction, Remedy(PENALISE_OR_DROP))
    return verdict, Message(Remedy(PENALISE_OR_DROP))


def _alone(X: Any, codes: Integers, about: About) -> Message | None:
    """Columns that separate two classes by themselves; None where there is none."""
    if len(about.classes) != 2 or not about.fit_intercept:
        return None
    lower, upper = X[codes == 0], X[codes == 1]
    (low0, high0), (low1, high1) = ((_dense(part.min(axis=0)), _dense(part.max(axis=0))) for part in (lower, upper))
    found = np.flatnonzero((high0 < low1) | (high1 < low0))
    if len(found) == 0:
        return None
    named = joined(", ", [about.column(int(j)) for j in found[:NAMED]]) + (", …" if len(found) > NAMED else "")
    j = int(found[0])
    above = 1 if high0[j] < low1[j] else 0
    cut = 0.5 * (high0[j] + low1[j]) if above else 0.5 * (high1[j] + low0[j])
    where = Message(
        f"every row of {about.label(above)} has ", about.column(j), f" above {cut:.6g} and no other row has"
    )
    return Message(named, f" alone separate{'s' if len(found) == 1 else ''} them: ", where)


def _dense(extreme: Any) -> Array:
    return np.asarray(extreme.toarray() if is_sparse(extreme) else extreme, dtype=np.float64).ravel()


def _moving(off: Integers, verdict: QuasiSeparable) -> Message:
    """The columns that cause a quasi-separation, and the rows that gain by it."""
    return Message(causes(verdict), f", by {len(off)} row{'' if len(off) == 1 else 's'} (", numbered(off), ")")


def _direction(v: Array, X: Any, about: About) -> Message:
    """The way to infinity: the weights that grow without bound, first those that move the scores most."""
    largest = np.maximum(np.abs(_dense(X.max(axis=0))), np.abs(_dense(X.min(axis=0))))
    W, parts = np.atleast_2d(v), []
    for k, row in enumerate(W):
        unit = np.abs(row[1:]).max(initial=0.0) or np.abs(row[0])
        used = [int(j) for j in np.argsort(-np.abs(row[1:]) * largest, kind="stable") if row[j + 1] != 0]
        shown: list[str] = [Message(f"{row[j + 1] / unit:+.3g} for ", about.column(j)) for j in used[:SHOWN]]
        if len(used) > SHOWN:
            shown.append(f"{len(used) - SHOWN} more columns")
        if row[0] != 0:
            shown.append(f"{row[0] / unit:+.3g} for the intercept")
        of = f" of class {about.label(k)}" if len(W) > 1 else ""
        if shown:
            parts.append(Message(f"the weights{of} grow without bound along ", joined(", ", shown)))
    return joined("; ", parts)
