"""Sections on the fit itself: the certificate, the separation of classes, and the choice of C."""

from __future__ import annotations

from separatrix.diagnostics import certificate_on
from separatrix.plots import PenaltyPathDisplay
from separatrix.reports.no_optimum import TERMS, apart
from separatrix.reports.page import Section, block, facts, pair, paragraph
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.svg_markup import figure

GROUP = "Proof"


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
    return Section("certificate", GROUP, "Certificate", "what the fit proves about itself", body)


def separation(subject: ReportedModel) -> Section | None:
    said = apart(subject)
    if said is None:
        return None
    title = TERMS[subject.model.certificate_.code]
    return Section("separation", GROUP, title, "why there is no best fit", paragraph(said))


def penalty(subject: ReportedModel) -> Section | None:
    choice = getattr(subject.model, "penalty_choice_", None)
    if choice is None:
        return None
    body = figure(PenaltyPathDisplay(choice), "fig-penalty", f"{choice}.")
    return Section("penalty", "Fit", "Penalty", "how C was chosen", body)
