"""Checks of the weights of rows."""

from __future__ import annotations

import reprlib
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import WeightError

# The largest row weight must lie between these, so that weights times rows neither underflow nor overflow.
SMALLEST_LARGEST_WEIGHT, LARGEST_WEIGHT = 1e-290, 1e290


def row_weights(sample_weight: Any, n_rows: int) -> Array:
    """Weights (n,), 1 by default. The error about a negative, infinite or NaN weight names the row."""
    if sample_weight is None:
        return np.ones(n_rows)
    try:
        weight = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise WeightError("sample_weight", f"got {reprlib.repr(sample_weight)}", "give one number per row") from error
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise WeightError(
            "sample_weight",
            f"its shape is {weight.shape} for {n_rows} rows (sample_weight.shape == {weight.shape})",
            "give one number per row",
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise WeightError(
            "sample_weight", f"row {bad[0]} has {weight[bad[0]]}", "give finite weights that are not negative"
        )
    refuse_extreme_weights("sample_weight", "the largest", float(weight.max(initial=0.0)))
    return weight


def refuse_extreme_weights(argument: str, which: str, largest: float) -> None:
    """Raise an error about ``argument`` if the largest weight is too large or small; the message calls it ``which``.

    >>> refuse_extreme_weights("weight", "the largest weight in column 'w'", 1e300)
    Traceback (most recent call last):
    separatrix.base.errors.WeightError: weight: the largest weight in column 'w' is 1e+300; rescale them to a size ...
    """
    if largest > 0 and not SMALLEST_LARGEST_WEIGHT < largest < LARGEST_WEIGHT:
        raise WeightError(argument, f"{which} is {largest}", "rescale them to a size near 1")
