"""Plots in the manner of scikit-learn's displays: ``…Display.from_estimator(model, X, y)``.

The pictures of the lectures are functions of ``figures``. The numbers come from other packages, mostly
``separatrix.diagnostics`` and ``separatrix.evaluation``; only this package imports matplotlib.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix.base.theme import DARK, LIGHT, Theme
from separatrix.plots.calibration import CalibrationDisplay
from separatrix.plots.coefficients import CoefficientDisplay
from separatrix.plots.confusion import ConfusionDisplay
from separatrix.plots.decision_regions import DecisionRegionsDisplay
from separatrix.plots.display import Display
from separatrix.plots.distributions import DistributionDisplay
from separatrix.plots.influence import InfluenceDisplay
from separatrix.plots.loss import LossDisplay
from separatrix.plots.penalty_path import PenaltyPathDisplay
from separatrix.plots.precision_recall import PrecisionRecallDisplay
from separatrix.plots.roc import RocDisplay
from separatrix.plots.style import style
from separatrix.plots.threshold import ThresholdDisplay

if TYPE_CHECKING:
    from separatrix.plots import figures

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
        return import_module("separatrix.plots.figures")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
