"""How SQL engines differ: names, text, doubles, dates. A new engine is one line in ``DIALECTS``.

The type of a column is not known here, so templates also accept numbers, dates and truth values that are stored as
text.

A double must read back as the same bits. DuckDB and PostgreSQL read 0.1 as a decimal number, so it is written with an
exponent or with its type. SQLite before 3.47 sometimes rounds decimal literals incorrectly (about one in 300). For
SQLite a double is therefore written as m/2ᵏ with an integer m, which is exact in every step, followed by its decimal
form in a comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.export.level_texts import FALSE, SPACES, TRUE, ZONED, Respelling, are_instants, are_zoned, nothing

# The exponent of the largest power of two that a signed 64-bit integer can hold.
STEP = 62
_SINCE = "({0} - TIMESTAMP '1970-01-01 00:00:00')"
_UNITS = {"DAY": "1e0", "HOUR": "24e0", "MINUTE": "1440e0", "SECOND": "86400e0"}
STANDARD_DAYS = " + ".join(f"EXTRACT({unit} FROM {_SINCE}) / {parts}" for unit, parts in _UNITS.items())


def with_exponent(v: float) -> str:
    """A double as a literal that DuckDB and standard SQL read as a double.

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
