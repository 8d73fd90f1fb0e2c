"""Classification by least squares: a linear regression on coded classes (docs/tour.md, S1–S6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.base import Approach, ClassifierTraits, LinearClassifier
from separatrix.classifiers.description import Description, Requires
from separatrix.classifiers.fit_input import FitInput, scored, validate
from separatrix.classifiers.moments_fit import GathersMoments
from separatrix.core.base.arrays import Array, Integers, check_choice, check_count, check_flag, check_not_negative
from separatrix.core.base.codec import array
from separatrix.core.base.machine import one_blas_thread
from separatrix.core.base.messages import Message, Parameter, Remedy
from separatrix.core.certificate import Recomputed
from separatrix.core.gaussians import singular_columns
from separatrix.core.linear_algebra import STANDARDISE, far_from_zero, nearly_collinear, of_extreme_size
from separatrix.core.moments import ClassSums, kept
from separatrix.core.moments_claims import LeastSquaresClaim, squares_bound
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import CLASS_NUMBERS
from separatrix.core.scorer import Scorer
from separatrix.core.squared_cost import (
    TARGETS,
    InfluentialRow,
    SquaredCost,
    build_squared_cost,
    decision_of,
    most_influential,
)

# A fit whose gap exceeds this share of the null model's cost is reported as not converged, with a warning.
LARGEST_RELATIVE_GAP = 1e-8
# Rounding error allowed when outputs are compared with 0 and 1: an exact fit hits its targets only up to rounding.
OUTPUT_ROUNDING = 1e-12

DESCRIPTION = Description(
    about="least squares regression on the class labels coded as numbers",
    claims={"least-squares": "separatrix.core.moments_claims:LeastSquaresClaim"},
    fitted={"output_weights_": array("", "1+d")},
    requires=(Requires.FEW_COLUMNS,),
)


@dataclass(frozen=True)
class OutsideUnitInterval:
    """How often the outputs of a least-squares fit lie outside [0, 1] (docs/tour.md, S3).

    Attributes
    ----------
    count, share : arrays (K,)
        The number and the share of rows whose output for each class lies outside.
    rows : array
        The numbers of the rows with any such output.
    n_rows : int
        The number of rows that were counted.
    """

    count: Integers
    share: Array
    rows: Integers
    n_rows: int

    def __str__(self) -> str:
        return f"outside [0, 1] on {len(self.rows)} of {self.n_rows} rows: no probabilities"


class LeastSquaresClassifier(GathersMoments, LinearClassifier):
    r"""W = (X̄ᵀX̄ + λ I₀)⁻¹ X̄ᵀT minimises ½ tr RᵀR + ½ λ ‖w‖², R = X̄W − T; the largest output wins.

    See docs/tour.md, S1–S6.

    Two classes have one score, z = y₂(x) − y₁(x) = 2h(x) − 1, where h is the regression on 0/1 targets. So z is the
    regression on ±1 targets whatever ``targets`` is, and z = 0 means h = ½ (S1) and y₁ = y₂ (S6). With more classes the
    scores are the outputs, one for each class. Where X̄ᵀX̄ is singular, many W attain the minimum; the fit returns the
    lectures' W = X̄⁺T, which has the smallest norm, intercepts included, in the units of the columns. So collinear
    columns share a weight, and a constant column shares the intercept. (If the mean of a column is much larger than its
    spread, float64 cannot represent X̄⁺T accurately. Then the fit returns the minimiser of smallest norm in
    standardised columns, and the status says so.)

    It has no probabilities: the outputs estimate P(C_k|x) and sum to 1, but may lie outside [0, 1];
    ``outside_unit_interval`` counts how often. Rows far from the boundary on their own side still move it;
    ``influential`` names them.

    Parameters
    ----------
    l2 : float, default 0.0
        The strength λ of the ridge penalty. It is on the weights in the units of the columns, and the intercept is not
        penalised.
    targets : "one-hot" or "signed", default "one-hot"
        How the classes are coded: by 0 and 1 ("one-hot"), or by −1 and 1 ("signed"). With an intercept the boundaries
        are the same.
    fit_intercept : bool, default True
        Without it the outputs need not sum to 1.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_ : as in scikit-learn
    output_weights_ : array (n_outputs, n_features + 1)
        The weights of the outputs, intercepts in column 0.
    moments_ : Moments or None
        The sums over the rows, to which ``partial_fit`` adds; None beyond 1,000 columns and in models from files.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The objective is the cost divided by the total weight. The bound is the exact gap plus the rounding error.
        Where columns are collinear up to rounding, the code is "resolved": then there is no bound, and the fact
        "resolved" has the gap over the directions that float64 resolves.

    Examples
    --------
    >>> from separatrix import LeastSquaresClassifier
    >>> X, y = [[x] for x in range(1, 9)], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = LeastSquaresClassifier().fit(X, y)
    >>> model.output_weights_[1].round(4).tolist(), round(model.hyperplane().offset, 12)
    ([-0.3571, 0.1905], 4.5)
    >>> LeastSquaresClassifier().fit([*X, [30]], [*y, 1]).influential([*X, [30]], [*y, 1], top=1)[0].row
    8
    """

    approach: ClassVar[Approach] = "discriminant function"
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=True)

    def __init__(
        self, l2: float = 0.0, *, targets: Literal["one-hot", "signed"] = "one-hot", fit_intercept: bool = True
    ) -> None:
        self.l2 = l2
        self.targets = targets
        self.fit_intercept = fit_intercept

    def _pools(self) -> bool:
        return True

    def _has_enough(self, sums: ClassSums) -> bool:
        width = len(sums.low) + bool(self.fit_intercept)
        return self.l2 > 0 or int(sums.moments.n_rows.sum()) >= width

    def _check_settings(self) -> None:
        check_not_negative("l2", self.l2)
        check_choice("targets", self.targets, TARGETS)
        check_flag("fit_intercept", self.fit_intercept)

    def _cost(self, task: FitInput, rows: Rows) -> SquaredCost:
        table = TARGETS[self.targets].table(task.n_classes)
        return build_squared_cost(rows, table, float(self.l2), bool(self.fit_intercept), task.names)

    def _fit_rows(self, task: FitInput, rows: Rows) -> None:
        cost = self._cost(task, rows)
        least = cost.minimise()
        self._keep_scorer(Scorer(decision_of(cost.targets) @ least.raw, task.classes, "identity"))
        self.output_weights_, self.moments_ = least.raw, kept(cost.moments)
        K, width = task.n_classes, task.n_features + bool(self.fit_intercept)
        # With an intercept, or one output for two classes, the outputs of K − 1 classes determine the last one.
        tied = self.fit_intercept or cost.targets.shape[1] == 1
        self.n_parameters_ = (K - 1 if tied else K) * width
        bound, null_value = squares_bound(cost, least), cost.null_value
        # Not None where the cost may be lower along directions that float64 does not resolve.
        resolved = bound.resolved
        met = (bound.known if resolved is None else resolved) <= LARGEST_RELATIVE_GAP * null_value
        facts: dict[str, str | float | int] = {"outputs": "no probabilities: they may leave [0, 1]"}
        if resolved is not None:
            facts["resolved"] = f"gap at most {resolved:.2e} over the directions that float64 resolves"
        self._certify(
            task,
            _status(cost, task.names, width, met, least.shortest, resolved is not None),
            Recomputed(least.value, null_value, bound, least.gradient_norm),
            LeastSquaresClaim(self.scorer_, least.raw, self.targets, float(self.l2), bool(self.fit_intercept)),
            cost.rank,
            width,
            facts,
            code="rounding" if not met else "closed-form" if resolved is None else "resolved",
            met=met,
            why="closed form: the normal equations from sums of (1, x, xxᵀ)"
            + (", checked by the residuals, since the sums have lost digits to rounding" if least.by_residuals else ""),
        )

    def outputs(self, X: Any) -> Array:
        """The outputs y_k(x), which estimate P(C_k|x). With an intercept they sum to 1.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
            With ±1 targets, (1 + output)/2.
        """
        check_is_fitted(self)
        return scored(self, X, self._estimates)

    def _output_weights(self) -> Array:
        return self.output_weights_

    def _estimates(self, X: Any, names: list[str] | None) -> Array:
        z = Scorer(self.output_weights_, self.classes_, "identity").scores(X, names)
        return TARGETS[self.targets].estimates(z[:, None] if z.ndim == 1 else z)

    def outside_unit_interval(self, X: Any) -> OutsideUnitInterval:
        """Count the outputs on these rows that lie outside [0, 1] (docs/tour.md, S3).

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        OutsideUnitInterval
        """
        Y = self.outputs(X)
        outside = np.abs(Y - 0.5) > 0.5 + OUTPUT_ROUNDING
        count = outside.sum(axis=0)
        return OutsideUnitInterval(count, count / len(Y), np.flatnonzero(outside.any(axis=1)), len(Y))

    def influential(self, X: Any, y: Any, top: int = 5, sample_weight: Any = None) -> tuple[InfluentialRow, ...]:
        """The rows whose deletion would change the fit the most, by exact deletion (docs/tour.md, S5).

        Parameters
        ----------
        X, y, sample_weight
            The data of the fit.
        top : int, default 5
            How many rows to return.

        Returns
        -------
        tuple of InfluentialRow
            The most influential first.
        """
        check_is_fitted(self)
        check_count("top", top)
        task = validate(type(self)(**self.get_params()), X, y, sample_weight)
        with one_blas_thread:
            cost = self._cost(task, task.table.rows(CLASS_NUMBERS))
            return most_influential(cost, decision_of(cost.targets), top)


def _status(cost: SquaredCost, names: list[str] | None, width: int, met: bool, shortest: bool, unresolved: bool) -> str:
    """The status: what was solved, and for which columns the solution is not unique or not accurate."""
    rank, frame = cost.white.rank, cost.rows.frame
    if not met:
        cause = of_extreme_size(frame, names) or far_from_zero(frame, names)
        cause = cause or nearly_collinear(cost.root[0][:, 1:], names)
        sentence = "rounding errors in the normal equations are too large"
        return Message(sentence, ": ", cause) if cause else Message(sentence, Remedy(STANDARDISE))
    if rank < width:
        norm = "minimum norm, X̄⁺T," if shortest else "minimum norm in standardised columns"
        singular = "singular up to rounding" if unresolved else "singular"
        return Message(
            f"least squares in closed form; X̄ᵀX̄ is {singular} (rank {rank} of {width}), so of many minimisers the"
            f" one of {norm} was taken: ",
            singular_columns(cost.white, names, Message("set ", Parameter("l2"), " > 0"), first=1),
        )
    return "least squares in closed form"
