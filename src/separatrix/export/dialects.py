"""How SQL engines differ: names, text, doubles, dates. A new engine is one line in ``DIALECTS``.

A double must read back as the same bits. DuckDB and PostgreSQL read 0.1 as a decimal number, so it is spelled with an
exponent or with its type. SQLite before 3.47 rounds decimal spellings wrongly now and then (about one in 300), so there
a double is m/2ᵏ with whole m, exact in every step, and its decimal spelling follows as a comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from separatrix.errors import ParameterError

# The largest power of two that a 64-bit integer holds.
STEP = 62
_SINCE = "({0} - TIMESTAMP '1970-01-01 00:00:00')"
_UNITS = {"DAY": "1e0", "HOUR": "24e0", "MINUTE": "1440e0", "SECOND": "86400e0"}
STANDARD_DAYS = " + ".join(f"EXTRACT({unit} FROM {_SINCE}) / {parts}" for unit, parts in _UNITS.items())


def with_exponent(v: float) -> str:
    """A double that DuckDB and the standard read as one.

    >>> with_exponent(0.1), with_exponent(-2.5e-07)
    ('0.1e0', '(-2.5e-07)')
    """
    text = repr(float(v))
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def with_type(v: float) -> str:
    """A double as PostgreSQL reads it.

    >>> with_type(0.1)
    "float8 '0.1'"
    """
    return f"float8 '{float(v)!r}'"


def as_fraction(v: float) -> str:
    """A double as a whole number and powers of two: exact, however an engine reads decimals.

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
    # Large powers first: what is left is exact until the last step, also where it ends below the normal numbers.
    powers = "".join(f"{'*' if exponent > 0 else '/'}{1 << step}" for step in steps)
    return f"(1.0*{whole}{powers} /*{float(v)!r}*/)"


@dataclass(frozen=True)
class Dialect:
    """One engine's spelling. Templates take a column; ``finite`` and ``finite_day`` are None where all values are.

    ``fence``: what behind a subquery keeps the engine from writing it out at each of its uses.
    """

    name: str
    double: Callable[[float], str] = with_exponent
    mark: str = '"'
    number: str = "CAST({} AS DOUBLE PRECISION)"
    missing: str = "{} IS NULL"
    finite: str | None = None
    days: str = STANDARD_DAYS
    finite_day: str | None = None
    text: str = "CAST({} AS VARCHAR)"
    yes: str = "CAST({} AS BOOLEAN)"
    no: str = "NOT CAST({} AS BOOLEAN)"
    largest: str = "GREATEST"
    fence: str = ""

    def name_of(self, name: str) -> str:
        """An identifier, whatever letters it has.

        >>> DIALECTS["duckdb"].name_of('a"b')
        '"a""b"'
        """
        return f"{self.mark}{_sayable(name).replace(self.mark, 2 * self.mark)}{self.mark}"

    def literal(self, label: Any) -> str:
        """A label: text, a whole number, a double or a truth value.

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


DIALECTS = {
    "standard": Dialect("standard"),
    "duckdb": Dialect(
        "duckdb",
        missing="{0} IS NULL OR isnan(CAST({0} AS DOUBLE))",
        finite="isfinite(CAST({} AS DOUBLE))",
        days="epoch({}) / 86400e0",
        finite_day="isfinite({})",
    ),
    "postgresql": Dialect(
        "postgresql",
        with_type,
        number="CAST({} AS float8)",
        missing="{0} IS NULL OR CAST({0} AS float8) = float8 'NaN'",
        finite="abs(CAST({} AS float8)) < float8 'Infinity'",  # NaN is above all numbers
        days="CAST(EXTRACT(EPOCH FROM {}) AS float8) / float8 '86400'",
        finite_day="isfinite({})",
        text='CAST({} AS text) COLLATE "C"',
        fence=" OFFSET 0",
    ),
    "sqlite": Dialect(
        "sqlite",
        as_fraction,
        # Of a "name" that is no column SQLite makes text; of a `name` it makes an error.
        mark="`",
        number="CAST({} AS REAL)",
        # Its columns hold any type: text is no number, rather than 0.
        finite="typeof({0}) IN ('integer', 'real') AND abs(CAST({0} AS REAL)) < 9e999",
        days="julianday({}) - 2440587.5",
        # An expression is compared letter by letter, a column as it was declared.
        text="CAST({} AS TEXT) || ''",
        yes="{} = 1",
        no="{} = 0",
        largest="max",
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
