"""Numbers in the sentences and tables of a page."""

from __future__ import annotations

import math


def decimals(value: float, digits: int = 2) -> str:
    """A number with a real minus sign and without −0; ∞ if it is infinite.

    >>> decimals(-1.5), decimals(-0.001), decimals(math.inf), decimals(0.25, 4)
    ('−1.50', '0.00', '∞', '0.2500')
    """
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "−")


def brief_number(value: float) -> str:
    """A whole number as it is, others with three decimals, or with two digits and a power of ten.

    >>> brief_number(12), brief_number(0.25), brief_number(2.5e-7)
    ('12', '0.250', '2.5e−07')
    """
    if float(value).is_integer() and abs(value) < 1e6:
        return decimals(value, 0)
    small_or_large = value != 0 and not 1e-3 <= abs(value) < 1e6
    return f"{value:.1e}".replace("-", "−") if small_or_large else decimals(value, 3)
