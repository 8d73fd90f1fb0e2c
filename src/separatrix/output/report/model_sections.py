"""Sections on the model and its data: what was missing, the certificate, the choice of C, and the origin of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix._version import __version__
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.output.plots.fit_curves import PenaltyPathDisplay
from separatrix.output.report.lead import TERMS, apart, chosen_C
from separatrix.output.report.page import (
    Html,
    Section,
    bar,
    block,
    details,
    facts,
    figure,
    findings,
    named_class,
    number,
    pair,
    paragraph,
    percent,
    table,
    text,
    titled,
)
from separatrix.output.report.reported_model import ReportedModel, digest
from separatrix.statistics.comparison import Comparison, Standing
from separatrix.statistics.measures import certificate_on

# --- Data

# The most columns in the table of missing values.
MOST_MISSING_COLUMNS = 40


def missing(subject: ReportedModel) -> Section | None:
    """The missing values of each column, before they were filled; None if it is not known."""
    title, gloss = "Missing values", "what was not recorded, before it was filled"
    if subject.missing is None:
        return None
    holes = sorted(subject.missing.items(), key=lambda item: -item[1])
    if not holes:
        dropped = subject.encoder is not None and subject.encoder.missing == "drop"
        said = (
            "Rows with a missing value were left out, so none is missing here." if dropped else "No value is missing."
        )
        return Section("missing", "Data", title, gloss, paragraph(said))
    n = subject.own.n_rows + (subject.judged.n_rows if subject.held_out else 0)
    rows = [[name, f"{count:,}", bar(count / n, percent(count / n))] for name, count in holes[:MOST_MISSING_COLUMNS]]
    left = len(holes) - MOST_MISSING_COLUMNS
    body = table(["column", "missing", "share of rows"], rows)
    body += paragraph(f"{left} more columns lack fewer values.", "aside") if left > 0 else ""
    return Section("missing", "Data", title, gloss, body)


def checks(subject: ReportedModel) -> Section | None:
    if subject.checks is None:
        return None
    of = paragraph(f"Of {subject.checks_of}.", "aside") if subject.checks_of else ""
    found = [(kind, titled(title, sentence)) for kind, title, sentence in subject.checks]
    body = findings(found) if found else paragraph("Nothing was found.")
    return Section("checks", "Data", "Data checks", "what the rows themselves look like", of + body)


# --- Evidence


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
    return Section("certificate", "Proof", "Certificate", "what the fit proves about itself", body)


def separation(subject: ReportedModel) -> Section | None:
    said = apart(subject)
    if said is None:
        return None
    title = TERMS[subject.model.certificate_.code]
    return Section("separation", "Proof", title, "why there is no best fit", paragraph(said))


def penalty(subject: ReportedModel) -> Section | None:
    choice = getattr(subject.model, "penalty_choice_", None)
    if choice is None:
        return None
    body = figure(PenaltyPathDisplay(choice), "fig-penalty", f"{choice}.")
    return Section("penalty", "Fit", "Penalty", "how C was chosen", body)


# --- Origin

# The most rows in the table of classes, and the most columns that are listed before the list is folded.
MOST_CLASS_ROWS, MOST_UNFOLDED_COLUMNS = 40, 12


def _standings(found: Comparison) -> str:
    """The table of the classifiers that were fitted. The bars of accuracies begin at the worst."""
    fitted = [one for one in found.standings if one.fitted]
    accuracies = [one.accuracy.mean for one in fitted]
    worst, best = min(accuracies, default=0.0), max(accuracies, default=1.0)

    def cells(one: Standing) -> list[Any]:
        share = (one.accuracy.mean - worst) / (best - worst) if best > worst else 1.0
        off = one.calibration_error
        return [
            one.name,
            bar(share, f"{100 * one.accuracy.mean:.1f} ± {100 * one.accuracy.error:.1f} %"),
            "none" if one.log_loss is None else f"{one.log_loss.mean:.4f}",
            "none" if off is None else f"{off:.3f}",
            f"{one.n_met} of {found.n_folds}",
        ]

    heads = ["classifier", "accuracy", "log loss", "calibration error", "fits certified"]
    now = frozenset(i for i, one in enumerate(fitted) if one is found.chosen)
    return table(heads, [cells(one) for one in fitted], now=now)


def comparison(subject: ReportedModel) -> Section | None:
    found = subject.comparison
    if found is None:
        return None
    body = paragraph(found.why) + _standings(found)
    body += paragraph(
        f"{found.n_folds} folds, random seed {found.seed}; ± is the standard error over the folds. The bars begin at "
        "the worst accuracy.",
        "aside",
    )
    refused = [f"{one.name}: {one.reason}" for one in found.standings if not one.fitted]
    if refused:
        body += details("Classifiers that could not be fitted", "".join(map(paragraph, refused)))
    gloss = "other classifiers on the same folds"
    return Section("comparison", "Performance", "Comparison", gloss, body)


def settings(subject: ReportedModel) -> Section:
    n, K = subject.own.n_rows, len(subject.labels)
    counts = np.bincount(subject.own.codes, minlength=K).tolist()
    rows = [
        [named_class(k, label), f"{count:,}", percent(count / n)]
        for k, (label, count) in enumerate(zip(subject.labels, counts, strict=True))
    ]
    params = subject.model.get_params(deep=False)
    pairs = [(name, f"{value!r}") for name, value in sorted(params.items())]
    body = pair(
        block("<h3>Origin</h3>", facts(_origin(subject)), "<h3>Settings</h3>", facts(pairs)),
        block("<h3>Classes</h3>", table(["class", "rows fitted", "share"], rows[:MOST_CLASS_ROWS]), _columns(subject)),
    )
    return Section("settings", "Fit", "Reproducibility", "what was fitted, to what, and when", body)


def _origin(subject: ReportedModel) -> list[tuple[str, Any]]:
    """The day, the version, the penalty, the seed, and the digests of the rows."""
    C, seed = chosen_C(subject), subject.model.get_params(deep=False).get("random_state")
    found: list[tuple[str, Any]] = [
        ("date", subject.date.isoformat()),
        ("separatrix", __version__),
        ("model", subject.kind),
    ]
    if C is not None:
        chosen = ", chosen by the fit" if getattr(subject.model, "penalty_choice_", None) is not None else ""
        found.append(("C", f"{number(C, 6)}{chosen}"))
    if seed is not None and "random seed" not in subject.about:
        found.append(("random seed", f"{seed!r}"))
    found += list(subject.about.items())
    found.append(("rows fitted", f"{subject.own.n_rows:,}"))
    found.append(("their digest", _long(digest(subject.scored, subject.y))))
    if subject.test is not None:
        X, y = subject.test
        found.append(("rows held out", f"{subject.judged.n_rows:,}"))
        found.append(("their digest", _long(digest(rows_to_score(subject.model, X)[0], y))))
    return found


def _long(value: str) -> Html:
    return Html(f'<code class="long">SHA-256 {text(value)}</code>')


def _columns(subject: ReportedModel) -> str:
    """The list of columns, folded if it is long."""
    listed = paragraph(", ".join(map(str, subject.names)))
    if len(subject.names) <= MOST_UNFOLDED_COLUMNS:
        return f"<h3>Columns</h3>{listed}"
    return "<h3>Columns</h3>" + details(f"All {len(subject.names):,} columns", listed)
