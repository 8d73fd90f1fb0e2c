"""Numbers as people write them, and ratios with enough digits to tell them from 1."""

from __future__ import annotations

import math

# Whole numbers below the first limit are written in full, and so is the integer part of other numbers below the second.
LARGEST_WHOLE, LARGEST_WITH_FRACTION = 1e15, 1e7
# Smaller numbers than this have an exponent.
SMALLEST_WITHOUT_EXPONENT = 1e-4
# From this size on, thousands are separated by commas.
SEPARATED_THOUSANDS = 10_000
# Ratios closer to 1 than this are printed with three significant digits of their distance from 1.
CLOSE_TO_1 = 0.01
# A float64 near 1 has no more decimals than this that mean anything.
MOST_DECIMALS = 14


def number_text(value: float, digits: int = 4) -> str:
    """A number with at least ``digits`` significant digits before its trailing zeros are left out.

    The integer part is never rounded. Only very small and very large numbers have an exponent.

    >>> [number_text(value) for value in (12345.0, 12345.678, 1987, 1234.5678, 0.000123456, 0.5)]
    ['12,345', '12,346', '1987', '1235', '0.0001235', '0.5']
    >>> [number_text(value) for value in (-2.5e13, 1.23456e13 + 0.5, 1.23456e-7, math.inf)]
    ['-25,000,000,000,000', '1.235e+13', '1.235e-07', 'inf']
    """
    size = abs(value)
    if not math.isfinite(value) or 0 < size < SMALLEST_WITHOUT_EXPONENT:
        return f"{value:.{digits}g}"
    whole = value == round(value)
    if size >= (LARGEST_WHOLE if whole else LARGEST_WITH_FRACTION):
        return f"{value:.{digits}g}"
    if whole or round(size) >= 10 ** (digits - 1):
        rounded = round(value)
        return f"{rounded:,}" if abs(rounded) >= SEPARATED_THOUSANDS else str(rounded)
    return f"{value:.{digits}g}"


def ratio_text(value: float) -> str:
    """Four significant digits, or more if the ratio is close to 1, as for a column in small units such as days.

    >>> ratio_text(0.21893), ratio_text(1.00032615), ratio_text(0.99999123), ratio_text(1.0)
    ('0.2189', '1.000326', '0.99999123', '1')
    """
    distance = abs(value - 1.0)
    if not 0.0 < distance < CLOSE_TO_1:
        return number_text(value)
    return f"{value:.{min(2 - math.floor(math.log10(distance)), MOST_DECIMALS)}f}"


def size_text(n: float) -> str:
    """A number of bytes in words.

    >>> size_text(3_210_000_000), size_text(450_000_000)
    ('3.2 GB', '450 MB')
    """
    return f"{n / 1e9:.2g} GB" if n >= 1e9 else f"{max(n / 1e6, 1):.0f} MB"


def many(count: int, what: str) -> str:
    """A count with its noun.

    >>> many(1, "row"), many(2000, "class"), many(3, "category")
    ('1 row', '2,000 classes', '3 categories')
    """
    if count == 1:
        return f"1 {what}"
    if what.endswith("y"):
        return f"{count:,} {what[:-1]}ies"
    return f"{count:,} {what}{'es' if what.endswith('s') else 's'}"
