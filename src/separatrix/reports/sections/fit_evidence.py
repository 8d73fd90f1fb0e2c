"""Sections on the fit itself: the certificate, the separation of classes, and the run of the solver."""

from __future__ import annotations

from separatrix.base.errors import InputError
from separatrix.diagnostics import certificate_on
from separatrix.plots import LossDisplay, PenaltyPathDisplay
from separatrix.plots.loss import runs_of
from separatrix.reports.no_optimum import TERMS, apart
from separatrix.reports.page import Section, block, facts, pair, paragraph
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.svg_markup import figure

PROOF, GROUP = "Proof", "Fit"


def certificate(subject: ReportedModel) -> Section:
    lines = certificate_on(subject.model, subject.X).lines()
    recomputed = "Recomputed from the rows, without the solver, as this page was made"
    verified = f"{recomputed}: it {subject.verification.sentence}."
    if subject.may_lack_weights:
        verified = f"{recomputed}, with all weights equal and without an offset, it could not be confirmed."
    known = {"sample_weight": subject.sample_weight, "offset": subject.offset}
    arguments = ", ".join(["X", "y", *(f"{name}={name}" for name, value in known.items() if value is not None)])
    how = block(
        paragraph(verified),
        paragraph("Anyone with the rows can check it:", "aside"),
        f"<p><code>model.certificate_.verify({arguments})</code></p>",
    )
    body = pair(facts(lines), how)
    return Section("certificate", PROOF, "Certificate", "what the fit proves about itself", body)


def separation(subject: ReportedModel) -> Section | None:
    said = apart(subject)
    if said is None:
        return None
    title = TERMS[subject.model.certificate_.code]
    return Section("separation", PROOF, title, "why there is no best fit", paragraph(said))


def solving(subject: ReportedModel) -> Section:
    title, gloss = "Convergence", "how the solver went"
    try:
        runs = runs_of(subject.model)
    except InputError as error:
        said = f"{error.problem}: there is no loss by iteration to show."
        return Section("solver", GROUP, title, gloss, paragraph(said))
    parts = []
    choice = getattr(subject.model, "penalty_choice_", None)
    if choice is not None:
        parts.append(figure(PenaltyPathDisplay(choice), "fig-penalty", f"{choice}."))
    if any(len(run.value) > 1 for run in runs):
        parts.append(figure(LossDisplay(runs), "fig-loss", "The objective at every iteration."))
        if any(run.floor is not None for run in runs):
            caption = "The objective minus the lower bound that the certificate proves: the true gap is at most this."
            parts.append(figure(LossDisplay(runs, gap=True), "fig-gap", caption))
    else:
        began = "where the search for C had left it" if choice is not None else "at weights that were there already"
        said = f"The last search began {began}, and found nothing left to do: there is no curve to show."
        parts.append(block(paragraph(said)))
    return Section("solver", GROUP, title, gloss, pair(*parts))
