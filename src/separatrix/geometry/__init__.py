"""Hyperplanes and distances, decision regions in the plane, curved boundaries, and level sets.

See docs/tour.md, G1–G6, M3, B4.
"""

from separatrix.geometry.curve import boundary_curve
from separatrix.geometry.curved_regions import CurvedRegion
from separatrix.geometry.hyperplane import Hyperplane, homogeneous
from separatrix.geometry.level_sets import Band, LevelSet, level_sets, probability_bands
from separatrix.geometry.polygons import Cell, Region, cells, polygon_area, split
from separatrix.geometry.regions import ambiguous_regions, regions, voted_regions

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
