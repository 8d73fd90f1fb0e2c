"""Plots in the manner of scikit-learn's displays: ``…Display.from_estimator(model, X, y)``.

The numbers come from ``separatrix.diagnostics`` and ``separatrix.evaluation``; only this package imports matplotlib.
"""

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
    "style",
]
