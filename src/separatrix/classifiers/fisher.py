"""Fisher's discriminant: project the rows to few dimensions and classify there (docs/tour.md, F1–F5, F7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.base import Approach, ClassifierTraits, ScoringClassifier
from separatrix.classifiers.description import MOMENTS, Description, Requires
from separatrix.classifiers.fit_input import FitInput, scored
from separatrix.classifiers.moments_fit import GathersMoments, Projects, gathered
from separatrix.core.base.arrays import Array, Integers, check_choice, check_count
from separatrix.core.base.codec import COUNT, Number, array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import known_codes
from separatrix.core.base.messages import Message
from separatrix.core.certificate import Recomputed
from separatrix.core.gaussians import WITHOUT_SCATTER, Whitening, singular_columns
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.moments import (
    LARGEST_SQUARABLE_SCALE,
    SMALLEST_SQUARABLE_SCALE,
    ClassSums,
    Moments,
    refuse_extreme_scales,
)
from separatrix.core.moments_claims import ProjectionClaim, projection_bound
from separatrix.core.projections import DIRECTIONS, THRESHOLDS, Cut, Projection
from separatrix.core.rows.protocol import Rows
from separatrix.core.scorer import Scorer

DESCRIPTION = Description(
    about="Fisher's discriminant",
    scorers=("linear", "quadratic"),
    claims={"projection": "separatrix.core.moments_claims:ProjectionClaim"},
    fitted={
        "_n_features_out": COUNT,
        "coef_": array("scores", "d"),
        "directions_": array("d", ""),
        "explained_variance_ratio_": array("", finite=False),
        "intercept_": array("scores", finite=False),
        "means_": array("K", "d"),
        "moments_": MOMENTS,
    },
    fitted_of_two={"crossings_": array(""), "threshold_": Number()},
    requires=(Requires.FEW_COLUMNS,),
)


@dataclass(frozen=True)
class ProjectionHistogram:
    """Histograms of the projected rows, one for each class (docs/tour.md, F5).

    Attributes
    ----------
    edges : array (bins + 1,)
        The edges of the bins.
    counts : array (K, bins)
        How many rows of each class fall into each bin.
    """

    edges: Array
    counts: Integers


class FisherDiscriminant(GathersMoments, Projects, ScoringClassifier):
    r"""y = ŵ·x with ŵ ∝ S_W⁻¹(m₂ − m₁), which maximises J(w) = (m₂ − m₁)²/(s₁² + s₂²); class 2 where y > ỹ. F1–F5, F7.

    Along y each class is modelled by a Gaussian with its own mean, unbiased variance (n_i − 1 in the denominator) and
    prior n_i/n, and predictions follow the posteriors. With unequal variances the posteriors cross twice
    (``crossings_``), and then the region of a class is not a half-space; ``threshold_`` is the crossing at which, as y
    grows, the second class begins: the one between the means if there is one. Lecture 001's posterior omits the factor
    1/σ_i; here it is included.

    More than two classes are projected to ``n_components`` directions. A row goes to the nearest projected mean, in
    the pooled covariance of the projection (n − K in the denominator) and with priors n_k/n. With ``sample_weight``, n
    is the sum of the weights.

    Parameters
    ----------
    direction : "fisher" or "means", default "fisher"
        The direction of the projection: that of Fisher ("fisher"), or of the difference of the class means ("means").
        "fisher": ŵ above. "means": w = (m₂ − m₁)/‖m₂ − m₁‖; for more classes the principal directions of the means.
    threshold : "gaussian" or "midpoint", default "gaussian"
        The threshold on the projection: where the posteriors of two Gaussians are equal ("gaussian"), or midway between
        the projected means ("midpoint"). The two are the same with equal variances and equal priors.

    Other Parameters
    ----------------
    n_components : int or None, default None
        The number of directions, at most min(K − 1, d), which is the default.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, means_ : as in scikit-learn
    coef_, intercept_ : arrays
        With two classes ŵ, of length 1, and −threshold_. With more, the weights of the linear scores.
    directions_ : array (n_features, n_components)
        Each column points from the first class to the last. With two classes it is ŵ. With more, the columns are
        scaled so that the within-class covariance is the identity ("fisher"), or orthonormal ("means").
    crossings_ : array
        With two classes: the values of y = ŵ·x at which the posteriors cross.
    threshold_ : float
        With two classes: the value of y above which the second class begins.
    explained_variance_ratio_ : array
        The share of the criterion along each direction.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The objective is −J, and the bound is on the difference between J and its maximum.

    Examples
    --------
    >>> from separatrix import FisherDiscriminant
    >>> X = [[0.0, 0.0], [2.0, 1.0], [1.0, 1.0], [0.0, 2.0], [2.0, 3.0], [1.0, 3.0]]
    >>> model = FisherDiscriminant().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.directions_.round(4).ravel().tolist(), round(model.threshold_, 4)
    ([-0.4472, 0.8944], 1.0435)
    >>> model.predict([[1.0, 0.4], [1.0, 2.6]]).tolist()
    [1, 2]
    """

    approach: ClassVar[Approach] = "discriminant function"
    # Predictions do not depend on the units of the columns. But ŵ has length 1 in those units, so rescaling one column
    # changes all weights.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=False)

    def __init__(
        self,
        direction: Literal["fisher", "means"] = "fisher",
        *,
        threshold: Literal["gaussian", "midpoint"] = "gaussian",
        n_components: int | None = None,
    ) -> None:
        self.direction = direction
        self.threshold = threshold
        self.n_components = n_components

    def _check_settings(self) -> None:
        check_choice("direction", self.direction, DIRECTIONS)
        check_choice("threshold", self.threshold, THRESHOLDS)

    def _pools(self) -> bool:
        return False

    def _has_enough(self, sums: ClassSums) -> bool:
        return True

    def _fit_rows(self, task: FitInput, rows: Rows) -> None:
        q = self._components(task)
        moments = gathered(task, rows, pooled=task.n_classes > 2)
        refuse_extreme_scales(moments.frame, task.names, SMALLEST_SQUARABLE_SCALE, LARGEST_SQUARABLE_SCALE)
        V, shares = DIRECTIONS[self.direction].best(moments, q)
        projection = Projection(V, self.direction, self.threshold)
        self._keep(task, moments, projection, projection.cut(moments, task.classes))
        self.explained_variance_ratio_ = shares[: V.shape[1]]

    def _keep(self, task: FitInput, moments: Moments, projection: Projection, cut: Cut) -> None:
        self.scorer_, self.classes_ = cut.scorer, task.classes
        self.directions_, self.means_, self.moments_ = projection.V, moments.raw_mean, moments
        self._n_features_out = projection.V.shape[1]
        K, (d, q) = task.n_classes, projection.V.shape
        by_posteriors = self.threshold == "gaussian"
        if K == 2:
            self.crossings_, self.threshold_ = cut.crossings, cut.threshold
            self.coef_, self.intercept_ = projection.V.T.copy(), np.array([-cut.threshold])
            # The direction has d − 1 parameters. Along it there are two means, two variances and a prior, or else a
            # threshold.
            self.n_parameters_ = d - 1 + (5 if by_posteriors else 1)
        else:
            assert isinstance(cut.scorer, Scorer)
            self.coef_, self.intercept_ = cut.scorer.W[:, 1:].copy(), cut.scorer.W[:, 0].copy()
            self.n_parameters_ = d * q + K * q + (K - 1 if by_posteriors else 0)
        bound, J = projection_bound(projection, moments), projection.criterion(moments)
        white = Whitening.of(moments.within)
        rank = white.rank
        named = "Fisher's criterion" if self.direction == "fisher" else "the separation of the projected means"
        status = f"{named} is maximised in closed form"
        if rank < d and self.direction == "fisher":
            status += Message(
                f"; S_W is singular (rank {rank} of {d}), so its pseudoinverse was used: ",
                singular_columns(white, task.names, "give more rows", WITHOUT_SCATTER),
            )
        facts: dict[str, str | float | int] = {}
        if task.n_classes == 2:
            facts["threshold"] = (
                float(cut.threshold) if np.isfinite(cut.threshold) else "none: one class wins everywhere"
            )
            facts["crossings"] = ", ".join(f"{y:.10g}" for y in cut.crossings) or "none"
        if cut.note:
            facts["note"] = cut.note
        at = Recomputed(-J, 0.0, bound, projection.stationarity(moments))
        self._certify(task, status, at, ProjectionClaim(cut.scorer, projection), rank, d, facts)

    def transform(self, X: Any) -> Array:
        """Project rows: y = ŵ·x.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, n_components)
            In the units of the columns, not centred.
        """
        check_is_fitted(self)
        return self._projected(X, self.directions_, np.zeros(self.directions_.shape[1]))

    def criterion(self, w: Any) -> float:
        """Evaluate Fisher's criterion J(w) on the rows of the fit (docs/tour.md, F2).

        Parameters
        ----------
        w : array (d,) or (d, q)
            A direction, or several in columns.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        V = np.asarray(w, dtype=np.float64)
        V = V[:, None] if V.ndim == 1 else V
        if V.ndim != 2 or len(V) != len(self.directions_) or not (np.all(np.isfinite(V)) and np.all(V.any(axis=0))):
            raise ParameterError("w", f"got {w!r}", f"give {len(self.directions_)} finite numbers, not all zero")
        return DIRECTIONS["fisher"].criterion(self.moments_, V)

    def posteriors(self, X: Any) -> Array:
        """P(C_k | y) by the Gaussians along the projection y.

        This models y and not x itself, so it is not called ``predict_proba``.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
        """
        return scored(self, X, self.scorer_of().probabilities)

    def projection_histogram(self, X: Any, y: Any, bins: int = 20, component: int = 0) -> ProjectionHistogram:
        """Count the rows of each class in equal bins along the projection (docs/tour.md, F5).

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.
        y : array (n,)
            Class labels, all among ``classes_``.
        bins : int, default 20
            The number of bins.
        component : int, default 0
            Which column of ``transform(X)`` to count along.

        Returns
        -------
        ProjectionHistogram
        """
        check_count("bins", bins)
        along = self.transform(X)
        if isinstance(component, bool) or component not in range(along.shape[1]):
            raise ParameterError("component", f"got {component!r}", f"give a number from 0 to {along.shape[1] - 1}")
        codes = known_codes(y, self.classes_)
        edges = np.histogram_bin_edges(along[:, component], bins)
        counts = [np.histogram(along[codes == k, component], edges)[0] for k in range(len(self.classes_))]
        return ProjectionHistogram(edges, np.array(counts, dtype=np.int64))

    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Return the boundary between two classes.

        With two classes it is ŵ·x = ``threshold_``.

        Parameters
        ----------
        i, j : labels
            The two classes; the positive side is that of i. With two classes they may be left out.

        Returns
        -------
        Hyperplane
        """
        scorer = self.scorer_of()
        if len(self.classes_) == 2:
            linear = np.concatenate([self.intercept_, self.coef_[0]])[None, :]
            return Scorer(linear, self.classes_, "identity").hyperplane(i, j)
        assert isinstance(scorer, Scorer)
        return scorer.hyperplane(i, j)
