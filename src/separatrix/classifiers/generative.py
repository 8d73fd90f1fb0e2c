"""What the generative classifiers share (docs/tour.md, D2, D4, D6, F6).

``Generative`` has the methods that only a model of p(x|C) p(C) can have, densities and sampling. It checks and applies
the settings of covariances, and builds the certificate.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.fit_input import FitInput, scored, seed_of
from separatrix.classifiers.moments_fit import GathersMoments
from separatrix.core.base.arrays import (
    EPS,
    AnyArray,
    Array,
    check_choice,
    check_count,
    check_flag,
    check_not_negative,
    is_number,
)
from separatrix.core.base.errors import LabelError, ParameterError, WeightError
from separatrix.core.base.messages import Classifier, Message, Setting
from separatrix.core.certificate import Bound, Recomputed
from separatrix.core.gaussians import Gaussians, Whitening, null_objective, shrunk_covariances
from separatrix.core.linear_algebra import far_from_zero
from separatrix.core.moments import Moments, SummedRows
from separatrix.core.moments_claims import GaussianClaim, likelihood, likelihood_bound
from separatrix.core.rows.protocol import Rows

# If the rounding error of the scores is at most this, the certificate is computed from the moments alone. Otherwise the
# objective is recomputed from the rows, which takes another pass.
LARGEST_SCORE_ROUNDING = 1e-11


class Generative(GathersMoments):
    """A classifier that models p(x|C) p(C) by ``gaussians_``: linear or quadratic discriminant analysis."""

    # Whether all classes have the same covariance.
    shared_covariance: ClassVar[bool]

    priors: Any
    solver: str
    shrinkage: Any
    store_covariance: bool
    tol: float | None
    covariance_estimator: Any
    gaussians_: Gaussians
    scorer_: Any

    def log_density(self, X: Any) -> Array:
        """The log density ln p(x|C_k) of each row under each class, which does not depend on the priors.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, K)
        """
        check_is_fitted(self)
        return scored(self, X, self.gaussians_.log_density)

    def best_fitting_class(self, X: Any) -> AnyArray:
        """The class with the largest density p(x|C), as lecture 003 draws the boundary.

        ``predict`` multiplies the density by the prior, as lecture 001 does. The two agree if the priors are equal.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n,)
            Labels.
        """
        return np.asarray(self.classes_[np.argmax(self.log_density(X), axis=1)])

    def sample(self, n: int = 1, label: Any = None, random_state: Any = None) -> tuple[Array, AnyArray]:
        """Draw new rows from the fitted model.

        Parameters
        ----------
        n : int, default 1
            How many rows.
        label : label or None
            The class of all rows; None draws the class of each row by the priors.
        random_state : int, RandomState or None
            Seed for the draws.

        Returns
        -------
        rows : array (n, d)
        labels : array (n,)
        """
        check_is_fitted(self)
        check_count("n", n)
        rng = np.random.default_rng(None if random_state is None else seed_of(random_state))
        if label is None:
            codes = rng.choice(len(self.classes_), size=n, p=self.gaussians_.priors)
        else:
            known = [k for k, name in enumerate(self.classes_.tolist()) if name == label]
            if not known:
                raise ParameterError("label", f"got {label!r}", f"name one of the classes {self.classes_.tolist()}")
            codes = np.full(n, known[0])
        return self.gaussians_.sample(codes, rng), np.asarray(self.classes_[codes])

    def _check_covariance_settings(self, solvers: tuple[str, ...]) -> None:
        """Refuse invalid settings of the covariance estimate. All solver names stand for the same closed form here."""
        check_choice("solver", self.solver, solvers)
        check_flag("store_covariance", self.store_covariance)
        if self.tol is not None:
            check_not_negative("tol", self.tol)
        given = self.shrinkage
        if isinstance(given, str):
            valid = given == "auto"
        else:
            valid = given is None or (is_number(given) and 0 <= given <= 1)
        if not valid:
            raise ParameterError("shrinkage", f"got {given!r}", "give 'auto' or a number from 0 to 1, or leave it out")
        if self.covariance_estimator is not None and given not in (None, 0):
            problem = "covariance_estimator and shrinkage parameters are not None"
            raise ParameterError("shrinkage", problem, "Only one of the two can be set")

    def _shrinks(self) -> bool:
        """Whether covariances are other than the sample covariances."""
        return self.shrinkage is not None or self.covariance_estimator is not None

    def _covariances(self, task: FitInput, moments: Moments) -> Array:
        """The shrunk covariance of each class, (K, d, d), in the coordinates of the moments."""
        rows, by_estimator = [], self.covariance_estimator is not None
        if by_estimator or isinstance(self.shrinkage, str):
            setting = "covariance_estimator" if by_estimator else "shrinkage"
            given = type(self.covariance_estimator).__name__ if by_estimator else "'auto'"
            reason = "the covariance of each class is estimated from its rows"
            task.refuse_outside_memory(setting, given, reason, "set shrinkage to a number")
            if np.any(task.weight != task.weight[0]):
                asked = "covariance_estimator" if by_estimator else "shrinkage='auto'"
                raise WeightError("sample_weight", f"{asked} needs rows of equal weight", "set shrinkage to a number")
            rows = [task.X[task.codes == k] for k in range(task.n_classes)]
        return shrunk_covariances(moments, rows, self.shrinkage, self.covariance_estimator)

    def _shrinkage_says(self) -> str:
        """How the covariances were shrunk, as part of a status sentence."""
        if self.covariance_estimator is not None:
            return f", each class's covariance by {type(self.covariance_estimator).__name__}"
        given = self.shrinkage
        how = f"by {float(given):g}" if is_number(given) else "by Ledoit and Wolf's formula"
        return f", each class's covariance (n_k) shrunk towards a multiple of the identity {how}"

    def _keep_gaussians(self, moments: Moments, priors: Array, sigma: Array, whites: Sequence[Whitening]) -> None:
        """Set the attributes that follow from the covariances ``sigma`` in the coordinates of the moments."""
        scale, (K, d) = moments.frame.scale, moments.mean.shape
        log_scale = float(np.sum(np.log(scale)))
        # −½ (r ln 2π + ln |Σ|) in the units of the columns, where r is the rank of Σ.
        constant = [-0.5 * (w.rank * float(np.log(2 * np.pi)) + w.log_det + 2 * log_scale) for w in whites]
        whiten, colour = tuple(white.A for white in whites), tuple(white.colour for white in whites)
        self.gaussians_ = Gaussians(moments.frame, priors, moments.mean, whiten, colour, np.array(constant))
        self.priors_, self.means_ = priors, moments.raw_mean
        with np.errstate(over="ignore"):
            self.covariance_ = np.asarray(sigma * scale * scale[:, None])
        covariances = 1 if self.shared_covariance else K
        self.n_parameters_ = K * d + covariances * d * (d + 1) // 2 + (K - 1 if self.priors is None else 0)

    def _certify_gaussians(
        self, task: FitInput, rows: Rows, moments: Moments, status: str, rank: int, rounding: float
    ) -> None:
        """Set the certificate. ``rounding``: the rounding error of the scorer's weights."""
        at = self._evidence(task, rows, moments, rounding)
        if at.bound.value is None and self.gaussians_.on(moments).gap is not None:
            cause = far_from_zero(moments.frame, task.names, least=0.0)
            status = Message(status, "; its scores have lost digits", *([", since ", cause] if cause else []))
        d, shared = task.n_features, self.shared_covariance
        # The number of parameters of a discriminative model with the same boundaries.
        discriminative = (task.n_classes - 1) * (1 + d + (0 if shared else d * (d + 1) // 2))
        facts = {"size": f"{self.n_parameters_} parameters; {discriminative} in a discriminative model"}
        claim = GaussianClaim(self.scorer_, self.gaussians_, shared)
        self._certify(task, status, at, claim, rank, d, facts)

    def _evidence(self, task: FitInput, rows: Rows, moments: Moments, rounding: float) -> Recomputed:
        """The objective and its bound from the moments, or from the rows if ``rounding`` is too large."""
        gaussians = self.gaussians_
        rounding += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
        exact = rounding <= LARGEST_SCORE_ROUNDING
        if not exact and not isinstance(task.table, SummedRows):
            return likelihood(self.scorer_, gaussians, moments, rows)
        at = gaussians.on(moments)
        bound = likelihood_bound(at)
        if not exact and bound.value is not None:
            why = "the scores have lost digits, and the rows from which the loss could be computed are not kept"
            bound = Bound(None, bound.kind, why)
        return Recomputed(at.objective, null_objective(moments), bound, at.slope)


def priors_of(priors: Any, moments: Moments) -> Array:
    """The given priors p(C_k), in the order of the sorted classes, or the classes' shares of rows (D4)."""
    if priors is None:
        return moments.shares
    K, remedy = len(moments.weight), "give one positive number for each class, in sorted order, summing to 1"
    try:
        p = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("priors", f"got {priors!r}", remedy) from error
    if p.shape != (K,):
        raise ParameterError("priors", f"its shape is {p.shape} for {K} classes", remedy)
    if not np.all(np.isfinite(p) & (p > 0)):
        raise ParameterError("priors", f"got {priors!r}", remedy)
    if abs(float(p.sum()) - 1) > 1e-9:
        raise ParameterError("priors", f"they sum to {p.sum():.12g}", remedy)
    return np.asarray(p / p.sum())


def refuse_no_freedom(task: FitInput, moments: Moments) -> None:
    """Raise an error if there is no pooled covariance: it divides by n − K and needs scatter within a class."""
    K = task.n_classes
    if moments.total_weight <= K:
        problem = f"{moments.total_weight:g} rows (by weight) are too few for {K} classes"
        raise LabelError("y", problem, "a covariance needs more rows than classes; weights count as rows")
    if not np.any(moments.within):
        raise LabelError(
            "y",
            "no column varies within a class",
            Message(
                "a Gaussian needs rows that differ: use ",
                Classifier("FisherDiscriminant", Setting("direction", "means")),
                " or ",
                Classifier("LeastSquaresClassifier"),
            ),
        )
