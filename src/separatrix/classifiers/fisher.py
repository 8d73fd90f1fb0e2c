"""Fisher's discriminant: project to few dimensions, then cut there. TEXTBOOK F1–F5, F7."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.base.arrays import Array, Integers
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import ParameterError
from separatrix.base.labels import known_codes
from separatrix.certificates.certificate import Certificate, Recomputed
from separatrix.certificates.moments_claims import ProjectionClaim, projection_bound
from separatrix.classifiers.description import (
    ANY_SCORER,
    COUNT,
    MOMENTS,
    Description,
    Requires,
    Setting,
    array,
    choice,
    number,
    record,
)
from separatrix.classifiers.fit_input import FitInput, check_choice, check_count, rows_to_score, validate
from separatrix.classifiers.generative import refuse_empty_class
from separatrix.classifiers.linear import Approach, ClassifierTraits, ScoringClassifier
from separatrix.geometry import Hyperplane
from separatrix.moments.gather import Moments, gather
from separatrix.moments.projected_rows import DIRECTIONS, THRESHOLDS, Cut, Projection
from separatrix.moments.whitening import Whitening
from separatrix.rows import counted_passes, memory_rows
from separatrix.scorers.scorer import Scorer

DESCRIPTION = Description(
    about="Fisher's discriminant",
    settings=(
        Setting("--direction", "direction", "Of Fisher's discriminant: fisher (the default) or means.", metavar="WORD"),
        Setting(
            "--threshold", "threshold", "Of Fisher's discriminant: gaussian (the default) or midpoint.", metavar="WORD"
        ),
    ),
    scorers=("linear", "quadratic"),
    claims={
        "projection": record(
            "separatrix.certificates.moments_claims:ProjectionClaim",
            scorer=ANY_SCORER,
            projection=record(
                "separatrix.moments.projected_rows:Projection",
                V=array("d", ""),
                direction=choice("separatrix.moments.projected_rows:DIRECTIONS"),
                threshold=choice("separatrix.moments.projected_rows:THRESHOLDS"),
            ),
        )
    },
    fitted={
        "_n_features_out": COUNT,
        "coef_": array("scores", "d"),
        "crossings_": array("").for_two_classes(),
        "directions_": array("d", ""),
        "explained_variance_ratio_": array("", finite=False),
        "intercept_": array("scores", finite=False),
        "means_": array("K", "d"),
        "moments_": MOMENTS,
        "threshold_": number().for_two_classes(),
    },
    requires=(Requires.FEW_COLUMNS,),
)


@dataclass(frozen=True)
class ProjectionHistogram:
    """Counts (K, bins) of each class's rows between ``edges`` (bins + 1) along a projection. TEXTBOOK F5."""

    edges: Array
    counts: Integers


class FisherDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, ScoringClassifier):
    r"""y = ŵ·x with ŵ ∝ S_W⁻¹(m₂ − m₁), which maximises J(w) = (m₂ − m₁)²/(s₁² + s₂²); class 2 where y > ỹ. F1–F5, F7.

    Along y each class is taken as a Gaussian with its own mean, unbiased variance (n_i − 1) and prior n_i/n, and
    predictions follow its posteriors. With unequal variances these cross twice (``crossings_``), so the decision is
    then no half-space; ``threshold_`` is the crossing where, as y grows, the second class begins: the one between the
    means if there is one. Lecture 001's posterior leaves out 1/σ_i; here it is kept.

    More than two classes are projected to ``n_components`` directions, and go to the nearest projected mean in the
    pooled covariance (n − K) of the projection, with priors n_k/n. ``sample_weight`` counts rows: n is their sum.

    Parameters
    ----------
    direction : "fisher" or "means", default "fisher"
        ŵ above; or w = (m₂ − m₁)/‖m₂ − m₁‖ (for more classes the principal directions of the means).
    threshold : "gaussian" or "midpoint", default "gaussian"
        As above; or midway between the projected means: one variance and equal priors.
    n_components : int or None
        At most K − 1 and d, the default.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, means_ : as in scikit-learn
    coef_, intercept_ : of two classes ŵ, of length 1, and −threshold_; of more, of the linear scores
    directions_ : array (n_features, n_components)
        Columns point from the first class to the last. Of two classes ŵ; of more, scaled so that the within-class
        covariance is the identity ("fisher"), or orthonormal ("means").
    crossings_, threshold_ : of two classes, along y = ŵ·x
    explained_variance_ratio_ : array
        The share of the criterion along each direction.
    certificate_ : Certificate
        The objective is −J; the bound, how far J is from its largest.

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
    # Answers do not depend on the columns' units, but ŵ has length 1 in them, so a weight does not scale by itself.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=False)

    def __init__(
        self, direction: str = "fisher", *, threshold: str = "gaussian", n_components: int | None = None
    ) -> None:
        self.direction = direction
        self.threshold = threshold
        self.n_components = n_components

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with labels y and optional weights, which count as rows."""
        check_choice("direction", self.direction, DIRECTIONS)
        check_choice("threshold", self.threshold, THRESHOLDS)
        task = validate(self, X, y, sample_weight)
        q = self._components(task)
        with one_blas_thread, counted_passes() as passes:
            K = task.n_classes
            found = gather(memory_rows(task.X, task.codes, task.weight), K, pooled=K > 2, names=task.names)
            refuse_empty_class(task, found)
            V, shares = DIRECTIONS[self.direction].best(found, q)
            projection = Projection(V, self.direction, self.threshold)
            self._keep(task, found, projection, projection.cut(found, task.classes), passes)
        self.explained_variance_ratio_ = shares[: V.shape[1]]
        return self

    def _components(self, task: FitInput) -> int:
        most: int = min(task.n_classes - 1, task.X.shape[1])
        if self.n_components is None:
            return most
        check_count("n_components", self.n_components)
        if self.n_components > most:
            raise ParameterError("n_components", f"got {self.n_components}", f"give at most min(K − 1, d) = {most}")
        return self.n_components

    def _keep(self, task: FitInput, found: Moments, projection: Projection, cut: Cut, passes: list[int]) -> None:
        self.scorer_, self.classes_ = cut.scorer, task.classes
        self.directions_, self.means_, self.moments_ = projection.V, found.raw_mean, found
        self._n_features_out = projection.V.shape[1]
        K, (d, q) = task.n_classes, projection.V.shape
        by_posteriors = self.threshold == "gaussian"
        if K == 2:
            self.crossings_, self.threshold_ = cut.crossings, cut.threshold
            self.coef_, self.intercept_ = projection.V.T.copy(), np.array([-cut.threshold])
            # a direction, then two means, two variances and a prior along it, or one threshold
            self.n_parameters_ = d - 1 + (5 if by_posteriors else 1)
        else:
            assert isinstance(cut.scorer, Scorer)
            self.coef_, self.intercept_ = cut.scorer.W[:, 1:].copy(), cut.scorer.W[:, 0].copy()
            self.n_parameters_ = d * q + K * q + (K - 1 if by_posteriors else 0)
        self.certificate_ = self._certificate(task, found, projection, cut, passes)

    def _certificate(
        self, task: FitInput, found: Moments, projection: Projection, cut: Cut, passes: list[int]
    ) -> Certificate:
        bound, J = projection_bound(projection, found), projection.criterion(found)
        rank, d = Whitening.of(found.within).rank, task.X.shape[1]
        named = "Fisher's criterion" if self.direction == "fisher" else "the separation of the projected means"
        status = f"{named} is maximised in closed form"
        if rank < d and self.direction == "fisher":
            status += (
                f"; S_W is singular (rank {rank} of {d}), so its pseudoinverse serves: drop constant and collinear"
                " columns, or give more rows"
            )
        facts: dict[str, str | float | int] = {}
        if task.n_classes == 2:
            facts["threshold"] = (
                float(cut.threshold) if np.isfinite(cut.threshold) else "none: one class wins everywhere"
            )
            facts["crossings"] = ", ".join(f"{y:.10g}" for y in cut.crossings) or "none"
        if cut.note:
            facts["note"] = cut.note
        return Certificate(
            status=status,
            code="closed-form" if rank == d else "singular",
            met=True,
            **Recomputed(-J, 0.0, bound, projection.stationarity(found)).fields(),
            iterations=1,
            passes=passes[0],
            solver="closed-form",
            why="closed form: sums of (1, x, xxᵀ) by class",
            rank=rank,
            full_rank=d,
            n_parameters=self.n_parameters_,
            n_rows=task.X.shape[0],
            claim=ProjectionClaim(cut.scorer, projection),
            facts=facts,
        )

    def transform(self, X: Any) -> Array:
        """The projection y = ŵ·x, (n, n_components), in the columns' own units and not centred."""
        check_is_fitted(self)
        X, names = rows_to_score(self, X)
        W = np.column_stack([np.zeros(self.directions_.shape[1]), self.directions_.T])
        y = Scorer(W, self.classes_, "identity").scores(X, names)
        return y[:, None] if y.ndim == 1 else y

    def criterion(self, w: Any) -> float:
        """J(w) for any direction w (d,), or directions (d, q), on the rows of the fit. TEXTBOOK F2."""
        check_is_fitted(self)
        V = np.asarray(w, dtype=np.float64)
        V = V[:, None] if V.ndim == 1 else V
        if V.ndim != 2 or len(V) != len(self.directions_) or not (np.all(np.isfinite(V)) and np.all(V.any(axis=0))):
            raise ParameterError("w", f"got {w!r}", f"give {len(self.directions_)} finite numbers, not all zero")
        return DIRECTIONS["fisher"].criterion(self.moments_, V)

    def posteriors(self, X: Any) -> Array:
        """P(C_k | y), (n, K), of Gaussians along the projection y: no model of x itself, so not ``predict_proba``."""
        return self.scorer_of().probabilities(*rows_to_score(self, X))

    def projection_histogram(self, X: Any, y: Any, bins: int = 20, component: int = 0) -> ProjectionHistogram:
        """How many rows of each class fall into each of ``bins`` equal parts of the projection. TEXTBOOK F5."""
        check_count("bins", bins)
        along = self.transform(X)
        if isinstance(component, bool) or component not in range(along.shape[1]):
            raise ParameterError("component", f"got {component!r}", f"give a number from 0 to {along.shape[1] - 1}")
        codes = known_codes(y, self.classes_)
        edges = np.histogram_bin_edges(along[:, component], bins)
        counts = [np.histogram(along[codes == k, component], edges)[0] for k in range(len(self.classes_))]
        return ProjectionHistogram(edges, np.array(counts, dtype=np.int64))

    def hyperplane(self, i: Any = None, j: Any = None) -> Hyperplane:
        """Of two classes ŵ·x = threshold_; of more, the boundary of class i against class j."""
        scorer = self.scorer_of()
        if len(self.classes_) == 2:
            linear = np.concatenate([self.intercept_, self.coef_[0]])[None, :]
            return Scorer(linear, self.classes_, "identity").hyperplane(i, j)
        assert isinstance(scorer, Scorer)
        return scorer.hyperplane(i, j)
