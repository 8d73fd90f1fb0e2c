r"""Check for category levels that occur with one class only, and for categories all of whose levels do.

If levels and classes were independent, all n rows of a level would have the same class with probability Σ_k p_k^n,
where p are the shares of the classes; for all levels of a category, take the product. If this probability, times the
number of levels or categories tried, is below ``CHANCE_LEVEL``, the finding is a warning: the level may give the class
away. Otherwise it is a note: a category with as many levels as rows has one class in each by chance, but without a
penalty the weights of such levels still have no finite value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.messages import Message, Parameter, Setting
from separatrix.base.number_text import many
from separatrix.checks.checked_rows import CheckedRows
from separatrix.checks.finding import MOST_NAMED_IN_SENTENCE, Finding
from separatrix.table.cells import listed

# Findings that chance alone would produce with at least this probability are notes, not warnings.
CHANCE_LEVEL = 0.01
ASK = "Check whether it is known before the outcome; if it is not, leave it out"


def ask(columns: Sequence[str]) -> Message:
    """The advice on columns of the table that may not be known before the outcome."""
    if len(columns) == 1:
        return Message(ASK, " with ", Setting("drop", columns[0]), ".")
    drop = Setting("drop", tuple(columns)) if len(columns) <= MOST_NAMED_IN_SENTENCE else Parameter("drop")
    return Message("Check which are known before the outcome, and leave the others out: with ", drop, ", all of them.")


def dropping(columns: Sequence[str]) -> tuple[Setting, ...]:
    """The settings that leave these columns of the table out."""
    return tuple(Setting("drop", name) for name in columns)


# The name of a level, and its rows by class, (K,).
_PureLevel = tuple[str, Integers]


class Category(NamedTuple):
    """A category, or a 0/1 column: its columns of X, its levels, and the counts of rows (levels, K) by class.

    ``aside`` is the number of rows without a value. ``complete`` says that the reference level is among the levels.
    """

    name: str
    columns: list[int]
    levels: list[str]
    counts: Integers
    aside: int
    complete: bool

    @property
    def pure(self) -> AnyArray:
        """A mask of the levels that occur with one class only."""
        return np.asarray(np.count_nonzero(self.counts, axis=1) == 1)


def categories(subject: CheckedRows) -> Iterator[Finding]:
    """Levels that occur with one class only, in categories that do not determine the class entirely."""
    known, decided = known_categories(subject), {category.name for category in decisive(subject)}
    tried = sum(len(category.levels) for category in known)
    undecided = [category for category in known if category.name not in decided]
    telling, by_chance = _pure_by_chance(subject, undecided, tried)
    if telling:
        yield _pure_levels(subject, telling, "warning", f"Without a penalty its weight has no finite value. {ASK}.")
    if by_chance:
        remedy = (
            "So few rows can be of one class by chance, but without a penalty the weight has no finite value: keep a "
            "penalty, or merge rare levels."
        )
        yield _pure_levels(subject, by_chance, "note", remedy)
    if tried > 1 and not (telling or by_chance or decided):
        sentence = f"Each of {many(tried, 'level')} occurs with at least two classes."
        yield Finding("ok", "categories", "No level of a category has one class only.", sentence)


def _pure_by_chance(
    subject: CheckedRows, known: Sequence[Category], tried: int
) -> tuple[list[_PureLevel], list[_PureLevel]]:
    """The levels with one class only: those that chance does not explain among ``tried`` levels, and the others."""
    telling: list[_PureLevel] = []
    by_chance: list[_PureLevel] = []
    for category in known:
        beyond_chance = tried * np.exp(_log_chances(subject, category)) < CHANCE_LEVEL
        for i in np.flatnonzero(category.pure):
            level = (f"{quoted(category.name)} = {category.levels[i]}", category.counts[i])
            (telling if beyond_chance[i] else by_chance).append(level)
    return telling, by_chance


def _pure_levels(subject: CheckedRows, pure: list[_PureLevel], severity: str, remedy: str) -> Finding:
    pure = sorted(pure, key=lambda pair: -int(pair[1].sum()))
    shown = [
        f"{name} occurs only with {_only(subject, counts)} ({many(int(counts.sum()), 'row')})"
        for name, counts in pure[:MOST_NAMED_IN_SENTENCE]
    ]
    more = f"; and {len(pure) - MOST_NAMED_IN_SENTENCE} more" if len(pure) > MOST_NAMED_IN_SENTENCE else ""
    some = "A level" if len(pure) == 1 else f"{len(pure)} levels"
    title = f"{some} of a category {'has' if len(pure) == 1 else 'have'} one class only."
    facts = {"categories": {name: int(counts.sum()) for name, counts in pure}}
    return Finding(severity, "categories", title, f"{'; '.join(shown)}{more}.", remedy, facts)


def told_decisive(subject: CheckedRows) -> Iterator[Finding]:
    """The problem that a category alone determines the class, if there is such a category."""
    deciding = decisive(subject)
    if not deciding:
        return
    names = [category.name for category in deciding]
    others = f", and so has every level of {listed(names[1:], MOST_NAMED_IN_SENTENCE)}" if len(names) > 1 else ""
    one = len(names) == 1
    title = "A category alone decides the class." if one else f"{len(names)} categories each decide alone."
    odds = f"By chance this would happen in less than {CHANCE_LEVEL:.0%} of such tables"
    facts = {"categories": names, "log10_chance": float(_log_chances(subject, deciding[0]).sum() / np.log(10))}
    sentence = f"{_class_of_each_level(subject, deciding[0])}{others}. {odds}."
    columns = subject.tabled(j for category in deciding for j in category.columns)
    yield Finding("problem", "leakage", title, sentence, ask(columns), facts, dropping(columns))


def _class_of_each_level(subject: CheckedRows, category: Category) -> str:
    by_class = [[category.levels[i] for i in np.flatnonzero(category.counts[:, k])] for k in range(subject.n_classes)]
    shown = [
        f"{listed(levels, MOST_NAMED_IN_SENTENCE)} only {quoted(subject.labels[k])}"
        for k, levels in enumerate(by_class)
        if levels
    ]
    n_more = len(shown) - MOST_NAMED_IN_SENTENCE
    more = f"; and {many(n_more, 'more class')}" if n_more > 0 else ""
    aside = f" (ignoring {many(category.aside, 'row')} without a value)" if category.aside else ""
    levels = "; ".join(shown[:MOST_NAMED_IN_SENTENCE])
    return f"Every level of {quoted(category.name)} has one class only{aside}: {levels}{more}"


def decisive(subject: CheckedRows) -> list[Category]:
    """Categories, other than single 0/1 columns, whose levels all have one class only, beyond chance."""
    encoded = [category for category in known_categories(subject) if category.name not in subject.names]
    largest = np.log(CHANCE_LEVEL / max(1, len(encoded)))
    pure = [category for category in encoded if category.complete and category.pure.all()]
    return [category for category in pure if _log_chances(subject, category).sum() < largest]


def known_categories(subject: CheckedRows) -> list[Category]:
    """The categories: columns named ``of=level``, which are 1 in the rows of that level, and columns of 0 and 1."""
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
    """A category with its reference level, whose rows are zero in all columns of the category."""
    ones, nonzero = subject.by_class.ones[:, columns], subject.by_class.nonzero[:, columns]
    levels = [subject.names[j].partition("=")[2] or "1" for j in columns]
    filled = nonzero - ones  # Rows filled with the mean; their number is the same in every column of a category.
    rest = subject.counts - ones.sum(axis=1) - filled[:, 0]
    counts, aside = ones.T, int(filled[:, 0].sum())
    if np.any(filled != filled[:, :1]) or rest.sum() <= 0 or rest.min() < 0:
        return Category(of, columns, levels, counts, aside, False)
    reference = subject.references.get(of, "0" if len(columns) == 1 else "any other")
    return Category(of, columns, [*levels, reference], np.vstack([counts, rest]), aside, True)


def _log_chances(subject: CheckedRows, category: Category) -> Array:
    """ln Σ_k p_k^n for each level, (levels,)."""
    shares = np.log(subject.counts / subject.n_rows)
    return np.asarray(np.logaddexp.reduce(category.counts.sum(axis=1)[:, None] * shares, axis=1))


def _only(subject: CheckedRows, counts: Integers) -> str:
    return quoted(subject.labels[int(np.argmax(counts))])
