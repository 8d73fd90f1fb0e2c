"""Plots in the manner of scikit-learn's displays: ``…Display.from_estimator(model, X, y)``.

The numbers come from ``separatrix.statistics``. The pictures of the lectures are functions of ``figures``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.output.plots.confusion import CalibrationDisplay, ConfusionDisplay, ThresholdDisplay
from separatrix.output.plots.decision_regions import DecisionRegionsDisplay
from separatrix.output.plots.display import Display, style
from separatrix.output.plots.fit_curves import LossDisplay, PenaltyPathDisplay
from separatrix.output.plots.importance import CoefficientDisplay, DistributionDisplay, InfluenceDisplay
from separatrix.output.plots.roc import PrecisionRecallDisplay, RocDisplay
from separatrix.output.theme import DARK, LIGHT, Theme

if TYPE_CHECKING:
    from separatrix.teach import figures

__all__ = [
    "DARK",
    "LIGHT",
    "CalibrationDisplay",
    "CoefficientDisplay",
    "ConfusionDisplay",
    "DecisionRegionsDisplay",
    "Display",
    "DistributionDisplay",
    "InfluenceDisplay",
    "LossDisplay",
    "PenaltyPathDisplay",
    "PrecisionRecallDisplay",
    "RocDisplay",
    "Theme",
    "ThresholdDisplay",
    "figures",
    "style",
]


def __getattr__(name: str) -> Any:
    # The pictures of the lectures import every classifier, which other plots do not need.
    if name == "figures":
        return import_module("separatrix.teach.figures")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
