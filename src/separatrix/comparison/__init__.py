"""Classifiers side by side, cross-validated on the same folds.

entrants    who competes, and why some cannot       trials       one fit on one fold, and all of them in threads
standings   figures, their order, the choice        comparing    compare(X, y)
"""

from separatrix.comparison.comparing import compare
from separatrix.comparison.entrants import Entrant, entrants
from separatrix.comparison.standings import CRITERIA, Comparison, Figure, Standing

__all__ = ["CRITERIA", "Comparison", "Entrant", "Figure", "Standing", "compare", "entrants"]
