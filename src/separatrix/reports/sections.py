"""The sections of a report, one function each. A function returns a section, or None if there is nothing to show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from separatrix.base.errors import InputError
from separatrix.diagnostics import Coefficients, certificate_on, surprising, wilson
from separatrix.plots import (
    CalibrationDisplay,
    CoefficientDisplay,
    ConfusionDisplay,
    DecisionRegionsDisplay,
    InfluenceDisplay,
    LossDisplay,
    PenaltyPathDisplay,
    PrecisionRecallDisplay,
    RocDisplay,
)
from separatrix.plots.confusion import MOST_NARROW, MOST_SHARES
from separatrix.plots.loss import runs_of
from separatrix.plots.ranked import RankingDisplay
from separatrix.plots.style import told_apart
from separatrix.reports.figures import figure
from separatrix.reports.page import Section, details, facts, findings, pair, paragraph, table, text, tiles
from separatrix.reports.reported_model import TOP, ReportedModel
from separatrix.reports.verdict import fitted, optimality, percent, performance, worries

# The most rows in a table of classes, and in a table of kinds of mistakes.
MOST_CLASS_ROWS, MOST_MISTAKE_ROWS = 40, 300
# The most classes side by side in a table of coefficients.
MOST_COEFFICIENT_CLASSES = 5


def lead(subject: ReportedModel) -> str:
    """The verdict: one paragraph, the main numbers, and the warnings."""
    found = worries(subject)
    if found:
        worry = "What to worry about: " + " ".join(title.rstrip(".") + "." for _, title, _ in found)
    else:
        worry = "No check found a reason to worry."
    sentences = " ".join([fitted(subject), performance(subject), optimality(subject), worry])
    notes = "".join(paragraph(note, "aside") for note in subject.notes)
    return paragraph(sentences, "verdict") + tiles(_numbers(subject)) + (findings(found) if found else "") + notes


def _numbers(subject: ReportedModel) -> list[tuple[str, str, str]]:
    measured, level = subject.performance, percent(subject.level, 0)
    low, high = measured.accuracy_interval
    shown = [
        ("accuracy", percent(measured.accuracy), f"{level} interval {percent(low)} to {percent(high)}"),
        ("always the majority", percent(measured.null_accuracy), f"guessing {subject.labels[measured.majority]}"),
    ]
    if len(measured.rankings) == 1:
        one = measured.rankings[0]
        least, most = one.auc_interval(subject.level)
        shown.append(("area under ROC", f"{one.auc:.3f}", f"{level} interval {least:.3f} to {most:.3f}"))
    if measured.log_loss is not None:
        alone = f"class shares alone: {measured.null_log_loss:.3f}"
        shown.append(("log loss", f"{measured.log_loss:.3f} nats", alone))
    return shown


def certificate(subject: ReportedModel) -> Section:
    lines = certificate_on(subject.model, subject.X).lines()
    verified = (
        f"Recomputed from the rows, without the solver, as this page was made: it {subject.verification.sentence}."
    )
    body = paragraph("What the fit claims, and how anyone can check it.", "aside")
    body += facts(lines) + paragraph(verified)
    return Section("certificate", "Certificate", body + "<p><code>model.certificate_.verify(X, y)</code></p>")


def columns(subject: ReportedModel) -> Section:
    title, found = "What each column does", subject.coefficients
    if isinstance(found, str):
        return Section("columns", title, paragraph(f"Left out: {found}."))
    shown = CoefficientDisplay(found)
    zero = int(np.sum(np.all(found.value == 0, axis=0)))
    parts = [f"The {len(shown.shown)} largest of {len(found.names)} columns" if len(found.names) > 1 else "The column"]
    parts += ["per step of a column: one standard deviation, or from 0 to 1", found.says]
    parts += [f"{zero} columns have a weight of exactly zero"] if zero else []
    parts += [told] if (told := told_apart(len(found.classes))) else []
    picture = figure(shown, "fig-columns", "; ".join(parts) + ".")
    if len(found.classes) > MOST_COEFFICIENT_CLASSES:
        return Section("columns", title, picture)
    what = found.ratio or "weight"
    one = len(found.classes) == 1
    units = ["weight", found.odds] if found.odds else ["weight"]
    heads = ["column", "step", *([what] if one else map(str, found.classes))]
    heads += [f"{unit} per unit" for unit in units] if one else []
    rows = [
        [found.name_of(j), found.step_of(j), *(_effect(found, k, j) for k in range(len(found.classes)))]
        + (_per_unit(found, j) if one else [])
        for j in shown.shown.tolist()
    ]
    return Section("columns", title, pair(picture, f"<div>{table(heads, rows)}</div>"))


def _effect(found: Coefficients, k: int, j: int) -> str:
    """One cell: the value, or its ratio, with its interval if there is one."""
    with np.errstate(over="ignore"):
        values = [float(a[k, j]) for a in (found.value, found.low, found.high)]
        at, low, high = (float(np.exp(v)) if found.ratio else v for v in values)
    if np.isnan(at):
        return "none"
    shown = f"{at:.3g}" if np.isnan(low) or np.isnan(high) else f"{at:.3g} ({low:.3g} to {high:.3g})"
    return _interval(shown.replace("-", "\N{MINUS SIGN}"))  # Lines do not break after a minus sign.


def _per_unit(found: Coefficients, j: int) -> list[str]:
    """The weight per unit of column j, and its ratio, if it has one."""
    weight = float(found.per_unit[0, j])
    with np.errstate(over="ignore"):
        values = [weight, float(np.exp(weight))] if found.odds else [weight]
    return ["none" if np.isnan(v) else f"{v:.4g}".replace("-", "\N{MINUS SIGN}") for v in values]


def _interval(shown: str) -> str:
    """Text whose lines may break before an interval but not within it."""
    value, bracket, rest = shown.partition(" (")
    return value.replace(" ", "\N{NO-BREAK SPACE}") + bracket + rest.replace(" ", "\N{NO-BREAK SPACE}")


def decision(subject: ReportedModel) -> Section:
    shown = DecisionRegionsDisplay.of(subject.model, *subject.judged_rows, names=subject.names)
    caption = f"Rows by their true class, mistakes ringed; {shown.says}."
    told = [
        "The background colour shows the predicted class; points are rows, coloured by their true class.",
        "A ring marks a mistake: a row in the region of another class."
        if shown.plane.exact
        else "A ring marks a mistake. Rows differ in more directions than are shown, so some lie in another region.",
        "Boundaries are exact polygons." if shown.regions is not None else "Boundaries are contours of the scores.",
    ]
    words = "<div>" + "".join(map(paragraph, told)) + "</div>"
    return Section("regions", "Decision regions", pair(figure(shown, "fig-regions", caption), words))


def ranking(subject: ReportedModel) -> Section | None:
    if not subject.performance.rankings:
        return Section("ranking", "Ranking", paragraph("Left out: the rows are all of one class."))
    curves = [kind(subject.performance.rankings, level=subject.level) for kind in (RocDisplay, PrecisionRecallDisplay)]
    level = percent(subject.level, 0)
    roc = f"ROC: areas with DeLong's {level} intervals; the band holds each point's rates (Wilson)."
    recall = (
        f"Precision and recall: average precision with its {level} interval; the band holds each point's precision "
        "(Wilson); dashed, the class's share."
    )
    pictures = [
        figure(shown, name, caption + _several(subject, shown))
        for shown, name, caption in zip(curves, ("fig-roc", "fig-pr"), (roc, recall), strict=True)
    ]
    body = pair(*pictures) if curves[0].together else "".join(pictures)
    return Section("ranking", "Telling the classes apart", body + _areas(subject, curves))


def _several(subject: ReportedModel, shown: RankingDisplay) -> str:
    """For more than two classes: what each curve is, and which are drawn."""
    if len(subject.labels) == 2:
        return ""
    if len(shown.shown) < len(shown.curves):
        which = f"the {len(shown.shown)} of {len(shown.curves)} with the smallest areas"
        return f" Each curve is one class against the rest; shown are {which}."
    return " Each curve is one class against the rest."


def _areas(subject: ReportedModel, curves: Sequence[RankingDisplay]) -> str:
    """A folded table of all areas with their intervals."""
    if len(subject.labels) == 2:
        return ""
    rows = []
    for one in subject.performance.rankings:
        found = [shown.area(one) for shown in curves]
        cells = [_interval(f"{area:.3f} ({low:.3f} to {high:.3f})") for area, (low, high) in found]
        rows.append([one.of, one.positives, *cells])
    return details("All areas in a table", table(["class", "rows", "area under ROC", "average precision"], rows))


def calibration(subject: ReportedModel) -> Section:
    found = subject.calibration
    if isinstance(found, str):
        return Section("calibration", "Calibration", paragraph(f"Left out: {found}."))
    caption = (
        f"Predicted probabilities against observed shares. Expected error {found.expected_error:.3f}, "
        f"Brier score {found.brier:.3f}, log loss {found.log_loss:.3f} nats ({found.log_loss_bits:.3f} bits)."
    )
    rows = [
        [f"{low:.2f} to {high:.2f}", n, f"{p:.3f}", f"{f:.3f}"]
        for (low, high), n, p, f in zip(found.edges, found.count, found.predicted, found.observed, strict=True)
    ]
    picture = figure(CalibrationDisplay(found, subject.level), "fig-calibration", caption)
    body = pair(picture, f"<div>{table(['predicted', 'rows', 'mean', 'came true'], rows)}</div>")
    return Section("calibration", "Do its probabilities come true?", body)


def confusion(subject: ReportedModel) -> Section:
    counts = subject.judged.confusion
    shown = ConfusionDisplay(counts, subject.judged.classes)
    left_out = len(counts) - len(shown.shown)
    shares = "and shares of the true class" if len(shown.shown) <= MOST_SHARES else "filled by shares of the true class"
    caption = f"Of {subject.which}: counts, {shares}."
    caption += f" {left_out} classes with the fewest rows are left out." if left_out else ""
    rows = []
    for k in shown.shown.tolist():
        found = [int(counts[k].sum()), int(counts[:, k].sum())]
        cells = [_share(int(counts[k, k]), n, subject.level) for n in found]
        rows.append([subject.labels[k], found[0], *cells])
    told = "Recall: the share of a class that is recognised. Precision: the share of a predicted class that is right."
    classes = table(["class", "rows", "recall", "precision"], rows) + paragraph(told, "aside")
    picture = figure(shown, "fig-confusion", caption)
    body = pair(picture, f"<div>{classes}</div>") if len(shown.shown) <= MOST_NARROW else picture + classes
    return Section("confusion", "Mistakes", body + _mistakes(subject))


def _mistakes(subject: ReportedModel) -> str:
    """For many classes, a folded table of the kinds of mistakes, most frequent first."""
    counts = subject.judged.confusion * (1 - np.eye(len(subject.labels), dtype=np.int64))
    pairs = np.argwhere(counts > 0)
    if len(counts) <= MOST_SHARES or not len(pairs):
        return ""
    number = counts[tuple(pairs.T)]
    order = np.argsort(-number, kind="stable")[:MOST_MISTAKE_ROWS]
    rows = [[subject.labels[pairs[k, 0]], subject.labels[pairs[k, 1]], int(number[k])] for k in order]
    which = f"The {MOST_MISTAKE_ROWS} most frequent kinds" if len(pairs) > MOST_MISTAKE_ROWS else "All kinds"
    return details(f"{which} of mistakes in a table", table(["true", "predicted", "rows"], rows, frozenset({0, 1})))


def _share(k: int, n: int, level: float) -> str:
    if n == 0:
        return "none"
    low, high = (100 * float(end) for end in wilson(k, n, level))
    return _interval(f"{100 * k / n:.0f} % ({low:.0f} to {high:.0f})")


def solving(subject: ReportedModel) -> Section:
    try:
        runs = runs_of(subject.model)
    except InputError as error:
        return Section("solver", "Solver", paragraph(f"{error.came}: there is no loss by iteration to show."))
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
        parts.append(f"<div>{paragraph(said)}</div>")
    return Section("solver", "How the solver went", pair(*parts))


def influence(subject: ReportedModel) -> Section:
    found = subject.influence
    if isinstance(found, str):
        return Section("influence", "Influential rows", paragraph(f"Left out: {found}."))
    caption = f"Rows of the fit without which it would change the most. {found.says}; past 1 a row matters."
    caption += _leverage(subject)
    called = subject.called(found.rows)
    shown = replace(InfluenceDisplay.of(found, subject.model, subject.y), found=replace(found, rows=np.array(called)))
    labels, chosen = subject.labels, subject.own.chosen
    rows = [
        [name, label, labels[chosen[row]], f"{distance:.3g}", f"{leverage:.3g}"]
        for name, row, label, distance, leverage in zip(
            called, found.rows.tolist(), shown.labels, found.distance, found.leverage, strict=True
        )
    ]
    heads = ["row", "true", "predicted", "Cook's distance", "leverage"]
    body = pair(figure(shown, "fig-influence", caption), f"<div>{table(heads, rows, frozenset({0, 1, 2}))}</div>")
    return Section("influence", "Influential rows", body)


def _leverage(subject: ReportedModel) -> str:
    """How large a leverage can be: 1, or K − 1 for K scores fitted together, the rank of a row's curvature."""
    several = len(subject.labels) > 2 and not hasattr(type(subject.model), "influential")
    most = (
        f"with {len(subject.labels)} classes it may exceed 1, up to {len(subject.labels) - 1}"
        if several
        else "at most 1"
    )
    return f" Leverage: how strongly a row determines its own scores; {most}."


def surprise(subject: ReportedModel) -> Section:
    found, judged = surprising(subject.judged, TOP), subject.judged
    title, places = "Surprising rows", subject.test_rows if subject.held_out else subject.rows
    where = "rows as the table numbers them, from 1"
    if places is None:
        where = "test rows, counted from 0" if subject.held_out else "rows, counted from 0"
    if len(found.rows) == 0:
        return Section("surprise", title, paragraph("None: every row is on the side of its class."))
    labels, words = subject.labels, frozenset({0, 1, 2})
    if found.in_bits:
        heads = ["row", "true", "predicted", "P(true)", "surprise"]
        said = [[f"{2.0**-bits:.2g}", f"{bits:.1f}\N{NO-BREAK SPACE}bits"] for bits in found.amount.tolist()]
        told = "The rows whose labels have the lowest predicted probability"
    else:
        heads, said = ["row", "true", "predicted", "wrong by"], [[f"{z:.3g}"] for z in found.amount.tolist()]
        told = "The rows that are farthest on the wrong side of the boundary, by their scores"
    pairs = zip(subject.called(found.rows, judged=True), found.rows.tolist(), said, strict=True)
    rows = [[name, labels[judged.codes[i]], labels[judged.chosen[i]], *cells] for name, i, cells in pairs]
    body = paragraph(f"{told}: look here first for wrong labels ({where}).") + table(heads, rows, words)
    return Section("surprise", title, body)


def checks(subject: ReportedModel) -> Section | None:
    if subject.checks is None:
        return None
    of = paragraph(f"Of {subject.checks_of}.", "aside") if subject.checks_of else ""
    body = findings(subject.checks) if subject.checks else paragraph("Nothing was found.")
    return Section("checks", "Data checks", of + body)


def settings(subject: ReportedModel) -> Section:
    params = subject.model.get_params(deep=False)
    pairs = [(name, f"{value!r}") for name, value in sorted(params.items())]
    n, K = subject.own.n_rows, len(subject.labels)
    counts = np.bincount(subject.own.codes, minlength=K)
    rows = [[label, f"{count:,}", percent(count / n)] for label, count in zip(subject.labels, counts, strict=True)]
    body = pair(
        f"<div><h3>Settings</h3>{facts(pairs)}</div>",
        f"<div><h3>{text('Classes fitted')}</h3>"
        + table(["class", "rows", "share"], rows[:MOST_CLASS_ROWS])
        + "</div>",
    )
    return Section("settings", "What was fitted", body)


SECTIONS: tuple[Callable[[ReportedModel], Section | None], ...] = (
    certificate,
    columns,
    decision,
    ranking,
    calibration,
    confusion,
    solving,
    influence,
    surprise,
    checks,
    settings,
)
