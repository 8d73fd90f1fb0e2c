"""Checks of single settings. Each raises a ``ParameterError`` that names the setting, its value and what to give."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np

from separatrix.base.errors import ParameterError

# C must be larger than this: the strength 1/C of the penalty, multiplied by squares of weights, must not overflow.
SMALLEST_C = 1e-300


def check_positive(name: str, value: Any, remedy: str = "give a positive number") -> None:
    """Refuse all but positive numbers; infinity is one."""
    if not (is_number(value) and value > 0):
        raise ParameterError(name, f"got {value!r}", remedy)


def check_positive_finite(name: str, value: Any, remedy: str = "give a finite positive number") -> None:
    """Refuse all but finite positive numbers.

    >>> check_positive_finite("eta", 0.0, "give a positive learning rate")
    Traceback (most recent call last):
    ...
    separatrix.base.errors.ParameterError: eta: got 0.0; give a positive learning rate.
    """
    if not (is_number(value) and 0 < value < np.inf):
        raise ParameterError(name, f"got {value!r}", remedy)


def check_C(C: Any, remedy: str) -> None:
    """Refuse all but positive numbers and infinity, and a C so small that a penalty of strength 1/C may overflow.

    >>> check_C(1e-305, "give a positive number")
    Traceback (most recent call last):
    ...
    separatrix.base.errors.ParameterError: C: got 1e-305; give more than 1e-300, so that ...
    """
    check_positive("C", C, remedy)
    if not float(C) > SMALLEST_C:
        remedy = f"give more than {SMALLEST_C}, so that a penalty of strength 1/C does not overflow"
        raise ParameterError("C", f"got {C!r}", remedy)


def check_not_negative(name: str, value: Any) -> None:
    """Refuse all but finite numbers of at least 0."""
    if not (is_number(value) and 0 <= value < np.inf):
        raise ParameterError(name, f"got {value!r}", "give a number >= 0")


def check_count(name: str, value: Any, least: int = 1) -> None:
    """Refuse all but whole numbers of at least ``least``; True and False are no numbers."""
    whole = type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))
    if not whole or value < least:
        raise ParameterError(name, f"got {value!r}", f"give a whole number of at least {least}")


def check_flag(name: str, value: Any) -> None:
    """Refuse all but True and False."""
    if type(value) is not bool and not isinstance(value, np.bool_):
        raise ParameterError(name, f"got {value!r}", "give True or False")


def check_choice(name: str, value: Any, choices: Any) -> None:
    """Refuse all but the names among ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ParameterError(name, f"got {value!r}", f"choose one of {', '.join(map(repr, choices))}")


def is_number(value: Any) -> bool:
    """Whether a value is a real number that float64 can hold, or infinity, but not NaN."""
    if type(value) is float:
        return value == value
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return float(value) == float(value)
    except OverflowError:
        return False
