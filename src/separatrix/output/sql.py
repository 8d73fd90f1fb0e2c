"""A model as SQL: score, probability and label are expressions that the database engine computes.

An answer is NULL if the model has none, because a value is missing, a level did not occur in training or a number is
infinite. Numbers, truth values (true and false, or 1 and 0) and dates (2024-12-31, 2024-12-31T23:59Z) may have types of
their own or be text, as in a file. A category may have any of these types. Its values are compared with the levels as
the encoder spells them: in a column of truth values, true is the level with that meaning, such as Yes. Comments above
the statement list such cases, and what an engine may have lost when it read a file. The dialect "standard" cannot ask
for the type of a column: there dates are timestamps, and categories are text, whole numbers or truth values. SQLite has
no truth values and uses 1 and 0.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np

from separatrix.core.base.arrays import Array, check_flag, pieces
from separatrix.core.base.errors import ParameterError
from separatrix.output import algebra
from separatrix.output.formula import (
    FALSE,
    SPACES,
    TRUE,
    ZONED,
    Formula,
    FormulaColumn,
    Respelling,
    Row,
    are_instants,
    are_numbers,
    are_zoned,
    decision_notes,
    formula_of,
    notes_on_levels,
    nothing,
    refuse_words,
    unlike,
)
from separatrix.statistics.model_decisions import rule_for
from separatrix.tables.cells import NA

# --- The statement

# Largest total length, in characters, of the expressions of ``to_sql(..., parts=True)``. Longer ones would be of no
# practical use, so they are an error.
LONGEST_EXPRESSIONS = 8_000_000
# Largest factor by which a statement may grow if an engine expands its subqueries. Beyond it, expansion is prevented
# (``Dialect.fence``).
LARGEST_EXPANSION = 20


@dataclass(frozen=True)
class SqlExpressions:
    """The result of ``to_sql(..., parts=True)``.

    Parameters
    ----------
    score : str or tuple of str
        One expression for two classes, or one for each of several classes.
    probability : str, tuple of str or None
        Likewise; None if the model has no probabilities.
    label : str
        The expression of the predicted label.

    Examples
    --------
    >>> SqlExpressions("(x)", None, "CASE WHEN (x) >= 0 THEN 'yes' WHEN (x) < 0 THEN 'no' END").probability is None
    True
    """

    score: str | tuple[str, ...]
    probability: str | tuple[str, ...] | None
    label: str


@overload
def to_sql(
    model: Any,
    dialect: str = ...,
    table: str | Sequence[str] | None = ...,
    keep: Sequence[str] = ...,
    *,
    parts: Literal[False] = ...,
    threshold: float | None = ...,
    cost: Mapping[str, float] | None = ...,
    prior: Any = ...,
    fitted_prior: Any = ...,
) -> str: ...


@overload
def to_sql(
    model: Any,
    dialect: str = ...,
    *,
    parts: Literal[True],
    threshold: float | None = ...,
    cost: Mapping[str, float] | None = ...,
    prior: Any = ...,
    fitted_prior: Any = ...,
) -> SqlExpressions: ...


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    *,
    parts: bool = False,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> str | SqlExpressions:
    """A SELECT statement of score, probability and label for every row of a table, or these as expressions.

    With two classes there is one score, which is positive for the second class, and the probability of that class. With
    more there is a score and a probability for each class, in columns such as "score=setosa".

    With ``parts=True``, score, probability and label are separate expressions, for use in other statements and views.
    For Gaussian models they do not distinguish classes if a distance is so large (1e154) that its square overflows, and
    PostgreSQL ends the statement with an error at such a row. SQLite's parser may refuse the long expressions of a
    probit model, or of a complementary log-log model with ``prior``. The statement has none of these limits.

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model. If it was fitted with an offset, the statement has an offset of zero.
    dialect : {"duckdb", "sqlite", "postgresql", "standard"}, default "duckdb"
        The dialect of SQL.
    table : str or sequence of str, optional
        The name of the table, in which dots belong to the name, or a schema and a table; by default "rows".
    keep : sequence of str, default ()
        The columns of the table to select before the answers.
    parts : bool, default False
        Return expressions instead of a statement. They name no table, so ``table`` and ``keep`` are refused.
    threshold : float, optional
        For two classes, the probability of the second class from which it is the label, by default ½.
    cost : dict, optional
        For two classes, the costs of both mistakes, as in ``{"FP": 1, "FN": 5}``; the second class is the positive one.
        Unless a threshold is given, the threshold is FP/(FP + FN).
    prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares for which the probabilities are corrected, if they differ from those of the fitted rows.
    fitted_prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares or counts of the fitted rows, which ``prior`` needs. Discriminant analyses and model files of
        ``separatrix fit`` know theirs.

    Returns
    -------
    str or SqlExpressions
        The statement, or with ``parts=True`` the expressions.

    Raises
    ------
    ParameterError
        A column of ``keep`` has the name of an answer, the expressions would be too long, or the model cannot be
        exported or has no probabilities to decide by.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT 2.5 AS x0 UNION ALL SELECT NULL")
    >>> duckdb.sql(f"SELECT label FROM ({to_sql(model)})").fetchall()
    [('yes',), (None,)]

    >>> import numpy as np
    >>> from separatrix import Scorer
    >>> scorer = Scorer(np.array([[-1.5, 2.0]]), np.array(["no", "yes"]), "sign")
    >>> to_sql(scorer, "standard", parts=True).score
    '((-1.5e0) + 2.0e0 * (CAST("x0" AS DOUBLE PRECISION)))'
    """
    check_flag("parts", parts)
    rule = rule_for(model, threshold, cost, prior, fitted_prior)
    if not parts:
        return select_statement(formula_of(model, rule=rule), dialect, table, keep)
    if table is not None or keep:
        name = "table" if table is not None else "keep"
        raise ParameterError(name, "it was given with parts=True", "leave it out: expressions name no table")
    return _expressions(formula_of(model, drawn_in=False, rule=rule), dialect)


def _expressions(formula: Formula, dialect: str) -> SqlExpressions:
    spelled = dialect_of(dialect)
    refuse_words(formula, "SQL")
    guard = guard_of(formula, spelled, inline=True)
    written, unfolded = Writer(formula, spelled, guard).sizes()
    if unfolded > LONGEST_EXPRESSIONS:
        problem = f"its expressions would have {unfolded:.2g} characters, as a statement with subqueries {written}"
        raise ParameterError("model", problem, "leave out parts=True: the statement has subqueries")
    writer = Writer(formula, spelled, guard, inline=True)
    z, p = writer.answers()
    if len(z) == 1:
        return SqlExpressions(z[0], None if p is None else p[0], writer.label())
    return SqlExpressions(tuple(z), None if p is None else tuple(p), writer.label())


def select_statement(
    formula: Formula, dialect: str, table: str | Sequence[str] | None = None, keep: Sequence[str] = ()
) -> str:
    """A SELECT statement of the answers for every row of a table; see ``to_sql``."""
    refuse_words(formula, "SQL")
    spelled = dialect_of(dialect)
    writer = Writer(formula, spelled, guard_of(formula, spelled, inline=False))
    columns = _answer_columns(writer)
    twice = {name for name, _ in columns} & set(keep)
    if twice:
        raise ParameterError("keep", f"it has {sorted(twice)[0]!r}, as the answers do", "rename that column")
    quoted = spelled.name_of
    kept = [(f"k{i}", f"t.{quoted(name)}") for i, name in enumerate(keep)]
    final = [(quoted(name), f"k{i}") for i, name in enumerate(keep)] + [(quoted(name), text) for name, text in columns]
    parts = ["rows"] if table is None else [table] if isinstance(table, str) else table
    step = "separatrix"
    while parts[-1].lower().startswith(step):  # a subquery must not have the table's name
        step += "_"
    source = f"{'.'.join(quoted(name) for name in parts)} AS t"
    return _comments(formula) + _layered(writer, source, step, kept, final)


def _answer_columns(writer: Writer) -> list[Binding]:
    """The names and expressions of scores, probabilities and label."""
    z, p = writer.answers()
    label = ("label", writer.label())
    if len(z) == 1:
        return [("score", z[0]), *([] if p is None else [("probability", p[0])]), label]
    classes = [str(name) for name in writer.formula.classes]
    scores = [(f"score={name}", text) for name, text in zip(classes, z, strict=True)]
    return [*scores, *((f"probability={name}", text) for name, text in zip(classes, p or (), strict=False)), label]


def _comments(formula: Formula) -> str:
    """Comments on the decision and on columns of categories, a line each."""
    lines = decision_notes(formula)
    levels = {column.name: [level for level, _ in column.rows] for column in formula.columns if column.rows}
    lines += [line for name, known in levels.items() for line in notes_on_levels(name, known)]
    if any(NA not in known for known in levels.values()):
        lines.append(
            f"In a category, the text {NA} is a level like any other. If it means a missing value, make it NULL."
        )
    return "".join(f"-- {' '.join(line.splitlines())}\n" for line in lines)


def _layered(writer: Writer, source: str, step: str, kept: list[Binding], final: list[Binding]) -> str:
    """The statement: a subquery for each layer of names, then the answers."""
    parts: list[str] = []
    written, unfolded = writer.sizes()
    fence = writer.dialect.fence if unfolded > LARGEST_EXPANSION * written else ""
    for i, bound in enumerate(writer.needed([text for _, text in final])):
        own = [*kept, *bound] if i == 0 else bound
        before = "" if i == 0 else "*, "
        listed = ",\n         ".join(f"{text} AS {name}" for name, text in own)
        parts.append(f"{step}_{i} AS (\n  SELECT {before}{listed}\n  FROM {source}{fence}\n)")
        source = f"{step}_{i}"
    listed = ",\n       ".join(f"{text} AS {name}" for name, text in final)
    return f"WITH {', '.join(parts)}\nSELECT {listed}\nFROM {source}\n"


# --- Expressions

# Largest number of terms in one sum. Longer sums are written as sums of sums, since engines reject expressions that are
# a thousand levels deep.
LONGEST_SUM = 50
# Number of columns that are reserved in a subquery in addition to those of X: scores, probabilities, intermediate
# results, kept columns.
OTHER_COLUMNS = 500
NAME = re.compile(r"\w+")

# A name and the expression that it stands for.
Binding = tuple[str, str]


@dataclass(frozen=True)
class Spelled:
    """The expressions of a vector's entries. The names in them are defined in layers before ``layer``."""

    texts: list[str]
    layer: int


class Writer:
    """Translates a formula into expressions: nested ones with ``inline``, otherwise layers of named ones.

    In ``layers``, every intermediate result has a name, so that no expression is written twice.
    """

    def __init__(self, formula: Formula, dialect: Dialect, guard: ProductGuard, inline: bool = False) -> None:
        self.formula, self.dialect, self.guard, self.inline = formula, dialect, guard, inline
        self.columns = ColumnWriter(dialect, guard, "" if inline else "t.")
        # If a subquery cannot have a name for each column of X, columns are written where they are used.
        self.wide = dialect.most_columns is not None and formula.n_columns + OTHER_COLUMNS > dialect.most_columns
        self.layers: list[list[Binding]] = [[]]
        self.named = {formula.scores: "z"}
        if formula.probabilities is not None:
            self.named[formula.probabilities] = "p"
        self.top = algebra.Largest(formula.ranking)
        self.known: dict[algebra.Vector, Spelled] = {}
        self.count = 0
        self.rules: algebra.Rules[Spelled] = {
            algebra.Inputs: self._inputs,
            algebra.Constant: lambda node: Spelled([self.dialect.double(node.value)], 0),
            algebra.Affine: self._affine,
            algebra.Combine: self._combine,
            algebra.Abs: lambda node, v: Spelled([f"abs({x})" for x in v.texts], v.layer),
            algebra.Exp: self._exp,
            algebra.Where: self._where,
            algebra.Largest: self._largest,
        }

    # --- The answers

    def answers(self) -> tuple[list[str], list[str] | None]:
        """Scores and probabilities; for two classes those of the second only."""
        z = self._spell(self.formula.scores).texts
        if self.formula.probabilities is None:
            return z, None
        p = self._spell(self.formula.probabilities).texts
        return z, p[1:] if len(z) == 1 else p

    def label(self) -> str:
        """The predicted label."""
        classes = self.formula.classes
        # An expression has one type, so labels of several types are all written as text.
        plain = len({type(label) for label in classes}) == 1
        says = [self.dialect.literal(label if plain else str(label)) for label in classes]
        z = self._spell(self.formula.scores).texts
        if len(z) == 1:
            return self._label_of_two(z[0], says)
        ranked, top = self._spell(self.formula.ranking).texts, self._spell(self.top).texts[0]
        cases = " ".join(f"WHEN {text} = {top} THEN {label}" for text, label in zip(ranked, says, strict=True))
        return f"CASE {cases} END"

    def _label_of_two(self, z: str, says: list[str]) -> str:
        boundary = self.formula.boundary
        if math.isinf(boundary):  # The rule gives every row the same label.
            return f"CASE WHEN {z} IS NOT NULL THEN {says[boundary < 0]} END"
        above, below = (">=", "<") if self.formula.takes_boundary else (">", "<=")
        at = self.dialect.double(boundary) if boundary else "0"
        return f"CASE WHEN {z} {above} {at} THEN {says[1]} WHEN {z} {below} {at} THEN {says[0]} END"

    def sizes(self) -> tuple[int, int]:
        """The number of characters of all answers: in layers, and with every name replaced by its expression."""
        z, p = self.answers()
        final = [*z, *(p or ()), self.label()]
        sizes: dict[str, int] = {}
        for name, text in (bound for layer in self.layers for bound in layer):
            sizes[name] = len(text) + sum(sizes.get(word, 0) for word in NAME.findall(text))
        written = sum(len(text) for layer in self.layers for _, text in layer) + sum(map(len, final))
        return written, sum(len(text) + sum(sizes.get(word, 0) for word in NAME.findall(text)) for text in final)

    def needed(self, texts: list[str]) -> list[list[Binding]]:
        """The layers, without names that ``texts`` do not need, such as P(first class) of two classes."""
        found: list[list[Binding]] = []
        for layer in reversed(self.layers):
            spoken = {word for text in texts for word in NAME.findall(text)}
            kept = [(name, text) for name, text in layer if name in spoken]
            texts = texts + [text for _, text in kept]
            found.append(kept)
        return [layer for layer in reversed(found) if layer]

    # --- The nodes of the formula

    def _spell(self, node: algebra.Vector) -> Spelled:
        return algebra.translate(node, self.rules, self.known)

    def _inputs(self, node: algebra.Inputs) -> Spelled:
        """An expression for each column of X, in layer 0. A category has one expression, at its first column of X."""
        texts: list[str] = []
        for j, column in enumerate(self.formula.columns):
            own = self.columns.inputs(column)
            names = [f"c{j}"] if column.rows else [f"x{column.start + i}" for i in range(len(own))]
            own = [f"({text})" for text in own] if self.wide else self._bound(names, own, 0).texts
            texts += own + [""] * (column.width - len(own))
        return Spelled(texts, 0 if self.inline or self.wide else 1)

    def _affine(self, node: algebra.Affine, of: Spelled) -> Spelled:
        of_inputs = isinstance(node.of, algebra.Inputs)
        texts = []
        for a, w in zip(node.a.tolist(), node.M, strict=True):
            terms = self._column_terms(of.texts, w) if of_inputs else self._terms(of.texts, w)
            texts.append(summed(([self.dialect.double(a)] if a or not terms else []) + terms))
        return self._bind(node, texts, of.layer)

    def _column_terms(self, texts: list[str], w: Array) -> list[str]:
        """The terms of all columns, also those of weight zero, so that a missing value makes the answer NULL."""
        terms = []
        for column in self.formula.columns:
            own = slice(column.start, column.start + column.width)
            if column.rows:
                terms.append(self.columns.lookup(column, texts[column.start], w[own]))
            else:
                terms += [
                    f"{self.dialect.double(v)} * {text}" for v, text in zip(w[own].tolist(), texts[own], strict=True)
                ]
        return terms

    def _terms(self, texts: list[str], w: Array) -> list[str]:
        held = [(v, text) for v, text in zip(w.tolist(), texts, strict=True) if v]
        signs = {1.0: "", -1.0: "-"}
        return [f"{signs[v]}{text}" if v in signs else self.guard.scaled(v, text) for v, text in held]

    def _combine(self, node: algebra.Combine, a: Spelled, b: Spelled) -> Spelled:
        pairs = zip(_widened(a, node), _widened(b, node), strict=True)
        texts = [self.guard.combined(node.sign, x, y) for x, y in pairs]
        found = Spelled(texts, max(a.layer, b.layer))
        # A guarded product names its operands several times, so each of them gets a name.
        return self._bind(node, texts, found.layer) if node in self.named or self.guard.repeats else found

    def _exp(self, node: algebra.Exp, v: Spelled) -> Spelled:
        low, zero = self.dialect.double(algebra.LOWEST_EXPONENT), self.dialect.double(0.0)
        return self._bind(node, [f"CASE WHEN {x} < {low} THEN {zero} ELSE exp({x}) END" for x in v.texts], v.layer)

    def _where(self, node: algebra.Where, test: Spelled, yes: Spelled, no: Spelled) -> Spelled:
        entries = zip(*(_widened(part, node) for part in (test, yes, no)), strict=True)
        texts = [f"CASE WHEN {t} >= 0 THEN {y} WHEN {t} < 0 THEN {n} END" for t, y, n in entries]
        return self._bind(node, texts, max(test.layer, yes.layer, no.layer))

    def _largest(self, node: algebra.Largest, v: Spelled) -> Spelled:
        return self._bind(
            node, [in_groups(v.texts, lambda group: f"{self.dialect.largest}({', '.join(group)})")], v.layer
        )

    def _bind(self, node: algebra.Vector, texts: list[str], layer: int) -> Spelled:
        prefix = self.named.get(node)
        if prefix is None:
            prefix, self.count = f"v{self.count}_", self.count + 1
        return self._bound([f"{prefix}{i}" for i in range(len(texts))], texts, layer)

    def _bound(self, names: list[str], texts: list[str], layer: int) -> Spelled:
        """Assign names, in this layer, to the texts that are not already names."""
        if self.inline:
            return Spelled([text if NAME.fullmatch(text) else f"({text})" for text in texts], 0)
        new = [(name, text) for name, text in zip(names, texts, strict=True) if not NAME.fullmatch(text)]
        self.layers += [[] for _ in range(layer + 1 - len(self.layers))]
        self.layers[layer] += new
        texts = [text if NAME.fullmatch(text) else name for name, text in zip(names, texts, strict=True)]
        return Spelled(texts, layer + bool(new))


def _widened(part: Spelled, node: algebra.Vector) -> list[str]:
    return part.texts * node.width if len(part.texts) == 1 else part.texts


def summed(terms: list[str]) -> str:
    """The sum of the terms, grouped so that it is not deeply nested.

    >>> summed(["1", "x"])
    '1 + x'
    """
    return in_groups(terms, " + ".join)


def in_groups(texts: list[str], joined: Callable[[list[str]], str]) -> str:
    """Apply ``joined`` to groups of at most ``LONGEST_SUM`` texts, then to groups of the results, and so on.

    >>> in_groups(["1", "2", "3"], ", ".join)
    '1, 2, 3'
    """
    while len(texts) > LONGEST_SUM:
        groups = [texts[part] for part in pieces(len(texts), LONGEST_SUM)]
        texts = [f"({joined(group)})" if len(group) > 1 else group[0] for group in groups]
    return joined(texts)


# --- Columns


@dataclass(frozen=True)
class ColumnWriter:
    """Writes columns for one engine. Their names have the prefix ``source``, such as "t." for a table t."""

    dialect: Dialect
    guard: ProductGuard
    source: str = ""

    def inputs(self, column: FormulaColumn) -> list[str]:
        """An expression for each column of X; for a category one expression, its level."""
        return [self._text(column)] if column.rows else self._value(column)

    def lookup(self, column: FormulaColumn, text: str, w: Array) -> str:
        """The sum of w times the columns of X of a category, for each level. ``text`` is the level."""

        def said(row: Row | None) -> str:
            return "NULL" if row is None else self.dialect.double(float(w @ np.asarray(row)))

        cases = " ".join(f"WHEN {self.dialect.literal(level)} THEN {said(row)}" for level, row in column.rows)
        lookup = f"CASE {text} {cases} ELSE {said(column.unseen)} END"
        return f"CASE WHEN {text} IS NULL THEN {said(column.absent)} ELSE {lookup} END"

    def _name(self, column: FormulaColumn) -> str:
        return f"{self.source}{self.dialect.name_of(column.name)}"

    def _text(self, column: FormulaColumn) -> str:
        """The text of a category as the encoder spells it, whatever the type of the column."""
        c, dialect = self._name(column), self.dialect
        levels = [level for level, _ in column.rows]
        whens = [
            f"WHEN {said.test.format(c)} THEN {said.text.format(c)}"
            for said in dialect.respelled
            if said.applies(levels)
        ]
        tests = {"true": (dialect.true, "1"), "false": (dialect.false, "0")}
        for word, level in column.truths:
            test, digit = tests[word]
            if not (dialect.truths_are_digits and digit in levels):
                whens.append(f"WHEN {test.format(c)} THEN {dialect.literal(level)}")
        if dialect.real and are_numbers(levels):
            found = self._text_of_real(column, c, levels)
            whens += [f"WHEN {c} IS NULL THEN NULL", f"WHEN {dialect.real.format(c)} THEN {found}"]
        text = dialect.text.format(c)
        return f"CASE {' '.join(whens)} ELSE {text} END" if whens else text

    def _text_of_real(self, column: FormulaColumn, c: str, levels: list[str]) -> str:
        """The level that a column of floating point numbers, called ``c``, has the value of."""
        dialect = self.dialect
        same = [f"WHEN {dialect.double(v)} THEN {dialect.literal(level)}" for v, level in column.numbers]
        same += [f"WHEN {dialect.no_number} THEN NULL"] if dialect.no_number else []
        other = dialect.literal(unlike(levels))
        return f"CASE {dialect.real_value.format(c)} {' '.join(same)} ELSE {other} END" if same else other

    def _value(self, column: FormulaColumn) -> list[str]:
        """A number, a truth value or a date, with its indicator."""
        c, dialect = self._name(column), self.dialect
        missing = (dialect.missing_day if column.kind == "date" else dialect.missing).format(c)
        value = self._truth(column, c) if column.kind == "boolean" else self._number(column, c)
        if column.absent is None:
            return [value]
        first, *rest = (dialect.double(self.guard.number(column.start + i, a)) for i, a in enumerate(column.absent))
        filled = f"CASE WHEN {missing} THEN {first} ELSE {value} END"
        marks = [
            f"CASE WHEN {missing} THEN {a} ELSE {dialect.double(b)} END" for a, b in zip(rest, column.tail, strict=True)
        ]
        return [filled, *marks]

    def _truth(self, column: FormulaColumn, c: str) -> str:
        cases = [(self.dialect.yes.format(c), 1.0), (self.dialect.no.format(c), 0.0)]
        whens = " ".join(f"WHEN {test} THEN {self.dialect.double(v - column.shift)}" for test, v in cases)
        return f"CASE {whens} END"

    def _number(self, column: FormulaColumn, c: str) -> str:
        dialect, date = self.dialect, column.kind == "date"
        value = (dialect.days if date else dialect.number).format(c)
        value = f"(({value}) - {dialect.double(column.shift)})" if column.shift else value
        finite = dialect.finite_day if date else dialect.finite
        if finite:
            value = f"CASE WHEN {finite.format(c)} THEN {self.guard.input(column.start, value)} END"
        return value


# --- Engines

# The type of a column is not known here, so templates also accept numbers, dates and truth values that are stored as
# text. A new engine is one line in ``DIALECTS``.

# The exponent of the largest power of two that a signed 64-bit integer can hold.
STEP = 62
_SINCE = "({0} - TIMESTAMP '1970-01-01 00:00:00')"
_UNITS = {"DAY": "1e0", "HOUR": "24e0", "MINUTE": "1440e0", "SECOND": "86400e0"}
STANDARD_DAYS = " + ".join(f"EXTRACT({unit} FROM {_SINCE}) / {parts}" for unit, parts in _UNITS.items())


def with_exponent(v: float) -> str:
    """A double as a literal that DuckDB and standard SQL read as a double: DuckDB reads 0.1 as a decimal number.

    >>> with_exponent(0.1), with_exponent(-2.5e-07)
    ('0.1e0', '(-2.5e-07)')
    """
    text = repr(float(v))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def with_type(v: float) -> str:
    """A double as a literal with a type, for PostgreSQL.

    >>> with_type(0.1)
    "float8 '0.1'"
    """
    return f"float8 '{float(v)!r}'"


def as_fraction(v: float) -> str:
    """A double as an integer times or divided by powers of two, which is exact however an engine reads decimals.

    SQLite before 3.47 sometimes rounds decimal literals incorrectly (about one in 300). Each step of m/2ᵏ with an
    integer m is exact; the decimal form follows in a comment.

    >>> as_fraction(0.375), as_fraction(-3.0), as_fraction(2.0**70)
    ('(1.0*3/8 /*0.375*/)', '(-3.0)', '(1.0*1*4611686018427387904*256 /*1.1805916207174113e+21*/)')
    """
    if v == int(v) and abs(v) < 1 << 53:
        return f"({int(v)}.0)" if v < 0 else f"{int(v)}.0"
    mantissa, exponent = math.frexp(v)
    whole = int(math.ldexp(mantissa, 53))
    exponent -= 53
    twos = (whole & -whole).bit_length() - 1
    whole, exponent = whole >> twos, exponent + twos
    steps = [STEP] * (abs(exponent) // STEP) + [abs(exponent) % STEP] * (abs(exponent) % STEP > 0)
    # Large powers come first, so that every step but the last is exact, even if the result is subnormal.
    powers = "".join(f"{'*' if exponent > 0 else '/'}{1 << step}" for step in steps)
    return f"(1.0*{whole}{powers} /*{float(v)!r}*/)"


@dataclass(frozen=True)
class Dialect:
    """The SQL of one engine. Templates have a placeholder for the column.

    ``finite`` and ``finite_day`` test for finite values; they are None if all values are finite. For a category,
    ``real`` tests whether the column has numbers with a fraction, ``real_value`` is their value, and ``respelled`` has
    the other values whose text differs from ``text``. ``true`` and ``false`` test for a truth value, and
    ``truths_are_digits`` tells whether truth values are the numbers 1 and 0. ``fence`` is appended to a subquery so
    that the engine does not expand it at each use. ``most_columns`` is the largest number of columns of a subquery.
    ``traps`` tells whether a product outside the range of doubles ends the whole statement with an error.
    """

    name: str
    double: Callable[[float], str] = with_exponent
    mark: str = '"'
    number: str = "CAST({} AS DOUBLE PRECISION)"
    missing: str = "{} IS NULL"
    finite: str | None = None
    days: str = STANDARD_DAYS
    missing_day: str = "{} IS NULL"
    finite_day: str | None = None
    text: str = "NULLIF(TRIM(CAST({} AS VARCHAR)), '')"
    real: str | None = None
    real_value: str = "CAST({} AS DOUBLE PRECISION)"
    no_number: str | None = None
    respelled: tuple[Respelling, ...] = ()
    true: str = "TRIM(CAST({} AS VARCHAR)) IN ('true', 'TRUE')"
    false: str = "TRIM(CAST({} AS VARCHAR)) IN ('false', 'FALSE')"
    truths_are_digits: bool = False
    yes: str = f"LOWER(TRIM(CAST({{}} AS VARCHAR))) IN {TRUE}"
    no: str = f"LOWER(TRIM(CAST({{}} AS VARCHAR))) IN {FALSE}"
    largest: str = "GREATEST"
    most_columns: int | None = None
    fence: str = ""
    traps: bool = False

    def name_of(self, name: str) -> str:
        """A name as a quoted identifier; it may contain any characters except a zero byte.

        >>> DIALECTS["duckdb"].name_of('a"b')
        '"a""b"'
        """
        if not name and self.mark == '"':
            raise ParameterError("model", "a column's name is empty", f"rename it: {self.name} has no spelling for it")
        return f"{self.mark}{_sayable(name).replace(self.mark, 2 * self.mark)}{self.mark}"

    def literal(self, label: Any) -> str:
        """A label as a literal: text, an integer, a double or a truth value.

        >>> DIALECTS["standard"].literal("it's"), DIALECTS["standard"].literal(True)
        ("'it''s'", 'TRUE')
        """
        if isinstance(label, str):
            return "'" + _sayable(label).replace("'", "''") + "'"
        if isinstance(label, bool):
            return "TRUE" if label else "FALSE"
        return str(label) if isinstance(label, int) else self.double(label)


def _sayable(text: str) -> str:
    if "\0" in text:
        raise ParameterError("model", f"the text {text!r} holds a zero byte", "rename it: SQL has no spelling for it")
    return text


# White space is trimmed without a regular expression, because DuckDB compiles every occurrence of one separately, which
# takes seconds for many columns.
_DUCK_SPACES = "".join(f"\\x{byte:02x}" for code in SPACES for byte in chr(code).encode())
# Decoded from a blob, since DuckDB 1 refuses an E'…' literal that has bytes above 0x7f.
_DUCK_TEXT = f"trim(CAST({{0}} AS VARCHAR), decode(CAST('{_DUCK_SPACES}' AS BLOB)))"
_DUCK_IS_TEXT = "CASE WHEN typeof({0}) = 'VARCHAR' THEN"
_DUCK_NUMBER = f"{_DUCK_IS_TEXT} TRY_CAST({_DUCK_TEXT} AS DOUBLE) ELSE TRY_CAST({{0}} AS DOUBLE) END"
_DUCK_NOTHING = f"{{0}} IS NULL OR (typeof({{0}}) = 'VARCHAR' AND {nothing(_DUCK_TEXT)})"
_PG_SPACES = "".join(f"\\u{code:04x}" for code in SPACES)
_PG_TEXT = f"btrim(CAST({{0}} AS text), E'{_PG_SPACES}')"
# Only columns of text are trimmed. Casting a number to text and back would take several times as long, and casting a
# time to text would lose its zone.
_PG_IS_TEXT = "CASE WHEN CAST(pg_typeof({0}) AS text) IN ('text', 'character varying', 'character') THEN"
_PG_NUMBER = f"{_PG_IS_TEXT} CAST({_PG_TEXT} AS float8) ELSE CAST({{0}} AS float8) END"
_PG_TIME = f"{_PG_IS_TEXT} CAST({_PG_TEXT} AS timestamp) ELSE CAST({{0}} AS timestamp) END"
_PG_ZONED = f"{_PG_IS_TEXT} CAST({_PG_TEXT} AS timestamptz) ELSE CAST({{0}} AS timestamptz) END"
_PG_INSTANT = f"CASE WHEN {_PG_TEXT} ~ '{ZONED}' THEN EXTRACT(EPOCH FROM {_PG_ZONED}) "
_LITE_TEXT = f"trim({{0}}, char({', '.join(map(str, SPACES))}))"
_LITE_NUMBER = f"CASE typeof({{0}}) WHEN 'text' THEN {_LITE_TEXT} ELSE {{0}} END"
DIALECTS = {
    "standard": Dialect("standard"),
    "duckdb": Dialect(
        "duckdb",
        number=f"nullif(nullif(nullif({_DUCK_NUMBER}, CAST('NaN' AS DOUBLE)), 1e999), -1e999)",
        missing=f"{_DUCK_NOTHING} OR isnan(TRY_CAST({{0}} AS DOUBLE))",
        # DuckDB's cast of text to TIMESTAMP drops the zone, so text is searched for a zone. Casting every cell to text
        # would take longer than the rest of the statement.
        days="CASE WHEN typeof({0}) NOT IN ('VARCHAR', 'TIMESTAMP WITH TIME ZONE') "
        "THEN epoch(TRY_CAST({0} AS TIMESTAMP)) "
        f"WHEN regexp_matches({_DUCK_TEXT}, '{ZONED}') THEN epoch(TRY_CAST({_DUCK_TEXT} AS TIMESTAMPTZ)) "
        f"ELSE epoch(TRY_CAST({_DUCK_TEXT} AS TIMESTAMP)) END / 86400e0",
        missing_day=_DUCK_NOTHING,
        finite_day=f"isfinite(TRY_CAST({_DUCK_TEXT} AS TIMESTAMP))",
        text=f"nullif({_DUCK_TEXT}, '')",
        real="typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'",
        # The cast goes through text, so that 0.1 in single precision becomes 0.1 in double precision.
        real_value="TRY_CAST(CAST({} AS VARCHAR) AS DOUBLE)",
        no_number="CAST('NaN' AS DOUBLE)",
        respelled=(
            Respelling(
                are_zoned,
                "typeof({}) = 'TIMESTAMP WITH TIME ZONE'",
                "CAST(make_timestamp(epoch_us(TRY_CAST(CAST({} AS VARCHAR) AS TIMESTAMPTZ))) AS VARCHAR) || 'Z'",
            ),
        ),
        true="typeof({0}) = 'BOOLEAN' AND CAST({0} AS VARCHAR) = 'true'",
        false="typeof({0}) = 'BOOLEAN' AND CAST({0} AS VARCHAR) = 'false'",
        # If the column is not text, DuckDB removes the first branch before it plans the statement.
        yes=f"{_DUCK_IS_TEXT} lower({_DUCK_TEXT}) IN {TRUE} ELSE TRY_CAST({{0}} AS DOUBLE) = 1 END",
        no=f"{_DUCK_IS_TEXT} lower({_DUCK_TEXT}) IN {FALSE} ELSE TRY_CAST({{0}} AS DOUBLE) = 0 END",
    ),
    "postgresql": Dialect(
        "postgresql",
        with_type,
        number=_PG_NUMBER,
        missing=f"{{0}} IS NULL OR {nothing(_PG_TEXT)}",
        # PostgreSQL orders NaN above all numbers, so the comparison excludes it.
        finite=f"NOT {nothing(_PG_TEXT)} AND abs({_PG_NUMBER}) < float8 'Infinity'",
        days=f"CAST({_PG_INSTANT}ELSE EXTRACT(EPOCH FROM {_PG_TIME}) END AS float8) / float8 '86400'",
        missing_day=f"{{0}} IS NULL OR {nothing(_PG_TEXT)}",
        finite_day=f"NOT {nothing(_PG_TEXT)} AND isfinite({_PG_TIME})",
        text=f"nullif({_PG_TEXT}, '') COLLATE \"C\"",
        real="CAST(pg_typeof({}) AS text) IN ('double precision', 'real', 'numeric')",
        real_value="CAST(CAST({} AS text) AS float8)",
        no_number="float8 'NaN'",
        respelled=(
            Respelling(
                are_zoned,
                "CAST(pg_typeof({}) AS text) = 'timestamp with time zone'",
                "CAST(CAST(CAST({} AS text) AS timestamptz) AT TIME ZONE 'UTC' AS text) || 'Z'",
            ),
        ),
        true="CAST(pg_typeof({0}) AS text) = 'boolean' AND CAST({0} AS text) = 'true'",
        false="CAST(pg_typeof({0}) AS text) = 'boolean' AND CAST({0} AS text) = 'false'",
        yes=f"lower({_PG_TEXT}) IN {TRUE}",
        no=f"lower({_PG_TEXT}) IN {FALSE}",
        fence=" OFFSET 0",
        traps=True,
    ),
    "sqlite": Dialect(
        "sqlite",
        as_fraction,
        # If there is no such column, SQLite reads "name" as text, whereas `name` is an error.
        mark="`",
        number=f"nullif(nullif(CAST({_LITE_NUMBER} AS REAL), 9e999), -9e999)",
        missing=f"{{0}} IS NULL OR {nothing(_LITE_TEXT)}",
        # A column in SQLite may hold values of any type. Text that is not a number differs from its cast to REAL, which
        # converts only the leading digits.
        finite=f"typeof({{0}}) = 'integer' OR {_LITE_NUMBER} = CAST({_LITE_NUMBER} AS REAL)",
        # Seconds with milliseconds. A Julian day as one double would resolve only a twentieth of a millisecond.
        days=f"(strftime('%s', {_LITE_TEXT}) + strftime('%f', {_LITE_TEXT}) - strftime('%S', {_LITE_TEXT})) / 86400.0",
        missing_day=f"{{0}} IS NULL OR {nothing(_LITE_TEXT)}",
        # SQLite would read a number as a Julian day, and a time without a date as a time on 2000-01-01.
        finite_day=f"typeof({{0}}) = 'text' AND {_LITE_TEXT} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'",
        # SQLite compares an expression character by character, but a column by the collation in its declaration.
        text=f"nullif({_LITE_TEXT}, '')",
        real="typeof({}) = 'real'",
        real_value="CAST({} AS REAL)",
        respelled=(
            # SQLite has no type for times; they are stored as text.
            Respelling(
                are_instants, "{} GLOB '????-??-?? ??:??:??.[0-9]*[0-9]'", "rtrim(rtrim(CAST({} AS TEXT), '0'), '.')"
            ),
        ),
        true="typeof({0}) = 'integer' AND {0} = 1",
        false="typeof({0}) = 'integer' AND {0} = 0",
        truths_are_digits=True,
        yes=f"lower({_LITE_TEXT}) IN {TRUE}",
        no=f"lower({_LITE_TEXT}) IN {FALSE}",
        largest="max",
        most_columns=2000,
        fence=" LIMIT -1 OFFSET 0",
    ),
}


def dialect_of(name: str) -> Dialect:
    """The dialect by its name.

    >>> dialect_of("sqlite").largest
    'max'
    """
    if name not in DIALECTS:
        raise ParameterError("dialect", f"got {name!r}", f"give one of {', '.join(map(repr, DIALECTS))}")
    return DIALECTS[name]


# --- Products that stay within the range of doubles

# Largest magnitude of a result; larger ones are replaced by it. A sum of 10^18 such numbers is still finite.
LARGEST_RESULT = 1e290
# Smallest magnitude of a result; smaller ones are replaced by zero. It is well above the smallest double, 5e-324, since
# rounding must not turn a nonzero result into zero.
SMALLEST_RESULT = 1e-320


class ProductGuard:
    """Writes the products of a formula, here for engines in which a product may be infinite or zero.

    ``repeats`` tells whether a product contains its operands several times.

    >>> ProductGuard(DIALECTS["sqlite"]).combined("*", "x", "y")
    '(x * y)'
    """

    repeats = False

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect

    def input(self, j: int, value: str) -> str:
        """Column j of X."""
        return value

    def number(self, j: int, value: float) -> float:
        """A constant that replaces a value of column j of X."""
        return value

    def scaled(self, c: float, text: str) -> str:
        """c times an expression."""
        return f"{self.dialect.double(c)} * {text}"

    def combined(self, sign: str, x: str, y: str) -> str:
        """x + y, x − y, x × y or x ÷ y."""
        return f"({x} {sign} {y})"


class ClippedInputs(ProductGuard):
    """For engines that raise an error if a product of finite numbers is infinite, or one of nonzero numbers is zero.

    One such row would prevent the predictions of all other rows. So factors are clipped to limits within which a
    product can neither overflow nor underflow: a result above 1e290 in magnitude becomes 1e290, and one below 1e-320
    becomes zero. This class clips the columns of X so that their products with all weights stay within the limits.
    """

    def __init__(self, formula: Formula, dialect: Dialect) -> None:
        super().__init__(dialect)
        weights = np.abs(np.vstack([np.ones(formula.n_columns), *_weights(formula)]))
        smallest = np.min(np.where(weights > 0, weights, 1.0), axis=0)
        self.low = np.where(smallest < 1.0, SMALLEST_RESULT / smallest, 0.0)
        self.high = LARGEST_RESULT / (np.max(weights, axis=0) * max(1, formula.n_columns))

    def input(self, j: int, value: str) -> str:
        """Column j of X, clipped to its limits. Its value must be a number, not NULL."""
        low, high, least = (self.dialect.double(v) for v in (self.low[j], self.high[j], -self.high[j]))
        held = f"LEAST(GREATEST({value}, {least}), {high})"
        if not self.low[j]:
            return held
        return f"CASE WHEN abs({value}) < {low} THEN {self.dialect.double(0.0)} ELSE {held} END"

    def number(self, j: int, value: float) -> float:
        """A constant that replaces a missing value of column j of X, clipped to the limits of the column."""
        return 0.0 if abs(value) < self.low[j] else float(np.clip(value, -self.high[j], self.high[j]))


class Clipped(ClippedInputs):
    """Also limits all other products. If an operand is NULL, no test is true, and the result is the product, NULL."""

    repeats = True

    def scaled(self, c: float, text: str) -> str:
        """c times an expression."""
        product, double = f"{self.dialect.double(c)} * {text}", self.dialect.double
        if abs(c) > 1:
            most = f"sign({text}) * {double(math.copysign(LARGEST_RESULT, c))}"
            return f"CASE WHEN abs({text}) > {double(LARGEST_RESULT / abs(c))} THEN {most} ELSE {product} END"
        return f"CASE WHEN abs({text}) < {double(SMALLEST_RESULT / abs(c))} THEN {double(0.0)} ELSE {product} END"

    def combined(self, sign: str, x: str, y: str) -> str:
        """x + y and x − y unchanged; for x × y and x ÷ y the logarithm of the result is tested first."""
        plain = f"({x} {sign} {y})"
        if sign in "+-":
            return plain
        double = self.dialect.double
        zero = f"{x} = 0 OR {y} = 0" if sign == "*" else f"{x} = 0"
        size = f"ln(abs({x})) {'+' if sign == '*' else '-'} ln(abs({y}))"
        small = f"WHEN {size} < {double(math.log(SMALLEST_RESULT))} THEN {double(0.0)}"
        large = (
            f"WHEN {size} > {double(math.log(LARGEST_RESULT))} THEN sign({x}) * sign({y}) * {double(LARGEST_RESULT)}"
        )
        return f"(CASE WHEN {zero} THEN {plain} {small} {large} ELSE {plain} END)"


def guard_of(formula: Formula, dialect: Dialect, inline: bool) -> ProductGuard:
    """The guard for an engine: products are limited if it raises an error, and unchanged otherwise.

    With ``inline``, operands are expressions without names. Then only the inputs are clipped, which suffices for linear
    scores: repeating the operands of all products would make expressions grow exponentially.
    """
    if not dialect.traps:
        return ProductGuard(dialect)
    return ClippedInputs(formula, dialect) if inline else Clipped(formula, dialect)


def _weights(formula: Formula) -> Iterator[Array]:
    """Every matrix by which the columns of X are multiplied."""
    waiting: list[algebra.Vector] = [formula.scores] if formula.probabilities is None else [formula.probabilities]
    seen: set[algebra.Vector] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        if isinstance(node, algebra.Affine) and isinstance(node.of, algebra.Inputs):
            yield node.M
        waiting += node.operands
