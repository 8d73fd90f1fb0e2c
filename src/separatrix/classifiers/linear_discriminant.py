"""Linear discriminant analysis: Gaussian classes with a common covariance (docs/tour.md, D2, D4, D6, F6)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.base import Approach, ClassifierTraits, LinearClassifier
from separatrix.classifiers.description import GAUSSIAN_CLAIM, GENERATIVE, Description, Requires
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.generative import Generative, priors_of, refuse_no_freedom
from separatrix.classifiers.moments_fit import Projects, gathered
from separatrix.core.base.arrays import EPS, Array
from separatrix.core.base.codec import COUNT, array
from separatrix.core.base.messages import Message
from separatrix.core.gaussians import WITHOUT_SCATTER, Whitening, singular_columns
from separatrix.core.moments import SHARED_COVARIANCE_MATRICES, ClassSums, Moments, covariance_matrices, gather, kept
from separatrix.core.rows.protocol import Rows
from separatrix.core.scorer import Scorer

DESCRIPTION = Description(
    about="linear discriminant analysis: Gaussian classes with a common covariance",
    claims={"gaussian": GAUSSIAN_CLAIM},
    fitted={
        **GENERATIVE,
        "_n_features_out": COUNT,
        "covariance_": array("d", "d", finite=False),
        "explained_variance_ratio_": array("", finite=False),
        "scalings_": array("d", ""),
        "xbar_": array("d"),
    },
    probabilities=True,
    requires=(Requires.FEW_COLUMNS,),
)


class LinearDiscriminantAnalysis(Generative, Projects, LinearClassifier):
    r"""p(x|C_k) = N(m_k, Σ) with one Σ for all classes, so the boundaries are linear (docs/tour.md, F6, D2, D4, D6).

    By Bayes' rule, z_k(x) = m_kᵀΣ⁻¹x − ½ m_kᵀΣ⁻¹m_k + ln p(C_k), up to a term that is the same for all classes.
    Σ is the pooled within-class covariance with denominator n − K, as in R's MASS::lda.
    With ``sample_weight``, n is the total weight.

    Parameters
    ----------
    priors : array (n_classes,) or None, default None
        The class priors p(C_k), in the order of ``classes_``. If None, the relative frequencies of the classes are
        used.
    shrinkage : None, "auto" or float in [0, 1], default None
        Shrink the covariance of each class towards a multiple of the identity, with this coefficient from 0 to 1, or
        with that of Ledoit and Wolf ("auto"). The covariances are shrunk before pooling, and have denominator n_k; the
        pooled covariance is their mean weighted by the priors, as in scikit-learn.
    covariance_estimator : estimator or None, default None
        Estimator of the covariance of each class, with a method ``fit(X)`` and an attribute ``covariance_``.

    Other Parameters
    ----------------
    n_components : int or None, default None
        The number of columns that ``transform`` returns, at most min(K − 1, d). If None, this maximum is used.
    solver : "svd", "lsqr" or "eigen", default "svd"
        Accepted for compatibility with scikit-learn. All three use the same closed form here.
    store_covariance, tol
        Accepted for compatibility with scikit-learn and ignored: ``covariance_`` is always stored, and the rank is
        determined with a tolerance for float64 rounding.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, means_, covariance_, priors_ : as in scikit-learn
    scalings_ : array (n_features, min(K − 1, rank))
        The projection directions of ``transform``, scaled so that the within-class covariance of the projected rows is
        the identity, with the sign for which the last class has a larger mean than the first.
        They agree with MASS::lda up to sign.
    explained_variance_ratio_ : array
        The share of the between-class variance along each direction ("proportion of trace").
    n_parameters_ : int
        The number of parameters: K d for the means, d (d + 1)/2 for Σ, and K − 1 for the priors unless they are given.
    moments_ : Moments or None
        The sums over the rows, to which ``partial_fit`` adds; None beyond 1,000 columns and in models from files.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        Its objective is the mean negative log-likelihood −(1/n) Σ_i ln p(x_i, y_i). Its bound is not zero, since Σ is
        the unbiased estimate and not the maximum-likelihood one.

    Examples
    --------
    >>> from separatrix import LinearDiscriminantAnalysis
    >>> model = LinearDiscriminantAnalysis().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"])
    >>> model.predict([[1.5], [3.5]]).tolist(), model.hyperplane().offset
    (['a', 'b'], 2.5)
    >>> rows, labels = model.sample(3, label="b", random_state=0)
    >>> rows.shape, labels.tolist()
    ((3, 1), ['b', 'b', 'b'])
    """

    shared_covariance: ClassVar[bool] = True
    approach: ClassVar[Approach] = "generative"
    has_probabilities: ClassVar[bool] = DESCRIPTION.probabilities
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=True)

    def __init__(
        self,
        priors: Any = None,
        *,
        solver: str = "svd",
        shrinkage: float | Literal["auto"] | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float | None = None,
        covariance_estimator: Any = None,
    ) -> None:
        self.priors = priors
        self.solver = solver
        self.shrinkage = shrinkage
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def _check_settings(self) -> None:
        self._check_covariance_settings(("svd", "lsqr", "eigen"))

    def _pools(self) -> bool:
        return not self._shrinks()

    def _has_enough(self, sums: ClassSums) -> bool:
        K = len(sums.largest)
        return sums.moments.total_weight > K and bool(np.any(gather(sums.as_rows(), K, pooled=True).within))

    def _fit_rows(self, task: FitInput, rows: Rows) -> None:
        most, pooled, K = self._components(task), not self._shrinks(), task.n_classes
        held = SHARED_COVARIANCE_MATRICES if pooled else covariance_matrices(K)
        moments = gathered(task, rows, pooled=pooled, matrices=held)
        refuse_no_freedom(task, moments)
        self.moments_ = kept(moments)
        priors = priors_of(self.priors, moments)
        sigma, estimated = moments.within / (moments.total_weight - K), "pooled covariance (n − K)"
        if not pooled:
            sigma = np.einsum("k,kij->ij", priors, self._covariances(task, moments))
            estimated = f"pooled covariance{self._shrinkage_says()},"
            moments = replace(moments, scatter=moments.within[None])
        frame, white = moments.frame, Whitening.of(sigma)
        self._keep_gaussians(moments, priors, sigma, [white] * K)
        W = _linear(moments, white, priors)
        raw = frame.to_original(W)
        self._keep_scorer(Scorer(raw, task.classes, "logit" if K == 2 else "softmax"))
        rounding = float(np.max(np.abs(frame.from_original(raw) - W)) + EPS * np.max(np.sum(np.abs(W), axis=1)))
        self._keep_coordinates(moments, white, priors, most)
        status = _status(moments, white, estimated, task.names)
        self._certify_gaussians(task, rows, moments, status, white.rank, rounding)

    def _keep_coordinates(self, moments: Moments, white: Whitening, priors: Array, most: int) -> None:
        """Compute the directions of ``transform`` from a singular value decomposition of the whitened class means."""
        center = priors @ moments.mean
        spread = np.sqrt(priors)[:, None] * (moments.mean - center) @ white.A
        _, sigma, Vt = np.linalg.svd(spread, full_matrices=False)
        q = min(most, white.rank)
        V = white.A @ Vt[:q].T
        V = V * np.where((moments.mean[-1] - moments.mean[0]) @ V < 0, -1.0, 1.0)
        self.scalings_ = V / moments.frame.scale[:, None]
        self.xbar_ = moments.frame.center + center * moments.frame.scale
        total = np.sum(sigma**2)
        self.explained_variance_ratio_ = sigma[:q] ** 2 / total if total > 0 else np.zeros(q)
        self._n_features_out = q

    def transform(self, X: Any) -> Array:
        """Project the rows onto the discriminant directions. The within-class covariance of the result is the identity.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            The rows.

        Returns
        -------
        array (n, q)
            The projected rows; q is the number of columns of ``scalings_``.
        """
        check_is_fitted(self)
        return self._projected(X, self.scalings_, -(self.xbar_ @ self.scalings_))


def _status(moments: Moments, white: Whitening, estimated: str, names: list[str] | None) -> str:
    status = f"class means, {estimated} and priors, in closed form"
    if white.singular:
        status += Message(
            f"; the covariance is singular (rank {white.rank} of {moments.mean.shape[1]}), so its pseudoinverse was "
            "used: ",
            singular_columns(white, names, "give more rows", WITHOUT_SCATTER),
        )
    unit = np.sqrt(np.diag(moments.within + moments.between))
    if white.misses(moments.mean - moments.center, np.where(unit > 0, unit, 1.0)):
        status += "; the means also differ along directions without within-class variance, which are ignored"
    return status


def _linear(moments: Moments, white: Whitening, priors: Array) -> Array:
    """The weights of z_k, or of z_2 − z_1 for two classes, in the coordinates of the moments, centred at the mean."""
    apart = moments.mean - moments.center
    u = apart @ white.A
    w = u @ white.A.T
    b = np.log(priors) - 0.5 * np.sum(u**2, axis=1) - w @ moments.center
    W = np.column_stack([b, w])
    return W[1:] - W[:1] if len(W) == 2 else W
