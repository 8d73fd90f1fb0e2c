"""Points and settings for lessons, as data: the same for a page, a notebook and the command line.

``POINT_SETS`` has the names of the sets of points.
"""

from separatrix.classifiers.setting_ranges import SettingRange, setting_ranges
from separatrix.textbook.point_sets import POINT_SETS, PointSet, point_set

__all__ = ["POINT_SETS", "PointSet", "SettingRange", "point_set", "setting_ranges"]
