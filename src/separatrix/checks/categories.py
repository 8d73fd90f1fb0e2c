r"""Checks of categories that know the answer: levels with one class only, and categories all of whose levels have one.

Were levels and classes independent, a level of n rows would have one class with the probability Σ_k p_k^n, where p are
the classes' shares, and all levels of a category with the product of theirs. What is as likely as ``CHANCE`` among all
that were looked at is not told: a category of as many levels as rows says nothing by having one class in each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.labels import quoted
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import NAMED, Finding, many
from separatrix.table.cells import listed

# The probability from which on it may be chance.
CHANCE = 0.01
ASK = "Ask whether it is known before the answer is; if not, leave it out."


class Category(NamedTuple):
    """A category, or a 0/1 column: its columns of X, its levels and their rows by class, (levels, K).

    ``aside``: rows without a value. ``complete``: the level without a column is among the levels.
    """

    name: str
    columns: list[int]
    levels: list[str]
    counts: Integers
    aside: int
    complete: bool

    @property
    def pure(self) -> AnyArray:
        """Which levels have one class only."""
        return np.asarray(np.count_nonzero(self.counts, axis=1) == 1)


def categories(subject: CheckedRows) -> Iterator[Finding]:
    """Levels that occur with one class only, in more rows than chance has it, of categories that do not decide all."""
    found, decided = known_categories(subject), {one.name for one in decisive(subject)}
    tried = sum(len(one.levels) for one in found)
    told: list[tuple[str, Integers]] = []
    for one in found:
        rare = one.pure & (tried * np.exp(_log_chances(subject, one)) < CHANCE) & (one.name not in decided)
        told += [(f"{quoted(one.name)} = {one.levels[i]}", one.counts[i]) for i in np.flatnonzero(rare)]
    if not told:
        if tried > 1 and not decided:
            sentence = f"{many(tried, 'category')} looked at."
            yield Finding("ok", "categories", "No category has one class only.", sentence)
        return
    told.sort(key=lambda pair: -int(pair[1].sum()))
    shown = [f"{name} only {_only(subject, c)} ({many(int(c.sum()), 'row')})" for name, c in told[:NAMED]]
    more = f", and {len(told) - NAMED} more" if len(told) > NAMED else ""
    title = "A category has one class only." if len(told) == 1 else f"{len(told)} categories have one class only."
    do = f"Without a penalty its weight has no finite value. {ASK}"
    facts = {"categories": {name: int(c.sum()) for name, c in told}}
    yield Finding("warning", "categories", title, f"With {'; with '.join(shown)}{more}.", do, facts)


def told_decisive(subject: CheckedRows) -> Iterator[Finding]:
    """The problem that categories alone decide the class, where some do."""
    found = decisive(subject)
    if not found:
        return
    one, names = found[0], [category.name for category in found]
    by_class = [[one.levels[i] for i in np.flatnonzero(one.counts[:, k])] for k in range(subject.n_classes)]
    shown = [f"{listed(of, NAMED)} only {quoted(subject.labels[k])}" for k, of in enumerate(by_class) if of]
    more = f"; and {many(len(shown) - NAMED, 'more class')}" if len(shown) > NAMED else ""
    aside = f", {many(one.aside, 'row')} without a value aside" if one.aside else ""
    whose = f"Every level of {quoted(one.name)} has one class only{aside}: {'; '.join(shown[:NAMED])}{more}"
    others = f", and so have those of {listed(names[1:], NAMED)}" if len(names) > 1 else ""
    title = "A category alone decides the class." if len(found) == 1 else f"{len(found)} categories each decide alone."
    odds = f"It is told since chance would have it so in less than {CHANCE:.0%} of such tables"
    facts = {"categories": names, "log10_chance": float(_log_chances(subject, one).sum() / np.log(10))}
    yield Finding("problem", "leakage", title, f"{whose}{others}. {odds}.", ASK, facts)


def decisive(subject: CheckedRows) -> list[Category]:
    """Categories with columns of their own, every level of which has one class only, by more than chance."""
    found = [one for one in known_categories(subject) if one.name not in subject.names]
    least = np.log(CHANCE / max(1, len(found)))
    pure = [one for one in found if one.complete and one.pure.all()]
    return [one for one in pure if _log_chances(subject, one).sum() < least]


def known_categories(subject: CheckedRows) -> list[Category]:
    """By name: columns called ``of=level``, whose ones are the level's rows, and columns of zeros and ones."""
    ones, nonzero, high = subject.by_class.ones, subject.by_class.nonzero, subject.by_class.high.max(axis=0)
    whole = np.all(nonzero == ones, axis=0) & (ones.sum(axis=0) > 0)
    groups: dict[str, list[int]] = {}
    for j in subject.varying.tolist():
        of, equals, level = subject.names[j].partition("=")
        of_category = bool(equals and level)
        if whole[j] or (of_category and ones[:, j].any() and high[j] == 1):
            groups.setdefault(of if of_category else subject.names[j], []).append(j)
    return [_category(subject, of, columns) for of, columns in groups.items()]


def _category(subject: CheckedRows, of: str, columns: list[int]) -> Category:
    """With the level that has no column: the rows that are zero in all of its columns."""
    ones, nonzero = subject.by_class.ones[:, columns], subject.by_class.nonzero[:, columns]
    levels = [subject.names[j].partition("=")[2] or "1" for j in columns]
    filled = nonzero - ones  # rows with the mean in place of a value: the same in every column of the category
    rest = subject.counts - ones.sum(axis=1) - filled[:, 0]
    counts, aside = ones.T, int(filled[:, 0].sum())
    if np.any(filled != filled[:, :1]) or rest.sum() <= 0 or rest.min() < 0:
        return Category(of, columns, levels, counts, aside, False)
    reference = subject.references.get(of, "0" if len(columns) == 1 else "any other")
    return Category(of, columns, [*levels, reference], np.vstack([counts, rest]), aside, True)


def _log_chances(subject: CheckedRows, one: Category) -> Array:
    """ln Σ_k p_k^n of each level, (levels,)."""
    shares = np.log(subject.counts / subject.n_rows)
    return np.asarray(np.logaddexp.reduce(one.counts.sum(axis=1)[:, None] * shares, axis=1))


def _only(subject: CheckedRows, counts: Integers) -> str:
    return quoted(subject.labels[int(np.argmax(counts))])
