"""Firth's bias-reduced logistic regression: the likelihood, its maximum, tests and intervals by profiles of it."""

from separatrix.firth.ascent import LONGEST_ZERO_SCORE, Ascent, Point, null_value, unbounded
from separatrix.firth.model_profiles import posed_again, profile
from separatrix.firth.penalised_likelihood import Penalised, penalised_log_likelihood, pose
from separatrix.firth.profiles import fit_holding, penalised_test, profile_ends, profile_interval
from separatrix.firth.starts import Fit, fit

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
