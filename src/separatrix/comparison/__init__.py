"""Classifiers side by side, cross-validated on the same folds.

folds       which rows are held out together
entrants    who competes, and why some cannot       trials       one fit on one fold, and all of them in threads
standings   figures, their order, the choice        comparing    compare(X, y)
"""

from separatrix.comparison.comparing import compare, compare_table
from separatrix.comparison.entrants import Entrant, entrants
from separatrix.comparison.standings import CRITERIA, Comparison, Figure, Standing

__all__ = ["CRITERIA", "Comparison", "Entrant", "Figure", "Standing", "compare", "compare_table", "entrants"]
