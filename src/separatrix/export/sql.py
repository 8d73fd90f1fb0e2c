"""A model as SQL: score, probability and label are expressions that the database engine computes.

An answer is NULL if the model gives none, because a value is missing, a level was never seen or a number is infinite.
Numbers, truth values (true and false, or 1 and 0) and dates (2024-12-31, 2024-12-31T23:59Z) may have types of their own
or be text, as in a file. A category may have any of these types and is spelled as the encoder does: in a column of
truth values, true is the level with that meaning, such as Yes. Comments above the statement list such cases, and what
an engine may have lost when it read a file. The dialect "standard" cannot ask for the type of a column: there dates are
timestamps, and categories are text, whole numbers or truth values. SQLite has no truth values and uses 1 and 0.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.pieces import pieces
from separatrix.export.algebra import (
    LOWEST_EXPONENT,
    Abs,
    Affine,
    Combine,
    Constant,
    Exp,
    Inputs,
    Largest,
    Rules,
    Vector,
    Where,
    translate,
)
from separatrix.export.dialects import Dialect, dialect_of
from separatrix.export.formula import Column, Formula, Row, formula_of, refuse_words
from separatrix.export.guards import Guard, guard_of
from separatrix.export.spelling import are_numbers, notes_on_levels, unlike
from separatrix.table.cells import NA

# Largest number of terms in one sum. Longer sums are written as sums of sums, since engines reject expressions that are
# a thousand levels deep.
LONGEST_SUM = 50
# Largest total length, in characters, of the expressions of ``sql_expressions``. Longer ones would be useless in
# practice, so they are an error.
LONGEST_EXPRESSIONS = 8_000_000
# Largest factor by which a statement may grow if an engine expands its subqueries. Beyond it, expansion is prevented
# (``Dialect.fence``).
LARGEST_EXPANSION = 20
# Number of columns that are reserved in a subquery in addition to those of X: scores, probabilities, intermediate
# results, kept columns.
OTHER_COLUMNS = 500
NAME = re.compile(r"\w+")


def to_sql(
    model: Any, dialect: str = "duckdb", table: str | Sequence[str] | None = None, keep: Sequence[str] = ()
) -> str:
    """A SELECT statement of score, probability and label for every row of a table.

    With two classes there is one score, which is positive for the second class, and the probability of that class. With
    more there is a score and a probability for each class, in columns such as "score=setosa".

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model.
    dialect : {"duckdb", "sqlite", "postgresql", "standard"}, default "duckdb"
        The dialect of SQL.
    table : str or sequence of str, optional
        The name of the table, in which dots belong to the name, or a schema and a table; by default "rows".
    keep : sequence of str, default ()
        The columns of the table to select before the answers.

    Returns
    -------
    str
        The statement.

    Raises
    ------
    ParameterError
        A column of ``keep`` has the name of an answer, or the model cannot be exported.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT 2.5 AS x0 UNION ALL SELECT NULL")
    >>> duckdb.sql(f"SELECT label FROM ({to_sql(model)})").fetchall()
    [('yes',), (None,)]
    """
    spelled = dialect_of(dialect)
    formula = formula_of(model)
    refuse_words(formula, "SQL")
    writer = Writer(formula, spelled, guard_of(formula, spelled, inline=False))
    return writer.select(["rows"] if table is None else [table] if isinstance(table, str) else table, keep)


def sql_expressions(model: Any, dialect: str = "duckdb") -> SqlExpressions:
    """Score, probability and label as separate expressions, for use in other statements and views.

    For Gaussian models they do not distinguish classes if a distance is so large (1e154) that its square overflows, and
    PostgreSQL ends the statement with an error at such a row. ``to_sql`` has neither limit.

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model.
    dialect : {"duckdb", "sqlite", "postgresql", "standard"}, default "duckdb"
        The dialect of SQL.

    Returns
    -------
    SqlExpressions
        The expressions.

    Raises
    ------
    ParameterError
        The expressions would be too long; use ``to_sql``.

    Examples
    --------
    >>> from separatrix import Scorer
    >>> scorer = Scorer(np.array([[-1.5, 2.0]]), np.array(["no", "yes"]), "sign")
    >>> sql_expressions(scorer, "standard").score
    '((-1.5e0) + 2.0e0 * (CAST("x0" AS DOUBLE PRECISION)))'
    """
    formula, spelled = formula_of(model, drawn_in=False), dialect_of(dialect)
    refuse_words(formula, "SQL")
    guard = guard_of(formula, spelled, inline=True)
    written, unfolded = Writer(formula, spelled, guard).sizes()
    if unfolded > LONGEST_EXPRESSIONS:
        came = f"in one expression each its answers would take {unfolded:.2g} letters, in steps {written}"
        raise ParameterError("model", came, "use to_sql, which takes steps")
    return Writer(formula, spelled, guard, inline=True).expressions()


@dataclass(frozen=True)
class SqlExpressions:
    """The result of ``sql_expressions``.

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


@dataclass(frozen=True)
class Spelled:
    """The expressions of a vector's entries. The names in them are defined in layers before ``layer``."""

    texts: list[str]
    layer: int


class Writer:
    """Writes a formula as nested expressions, or in layers of subqueries, so that no expression is written twice."""

    def __init__(self, formula: Formula, dialect: Dialect, guard: Guard, inline: bool = False) -> None:
        self.formula, self.dialect, self.guard, self.inline = formula, dialect, guard, inline
        # If a subquery cannot have a name for each column of X, columns are written where they are used.
        self.wide = dialect.most_columns is not None and formula.n_columns + OTHER_COLUMNS > dialect.most_columns
        self.layers: list[list[tuple[str, str]]] = [[]]
        self.named = {formula.scores: "z"}
        if formula.probabilities is not None:
            self.named[formula.probabilities] = "p"
        self.top = Largest(formula.scores)
        self.known: dict[Vector, Spelled] = {}
        self.count = 0
        self.rules: Rules[Spelled] = {
            Inputs: self._inputs,
            Constant: lambda node: Spelled([self.dialect.double(node.value)], 0),
            Affine: self._affine,
            Combine: self._combine,
            Abs: lambda node, v: Spelled([f"abs({x})" for x in v.texts], v.layer),
            Exp: self._exp,
            Where: self._where,
            Largest: self._largest,
        }

    def expressions(self) -> SqlExpressions:
        """Score, probability and label."""
        z, p = self._answers()
        label = self._label()
        if len(z) == 1:
            return SqlExpressions(z[0], None if p is None else p[0], label)
        return SqlExpressions(tuple(z), None if p is None else tuple(p), label)

    def select(self, table: Sequence[str], keep: Sequence[str]) -> str:
        """The whole statement."""
        columns = self._answer_columns()
        twice = {name for name, _ in columns} & set(keep)
        if twice:
            raise ParameterError("keep", f"it has {sorted(twice)[0]!r}, as the answers do", "rename that column")
        quoted = self.dialect.name_of
        kept = [(f"k{i}", f"t.{quoted(name)}") for i, name in enumerate(keep)]
        final = [(quoted(name), f"k{i}") for i, name in enumerate(keep)] + [
            (quoted(name), text) for name, text in columns
        ]
        step = "separatrix"
        while table[-1].lower().startswith(step):  # a subquery must not have the table's name
            step += "_"
        source = f"{'.'.join(quoted(name) for name in table)} AS t"
        return self._comments() + self._statement(source, step, kept, final)

    def _answer_columns(self) -> list[tuple[str, str]]:
        """The names and expressions of scores, probabilities and label."""
        z, p = self._answers()
        label = ("label", self._label())
        if len(z) == 1:
            return [("score", z[0]), *([] if p is None else [("probability", p[0])]), label]
        classes = [str(name) for name in self.formula.classes]
        scores = [(f"score={name}", text) for name, text in zip(classes, z, strict=True)]
        return [*scores, *((f"probability={name}", text) for name, text in zip(classes, p or (), strict=False)), label]

    def _comments(self) -> str:
        """Comments on columns of categories, a line each."""
        levels = {column.name: [level for level, _ in column.rows] for column in self.formula.columns if column.rows}
        lines = [line for name, known in levels.items() for line in notes_on_levels(name, known)]
        if any(NA not in known for known in levels.values()):
            lines.append(f"In categories a text {NA} is a level as any other; where it means no value, make it NULL.")
        return "".join(f"-- {' '.join(line.splitlines())}\n" for line in lines)

    def _statement(self, source: str, step: str, kept: list[tuple[str, str]], final: list[tuple[str, str]]) -> str:
        parts: list[str] = []
        written, unfolded = self.sizes()
        fence = self.dialect.fence if unfolded > LARGEST_EXPANSION * written else ""
        for i, bound in enumerate(self._needed([text for _, text in final])):
            own = [*kept, *bound] if i == 0 else bound
            before = "" if i == 0 else "*, "
            listed = ",\n         ".join(f"{text} AS {name}" for name, text in own)
            parts.append(f"{step}_{i} AS (\n  SELECT {before}{listed}\n  FROM {source}{fence}\n)")
            source = f"{step}_{i}"
        listed = ",\n       ".join(f"{text} AS {name}" for name, text in final)
        return f"WITH {', '.join(parts)}\nSELECT {listed}\nFROM {source}\n"

    def sizes(self) -> tuple[int, int]:
        """The number of characters of all answers: in layers, and with every name replaced by its expression."""
        z, p = self._answers()
        final = [*z, *(p or ()), self._label()]
        sizes: dict[str, int] = {}
        for name, text in (bound for layer in self.layers for bound in layer):
            sizes[name] = len(text) + sum(sizes.get(word, 0) for word in NAME.findall(text))
        written = sum(len(text) for layer in self.layers for _, text in layer) + sum(map(len, final))
        return written, sum(len(text) + sum(sizes.get(word, 0) for word in NAME.findall(text)) for text in final)

    def _needed(self, texts: list[str]) -> list[list[tuple[str, str]]]:
        """The layers without names that are never used, such as P(first class) of two classes."""
        found: list[list[tuple[str, str]]] = []
        for layer in reversed(self.layers):
            spoken = {word for text in texts for word in NAME.findall(text)}
            kept = [(name, text) for name, text in layer if name in spoken]
            texts = texts + [text for _, text in kept]
            found.append(kept)
        return [layer for layer in reversed(found) if layer]

    def _answers(self) -> tuple[list[str], list[str] | None]:
        """Scores and probabilities; for two classes those of the second only."""
        z = self._spell(self.formula.scores).texts
        if self.formula.probabilities is None:
            return z, None
        p = self._spell(self.formula.probabilities).texts
        return z, p[1:] if len(z) == 1 else p

    def _spell(self, node: Vector) -> Spelled:
        return translate(node, self.rules, self.known)

    def _label(self) -> str:
        classes = self.formula.classes
        # An expression has one type, so labels of several types are all written as text.
        plain = len({type(label) for label in classes}) == 1
        says = [self.dialect.literal(label if plain else str(label)) for label in classes]
        z = self._spell(self.formula.scores).texts
        if len(z) == 1:
            above, below = (">=", "<") if self.formula.takes_boundary else (">", "<=")
            at = self.dialect.double(self.formula.boundary) if self.formula.boundary else "0"
            return f"CASE WHEN {z[0]} {above} {at} THEN {says[1]} WHEN {z[0]} {below} {at} THEN {says[0]} END"
        top = self._spell(self.top).texts[0]
        cases = " ".join(f"WHEN {text} = {top} THEN {label}" for text, label in zip(z, says, strict=True))
        return f"CASE {cases} END"

    # ---------------------------------------------------------------------------------------------- columns

    def _inputs(self, node: Inputs) -> Spelled:
        """An expression for each column of X, in layer 0. A category has one expression, at its first column of X."""
        texts: list[str] = []
        for j, column in enumerate(self.formula.columns):
            own = [self._text(column)] if column.rows else self._value(column)
            names = [f"c{j}"] if column.rows else [f"x{column.start + i}" for i in range(len(own))]
            own = [f"({text})" for text in own] if self.wide else self._bound(names, own, 0).texts
            texts += own + [""] * (column.width - len(own))
        return Spelled(texts, 0 if self.inline or self.wide else 1)

    def _source(self, column: Column) -> str:
        name = self.dialect.name_of(column.name)
        return name if self.inline else f"t.{name}"

    def _text(self, column: Column) -> str:
        """The text of a category as the encoder spells it, whatever the type of the column."""
        c, dialect = self._source(column), self.dialect
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
            same = [f"WHEN {dialect.double(v)} THEN {dialect.literal(level)}" for v, level in column.numbers]
            same += [f"WHEN {dialect.no_number} THEN NULL"] if dialect.no_number else []
            other = dialect.literal(unlike(levels))
            found = f"CASE {dialect.real_value.format(c)} {' '.join(same)} ELSE {other} END" if same else other
            whens += [f"WHEN {c} IS NULL THEN NULL", f"WHEN {dialect.real.format(c)} THEN {found}"]
        text = dialect.text.format(c)
        return f"CASE {' '.join(whens)} ELSE {text} END" if whens else text

    def _value(self, column: Column) -> list[str]:
        """A number, a truth value or a date, with its indicator."""
        c, dialect = self._source(column), self.dialect
        missing = (dialect.missing_day if column.kind == "date" else dialect.missing).format(c)
        if column.kind == "boolean":
            cases = [(dialect.yes.format(c), 1.0), (dialect.no.format(c), 0.0)]
            whens = " ".join(f"WHEN {test} THEN {dialect.double(v - column.shift)}" for test, v in cases)
            value = f"CASE {whens} END"
        else:
            date = column.kind == "date"
            value = (dialect.days if date else dialect.number).format(c)
            value = f"(({value}) - {dialect.double(column.shift)})" if column.shift else value
            finite = dialect.finite_day if date else dialect.finite
            if finite:
                value = f"CASE WHEN {finite.format(c)} THEN {self.guard.input(column.start, value)} END"
        if column.absent is None:
            return [value]
        first, *rest = (dialect.double(self.guard.number(column.start + i, a)) for i, a in enumerate(column.absent))
        filled = f"CASE WHEN {missing} THEN {first} ELSE {value} END"
        marks = [
            f"CASE WHEN {missing} THEN {a} ELSE {dialect.double(b)} END" for a, b in zip(rest, column.tail, strict=True)
        ]
        return [filled, *marks]

    def _lookup(self, column: Column, text: str, w: Array) -> str:
        """The sum of w times the columns of X of a category, for each level."""

        def said(row: Row | None) -> str:
            return "NULL" if row is None else self.dialect.double(float(w @ np.asarray(row)))

        cases = " ".join(f"WHEN {self.dialect.literal(level)} THEN {said(row)}" for level, row in column.rows)
        lookup = f"CASE {text} {cases} ELSE {said(column.unseen)} END"
        return f"CASE WHEN {text} IS NULL THEN {said(column.absent)} ELSE {lookup} END"

    # ---------------------------------------------------------------------------------------------- algebra

    def _affine(self, node: Affine, of: Spelled) -> Spelled:
        of_inputs = isinstance(node.of, Inputs)
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
                terms.append(self._lookup(column, texts[column.start], w[own]))
            else:
                terms += [
                    f"{self.dialect.double(v)} * {text}" for v, text in zip(w[own].tolist(), texts[own], strict=True)
                ]
        return terms

    def _terms(self, texts: list[str], w: Array) -> list[str]:
        held = [(v, text) for v, text in zip(w.tolist(), texts, strict=True) if v]
        signs = {1.0: "", -1.0: "-"}
        return [f"{signs[v]}{text}" if v in signs else self.guard.scaled(v, text) for v, text in held]

    def _combine(self, node: Combine, a: Spelled, b: Spelled) -> Spelled:
        pairs = zip(_widened(a, node), _widened(b, node), strict=True)
        texts = [self.guard.combined(node.sign, x, y) for x, y in pairs]
        found = Spelled(texts, max(a.layer, b.layer))
        # A guarded product names its operands several times, so each of them gets a name.
        return self._bind(node, texts, found.layer) if node in self.named or self.guard.repeats else found

    def _exp(self, node: Exp, v: Spelled) -> Spelled:
        low, zero = self.dialect.double(LOWEST_EXPONENT), self.dialect.double(0.0)
        return self._bind(node, [f"CASE WHEN {x} < {low} THEN {zero} ELSE exp({x}) END" for x in v.texts], v.layer)

    def _where(self, node: Where, test: Spelled, yes: Spelled, no: Spelled) -> Spelled:
        entries = zip(*(_widened(part, node) for part in (test, yes, no)), strict=True)
        texts = [f"CASE WHEN {t} >= 0 THEN {y} WHEN {t} < 0 THEN {n} END" for t, y, n in entries]
        return self._bind(node, texts, max(test.layer, yes.layer, no.layer))

    def _largest(self, node: Largest, v: Spelled) -> Spelled:
        return self._bind(
            node, [in_groups(v.texts, lambda group: f"{self.dialect.largest}({', '.join(group)})")], v.layer
        )

    def _bind(self, node: Vector, texts: list[str], layer: int) -> Spelled:
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


def _widened(part: Spelled, node: Vector) -> list[str]:
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
