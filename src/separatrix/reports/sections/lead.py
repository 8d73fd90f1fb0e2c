"""The first screen: the verdict, the main numbers, and the worries with links to their details."""

from __future__ import annotations

from collections.abc import Sequence

from separatrix.reports.formatting import percent, signed
from separatrix.reports.page import Html, findings, link, paragraph, text, tiles
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.verdict import optimality, performance, proven_optimal, worry
from separatrix.reports.worries import Worry


def lead(subject: ReportedModel, found: Sequence[Worry], linked: frozenset[str]) -> str:
    """The verdict, the worries and the main numbers. ``linked``: the ids of the sections of the page."""
    sentences = " ".join([performance(subject), optimality(subject), worry(len(found))])
    listed = findings([(one.severity, _told(one, linked)) for one in found])
    notes = "".join(paragraph(note, "aside") for note in subject.notes)
    kind = "lead warned" if found else "lead"
    return f'<div class="{kind}">{paragraph(sentences, "verdict")}{listed}</div>{tiles(_numbers(subject))}{notes}'


def _told(one: Worry, linked: frozenset[str]) -> Html:
    """The title with a link to the section that has the details."""
    return link(one.section, one.title) if one.section in linked else Html(text(f"{one.title} {one.sentence}"))


def _numbers(subject: ReportedModel) -> list[tuple[str, str, str]]:
    measured, level = subject.performance, percent(subject.level, 0)
    low, high = measured.accuracy_interval
    gain = 100 * (measured.n_right - measured.n_majority) / measured.n_rows
    least, most = (signed(100 * end, ".1f") for end in measured.gain)
    always = f"always {subject.labels[measured.majority]}: {percent(measured.null_accuracy)}"
    shown = [
        ("accuracy", percent(measured.accuracy), f"{level} interval {percent(low)} to {percent(high)}"),
        (
            "gain over guessing",
            signed(gain, ".1f"),
            f"points ({least} to {most}); {always}",
        ),
    ]
    if measured.auc is not None:
        interval = measured.auc_interval
        sure = (
            "mean of each class against the rest" if interval is None else f"{interval.low:.3f} to {interval.high:.3f}"
        )
        shown.append(("area under ROC", f"{measured.auc:.3f}", sure))
    if measured.log_loss is not None:
        alone = f"nats; class shares alone: {measured.null_log_loss:.3f}"
        shown.append(("log loss", f"{measured.log_loss:.3f}", alone))
    if not isinstance(subject.calibration, str):
        shown.append(
            ("calibration error", f"{subject.calibration.expected_error:.3f}", "expected error of a probability")
        )
    bound = subject.model.certificate_.bound
    if subject.verification and bound is not None:
        shown.append(("proven gap", f"{bound:.0e}", "optimal" if proven_optimal(subject) else "to the best objective"))
    return shown
