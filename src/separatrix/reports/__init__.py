"""The report: a fitted model on one HTML page, in a single file without scripts."""

from separatrix.reports.assemble import report
from separatrix.reports.data_checks import data_checks

__all__ = ["data_checks", "report"]
