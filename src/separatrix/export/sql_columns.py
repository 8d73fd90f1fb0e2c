"""The columns of a table in SQL: a number, a truth value or a date as columns of X, a category as its level."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.export.dialects import Dialect
from separatrix.export.formula import Column, Row
from separatrix.export.guards import Guard
from separatrix.export.level_texts import are_numbers, unlike


@dataclass(frozen=True)
class ColumnWriter:
    """Writes columns for one engine. Their names have the prefix ``source``, such as "t." for a table t."""

    dialect: Dialect
    guard: Guard
    source: str = ""

    def inputs(self, column: Column) -> list[str]:
        """An expression for each column of X; for a category one expression, its level."""
        return [self._text(column)] if column.rows else self._value(column)

    def lookup(self, column: Column, text: str, w: Array) -> str:
        """The sum of w times the columns of X of a category, for each level. ``text`` is the level."""

        def said(row: Row | None) -> str:
            return "NULL" if row is None else self.dialect.double(float(w @ np.asarray(row)))

        cases = " ".join(f"WHEN {self.dialect.literal(level)} THEN {said(row)}" for level, row in column.rows)
        lookup = f"CASE {text} {cases} ELSE {said(column.unseen)} END"
        return f"CASE WHEN {text} IS NULL THEN {said(column.absent)} ELSE {lookup} END"

    def _name(self, column: Column) -> str:
        return f"{self.source}{self.dialect.name_of(column.name)}"

    def _text(self, column: Column) -> str:
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

    def _text_of_real(self, column: Column, c: str, levels: list[str]) -> str:
        """The level that a column of floating point numbers, called ``c``, has the value of."""
        dialect = self.dialect
        same = [f"WHEN {dialect.double(v)} THEN {dialect.literal(level)}" for v, level in column.numbers]
        same += [f"WHEN {dialect.no_number} THEN NULL"] if dialect.no_number else []
        other = dialect.literal(unlike(levels))
        return f"CASE {dialect.real_value.format(c)} {' '.join(same)} ELSE {other} END" if same else other

    def _value(self, column: Column) -> list[str]:
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

    def _truth(self, column: Column, c: str) -> str:
        cases = [(self.dialect.yes.format(c), 1.0), (self.dialect.no.format(c), 0.0)]
        whens = " ".join(f"WHEN {test} THEN {self.dialect.double(v - column.shift)}" for test, v in cases)
        return f"CASE {whens} END"

    def _number(self, column: Column, c: str) -> str:
        dialect, date = self.dialect, column.kind == "date"
        value = (dialect.days if date else dialect.number).format(c)
        value = f"(({value}) - {dialect.double(column.shift)})" if column.shift else value
        finite = dialect.finite_day if date else dialect.finite
        if finite:
            value = f"CASE WHEN {finite.format(c)} THEN {self.guard.input(column.start, value)} END"
        return value
