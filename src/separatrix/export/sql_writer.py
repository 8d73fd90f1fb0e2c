"""A formula as SQL expressions: nested ones, or layers of named ones, so that no expression is written twice."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from separatrix.base.arrays import Array
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
from separatrix.export.dialects import Dialect
from separatrix.export.formula import Formula
from separatrix.export.guards import Guard
from separatrix.export.sql_columns import ColumnWriter

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
    """Translates a formula into expressions. Without ``inline``, ``layers`` collects names for intermediate results."""

    def __init__(self, formula: Formula, dialect: Dialect, guard: Guard, inline: bool = False) -> None:
        self.formula, self.dialect, self.guard, self.inline = formula, dialect, guard, inline
        self.columns = ColumnWriter(dialect, guard, "" if inline else "t.")
        # If a subquery cannot have a name for each column of X, columns are written where they are used.
        self.wide = dialect.most_columns is not None and formula.n_columns + OTHER_COLUMNS > dialect.most_columns
        self.layers: list[list[Binding]] = [[]]
        self.named = {formula.scores: "z"}
        if formula.probabilities is not None:
            self.named[formula.probabilities] = "p"
        self.top = Largest(formula.ranking)
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

    # ---------------------------------------------------------------------------------------------- answers

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

    # ---------------------------------------------------------------------------------------------- algebra

    def _spell(self, node: Vector) -> Spelled:
        return translate(node, self.rules, self.known)

    def _inputs(self, node: Inputs) -> Spelled:
        """An expression for each column of X, in layer 0. A category has one expression, at its first column of X."""
        texts: list[str] = []
        for j, column in enumerate(self.formula.columns):
            own = self.columns.inputs(column)
            names = [f"c{j}"] if column.rows else [f"x{column.start + i}" for i in range(len(own))]
            own = [f"({text})" for text in own] if self.wide else self._bound(names, own, 0).texts
            texts += own + [""] * (column.width - len(own))
        return Spelled(texts, 0 if self.inline or self.wide else 1)

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
