"""Checks of data before a fit: findings with a severity, numbers and what to do. A check is one line in ``CHECKS``.

labels        the target: classes, their sizes, rows beside columns
columns       one column: missing, constant, scales, an index
collinear     columns that follow from others, with the relation
leakage       a column that knows the answer
categories    levels with one class only
repeated      equal rows, with equal labels or not
leverage      rows that dominate
separation    the verdict on separability, verified
running       check(X, y)                        tables: check_table(data, target)
"""

from separatrix.checks.finding import SEVERITIES, Checks, Finding
from separatrix.checks.running import CHECKS, check
from separatrix.checks.whole_table import check_table

__all__ = ["CHECKS", "SEVERITIES", "Checks", "Finding", "check", "check_table"]
