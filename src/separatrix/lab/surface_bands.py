"""The values of an error surface as bands between levels, for drawing: a picture shows bands, not numbers."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.textbook.surface import Surface

# The number of bands of a surface whose values are not few. Levels are denser near the lowest value.
BANDS = 14
# A surface with at most this many different values, such as the 0–1 error of a few rows, has one band for each.
MOST_PLATEAUS = 64
# The highest level is this percentile of the values, since a few corners may be far higher than all the rest.
HIGHEST = 90
# Heights are sent as 16-bit integers, in units of 1/PER_BAND of a band.
PER_BAND = 512
# The grid has as many points as cost about as much as 61 × 61 points do with 500 rows: 5 to 20 milliseconds.
EVALUATIONS, FEWEST_GRID_POINTS, MOST_GRID_POINTS = 1_900_000, 61, 161


def grid_points(n_rows: int) -> int:
    """The number of grid points along each weight.

    >>> grid_points(500), grid_points(20)
    (61, 161)
    """
    return int(np.clip(int((EVALUATIONS / max(1, n_rows)) ** 0.5), FEWEST_GRID_POINTS, MOST_GRID_POINTS))


def levels_of(value: Array) -> tuple[Array, int]:
    """The levels between which bands lie, in increasing order, and the number of the highest band.

    They are the values themselves if these are few. Otherwise they are low + (high − low)(k/BANDS)², k = 0, 1, 2 ….
    Two levels lie above the highest band, so that its edge is interpolated like the others.

    >>> levels, highest = levels_of(np.array([[0.5, 0.25], [0.25, 1.0]]))
    >>> levels.tolist(), highest
    ([0.25, 0.5, 1.0], 2)
    """
    finite = value[np.isfinite(value)]
    different = np.unique(finite)
    if len(different) <= MOST_PLATEAUS:
        return different, len(different) - 1
    low, high = different[0], max(float(np.percentile(finite, HIGHEST)), different[1])
    return np.asarray(low + (high - low) * (np.arange(BANDS + 3) / BANDS) ** 2), BANDS


def drawn_bands(surface: Surface, continuous: bool) -> dict[str, Any]:
    """What the page paints: the height of each grid point, where 3.5 is the middle between the levels 3 and 4.

    ``heights`` is base64 of unsigned 16-bit integers in rows from the lowest second weight upwards. A surface with
    jumps is painted without interpolation (``smooth`` is 0) if each of its plateaus has a band of its own.
    """
    levels, highest = levels_of(surface.value)
    heights = np.interp(surface.value, levels, np.arange(len(levels)))
    coded = np.round(PER_BAND * heights).astype("<u2")
    return {
        "points": len(surface.first),
        "heights": base64.b64encode(coded.tobytes()).decode(),
        "unit": PER_BAND,
        "bands": max(1, highest),
        "smooth": int(continuous or highest != len(levels) - 1),
        "low": float(np.min(surface.value)),
        "high": float(np.max(surface.value)),
    }
