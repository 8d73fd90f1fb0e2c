"""Sections on columns and rows: weights, distributions, decision regions, rows that stand out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.messages import ratio_text
from separatrix.core.scorer import Scorer, scores_of
from separatrix.output.plots.decision_regions import DecisionRegionsDisplay
from separatrix.output.plots.importance import (
    MOST_DISTRIBUTIONS_DRAWN,
    MOST_HISTOGRAMS,
    CoefficientDisplay,
    DistributionDisplay,
    InfluenceDisplay,
)
from separatrix.output.report.page import (
    Html,
    Section,
    block,
    details,
    facts,
    figure,
    interval,
    mark,
    named_class,
    number,
    pair,
    paragraph,
    signed,
    stated,
    table,
    text,
)
from separatrix.output.report.reported_model import ReportedModel
from separatrix.output.theme import LIGHT, told_apart
from separatrix.statistics.coefficients import Coefficients, column_of
from separatrix.statistics.explained_row import Contributions
from separatrix.statistics.view_plane import plane_of
from separatrix.statistics.weights_and_odds_ratios import weight_table

if TYPE_CHECKING:
    from separatrix.tables.encoder import Encoded, Encoder, Scaling

# --- Weights

# The most classes side by side in a table of coefficients.
MOST_COEFFICIENT_CLASSES = 5


def coefficients(subject: ReportedModel) -> Section:
    found = subject.coefficients
    if isinstance(found, str):
        return _section(paragraph(f"Left out: {found}."))
    shown = CoefficientDisplay(found)
    largest: list[int] = shown.shown.tolist()
    picture = figure(shown, "fig-columns", _caption(found, len(largest)))
    several = len(found.classes) > MOST_COEFFICIENT_CLASSES
    beside = _extremes(found, largest) if several else _effects(found, largest)
    return _section(pair(picture, block(beside)) + _several_per_unit(subject, found, largest))


def _caption(found: Coefficients, n_shown: int) -> str:
    """What the picture of the ``n_shown`` largest columns shows."""
    zero = int(np.sum(np.all(found.value == 0, axis=0)))
    parts = [f"The {n_shown} largest of {len(found.names)} columns" if len(found.names) > 1 else "The column"]
    parts += ["per step of a column: one standard deviation, or from 0 to 1", found.says]
    parts += [f"{zero} columns have a weight of exactly zero"] if zero else []
    parts += [told] if (told := told_apart(len(found.classes))) else []
    return "; ".join(parts) + "."


def _effects(found: Coefficients, columns: list[int]) -> str:
    """The table of the columns' effects on each class; for one score, also per unit."""
    one = len(found.classes) == 1
    units = ["weight", found.odds] if found.odds else ["weight"]
    heads = ["column", "step", *([found.ratio or "weight"] if one else map(str, found.classes))]
    heads += [f"{unit} per unit" for unit in units] if one else []
    rows = [
        [found.name_of(j), found.step_of(j), *(_effect(found, k, j) for k in range(len(found.classes)))]
        + (_per_unit(found, j) if one else [])
        for j in columns
    ]
    return table(heads, rows)


def _several_per_unit(subject: ReportedModel, found: Coefficients, chosen: list[int]) -> str:
    """For more than two classes: the weights per unit of each class's score, and odds ratios against the first class.

    Tables of many classes are folded.
    """
    scorer = scores_of(subject.model)
    if not isinstance(scorer, Scorer) or len(scorer.W) == 1:
        return ""
    known = weight_table(scorer, subject.names, subject.scaling, subject.encoder)
    names = [found.name_of(j) for j in chosen]
    places = [0, *(j + 1 for j in chosen)]
    weights = _by_class(known.per_unit[:, places], ["intercept", *names], known.classes, 0, _number)
    tables = [("Weights per unit of a column", "of each class's score; the largest score wins", weights)]
    if known.ratio is not None:
        against = f"of each class against {known.baseline}, the first class"
        ratios = _by_class(known.ratios(known.per_unit)[:, places[1:]], names, known.ratio_classes, 1, _ratio)
        title = f"{known.ratio[:1].upper()}{known.ratio[1:]}s per unit of a column"
        tables.append((title, against, ratios))
    if len(known.classes) > MOST_COEFFICIENT_CLASSES:
        return "".join(details(f"{title}, {said}", whole) for title, said, whole in tables)
    return pair(
        *(block(f"<h3>{text(title)}</h3>", paragraph(stated(said), "aside"), whole) for title, said, whole in tables)
    )


def _by_class(
    values: Array, names: list[str], classes: tuple[Any, ...], first: int, shown: Callable[[float], str]
) -> str:
    """A table of values (q, m): a line for each name, a column for each class, numbered from ``first`` on."""
    heads = ["column", *(named_class(k + first, label) for k, label in enumerate(classes))]
    return table(heads, [[name, *map(shown, values[:, j].tolist())] for j, name in enumerate(names)])


def _number(value: float) -> str:
    return "none" if np.isnan(value) else number(value)


def _ratio(value: float) -> str:
    return "none" if np.isnan(value) else ratio_text(value)


def _extremes(found: Coefficients, chosen: list[int]) -> str:
    """For many classes, a table of the classes that a column speaks for and against most."""
    rows = []
    for j in chosen:
        value = np.nan_to_num(found.value[:, j])
        ends = [(int(k), f"{found.classes[k]} ({signed(float(value[k]))})") for k in (value.argmax(), value.argmin())]
        rows.append([found.name_of(j), found.step_of(j), *(Html(mark(k) + text(said)) for k, said in ends)])
    return table(["column", "step", "most for", "most against"], rows)


def _per_unit(found: Coefficients, j: int) -> list[str]:
    """The weight per unit of column j, and its ratio, if it has one."""
    weight = float(found.per_unit[0, j])
    with np.errstate(over="ignore"):
        return [_number(weight), *([_ratio(float(np.exp(weight)))] if found.odds else [])]


def _section(body: str) -> Section:
    return Section("columns", "Columns", "Weights", "what each column does to the scores", body)


def _effect(found: Coefficients, k: int, j: int) -> str:
    """One cell: the value, or its ratio, with its interval if there is one."""
    with np.errstate(over="ignore"):
        values = [float(a[k, j]) for a in (found.value, found.low, found.high)]
        at, low, high = (float(np.exp(v)) if found.ratio else v for v in values)
    if np.isnan(at):
        return "none"
    shown = number(at, 3)
    return shown if np.isnan(low) or np.isnan(high) else interval(f"{shown} ({number(low, 3)} to {number(high, 3)})")


# --- Distributions


def distributions(subject: ReportedModel) -> Section | None:
    chosen = subject.important[:MOST_DISTRIBUTIONS_DRAWN]
    if not len(chosen):
        return None
    classes = subject.own.classes
    V = np.column_stack([column_of(subject.scored, j) for j in chosen.tolist()])
    names = [subject.names[j] for j in chosen.tolist()]
    V = in_units(V, subject.scaling, chosen.tolist())
    shown = DistributionDisplay.of(V, subject.own.codes, classes, names, np.arange(len(chosen)))
    which = "largest weights" if not isinstance(subject.coefficients, str) else "largest differences of class means"
    how = f"The {len(chosen)} columns with the {which}" if len(chosen) > 1 else "The column that matters most"
    what = "the share of each class's rows in each bin"
    if len(shown.shown) > MOST_HISTOGRAMS:
        what = "the 5 % to 95 % quantiles of each class, broad between the quartiles, with the median"
    caption = f"{how}: {what}, over the rows of the fit."
    left = len(classes) - len(shown.shown)
    caption += f" {left} classes with the fewest rows are left out." if left else ""
    heads = ["column", *(named_class(k, classes.tolist()[k]) for k in shown.shown.tolist())]
    rows = [[one.name, *(number(one.median[k]) for k in shown.shown.tolist())] for one in shown.found]
    body = figure(shown, "fig-distributions", caption) + details("The medians in a table", table(heads, rows))
    return Section("distributions", "Columns", "Distributions", "the columns that matter, by class", body)


# --- Decision regions

# The columns that are named for each axis.
MOST_COLUMNS_OF_AXIS = 4


def decision(subject: ReportedModel) -> Section:
    # The plane is chosen by the rows of the fit, so that new rows are not separated by the choice.
    plane = plane_of(subject.model, subject.X, subject.y, names=subject.names, scaling=subject.scaling)
    shown = DecisionRegionsDisplay.of(subject.model, *subject.judged_rows, names=subject.names, plane=plane)
    caption = f"Rows by their true class, mistakes ringed; {shown.says}."
    told = [
        "The background shows the predicted class; points show the true class by colour and shape.",
        "A ring marks a mistake: a row in the region of another class."
        if plane.exact
        else "A ring marks a mistake. Rows differ in more directions than are shown, so some lie in another region.",
        "Boundaries are exact polygons." if shown.regions is not None else "Boundaries are contours of the scores.",
    ]
    words = block(*map(paragraph, told), _axes(subject, shown) if len(plane.origin) > 2 else "")
    gloss = "where the model decides for which class"
    return Section("regions", "Columns", "Decision regions", gloss, pair(figure(shown, "fig-regions", caption), words))


def _axes(subject: ReportedModel, shown: DecisionRegionsDisplay) -> str:
    """The columns that each axis consists of, with their coordinates in the direction."""
    plane, pairs = shown.plane, []
    for name, direction in zip(plane.names, plane.B.T, strict=True):
        largest = np.argsort(-np.abs(direction), kind="stable")[:MOST_COLUMNS_OF_AXIS].tolist()
        parts = [f"{subject.names[j]}\N{NO-BREAK SPACE}{signed(float(direction[j]), '.2f')}" for j in largest]
        pairs.append((name, ", ".join(parts)))
    return paragraph("The axes consist mostly of these columns, in standard deviations:", "aside") + facts(pairs)


# --- Rows that stand out

# The columns shown of a row: those that contributed most.
MOST_PARTS = 5
# The cards beside the figure of influential rows; the others are below it.
CARDS_BESIDE = 3
EXPLANATION = (
    "For each row, the columns that contributed most are shown with their values. A contribution is how much the score "
    "of the row's class, less that of the class it is most easily confused with, changes from the column's mean to "
    "this value; for a category, it is the sum over its levels. A bar to the right supports the row's label, and a bar "
    "to the left contradicts it, in the colour of the class that gains."
)


def influence(subject: ReportedModel) -> Section:
    title, gloss = "Influential rows", "rows without which the fit would change the most"
    found = subject.influence
    if isinstance(found, str):
        return Section("influence", "Rows", title, gloss, paragraph(f"Left out: {found}."))
    caption = f"{found.says}; a row above 1 is influential.{_leverage(subject)}"
    called = subject.called(found.rows)
    shown = replace(InfluenceDisplay.of(found, subject.model, subject.y), found=replace(found, rows=np.array(called)))
    said = [
        f"Cook's distance {number(distance, 3)}, leverage {number(leverage, 3)}"
        for distance, leverage in zip(found.distance, found.leverage, strict=True)
    ]
    picture = figure(shown, "fig-influence", caption)
    cards = _cases(subject, found.rows, said, False)
    body = pair(picture, _together(cards[:CARDS_BESIDE])) + _together(cards[CARDS_BESIDE:])
    # If there are surprising rows, their section, which comes first, explains the cards.
    if not any(len(found.rows) for found in subject.surprises):
        body += paragraph(EXPLANATION, "aside")
    return Section("influence", "Rows", title, gloss, body)


def _leverage(subject: ReportedModel) -> str:
    """How large a leverage can be: 1, or K − 1 for K scores fitted together, the rank of a row's curvature."""
    K, most = len(subject.labels), "at most 1"
    if K > 2 and not hasattr(type(subject.model), "influential"):
        most = f"with {K} classes it may exceed 1, up to {K - 1}"
    return f" Leverage: how strongly a row determines its own scores; {most}."


def surprise(subject: ReportedModel) -> Section:
    title, gloss = "Surprising rows", "look here first for wrong labels"
    in_bits, searched = subject.surprises[0].in_bits, _searched(subject)
    cards = []
    for found, held_out in zip(subject.surprises, (False, True), strict=False):
        said = [_amount(amount, in_bits, held_out) for amount in found.amount.tolist()]
        cards += [*zip(found.amount.tolist(), _cases(subject, found.rows, said, held_out), strict=True)]
    if not cards:
        none = "every label has a probability of at least 97 %" if in_bits else "every row is on its class's side"
        return Section("surprise", "Rows", title, gloss, paragraph(f"None: {none}. {searched}"))
    told = "The rows that are farthest on the wrong side of the boundary, by their scores"
    if in_bits:
        told = "The rows whose labels have the lowest predicted probability"
    ordered = [card for _, card in sorted(cards, key=lambda one: -one[0])]
    body = paragraph(f"{told} ({_numbered(subject)}). {searched}") + _together(ordered)
    return Section("surprise", "Rows", title, gloss, body + paragraph(EXPLANATION, "aside"))


def _amount(amount: float, in_bits: bool, held_out: bool) -> str:
    """How surprising a row is, and whether it was held out."""
    said = f"wrong by {number(amount, 3)}"
    if in_bits:
        said = f"P(true) {number(2.0**-amount, 2)}, surprise {amount:.1f} bits"
    return f"{said}; held out" if held_out else said


def _searched(subject: ReportedModel) -> str:
    """Which rows were searched, in a sentence."""
    n = subject.own.n_rows
    if not subject.held_out:
        return f"The {n:,} rows of the fit were searched."
    return (
        f"The {n:,} rows of the fit and the {subject.judged.n_rows:,} rows held out were searched. A row of the "
        "fit has pulled the weights towards its own label, so it tends to surprise less than if it had been held out."
    )


def _numbered(subject: ReportedModel) -> str:
    """How rows are numbered: as in the table, where that is known, or from 0 in each of the two sets."""
    known = [names is not None for names in (subject.rows, subject.test_rows)[: 1 + subject.held_out]]
    if all(known):
        return "rows as the table numbers them, from 1"
    if any(known):
        own, other = ("as the table numbers them, from 1" if one else "counted from 0" for one in known)
        return f"rows of the fit {own}; rows held out {other}"
    return "rows of the fit and rows held out each counted from 0" if subject.held_out else "rows, counted from 0"


def _together(cards: list[str]) -> str:
    return f'<div class="cases">{"".join(cards)}</div>' if cards else ""


def _cases(subject: ReportedModel, rows: Integers, said: list[str], judged: bool) -> list[str]:
    """A card for each row: its number, its classes, its figures and its contributions."""
    answers = subject.judged if judged else subject.own
    explained = subject.explained(rows, judged)
    labels, called = subject.labels, subject.called(rows, judged)
    cards = []
    for i, (row, sentence) in enumerate(zip(rows.tolist(), said, strict=True)):
        true, chosen = int(answers.codes[row]), int(answers.chosen[row])
        predicted = "so" if true == chosen else named_class(chosen, labels[chosen])
        classes = f"{named_class(true, labels[true])}, predicted {predicted}"
        parts = "" if explained is None else _parts(subject, explained, i, true)
        cards.append(
            f'<article class="case"><h4>Row {text(str(called[i]))}: {classes}</h4>'
            f'<p class="aside">{text(sentence)}</p>{parts}</article>'
        )
    return cards


def _parts(subject: ReportedModel, found: Contributions, i: int, true: int) -> Html:
    """The columns of row i that contributed most, each with its value, a bar and its contribution."""
    shown = entries(found.values[i], found.parts[i], subject.names, subject.scaling, subject.encoder, MOST_PARTS)
    largest = max((abs(one.part) for one in shown), default=1.0)
    items = []
    for one in shown:
        side, k = ("for", true) if one.part > 0 else ("against", int(found.others[i]))
        style = f"width:{50 * abs(one.part) / largest:.0f}%;background:var(--class-{k % len(LIGHT.classes)})"
        items.append(
            f'<li><span class="name">{text(one.name)}{one.joined}<b>{text(one.value)}</b></span>'
            f'<span class="two" aria-hidden="true"><i class="{side}" style="{style}"></i></span>'
            f'<b class="part">{signed(one.part)}</b></li>'
        )
    return Html(f"<ul>{''.join(items)}</ul>")


# --- The values of a row

# Rounding of a value when it was scaled and is scaled back, relative to the column's mean and standard deviation.
ROUNDING_OF_ORIGINAL = 1e-12
# How far a 0/1 value may be from 0 or 1, since older models scaled these columns, too.
INDICATOR_ROUNDING = 1e-6
EPOCH = datetime.datetime(1970, 1, 1)


@dataclass(frozen=True)
class Entry:
    """One column of the table in one row: its name, the separator after it, its value, its contribution."""

    name: str
    joined: str
    value: str
    part: float


def in_units(values: Array, scaling: Scaling | None, columns: Sequence[int] | None = None) -> Array:
    """Values (m, d) of scaled columns in the units of the table; ``columns``: the numbers of the d columns, or all.

    >>> from separatrix.tables.encoder import Scaling
    >>> in_units(np.array([[2.0], [-4.0]]), Scaling(np.array([40.0]), np.array([10.0]))).tolist()
    [[60.0], [0.0]]
    """
    if scaling is None:
        return values
    which = slice(None) if columns is None else list(columns)
    center, scale = scaling.center[which], scaling.scale[which]
    original = values * scale + center
    return np.where(np.abs(original) <= ROUNDING_OF_ORIGINAL * (np.abs(center) + scale), 0.0, original)


def entries(
    values: Array,
    parts: Array,
    names: Sequence[str],
    scaling: Scaling | None = None,
    encoder: Encoder | None = None,
    most: int | None = None,
) -> list[Entry]:
    """The entries of one row with the values (d,) and the contributions ``parts`` (d,), largest contributions first.

        number           age = 30, in the units of the table also if X is standardised
        truth value      smoker = true
        date             born = 1987-03-05
        category         race: black, one entry with the sum of the contributions of its 0/1 columns
        missing          age: missing, if the model has an indicator for it; the indicator's contribution is added
        n-gram           an entry each: the columns of one text can be many

    Entries that contribute nothing are left out, and those after the first ``most``. Without an encoder that makes the
    columns ``names``, each column of X has an entry.

    >>> from separatrix.tables.encoder import Encoded, Encoder
    >>> encoder = Encoder((Encoded("age", "number"), Encoded("race", "category", ("black", "other", "white"))))
    >>> found = entries(np.array([30.0, 0.0, 1.0]), np.array([0.1, 0.5, -0.9]), encoder.names, encoder=encoder)
    >>> [(one.name, one.value, round(one.part, 3)) for one in found]
    [('race', 'white', -0.4), ('age', '30', 0.1)]
    """
    x = in_units(values, scaling)
    if encoder is None or encoder.names != tuple(names):
        found = _largest(names, x, parts, most)
    else:
        found, start = [], 0
        for column in encoder.columns:
            here = slice(start, start + column.width)
            found += _of_column(column, x[here], parts[here], most)
            start += column.width
    return sorted((one for one in found if one.part != 0), key=lambda one: -abs(one.part))[:most]


def _largest(names: Sequence[str], x: Array, parts: Array, most: int | None) -> list[Entry]:
    """One entry for each column, of the ``most`` columns that contribute most: writing thousands of numbers is slow."""
    order = np.argsort(-np.abs(parts), kind="stable")[:most]
    return [Entry(names[j], " = ", cell(x[j]), float(parts[j])) for j in order.tolist()]


def cell(value: float) -> str:
    """A number of the table with six significant digits; digits before the point are not rounded.

    >>> cell(-0.5), cell(51250.0), cell(17.99)
    ('−0.5', '51,250', '17.99')
    """
    return number(value, 6)


def _of_column(column: Encoded, x: Array, parts: Array, most: int | None) -> list[Entry]:
    """The entries of a column of the table: one, or for a text one for each n-gram."""
    if column.text is not None:
        return _largest(column.names, x, parts, most)
    total = float(np.sum(parts))
    if column.indicator and x[-1] > 0.5:
        return [Entry(column.name, ": ", "missing", total)]
    if column.kind == "category":
        return [Entry(column.name, ": ", level_of(column, x[: column.values]), total)]
    return [Entry(column.name, " = ", _VALUES.get(column.kind, cell)(float(x[0])), total)]


def level_of(column: Encoded, x: Array) -> str:
    """The level of a category whose columns, one for each level but the first, are x.

    Values other than 0 and 1 stand for a level that no row of the fit has: it is encoded as their average.

    >>> from separatrix.tables.encoder import Encoded
    >>> race = Encoded("race", "category", ("black", "other", "white"))
    >>> [level_of(race, np.array(x)) for x in ([0.0, 0.0], [0.0, 1.0], [0.3, 0.5])]
    ['black', 'white', 'a level unknown to the model']
    """
    near = np.round(x)
    if np.any(np.abs(x - near) > INDICATOR_ROUNDING):
        return "a level unknown to the model"
    return column.levels[int(np.argmax(near)) + 1 if near.any() else 0]


def _truth(value: float) -> str:
    """A truth value; a missing one may have been filled with a number in between."""
    return {0.0: "false", 1.0: "true"}.get(round(value, 6), cell(value))


def _day(value: float) -> str:
    """A date, from the days since 1970; a time of day is given to the minute."""
    try:
        at = EPOCH + datetime.timedelta(minutes=round(value * 24 * 60))
    except OverflowError:
        return f"{cell(value)} days since 1970"
    return at.strftime("%Y-%m-%d") if value == round(value) else at.strftime("%Y-%m-%d %H:%M")


_VALUES = {"boolean": _truth, "date": _day}
