"""The report: a fitted model on one HTML page, in one file, without scripts."""

from separatrix.reports.build import report

__all__ = ["report"]
