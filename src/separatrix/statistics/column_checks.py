"""Checks of columns: missing values, constants, scales, row numbers, categories, leakage, linear combinations.

A check is a function of ``CheckedRows`` that yields findings. Columns are first judged by the counts and ranges that
one pass over the rows gives. Rank sums and factorisations use a sample of the rows, and what they find is confirmed on
all rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.labels import quoted
from separatrix.core.base.messages import (
    ByAudience,
    Message,
    Parameter,
    Setting,
    joined,
    many,
    number_text,
    reason,
    remedy,
)
from separatrix.core.rows.block import Block, is_sparse
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.statistics.finding import (
    CHECKED_SAMPLE_ROWS,
    MOST_COLUMNS_FOR_GRAM_MATRIX,
    MOST_NAMED_IN_SENTENCE,
    CheckedRows,
    Finding,
    and_more,
    capital,
    share,
)
from separatrix.tables.cells import listed

# --- Missing values

# From this share of missing values in a column, or of rows left out, on it is a warning.
SHARE_MISSING_TO_WARN = 0.05
# What a fit does with missing values, by its setting.
_WHAT_IS_DONE = {
    "impute": "A fit fills them with the means of its rows, and in categories with the most frequent level.",
    "indicator": (
        "A fit fills them with the means of its rows, and marks them in additional columns. In a category, missing is "
        "a level of its own."
    ),
    "drop": "A fit leaves these rows out, so the other findings are about the other rows.",
}


def absent(missing: Mapping[str, int], n: int, filled: str, left_out: Sequence[str] = ()) -> Finding:
    """Missing values by column, in n rows: a problem, since a fit stops at them.

    ``filled`` is a sentence about what replaced them in the other checks. ``left_out`` are columns that a fit does not
    use, about which this says nothing.
    """
    if not missing and left_out:
        sentence = f"All {n:,} rows have a value in every column but {named_left_out(left_out)}."
        return Finding("ok", "missing", "No value is missing in a column that is used.", sentence)
    if not missing:
        return Finding("ok", "missing", "No value is missing.", f"All {n:,} rows have a value in every column.")
    ways = Setting("missing", "impute", "indicator", "drop")
    remedy = Message(
        filled, " " * bool(filled), "A fit stops at them: fit with ", ways, "; find out why they are missing."
    )
    fill = Setting("missing", "impute")
    return Finding("problem", "missing", "Values are missing.", _where(missing, n), remedy, _facts(missing), (fill,))


def handled(missing: Mapping[str, int], n: int, how: str, lost: int = 0) -> Finding:
    """Missing values by column, in n rows, and what a fit with ``missing=how`` does with them; it leaves ``lost`` out.

    >>> print(handled({"age": 1}, 100, "drop", lost=1))
    note: Values are missing. 1 row of 100 (1.0 %) lacks a value: in 'age' 1 (1.0 %), of 100 rows. A fit leaves ...
    """
    sentence, largest = _where(missing, n), max(missing.values())
    if how == "drop":
        lack = "lacks" if lost == 1 else "lack"
        some = f"{many(lost, 'row')} of {n:,} ({share(lost, n)}) {lack} a value"
        sentence, largest = f"{some}: {sentence[:1].lower()}{sentence[1:]}", lost
    severity = "warning" if largest >= SHARE_MISSING_TO_WARN * n else "note"
    remedy = f"{_WHAT_IS_DONE[how]} Find out why they are missing."
    return Finding(severity, "missing", "Values are missing.", sentence, remedy, _facts(missing))


def none_left(missing: Mapping[str, int], n: int) -> Finding:
    """The problem that every one of n rows lacks a value, so that dropping such rows leaves none."""
    ways = Message("Choose ", Setting("missing", "impute", "indicator"), ", or leave columns out with ")
    remedy = Message(ways, Setting("drop"), ".")
    sentence = f"Each of {many(n, 'row')} lacks a value. {_where(missing, n)}"
    return Finding("problem", "missing", "No row is left.", sentence, remedy, _facts(missing))


def named_left_out(names: Sequence[str]) -> str:
    """Columns that a fit leaves out, by name, as the end of a sentence.

    >>> named_left_out(["id"])
    "'id', which is left out"
    """
    return f"{listed(names, MOST_NAMED_IN_SENTENCE)}, which {'is' if len(names) == 1 else 'are'} left out"


def _worst_first(missing: Mapping[str, int]) -> list[str]:
    return sorted(missing, key=lambda name: -missing[name])


def _facts(missing: Mapping[str, int]) -> dict[str, dict[str, int]]:
    return {"missing": {name: missing[name] for name in _worst_first(missing)}}


def _where(missing: Mapping[str, int], n: int) -> str:
    """The columns with the most missing values and their number, as a sentence."""
    worst = _worst_first(missing)
    shown = ", ".join(
        f"{quoted(name)} {missing[name]:,} ({share(missing[name], n)})" for name in worst[:MOST_NAMED_IN_SENTENCE]
    )
    return f"In {shown}{and_more(len(worst), 'column')}, of {n:,} rows."


# --- Single columns: constant or nearly constant, very different scales, row numbers

# A column is nearly constant if fewer than this share of the rows differ from its most frequent value.
SHARE_DIFFERING_IF_NEARLY_CONSTANT = 0.005
# From this many rows on, a column is also nearly constant if only one row differs.
FEWEST_ROWS_FOR_ONE_DIFFERING = 50
# A sparse column is nearly constant if at most this many rows have a nonzero value.
NONZERO_ROWS_IF_NEARLY_CONSTANT = 2
# A ratio of the largest to the smallest standard deviation from which on it is reported.
RATIO_OF_SCALES_TO_REPORT = 1000.0
# The number of rows in which the most frequent value of a column is searched.
ROWS_TO_FIND_USUAL_VALUE = 2000


def constant(subject: CheckedRows) -> Iterator[Finding]:
    """Constant and nearly constant columns."""
    still = np.flatnonzero(subject.summary.constant)
    if len(still):
        names, title = [subject.names[j] for j in still], f"{_columns(still)} constant."
        which = listed(names, MOST_NAMED_IN_SENTENCE)
        sentence = f"{which} {'has' if len(still) == 1 else 'have'} one value in all rows."
        remedy = "Leave it out: a constant column carries no information."
        yield Finding("note", "constant", title, sentence, remedy, {"columns": names})
    nearly, differing = _nearly_constant(subject)
    if len(nearly):
        shown = [
            f"{quoted(subject.names[j])} ({many(int(differing[j]), 'row')})" for j in nearly[:MOST_NAMED_IN_SENTENCE]
        ]
        more = and_more(len(nearly), "column")
        sentence = f"All rows but a few have the same value: {', '.join(shown)}{more}."
        remedy = "The weight of such a column depends on those few rows: leave it out, or merge it with others."
        counts = {"columns": {subject.names[j]: int(differing[j]) for j in nearly}}
        yield Finding("note", "constant", f"{_columns(nearly)} nearly constant.", sentence, remedy, counts)
    if not len(still) and not len(nearly):
        left_out = [*subject.unread, *subject.constant]
        title = "Every column that is used varies." if left_out else "Every column varies."
        without = f" without {named_left_out(left_out)}" if left_out else ""
        yield Finding("ok", "constant", title, f"{subject.columns()} checked{without}.")


def scales(subject: CheckedRows) -> Iterator[Finding]:
    """The ratio of the largest to the smallest standard deviation."""
    columns = subject.without_ngrams(subject.varying)
    std = subject.summary.std[columns]
    if len(std) == 0:
        return
    small, large = int(columns[np.argmin(std)]), int(columns[np.argmax(std)])
    with np.errstate(over="ignore"):
        ratio = float(std.max() / std.min())
    facts = {"smallest": subject.names[small], "largest": subject.names[large], "ratio": ratio}
    least, most = quoted(subject.names[small]), quoted(subject.names[large])
    ends = f"from {number_text(std.min(), 3)} ({least}) to {number_text(std.max(), 3)} ({most})"
    sentence = f"Standard deviations range {ends}."
    if len(std) == 1:
        sentence = f"One column varies, {least}, with a standard deviation of {number_text(std[0], 3)}."
    if ratio < RATIO_OF_SCALES_TO_REPORT:
        title = f"The scales of the columns differ by less than {RATIO_OF_SCALES_TO_REPORT:g} times."
        yield Finding("ok", "scales", title, sentence, "", facts)
        return
    remedy = Message(
        "The solvers scale the columns themselves, but penalties and distances depend on the units. A penalty shrinks "
        "the weights of columns with small values the most. ",
        ByAudience("Standardise the columns, or give penalty_factors.", shell="Fit with --standardise."),
    )
    yield Finding("note", "scales", "The columns have very different scales.", sentence, remedy, facts)


def index(subject: CheckedRows) -> Iterator[Finding]:
    """Columns that count the rows, or that never repeat and have a name such as "id"."""
    if not subject.counting:
        yield Finding("ok", "index", "No column looks like a row number.", f"{subject.columns()} checked.")
        return
    names = tuple(subject.names[j] for j in subject.counting)
    why = [Message(quoted(subject.names[j]), ": ", reason(note)) for j, note in subject.counting.items()]
    sentence, facts = Message(joined("; ", why), "."), {"columns": list(names)}
    solved = tuple(Setting("drop", name) for name in names)
    if len(names) == 1:
        leave = capital(Message(remedy(subject.counting[next(iter(subject.counting))]), "."))
        yield Finding("warning", "index", "A column looks like a row number.", sentence, leave, facts, solved)
    else:
        leave = Message("If they are indices, leave them out with ", Setting("drop", names), ".")
        title = f"{len(names)} columns look like row numbers."
        yield Finding("warning", "index", title, sentence, leave, facts, solved)


def _nearly_constant(subject: CheckedRows) -> tuple[Integers, Integers]:
    """The nearly constant columns, and for all columns the number of rows that differ from the usual value."""
    n = subject.n_rows
    usual = _usual(subject)
    differing = memory_rows(subject.X, np.zeros(n)).fold(_Differing(usual))
    if subject.is_sparse:  # Most columns of sparse rows are zero in most rows.
        few = (differing <= NONZERO_ROWS_IF_NEARLY_CONSTANT) & (n >= FEWEST_ROWS_FOR_ONE_DIFFERING)
    else:
        few = (differing < SHARE_DIFFERING_IF_NEARLY_CONSTANT * n) | (
            (differing == 1) & (n >= FEWEST_ROWS_FOR_ONE_DIFFERING)
        )
    return subject.without_ngrams(np.flatnonzero(few & ~subject.summary.constant)), differing


def _usual(subject: CheckedRows) -> Array:
    """The median of each column in some rows, (d,). A value that most rows have is the median."""
    if subject.is_sparse:  # The usual value of a sparse column is zero.
        return np.zeros(subject.n_columns)
    rows = np.unique(np.linspace(0, subject.n_rows - 1, ROWS_TO_FIND_USUAL_VALUE).astype(np.int64))
    return np.asarray(np.quantile(subject.X[rows], 0.5, axis=0, method="lower"), dtype=np.float64)


@dataclass(frozen=True)
class _Differing:
    """The partial that counts the entries that differ from ``usual`` (d,)."""

    usual: Array

    def zero(self) -> Integers:
        return np.zeros(len(self.usual), dtype=np.int64)

    def add(self, total: Integers, block: Block) -> Integers:
        X: Any = block.X
        if is_sparse(X):
            total += np.bincount(X.indices[X.data != 0], minlength=len(total))
        else:
            total += np.count_nonzero(self.usual != X, axis=0)
        return total

    def merge(self, a: Integers, b: Integers) -> Integers:
        return a + b


def _columns(columns: Integers) -> str:
    return "A column is" if len(columns) == 1 else f"{len(columns):,} columns are"


# --- Categories whose levels occur with one class only

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
    """Levels that occur with one class only, in categories that do not determine the class entirely.

    If levels and classes were independent, all n rows of a level would have the same class with probability Σ_k p_k^n,
    where p are the shares of the classes; for all levels of a category, take the product. If this probability, times
    the number of levels or categories tried, is below ``CHANCE_LEVEL``, the finding is a warning: the level may give
    the class away. Otherwise it is a note: a category with as many levels as rows has one class in each by chance, but
    without a penalty the weights of such levels still have no finite value.
    """
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
        f"{name} occurs only with {quoted(subject.labels[np.argmax(counts)])} ({many(int(counts.sum()), 'row')})"
        for name, counts in pure[:MOST_NAMED_IN_SENTENCE]
    ]
    more = and_more(len(pure), before=";")
    some = "A level" if len(pure) == 1 else f"{len(pure)} levels"
    title = f"{some} of a category {'has' if len(pure) == 1 else 'have'} one class only."
    facts = {"categories": {name: int(counts.sum()) for name, counts in pure}}
    return Finding(severity, "categories", title, f"{'; '.join(shown)}{more}.", remedy, facts)


def _deciding_alone(subject: CheckedRows, deciding: list[Category]) -> Finding:
    """The problem that each of these categories alone determines the class."""
    names = [category.name for category in deciding]
    others = f", and so has every level of {listed(names[1:], MOST_NAMED_IN_SENTENCE)}" if len(names) > 1 else ""
    one = len(names) == 1
    title = "A category alone decides the class." if one else f"{len(names)} categories each decide alone."
    odds = f"By chance this would happen in less than {CHANCE_LEVEL:.0%} of such tables"
    facts = {"categories": names, "log10_chance": float(_log_chances(subject, deciding[0]).sum() / np.log(10))}
    sentence = f"{_class_of_each_level(subject, deciding[0])}{others}. {odds}."
    columns = subject.tabled(j for category in deciding for j in category.columns)
    return Finding("problem", "leakage", title, sentence, ask(columns), facts, dropping(columns))


def _class_of_each_level(subject: CheckedRows, category: Category) -> str:
    by_class = [[category.levels[i] for i in np.flatnonzero(category.counts[:, k])] for k in range(subject.n_classes)]
    shown = [
        f"{listed(levels, MOST_NAMED_IN_SENTENCE)} only {quoted(subject.labels[k])}"
        for k, levels in enumerate(by_class)
        if levels
    ]
    more = and_more(len(shown), "class", before=";")
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


# --- Leakage: columns that alone separate the classes, exactly or nearly

# A column is reported if its area is at least this.
AREA_TO_REPORT = 0.99
# A column whose area in the sample is at least this is computed again on all rows, for at most this many columns.
AREA_TO_RECOMPUTE, MOST_COLUMNS_RECOMPUTED = 0.97, 100


def alone(subject: CheckedRows) -> Iterator[Finding]:
    """Categories that determine the class, and columns that alone separate all classes or one class from the others.

    Such columns may leak the outcome. The area under the ROC curve of a column is P(x of the class > x of another row),
    with ties counted half. It is 1 or 0 if a threshold separates the class.
    """
    deciding = decisive(subject)
    if deciding:
        yield _deciding_alone(subject, deciding)
    decided = {j for category in deciding for j in category.columns}
    low, high, *_ = subject.by_class
    separating = [j for j in subject.varying.tolist() if j not in decided and _disjoint(low[:, j], high[:, j])]
    if separating:
        yield _separating(subject, separating)
    nearly = _near_leaks(subject, {*separating, *decided})
    if nearly:
        yield _nearly_separating(subject, nearly)
    if not separating and not nearly and not decided:
        sentence = f"No column alone has an area under the ROC curve of {AREA_TO_REPORT} or more."
        yield Finding("ok", "leakage", "No column tells the class by itself.", sentence)


def _separating(subject: CheckedRows, columns: list[int]) -> Finding:
    one, names = len(columns) == 1, [subject.names[j] for j in columns]
    which = "the classes" if subject.n_classes == 2 else f"all {subject.n_classes} classes"
    each = f"{len(columns)} columns each separate the classes alone."
    title = "A column alone separates the classes." if one else each
    facts, tabled = {"columns": names}, subject.tabled(columns)
    if one:
        sentence = f"{quoted(names[0])} separates {which} without a mistake: {_cut(subject, columns[0])}."
    else:
        shown = [f"in {quoted(subject.names[j])} {_cut(subject, j)}" for j in columns[:MOST_NAMED_IN_SENTENCE]]
        more = and_more(len(columns), "column", before=";")
        sentence = f"Each separates {which} without a mistake: {'; '.join(shown)}{more}."
    return Finding("problem", "leakage", title, sentence, ask(tabled), facts, dropping(tabled))


def _nearly_separating(subject: CheckedRows, nearly: dict[int, _NearLeak]) -> Finding:
    shown = [
        f"{quoted(subject.names[j])} ({_area(subject, *near)})"
        for j, near in list(nearly.items())[:MOST_NAMED_IN_SENTENCE]
    ]
    more = and_more(len(nearly), "column")
    what = "the class" if subject.n_classes == 2 else "one class from the others"
    one = len(nearly) == 1
    title = f"A column nearly tells {what}." if one else f"{len(nearly)} columns nearly tell {what}."
    facts = {"columns": {subject.names[j]: near.area for j, near in nearly.items()}}
    sentence = f"The area under the ROC curve of a single column is close to 1: {', '.join(shown)}{more}."
    return Finding("warning", "leakage", title, sentence, ask(subject.tabled(nearly)), facts)


class _NearLeak(NamedTuple):
    """The area under the ROC curve of a column that may tell a class, or 1 less this area; and the class."""

    area: float
    k: int


def areas(x: Array, codes: Integers, K: int) -> Array:
    """The area under the ROC curve of x for each class against the rest, (K,), from rank sums.

    >>> areas(np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1]), 2).tolist()
    [0.0, 1.0]
    """
    from scipy.stats import rankdata

    count = np.bincount(codes, minlength=K).astype(np.float64)
    total = np.bincount(codes, rankdata(x), K)
    return np.asarray((total - count * (count + 1) / 2) / (count * (len(codes) - count)))


def _near_leaks(subject: CheckedRows, leave_out: set[int]) -> dict[int, _NearLeak]:
    """Columns whose area is near 1 or 0 for some class, closest first: in a sample of rows, then on all rows."""
    some, proposed = subject.sampled, dict[int, _NearLeak]()
    whole, sample, codes = len(some) == subject.n_rows, subject.X[some], subject.known_codes[some]
    for j in _candidates(subject).tolist():
        if j not in leave_out:
            x = sample[:, [j]].toarray()[:, 0] if subject.is_sparse else sample[:, j]
            proposed[j] = _best(areas(x, codes, subject.n_classes))
    least = AREA_TO_REPORT if whole else AREA_TO_RECOMPUTE
    best = sorted((j for j in proposed if proposed[j].area >= least), key=lambda j: -proposed[j].area)
    best = best[:MOST_COLUMNS_RECOMPUTED]
    if not whole:
        proposed = {j: _best(areas(subject.column(j), subject.known_codes, subject.n_classes)) for j in best}
    return {j: proposed[j] for j in best if proposed[j].area >= AREA_TO_REPORT}


def _candidates(subject: CheckedRows) -> Integers:
    """Columns that can reach the area. Ties count half, so zeros must be rare in the class or in the other rows."""
    nonzero, counts = subject.by_class.nonzero, subject.counts[:, None]
    zeros = 1.0 - nonzero / counts
    others = 1.0 - (nonzero.sum(axis=0) - nonzero) / (subject.n_rows - counts)
    return np.intersect1d(
        subject.varying, np.flatnonzero(np.min(zeros * others, axis=0) <= 2 * (1 - AREA_TO_RECOMPUTE))
    )


def _best(by_class: Array) -> _NearLeak:
    """The class that a column tells best, by its areas for each class (K,); of two classes always the second."""
    either = np.maximum(by_class, 1.0 - by_class)
    k = len(by_class) - 1 if len(by_class) == 2 else int(np.argmax(either))
    return _NearLeak(float(either[k]), k)


def _area(subject: CheckedRows, area: float, k: int) -> str:
    number = "1" if area == 1 else number_text(min(area, 0.9999))
    return number if subject.n_classes == 2 else f"{number} for {quoted(subject.labels[k])}"


def _disjoint(low: Array, high: Array) -> bool:
    """Whether the ranges of the classes do not overlap."""
    order = np.argsort(low, kind="stable")
    return bool(np.all(high[order][:-1] < low[order][1:]))


def _cut(subject: CheckedRows, j: int) -> str:
    """Where a column separates its lowest class from the others."""
    low, high = subject.by_class.low[:, j], subject.by_class.high[:, j]
    first, second = np.argsort(low, kind="stable")[:2]
    labels: list[Any] = subject.labels
    end, begin = (number_text(float(value), 6) for value in (high[first], low[second]))
    return f"{quoted(labels[first])} ends at {end}, {quoted(labels[second])} begins at {begin}"


# --- Columns that are linear combinations of others, exactly or nearly

# A relation is exact if its residuals are below this share of the column's standard deviation.
LARGEST_EXACT_RESIDUAL = 1e-9
# Variance inflation factors from which a column is reported, and from which it is a warning.
INFLATION_TO_REPORT, INFLATION_TO_WARN = 100.0, 1e4
# Coefficients below this share of the largest are rounding errors.
ROUNDING_SHARE_OF_COEFFICIENT = 1e-7
# A near-dependence is shown with the fewest columns that reach this share of R², and with at most this many columns.
SHARE_OF_R_SQUARED_TO_EXPLAIN, MOST_EXPLAINING_COLUMNS = 0.99, 3
# A sentence shows at most this many relations, and this many terms of each, to stay readable.
MOST_RELATIONS_SHOWN, MOST_TERMS_SHOWN = 4, 5
# Shorter relations are searched for if there are at most this many columns past the rank: each is a linear program.
MOST_RELATIONS_SHORTENED = 50
# The sample is made smaller if its factorisation would take more multiplications than this.
MOST_FACTOR_MULTIPLICATIONS = 4e9


class Relation(NamedTuple):
    """x_j = intercept + Σ coefficient · x_i, up to ``residual``, in standard deviations of x_j."""

    j: int
    columns: Integers
    coefficients: Array
    intercept: float
    residual: float


def collinear(subject: CheckedRows) -> Iterator[Finding]:
    """Exact relations between columns, then near ones, then the condition number.

    For standardised columns Z with Z P = Q R (Golub's pivoted QR), the columns past the rank are the first columns
    times R₁₁⁻¹R₁₂. Each of them, with the columns of its nonzero coefficients, is a minimal dependent set. For each of
    them the relation with the smallest Σ |c| among all relations is found by a linear program, since it has few terms
    (basis pursuit: Chen, Donoho and Saunders, SIAM Review 43, 2001). The relations are found in a sample; the largest
    residual over all rows shows how well each holds. Near-dependence is measured by the variance inflation factor 1/(1
    − R²) of a column on all others (Belsley, Kuh and Welsch, Regression Diagnostics, 1980), and is shown with the few
    columns that explain most of it.
    """
    d = len(subject.varying)
    if d < 2:
        return
    if d > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows <= d:
        why = (
            f"{subject.columns(d)} are too many"
            if d > MOST_COLUMNS_FOR_GRAM_MATRIX
            else f"{subject.n_rows:,} rows are too few for {subject.columns(d)}"
        )
        remedy = "Keep a penalty: the rows alone may not determine the weights."
        title = "The check for collinear columns was skipped."
        yield Finding("note", "collinear", title, f"{why[:1].upper()}{why[1:]}.", remedy)
        return
    sample = _standardised(subject)
    basis, relations = _exact(subject, sample)
    if relations:
        yield _told_exact(subject, relations)
    G = sample.Z[:, basis].T @ sample.Z[:, basis]
    condition = float(np.sqrt(np.linalg.cond(G)))
    near = _near_collinear(G)
    if near:
        yield _told_near(subject, sample, basis, near, condition)
    if not relations and not near:
        facts = {"condition": condition}
        sentence = (
            f"The condition number of the standardised columns is {number_text(condition, 3)}.{sample.aside(subject)}"
        )
        yield Finding("ok", "collinear", "No column is a combination of others.", sentence, "", facts)


def dependent(subject: CheckedRows) -> list[int]:
    """Columns that are linear combinations of the others, up to rounding."""
    d = len(subject.varying)
    if d < 2 or d > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows <= d:
        return []
    return sorted({relation.j for relation in _exact(subject, _standardised(subject))[1]})


class _Standardised(NamedTuple):
    """Columns Z (m, q) of unit length, of a sample of rows; their indices, and their lengths in raw units."""

    Z: Array
    columns: Integers
    length: Array

    def aside(self, subject: CheckedRows) -> str:
        """A remark that the numbers come from a sample of rows, if they do."""
        return f" (Computed on a sample of {len(self.Z):,} rows.)" if len(self.Z) < subject.n_rows else ""


def _standardised(subject: CheckedRows) -> _Standardised:
    d = len(subject.varying)
    size = int(max(2 * d + 100, min(CHECKED_SAMPLE_ROWS, MOST_FACTOR_MULTIPLICATIONS / d**2)))
    Z = subject.standard.sample(size, 0).block.homogeneous()[:, 1:][:, subject.varying]
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    seen = np.flatnonzero(length > 0)
    columns = subject.varying[seen]
    return _Standardised(Z[:, seen] / length[seen], columns, length[seen] * subject.standard.frame.scale[columns])


def _exact(subject: CheckedRows, sample: _Standardised) -> tuple[Integers, list[Relation]]:
    """A basis of the columns of Z, and for each other column the relation, if it holds on all rows."""
    from scipy.linalg import qr, solve_triangular

    R, order = qr(np.linalg.qr(sample.Z, mode="r"), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > LARGEST_EXACT_RESIDUAL * diagonal[0]))
    C = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    null = np.vstack([C, -np.eye(len(order) - rank)])  # The relations of the columns in this order, one in each column.
    relations = []
    for v in _short_relations(null) if null.shape[1] <= MOST_RELATIONS_SHORTENED else null.T:
        used = np.abs(v) > ROUNDING_SHARE_OF_COEFFICIENT * np.abs(v).max(initial=0.0)
        together = np.sort(order[used])  # A minimal dependent set: any member follows from the others.
        relations.append(_relation(subject, sample, int(together[-1]), together[:-1]))
    return np.sort(order[:rank]), [
        relation for relation in relations if relation.residual <= 10 * LARGEST_EXACT_RESIDUAL
    ]


def _short_relations(null: Array) -> Iterator[Array]:
    """Independent relations with few terms that span the same space as the columns of ``null`` (d, q).

    After each relation the last of its columns is removed from the others, so that no relation is found twice.
    """
    while null.shape[1]:
        last = int(np.flatnonzero(np.abs(null).max(axis=1) > ROUNDING_SHARE_OF_COEFFICIENT)[-1])
        v = _shortest(null, last) if null.shape[1] > 1 else null[:, 0]
        yield v
        pivot = int(np.argmax(np.abs(null[last])))
        null = np.delete(null - np.outer(null[:, pivot], null[last] / null[last, pivot]), pivot, axis=1)


def _shortest(null: Array, j: int) -> Array:
    """The combination v of the relations ``null`` (d, q) with v_j = −1 and the smallest Σ |v|, which has few terms.

    >>> twice = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])  # c = a + b and d = a + b, so d = c
    >>> _shortest(twice, 3).round(9).tolist()
    [0.0, 0.0, 1.0, -1.0]
    """
    from scipy.optimize import linprog

    d, q = null.shape
    split = np.hstack([null, -np.eye(d), np.eye(d)])  # null · a = positive − negative parts of v
    fixed = np.concatenate([null[j], np.zeros(2 * d)])[None, :]
    cost, free = np.concatenate([np.zeros(q), np.ones(2 * d)]), [(None, None)] * q + [(0, None)] * (2 * d)
    solved: Any = linprog(cost, A_eq=np.vstack([split, fixed]), b_eq=np.append(np.zeros(d), -1.0), bounds=free)
    return np.asarray(null @ solved.x[:q] if solved.status == 0 else null[:, np.argmax(np.abs(null[j]))])


def _relation(subject: CheckedRows, sample: _Standardised, j: int, others: Integers) -> Relation:
    """Column j of Z as a combination of others, in raw units, by least squares on the sample.

    The residual is the largest over all rows.
    """
    c, *_ = np.linalg.lstsq(sample.Z[:, others], sample.Z[:, j], rcond=None)
    c = c * sample.length[j] / sample.length[others]
    of, by = int(sample.columns[j]), sample.columns[others]
    v = np.zeros(subject.n_columns)
    v[by], v[of] = -c, 1.0
    left = np.asarray(subject.X @ v)
    intercept = float(left.mean())
    residual = float(np.abs(left - intercept).max() / subject.summary.std[of])
    return Relation(of, by, c, intercept, residual)


class _NearCollinear(NamedTuple):
    """A column of the basis, the few others that explain it, their R², and its variance inflation by all others."""

    j: int
    others: Integers
    r_squared: float
    inflation: float


def _near_collinear(G: Array) -> list[_NearCollinear]:
    """Columns with a large variance inflation factor. Each is left out before the next one is searched."""
    left = np.arange(len(G))
    near: list[_NearCollinear] = []
    while len(left) > 1:
        inflation = np.diag(np.linalg.pinv(G[np.ix_(left, left)], hermitian=True))
        worst = int(np.argmax(inflation))
        if inflation[worst] < INFLATION_TO_REPORT:
            break
        j, left = int(left[worst]), np.delete(left, worst)
        near.append(_NearCollinear(j, *_explained(G, j, left, 1.0 - 1.0 / inflation[worst]), float(inflation[worst])))
    return near


def _explained(G: Array, j: int, others: Integers, whole: float) -> tuple[Integers, float]:
    """The few columns that explain column j best, chosen greedily, and their R²."""
    chosen, c, reached = others[:0], np.empty(0), 0.0
    while len(chosen) < MOST_EXPLAINING_COLUMNS and reached < SHARE_OF_R_SQUARED_TO_EXPLAIN * whole:
        pull = np.abs(G[others, j] - G[np.ix_(others, chosen)] @ c)
        pull[np.isin(others, chosen)] = -1.0
        chosen = np.append(chosen, others[np.argmax(pull)])
        c = np.linalg.lstsq(G[np.ix_(chosen, chosen)], G[chosen, j], rcond=None)[0]
        reached = float(G[chosen, j] @ c)
    return np.sort(chosen), min(reached, whole)


def _told_exact(subject: CheckedRows, relations: list[Relation]) -> Finding:
    one = len(relations) == 1
    shown = [
        f"{_equation(subject, relation)} within {max(relation.residual, 1e-16):.0e}"
        for relation in relations[:MOST_RELATIONS_SHOWN]
    ]
    more = and_more(len(relations), most=MOST_RELATIONS_SHOWN, before=";")
    title = "A column is a combination of others." if one else f"{len(relations)} columns are combinations of others."
    sentence = f"{'; '.join(shown)}{more} (the largest residual, in standard deviations)."
    remedy = "Leave one of each set out: without a penalty only their combined effect is determined, not each weight."
    sets = [[subject.names[i] for i in (relation.j, *relation.columns)] for relation in relations]
    return Finding("warning", "collinear", title, sentence, remedy, {"exact": sets})


def _told_near(
    subject: CheckedRows, sample: _Standardised, basis: Integers, near: list[_NearCollinear], condition: float
) -> Finding:
    shown = []
    for one in near[:MOST_RELATIONS_SHOWN]:
        relation = _relation(subject, sample, int(basis[one.j]), basis[one.others])
        shown.append(f"{_equation(subject, relation, '≈', 3)} (R² {_short_of_one(one.r_squared)})")
    worst = near[0].inflation
    title = (
        "A column nearly follows from others." if len(near) == 1 else f"{len(near)} columns nearly follow from others."
    )
    more = and_more(len(near), "column", MOST_RELATIONS_SHOWN, before=";")
    inflated = f"variances of weights are inflated up to {number_text(worst, 3)} times"
    told = f"{inflated}; the condition number is {number_text(condition, 3)}"
    remedy = "Do not interpret the weights of such columns one by one; leave columns out, or keep a penalty."
    names = [subject.names[sample.columns[basis[one.j]]] for one in near]
    facts = {"near": dict(zip(names, (one.inflation for one in near), strict=True)), "condition": condition}
    severity = "warning" if worst >= INFLATION_TO_WARN else "note"
    return Finding(
        severity, "collinear", title, f"{'; '.join(shown)}{more}: {told}.{sample.aside(subject)}", remedy, facts
    )


def _short_of_one(r_squared: float) -> str:
    """The number with enough digits to differ from 1."""
    return next((text for digits in (3, 4, 6, 8) if float(text := f"{r_squared:.{digits}f}") < 1), "1")


def _equation(subject: CheckedRows, relation: Relation, equals: str = "=", digits: int = 6) -> str:
    """The relation as text, such as b = 2 a − c + 1. A constant smaller than the residual is left out."""
    text, n_more = "", len(relation.columns) - MOST_TERMS_SHOWN
    for c, i in list(zip(relation.coefficients.tolist(), relation.columns.tolist(), strict=True))[:MOST_TERMS_SHOWN]:
        text += _term(c, quoted(subject.names[i]), digits, first=not text)
    if n_more > 0:
        return f"{quoted(subject.names[relation.j])} {equals} {text} … and {n_more} more"
    size = max(relation.residual, 1e-9) * subject.summary.std[relation.j] + 1e-12 * abs(
        subject.summary.mean[relation.j]
    )
    if abs(relation.intercept) > size:
        text += _term(relation.intercept, "", digits, first=False)
    return f"{quoted(subject.names[relation.j])} {equals} {text}"


def _term(c: float, name: str, digits: int, first: bool) -> str:
    sign = ("−" if c < 0 else "") if first else (" − " if c < 0 else " + ")
    size = f"{abs(c):.{digits}g}"
    return sign + (size if not name else name if size == "1" else f"{size} {name}")
