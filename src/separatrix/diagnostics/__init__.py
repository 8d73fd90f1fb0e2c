"""The numbers behind plots and reports: confidence intervals, rankings, coefficients, planes and unusual rows."""

from separatrix.diagnostics.coefficients import Coefficients, coefficients
from separatrix.diagnostics.contributions import Contributions, contributions
from separatrix.diagnostics.influence import Influence, influential
from separatrix.diagnostics.surprise import Surprises, most_surprising, surprising
from separatrix.diagnostics.view_plane import Plane, plane_of
from separatrix.evaluation.answers import Answers, answers, certificate_on
from separatrix.evaluation.proportions import Interval, exact, on_logits, paired_difference, wilson
from separatrix.evaluation.ranking import BANDS, Band, Ranking, rank, rankings

__all__ = [
    "BANDS",
    "Answers",
    "Band",
    "Coefficients",
    "Contributions",
    "Influence",
    "Interval",
    "Plane",
    "Ranking",
    "Surprises",
    "answers",
    "certificate_on",
    "coefficients",
    "contributions",
    "exact",
    "influential",
    "most_surprising",
    "on_logits",
    "paired_difference",
    "plane_of",
    "rank",
    "rankings",
    "surprising",
    "wilson",
]
