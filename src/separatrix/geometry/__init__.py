"""Hyperplanes and distances, exact decision regions in the plane, and curved boundaries.

See docs/tour.md, G1–G6, M3, B4.
"""

from separatrix.geometry.curve import boundary_curve
from separatrix.geometry.hyperplane import Hyperplane, homogeneous
from separatrix.geometry.polygons import Cell, Region, cells, polygon_area, split
from separatrix.geometry.regions import ambiguous_regions, regions, voted_regions

__all__ = [
    "Cell",
    "Hyperplane",
    "Region",
    "ambiguous_regions",
    "boundary_curve",
    "cells",
    "homogeneous",
    "polygon_area",
    "regions",
    "split",
    "voted_regions",
]
