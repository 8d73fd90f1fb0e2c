"""Firth's bias-reduced logistic regression: the likelihood, its maximum, tests and intervals by profiles of it."""

from separatrix.core.firth.likelihood import (
    LONGEST_ZERO_SCORE,
    Ascent,
    Fit,
    Penalised,
    Point,
    fit,
    null_value,
    penalised_log_likelihood,
    pose,
    unbounded,
)
from separatrix.core.firth.profiles import (
    fit_holding,
    penalised_test,
    posed_again,
    profile,
    profile_ends,
    profile_interval,
)

__all__ = [
    "LONGEST_ZERO_SCORE",
    "Ascent",
    "Fit",
    "Penalised",
    "Point",
    "fit",
    "fit_holding",
    "null_value",
    "penalised_log_likelihood",
    "penalised_test",
    "pose",
    "posed_again",
    "profile",
    "profile_ends",
    "profile_interval",
    "unbounded",
]
