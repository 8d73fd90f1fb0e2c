"""The text of an odds or hazard ratio, with enough digits to tell it from 1."""

from __future__ import annotations

import math

# Ratios closer to 1 than this are printed with three significant digits of their distance from 1.
CLOSE_TO_1 = 0.01
# A float64 near 1 has no more decimals than this that mean anything.
MOST_DECIMALS = 14


def ratio_text(value: float) -> str:
    """Four significant digits, or more if the ratio is close to 1, as for a column in small units such as days.

    >>> ratio_text(0.21893), ratio_text(1.00032615), ratio_text(0.99999123), ratio_text(1.0)
    ('0.2189', '1.000326', '0.99999123', '1')
    """
    distance = abs(value - 1.0)
    if not 0.0 < distance < CLOSE_TO_1:
        return f"{value:.4g}"
    return f"{value:.{min(2 - math.floor(math.log10(distance)), MOST_DECIMALS)}f}"
