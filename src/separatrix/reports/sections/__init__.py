"""The sections of a report, in their order. A function returns a section, or None if there is nothing to show."""

from __future__ import annotations

from collections.abc import Callable

from separatrix.reports.page import Section
from separatrix.reports.reported_model import ReportedModel
from separatrix.reports.sections.coefficients import coefficients
from separatrix.reports.sections.columns import distributions
from separatrix.reports.sections.data import checks, missing
from separatrix.reports.sections.fit_evidence import certificate, penalty, separation
from separatrix.reports.sections.origin import comparison, settings
from separatrix.reports.sections.performance import calibration, confusion, ranking
from separatrix.reports.sections.regions import decision
from separatrix.reports.sections.rows import influence, surprise
from separatrix.reports.sections.thresholds import thresholds

SECTIONS: tuple[Callable[[ReportedModel], Section | None], ...] = (
    certificate,
    separation,
    confusion,
    thresholds,
    ranking,
    calibration,
    comparison,
    coefficients,
    distributions,
    decision,
    surprise,
    influence,
    missing,
    checks,
    penalty,
    settings,
)
