r"""The state of each coefficient: estimated, not identified, infinite, or not estimable.

A maximum-likelihood fit has three outcomes, which ``certificate_.code`` distinguishes. If there is a maximum, the fit's
weights are the estimates. If the classes are separated, there is no maximum, and no coefficient can be estimated. If
they are quasi-separated, the finite coefficients are estimated from the touching rows (``recession.py``). If the fit
does not show which outcome it has, a proof of separability decides.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.messages import Message, Parameter, Setting
from separatrix.inference.estimate import Estimate, refined
from separatrix.inference.information_matrix import COVARIANCES, Covariance
from separatrix.inference.recession import Recession, recession
from separatrix.inference.request import SummaryRequest
from separatrix.proofs.verdicts import Doubtful, Inseparable, Separable

# Distances between the fit and the maximum, in standard errors: above the first, a note reports the distance; above the
# second, the fitted weights are not accepted as estimates.
SMALLEST_NOTED_DISTANCE, LARGEST_ESTIMATE_DISTANCE = 0.01, 0.5
REMEDIES = Message(
    "fit with ",
    Setting("bias_reduction", "firth"),
    ", with a ridge (a finite ",
    Parameter("C"),
    "), or without the columns that separate",
)

ESTIMATED, HELD, OPEN = "estimated", "constant", "not identified"
UP, DOWN, EITHER, NONE = "infinite", "minus infinite", "no finite value", "not estimable"


# A state for each contrast and coefficient.
States: TypeAlias = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Findings:
    """Coefficients (q, m), their states (q, m), and their covariance, or the reason for its absence (``withheld``).

    ``estimate`` and ``asked`` refer to the rows that the numbers were computed from. ``on_the_way`` is the estimate
    from all rows, if the fit stopped while its weights diverged.
    """

    estimate: Estimate
    asked: SummaryRequest
    coef: Array
    states: States
    covariance: Covariance | None
    withheld: str | None
    notes: tuple[str, ...] = ()
    has_likelihood: bool = True
    on_the_way: Estimate | None = None

    @property
    def estimated(self) -> Any:
        """Which coefficients have a standard error, (q, m)."""
        return (np.array(self.states) == ESTIMATED) & (self.covariance is not None)


Case = Callable[[SummaryRequest, Estimate, str, Any], Findings]


def find(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a fit, which depend on its outcome."""
    certificate = asked.model.certificate_
    finite = asked.penalised or asked.firth or (certificate.met and not estimate.is_flat)
    case = CASES.get(certificate.code, at_a_maximum if finite else unfinished)
    return case(asked, estimate, kind, groups)


def at_a_maximum(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    states = tuple(
        HELD if held else ESTIMATED if known else OPEN
        for held, known in zip(estimate.held, estimate.identified, strict=True)
    )
    withheld = _withheld(asked, estimate, kind)
    if asked.penalised or asked.firth or withheld:
        at, notes = estimate, []
    else:
        at, notes = refined(estimate), _distance_noted(estimate)
    covariance = None if withheld else COVARIANCES[kind].build(at, asked, groups)
    alike = (states,) * len(estimate.A)
    notes += _named_states(asked, estimate, alike)
    return Findings(at, asked, at.coefficients, alike, covariance, withheld, tuple(notes))


def _distance_noted(estimate: Estimate) -> list[str]:
    """A note on the distance between the table's numbers and the model's, if it is not negligible."""
    if not estimate.distance > SMALLEST_NOTED_DISTANCE:
        return []
    return [
        f"the numbers are those of the maximum, {estimate.distance:.2g} standard errors from where the fit stopped; "
        "a smaller tol brings the model nearer"
    ]


def separated(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    sentence = Message(
        "the classes are separated: the likelihood keeps growing and has no maximum, so no coefficient can be "
        "estimated; ",
        REMEDIES,
    )
    return _nothing(asked, estimate, sentence)


def unfinished(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    """The findings for a fit without a penalty that did not converge or whose likelihood is nearly flat.

    Its weights may be diverging.
    """
    found = recession(asked, estimate)
    if isinstance(found, Doubtful):
        there = at_a_maximum(asked, estimate, kind, groups)
        unproven = f"whether the likelihood has a maximum could not be proven: {found.explain()}"
        return replace(there, notes=(*there.notes, unproven))
    if isinstance(found, Inseparable):
        return at_a_maximum(asked, estimate, kind, groups)
    return without_a_maximum(found, asked, estimate, kind, groups)


def quasi_separated(asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any) -> Findings:
    sentence = "the classes are separated but for rows that touch, so some coefficients are infinite"
    if asked.penalised:
        return _nothing(asked, estimate, Message(sentence, "; the fit is penalised in other columns; ", REMEDIES))
    found = recession(asked, estimate)
    if isinstance(found, Inseparable | Doubtful):
        unproven = f"which coefficients are infinite could not be proven: {found.explain()}"
        return _nothing(asked, estimate, Message(sentence, f"; {unproven}; ", REMEDIES))
    return without_a_maximum(found, asked, estimate, kind, groups)


def without_a_maximum(
    found: Recession | Separable, asked: SummaryRequest, estimate: Estimate, kind: str, groups: Any
) -> Findings:
    """The findings for quasi-separated classes, whose touching rows determine the finite coefficients."""
    if isinstance(found, Separable):
        return separated(asked, estimate, kind, groups)
    part = found.estimate
    named = {0.0: ESTIMATED, 1.0: UP, -1.0: DOWN}
    states = tuple(
        tuple(
            HELD if held else OPEN if not known else named.get(float(sign), EITHER)
            for held, known, sign in zip(estimate.held, estimate.identified, signs, strict=True)
        )
        for signs in found.signs
    )
    coef = part.coefficients
    with np.errstate(invalid="ignore"):  # 0 · ∞ for finite coefficients
        coef[found.signs != 0] = (found.signs * np.inf)[found.signs != 0]
    withheld = _withheld(found.asked, part, kind)
    within = None if groups is None else np.asarray(groups)[found.touching]
    covariance = None if withheld else COVARIANCES[kind].build(part, found.asked, within)
    notes = (
        Message(
            "the classes are separated but for rows that touch: the likelihood has a supremum and no maximum; finite "
            f"coefficients are estimated from the {len(found.touching)} touching rows, the others have probability one "
            "in the limit; ",
            REMEDIES,
        ),
        *_named_states(asked, estimate, states),
    )
    return Findings(part, found.asked, coef, states, covariance, withheld, notes, on_the_way=estimate)


CASES: dict[str, Case] = {"separated": separated, "quasi-separated": quasi_separated}


def estimate_names(asked: SummaryRequest) -> tuple[str, ...]:
    """The names of the coefficients; the intercept, if there is one, comes first."""
    return (*(("intercept",) if asked.claim.fit_intercept else ()), *asked.names)


def _nothing(asked: SummaryRequest, estimate: Estimate, sentence: str) -> Findings:
    coef = np.full((len(estimate.A), len(estimate.Phi)), np.nan)
    states = ((NONE,) * len(estimate.Phi),) * len(estimate.A)
    return Findings(estimate, asked, coef, states, None, sentence, has_likelihood=False)


def _withheld(asked: SummaryRequest, estimate: Estimate, kind: str) -> str | None:
    """Why there are no standard errors; None if there are."""
    if asked.penalised:
        return Message(
            f"the fit is penalised (C={asked.claim.C:g}): its coefficients are biased by an amount that the rows "
            "do not show, so standard errors, p-values, intervals, AIC and BIC would mislead; fit with ",
            Setting("C", np.inf),
        )
    if asked.class_weighted and not COVARIANCES[kind].robust:
        return (
            "the fit has class weights, so its curvature is not the information in the rows and classical standard "
            "errors would be wrong; ask for covariance='HC1', or fit without class_weight"
        )
    certificate = asked.model.certificate_
    if not certificate.met and not asked.firth and estimate.distance > LARGEST_ESTIMATE_DISTANCE:
        return f"the fit has not reached the maximum ({certificate.status}); fit with more iterations"
    return None


SAYINGS = {
    HELD: "constant, so not identified beside the intercept, which counts it as zero",
    OPEN: "not identified: collinear with other columns, so other values fit as well",
    UP: "infinite: every direction in which the likelihood grows raises it",
    DOWN: "minus infinite: every direction in which the likelihood grows lowers it",
    EITHER: "without a value: directions in which the likelihood grows disagree on its sign",
}


def _named_states(asked: SummaryRequest, estimate: Estimate, states: States) -> list[str]:
    """A sentence for each unusual state, with the names of the coefficients in it.

    A coefficient whose state differs between classes is named together with its class.
    """
    names, classes = estimate_names(asked), asked.claim.scorer.classes.tolist()
    labels = [classes[int(np.argmax(row))] for row in estimate.A]
    said: dict[str, list[str]] = {state: [] for state in SAYINGS}
    for name, own in zip(names, zip(*states, strict=True), strict=True):
        for label, state in zip(labels, own, strict=True) if len(set(own)) > 1 else [(None, own[0])]:
            if state in said:
                said[state].append(name if label is None else f"{name} of {label!r}")
    return [f"{', '.join(held)}: {SAYINGS[state]}" for state, held in said.items() if held]
