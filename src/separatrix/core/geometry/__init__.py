"""Hyperplanes and distances, decision regions in the plane, curved boundaries, and level sets.

See docs/tour.md, G1–G6, M3, B4.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.core.geometry.curved_regions import CurvedRegion
    from separatrix.core.geometry.hyperplane import Hyperplane, homogeneous
    from separatrix.core.geometry.plane_regions import (
        Band,
        LevelSet,
        ambiguous_regions,
        boundary_curve,
        level_sets,
        probability_bands,
        regions,
        voted_regions,
    )
    from separatrix.core.geometry.polygons import Cell, Region, cells, polygon_area, split

_NAMES = {
    "curved_regions": ("CurvedRegion",),
    "hyperplane": ("Hyperplane", "homogeneous"),
    "plane_regions": (
        "Band",
        "LevelSet",
        "ambiguous_regions",
        "boundary_curve",
        "level_sets",
        "probability_bands",
        "regions",
        "voted_regions",
    ),
    "polygons": ("Cell", "Region", "cells", "polygon_area", "split"),
}

__all__ = [
    "Band",
    "Cell",
    "CurvedRegion",
    "Hyperplane",
    "LevelSet",
    "Region",
    "ambiguous_regions",
    "boundary_curve",
    "cells",
    "homogeneous",
    "level_sets",
    "polygon_area",
    "probability_bands",
    "regions",
    "split",
    "voted_regions",
]


def __getattr__(name: str) -> Any:
    for module, names in _NAMES.items():
        if name in names:
            return getattr(import_module(f"{__name__}.{module}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
