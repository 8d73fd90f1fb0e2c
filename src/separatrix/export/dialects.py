"""How SQL engines differ: names, text, doubles, dates. A new engine is one line in ``DIALECTS``.

A column's type is not known here, so templates take numbers, dates and truth values in columns of text as well.

A double must read back as the same bits. DuckDB and PostgreSQL read 0.1 as a decimal number, so it is spelled with an
exponent or with its type. SQLite before 3.47 rounds decimal spellings wrongly now and then (about one in 300), so there
a double is m/2ᵏ with whole m, exact in every step, and its decimal spelling follows as a comment.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.export.spelling import FALSE, SPACES, TRUE, ZONED, Respelling, are_instants, are_zoned, nothing

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

    Of a category, ``real`` says whether the column holds numbers with a fraction, ``real_value`` their value, and
    ``respelled`` what else is not spelled as ``text`` has it; ``true`` and ``false`` say whether it is this truth
    value, ``truths_are_digits`` that these are the numbers 1 and 0. ``fence``: what behind a subquery keeps the engine
    from writing it out at each of its uses. ``most_columns``: that a subquery may have. ``traps``: whether a product
    that leaves the doubles ends the whole statement with an error.
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
        """An identifier, whatever letters it has.

        >>> DIALECTS["duckdb"].name_of('a"b')
        '"a""b"'
        """
        if not name and self.mark == '"':
            raise ParameterError("model", "a column's name is empty", f"rename it: {self.name} has no spelling for it")
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


# Not by a regular expression: DuckDB compiles one anew at each place it stands, which takes seconds for many columns.
_DUCK_SPACES = "".join(f"\\x{byte:02x}" for code in SPACES for byte in chr(code).encode())
# Decoded from a blob, since DuckDB 1 refuses an E'…' literal that has bytes above 0x7f.
_DUCK_TEXT = f"trim(CAST({{0}} AS VARCHAR), decode(CAST('{_DUCK_SPACES}' AS BLOB)))"
_DUCK_IS_TEXT = "CASE WHEN typeof({0}) = 'VARCHAR' THEN"
_DUCK_NUMBER = f"{_DUCK_IS_TEXT} TRY_CAST({_DUCK_TEXT} AS DOUBLE) ELSE TRY_CAST({{0}} AS DOUBLE) END"
_DUCK_NOTHING = f"{{0}} IS NULL OR (typeof({{0}}) = 'VARCHAR' AND {nothing(_DUCK_TEXT)})"
_PG_SPACES = "".join(f"\\u{code:04x}" for code in SPACES)
_PG_TEXT = f"btrim(CAST({{0}} AS text), E'{_PG_SPACES}')"
# A cast of a number to text and back would take several times as long, and one of a time would lose its zone.
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
        # Its cast of text to TIMESTAMP drops the zone; one of every cell to text would take longer than all the rest.
        days="CASE WHEN typeof({0}) NOT IN ('VARCHAR', 'TIMESTAMP WITH TIME ZONE') "
        "THEN epoch(TRY_CAST({0} AS TIMESTAMP)) "
        f"WHEN regexp_matches({_DUCK_TEXT}, '{ZONED}') THEN epoch(TRY_CAST({_DUCK_TEXT} AS TIMESTAMPTZ)) "
        f"ELSE epoch(TRY_CAST({_DUCK_TEXT} AS TIMESTAMP)) END / 86400e0",
        missing_day=_DUCK_NOTHING,
        finite_day=f"isfinite(TRY_CAST({_DUCK_TEXT} AS TIMESTAMP))",
        text=f"nullif({_DUCK_TEXT}, '')",
        real="typeof({0}) IN ('DOUBLE', 'FLOAT') OR typeof({0}) LIKE 'DECIMAL%'",
        # By way of text, so that 0.1 of four bytes is 0.1 of eight.
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
        # Of a column that is not text, the engine strikes out the first branch before it plans.
        yes=f"{_DUCK_IS_TEXT} lower({_DUCK_TEXT}) IN {TRUE} ELSE TRY_CAST({{0}} AS DOUBLE) = 1 END",
        no=f"{_DUCK_IS_TEXT} lower({_DUCK_TEXT}) IN {FALSE} ELSE TRY_CAST({{0}} AS DOUBLE) = 0 END",
    ),
    "postgresql": Dialect(
        "postgresql",
        with_type,
        number=_PG_NUMBER,
        missing=f"{{0}} IS NULL OR {nothing(_PG_TEXT)}",
        # NaN is above all numbers.
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
        # Of a "name" that is no column SQLite makes text; of a `name` it makes an error.
        mark="`",
        number=f"nullif(nullif(CAST({_LITE_NUMBER} AS REAL), 9e999), -9e999)",
        missing=f"{{0}} IS NULL OR {nothing(_LITE_TEXT)}",
        # Its columns hold any type: text that is no number is unlike its own cast, which takes what digits it begins
        # with.
        finite=f"typeof({{0}}) = 'integer' OR {_LITE_NUMBER} = CAST({_LITE_NUMBER} AS REAL)",
        # Seconds and their thousandths; a Julian day as one number has digits for a twentieth of those.
        days=f"(strftime('%s', {_LITE_TEXT}) + strftime('%f', {_LITE_TEXT}) - strftime('%S', {_LITE_TEXT})) / 86400.0",
        missing_day=f"{{0}} IS NULL OR {nothing(_LITE_TEXT)}",
        # A number would be a Julian day, a time alone a time on 2000-01-01.
        finite_day=f"typeof({{0}}) = 'text' AND {_LITE_TEXT} GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'",
        # An expression is compared letter by letter, a column as it was declared.
        text=f"nullif({_LITE_TEXT}, '')",
        real="typeof({}) = 'real'",
        real_value="CAST({} AS REAL)",
        respelled=(
            # It has no times: they are text.
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
