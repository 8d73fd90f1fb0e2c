"""NumPy without warnings about overflow, underflow and invalid operations, entered once for functions that nest."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

P = ParamSpec("P")
T = TypeVar("T")

_is_quiet: ContextVar[bool] = ContextVar("separatrix_is_quiet", default=False)


def quietly(function: Callable[P, T]) -> Callable[P, T]:
    """A function in which NumPy does not warn about results that overflow, underflow or are undefined.

    Entering ``np.errstate`` takes as long as two operations on small arrays. A function that is called by another one
    of these does not enter it again.

    >>> @quietly
    ... def largest_exponential(x):
    ...     return float(np.exp(x).max())
    >>> largest_exponential(np.array([0.0, 1e3]))
    inf
    """

    @wraps(function)
    def silenced(*args: P.args, **kwargs: P.kwargs) -> T:
        if _is_quiet.get():
            return function(*args, **kwargs)
        token = _is_quiet.set(True)
        try:
            with np.errstate(under="ignore", over="ignore", invalid="ignore"):
                return function(*args, **kwargs)
        finally:
            _is_quiet.reset(token)

    return silenced
