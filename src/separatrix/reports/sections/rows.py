"""Sections on the rows that stand out, with their values and what each column contributed to the score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.theme import LIGHT
from separatrix.diagnostics import Contributions
from separatrix.plots import InfluenceDisplay
from separatrix.reports.formatting import number, signed
from separatrix.reports.page import Html, Section, named_class, pair, paragraph, text
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.row_values import entries
from separatrix.reports.svg_markup import figure

GROUP = "Rows"
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
        return Section("influence", GROUP, title, gloss, paragraph(f"Left out: {found}."))
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
    if not any(
        len(found.rows) for found in subject.surprises
    ):  # else the section on surprising rows, which comes first, explains the cards
        body += paragraph(EXPLANATION, "aside")
    return Section("influence", GROUP, title, gloss, body)


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
    title, gloss = "Surprising rows", "look here first for wrong labels"
    in_bits, searched = subject.surprises[0].in_bits, _searched(subject)
    cards = []
    for found, held_out in zip(subject.surprises, (False, True), strict=False):
        said = [_amount(amount, in_bits, held_out) for amount in found.amount.tolist()]
        cards += [*zip(found.amount.tolist(), _cases(subject, found.rows, said, held_out), strict=True)]
    if not cards:
        none = "every label has a probability of at least 97 %" if in_bits else "every row is on its class's side"
        return Section("surprise", GROUP, title, gloss, paragraph(f"None: {none}. {searched}"))
    told = "The rows that are farthest on the wrong side of the boundary, by their scores"
    if in_bits:
        told = "The rows whose labels have the lowest predicted probability"
    ordered = [card for _, card in sorted(cards, key=lambda one: -one[0])]
    body = paragraph(f"{told} ({_numbered(subject)}). {searched}") + _together(ordered)
    return Section("surprise", GROUP, title, gloss, body + paragraph(EXPLANATION, "aside"))


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
        right = f"{named_class(true, labels[true])}, predicted so"
        classes = (
            right
            if true == chosen
            else f"{named_class(true, labels[true])}, predicted {named_class(chosen, labels[chosen])}"
        )
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
