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

_WHERE = {
    "Band": "separatrix.core.geometry.plane_regions",
    "Cell": "separatrix.core.geometry.polygons",
    "CurvedRegion": "separatrix.core.geometry.curved_regions",
    "Hyperplane": "separatrix.core.geometry.hyperplane",
    "LevelSet": "separatrix.core.geometry.plane_regions",
    "Region": "separatrix.core.geometry.polygons",
    "ambiguous_regions": "separatrix.core.geometry.plane_regions",
    "boundary_curve": "separatrix.core.geometry.plane_regions",
    "cells": "separatrix.core.geometry.polygons",
    "homogeneous": "separatrix.core.geometry.hyperplane",
    "level_sets": "separatrix.core.geometry.plane_regions",
    "polygon_area": "separatrix.core.geometry.polygons",
    "probability_bands": "separatrix.core.geometry.plane_regions",
    "regions": "separatrix.core.geometry.plane_regions",
    "split": "separatrix.core.geometry.polygons",
    "voted_regions": "separatrix.core.geometry.plane_regions",
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
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
