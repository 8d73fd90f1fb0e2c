"""Checks of data before a fit. Each gives findings with a severity, numbers and advice, and is one line in ``CHECKS``.

class_sizes       the target: classes, their sizes, enough rows for the columns
missing_values    missing values, and what a fit does with them
single_columns    one column: constant, scales, an index
collinear         columns that are linear combinations of others, with the relation
leakage           a column that alone separates the classes
categories        levels that occur with one class only
repeated          equal rows, with equal or different labels
leverage          rows that dominate the fit
separation        the verdict on separability, verified
raw_columns       cells and columns that a fit refuses, leaves out or may misread
finding           the result of a check
checked_rows      the rows that are checked, with cached results
running           the checks of arrays
whole_table       check(X, y) for arrays, check(data, target=…) for tables
encoded           the checks of a table that was encoded for a fit
"""

from separatrix.checks.finding import SEVERITIES, Checks, Finding
from separatrix.checks.running import CHECKS
from separatrix.checks.whole_table import check

__all__ = ["CHECKS", "SEVERITIES", "Checks", "Finding", "check"]
