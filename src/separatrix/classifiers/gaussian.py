"""Gaussian generative classifiers: one covariance for all classes, or one for each. TEXTBOOK D2, D6, F6."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.base.arrays import EPS, Array
from separatrix.base.concurrency import one_blas_thread
from separatrix.base.errors import LabelError, ParameterError
from separatrix.base.messages import ByAudience, Classifier, Message
from separatrix.certificates.certificate import Certificate, Recomputed
from separatrix.certificates.moments_claims import GaussianClaim, likelihood, likelihood_bound
from separatrix.classifiers.fit_input import (
    FitInput,
    as_precise,
    check_count,
    check_not_negative,
    rows_to_score,
    validate,
)
from separatrix.classifiers.generative import (
    Generative,
    check_covariance_settings,
    covariances_of,
    priors_of,
    refuse_empty_class,
    refuse_no_freedom,
    shrinkage_says,
    shrinks,
)
from separatrix.classifiers.linear import (
    Approach,
    ClassifierTraits,
    LinearClassifier,
    ScoringClassifier,
)
from separatrix.moments.gather import Moments, gather
from separatrix.moments.gaussians import Gaussians, QuadraticScorer, null_objective
from separatrix.moments.whitening import Whitening
from separatrix.rows import counted_passes
from separatrix.scorers.scorer import Scorer, Scores

# Scores that rounding moves by no more than this are those of the Gaussians, so the rows need not be asked.
ROUNDED = 1e-11
REMEDY = "drop constant and collinear columns, or give more rows"
FEW_ROWS = Message(
    "give it more rows",
    ByAudience(", set reg_param > 0,", shell=""),
    " or use ",
    Classifier("LinearDiscriminantAnalysis"),
)


class LinearDiscriminantAnalysis(Generative, ClassNamePrefixFeaturesOutMixin, TransformerMixin, LinearClassifier):
    r"""p(x|C_k) = N(m_k, Σ), one Σ for all classes, turned round by Bayes: linear boundaries. TEXTBOOK F6, D2, D4, D6.

    z_k(x) = m_kᵀΣ⁻¹x − ½ m_kᵀΣ⁻¹m_k + ln p(C_k), up to what all classes share. Σ is the pooled covariance with n − K in
    the denominator, as in R's MASS::lda. ``sample_weight`` counts rows: n is the total weight.

    Parameters
    ----------
    priors : array (n_classes,) or None
        p(C_k), in the order of the sorted classes; None: the rows' shares.
    solver : "svd", "lsqr" or "eigen", default "svd"
        scikit-learn's names; they all stand for the one closed form.
    shrinkage : None, "auto" or float in [0, 1], default None
        Draw the covariance of each class towards a multiple of the identity before they are pooled: by this share, or
        with "auto" by Ledoit and Wolf's. Then Σ = Σ_k p(C_k) Σ_k with n_k in the denominator, as in scikit-learn.
    n_components : int or None
        How many coordinates ``transform`` has; at most min(K − 1, d), which None takes.
    store_covariance, tol
        Accepted for scikit-learn's sake: ``covariance_`` is always there, and the rank is that of float64.
    covariance_estimator : estimator or None
        Estimates the covariance of each class in place of the above; it has ``fit(X)`` and ``covariance_``.

    Attributes
    ----------
    classes_, coef_, intercept_, n_features_in_, feature_names_in_, means_, covariance_, priors_ : as in scikit-learn
    scalings_ : array (n_features, min(K − 1, rank))
        Directions of ``transform``, scaled so that Σ becomes the identity there, each pointing from the first class to
        the last; MASS::lda's up to sign.
    explained_variance_ratio_ : array
        The share of the between-class variance along each ("proportion of trace").
    n_parameters_ : int
        K d means, d (d + 1)/2 of Σ, and K − 1 priors unless given.
    certificate_ : Certificate
        The objective is −(1/n) Σ ln p(x, y); its bound, how far the unbiased Σ is from the likeliest one.

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

    approach: ClassVar[Approach] = "generative"
    has_probabilities: ClassVar[bool] = True
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=True)
    without_effect: ClassVar[frozenset[str]] = frozenset({"solver", "store_covariance", "tol"})

    def __init__(
        self,
        priors: Any = None,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with labels y and optional weights, which count as rows."""
        check_covariance_settings(self, ("svd", "lsqr", "eigen"))
        task = validate(self, X, y, sample_weight)
        self._check_components(task)
        with one_blas_thread, counted_passes() as passes:
            pooled = not shrinks(self)
            found = gather(task.X, task.codes, task.n_classes, task.weight, pooled=pooled, names=task.names)
            refuse_empty_class(task, found)
            refuse_no_freedom(task, found)
            self._fit(task, found, passes)
        return self

    def _check_components(self, task: FitInput) -> None:
        if self.n_components is None:
            return
        check_count("n_components", self.n_components)
        most = min(task.n_classes - 1, task.X.shape[1])
        if self.n_components > most:
            came = f"got {self.n_components}, and n_components cannot be larger than min(n_features, n_classes - 1)"
            raise ParameterError("n_components", came, f"give at most {most}")

    def _fit(self, task: FitInput, found: Moments, passes: list[int]) -> None:
        K, d = found.mean.shape
        priors = priors_of(self.priors, found)
        sigma, estimated = found.within / (found.total_weight - K), "pooled covariance (n − K)"
        if shrinks(self):
            sigma = np.einsum("k,kij->ij", priors, covariances_of(self, task, found))
            estimated = f"pooled covariance{shrinkage_says(self)},"
            found = replace(found, scatter=found.within[None])
        white = Whitening.of(sigma)
        constant = np.full(K, _constant(white, found))
        self.gaussians_ = Gaussians(found.frame, priors, found.mean, (white.A,) * K, (white.colour,) * K, constant)
        W = _linear(found, white, priors)
        raw = found.frame.to_original(W)
        self._keep_scorer(Scorer(raw, task.classes, "logit" if K == 2 else "softmax"))
        lost = float(np.max(np.abs(found.frame.from_original(raw) - W)) + EPS * np.max(np.sum(np.abs(W), axis=1)))
        self.priors_, self.means_ = priors, found.raw_mean
        self.covariance_ = _raw(sigma, found)
        self._keep_coordinates(found, white, priors)
        self.n_parameters_ = K * d + d * (d + 1) // 2 + (K - 1 if self.priors is None else 0)
        apart = found.mean - found.center
        unit = np.sqrt(np.diag(found.within + found.between))
        status = f"class means, {estimated} and priors, in closed form"
        if white.singular:
            status += f"; the covariance is singular (rank {white.rank} of {d}), so its pseudoinverse serves: {REMEDY}"
        if white.misses(apart, np.where(unit > 0, unit, 1.0)):
            status += "; the means also differ along directions without scatter, which it ignores"
        discriminative = (K - 1) * (d + 1)
        self.certificate_ = _certificate(self, task, found, status, white.rank, True, discriminative, lost, passes)

    def _keep_coordinates(self, found: Moments, white: Whitening, priors: Array) -> None:
        center = priors @ found.mean
        spread = np.sqrt(priors)[:, None] * (found.mean - center) @ white.A
        _, sigma, Vt = np.linalg.svd(spread, full_matrices=False)
        q = min(len(priors) - 1, white.rank, self.n_components or len(priors))
        V = white.A @ Vt[:q].T
        V = V * np.where((found.mean[-1] - found.mean[0]) @ V < 0, -1.0, 1.0)
        self.scalings_ = V / found.frame.scale[:, None]
        self.xbar_ = found.frame.center + center * found.frame.scale
        total = np.sum(sigma**2)
        self.explained_variance_ratio_ = sigma[:q] ** 2 / total if total > 0 else np.zeros(q)
        self._n_features_out = q

    def transform(self, X: Any) -> Array:
        """Discriminant coordinates (n, min(K − 1, rank)): in them the within-class covariance is the identity."""
        check_is_fitted(self)
        X, names = rows_to_score(self, X)
        W = np.column_stack([-(self.xbar_ @ self.scalings_), self.scalings_.T])
        z = as_precise(Scorer(W, self.classes_, "identity").scores(X, names), X.dtype, self._dtype)
        return z[:, None] if z.ndim == 1 else z


class QuadraticDiscriminantAnalysis(Generative, ScoringClassifier):
    r"""p(x|C_k) = N(m_k, Σ_k), a covariance for each class, turned round by Bayes: quadratic boundaries.

    TEXTBOOK F6, D2, D4, D6. Σ_k has n_k − 1 in the denominator, as in R's MASS::qda. ``sample_weight`` counts rows: n_k
    is the class's weight.

    Parameters
    ----------
    priors : array (n_classes,) or None
        p(C_k), in the order of the sorted classes; None: the rows' shares.
    reg_param : float in [0, 1], default 0.0
        Σ_k becomes (1 − reg_param) Σ_k + reg_param I, in the columns' own units, as in scikit-learn.
    solver : "svd" or "eigen", default "svd"
        scikit-learn's names; both stand for the one closed form.
    shrinkage : None, "auto" or float in [0, 1], default None
        Draw each Σ_k, with n_k in the denominator, towards a multiple of the identity: by this share, or with "auto" by
        Ledoit and Wolf's, as in scikit-learn.
    store_covariance, tol
        Accepted for scikit-learn's sake: ``covariance_`` is always there, and the rank is that of float64.
    covariance_estimator : estimator or None
        Estimates each Σ_k in place of the above; it has ``fit(X)`` and ``covariance_``.

    Along directions in which a class does not vary it takes the pooled variance, and the certificate says so.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, means_, priors_ : as in scikit-learn
    covariance_ : array (n_classes, n_features, n_features)
    rotations_, scalings_ : lists of arrays (n_features, n_features) and (n_features,)
        The principal directions of each covariance, in columns, and the variances along them, the largest first.
    n_parameters_ : int
        K d means, K d (d + 1)/2 of the covariances, and K − 1 priors unless given.
    certificate_ : Certificate
        The objective is −(1/n) Σ ln p(x, y); its bound, how far the fit is from the likeliest Gaussians.

    Examples
    --------
    >>> from separatrix import QuadraticDiscriminantAnalysis
    >>> X, y = [[-1.0], [0.0], [1.0], [-9.0], [-8.0], [8.0], [9.0]], ["in"] * 3 + ["out"] * 4
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-20.0], [0.5], [20.0]]).tolist()
    ['out', 'in', 'out']
    """

    approach: ClassVar[Approach] = "generative"
    has_probabilities: ClassVar[bool] = True
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=True)
    without_effect: ClassVar[frozenset[str]] = frozenset({"solver", "store_covariance", "tol"})

    scorer_: QuadraticScorer

    def __init__(
        self,
        priors: Any = None,
        reg_param: float = 0.0,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        store_covariance: bool = False,
        tol: float | None = None,
        covariance_estimator: Any = None,
    ) -> None:
        self.priors = priors
        self.reg_param = reg_param
        self.solver = solver
        self.shrinkage = shrinkage
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to rows X (n, d), dense or sparse, with labels y and optional weights, which count as rows."""
        check_covariance_settings(self, ("svd", "eigen"))
        check_not_negative("reg_param", self.reg_param)
        if self.reg_param > 1:
            raise ParameterError("reg_param", f"got {self.reg_param!r}", "give a number from 0 to 1")
        if self.reg_param and shrinks(self):
            came = f"got {self.reg_param!r} beside shrinkage or a covariance_estimator"
            raise ParameterError("reg_param", came, "set one of them only")
        task = validate(self, X, y, sample_weight)
        spread = float(np.sqrt(self.reg_param))
        with one_blas_thread, counted_passes() as passes:
            found = gather(task.X, task.codes, task.n_classes, task.weight, names=task.names, spread=spread)
            refuse_empty_class(task, found)
            self._refuse_single_rows(task, found)
            self._fit(task, found, passes)
        return self

    def _refuse_single_rows(self, task: FitInput, found: Moments) -> None:
        short = np.flatnonzero(found.weight <= 1)
        if len(short) and self.reg_param == 0:
            raise LabelError(
                "y",
                f"class {task.classes.tolist()[short[0]]!r} has one row (n_samples = 1 by weight), so no covariance",
                FEW_ROWS,
            )

    def _fit(self, task: FitInput, found: Moments, passes: list[int]) -> None:
        K, d = found.mean.shape
        priors, r = priors_of(self.priors, found), float(self.reg_param)
        freedom = found.weight - 1
        share = np.divide(1 - r, freedom, out=np.zeros(K), where=freedom > 0)
        sigma = covariances_of(self, task, found) if shrinks(self) else share[:, None, None] * found.scatter
        sigma[:, np.arange(d), np.arange(d)] += (np.sqrt(r) / found.frame.scale) ** 2
        pooled = Whitening.of(np.einsum("k,kij->ij", found.shares, sigma))
        whites, ranks = zip(*(pooled.completed(S) for S in sigma), strict=True)
        constant = np.array([_constant(white, found) for white in whites])
        self.gaussians_ = Gaussians(
            found.frame, priors, found.mean, tuple(w.A for w in whites), tuple(w.colour for w in whites), constant
        )
        self.scorer_ = QuadraticScorer(self.gaussians_, task.classes)
        self.classes_, self.priors_, self.means_ = task.classes, priors, found.raw_mean
        self.covariance_ = _raw(sigma, found)
        self.n_parameters_ = K * d + K * d * (d + 1) // 2 + (K - 1 if self.priors is None else 0)
        status = "class means, a covariance (n_k − 1) for each class and priors, in closed form"
        if shrinks(self):
            status = f"class means{shrinkage_says(self)}, and priors, in closed form"
        if r > 0:
            status += f", each covariance drawn to the identity by {r:g}"
        if pooled.singular:
            status += f"; columns are constant or collinear in every class (rank {pooled.rank} of {d}): {REMEDY}"
        poor = [k for k, rank in enumerate(ranks) if rank < pooled.rank]
        if poor:
            status += Message(
                f"; class {task.classes.tolist()[poor[0]]!r} varies along {ranks[poor[0]]} of {pooled.rank} directions"
                " and takes the pooled variance along the others: ",
                FEW_ROWS,
            )
        discriminative = (K - 1) * (1 + d + d * (d + 1) // 2)
        self.certificate_ = _certificate(self, task, found, status, min(ranks), False, discriminative, 0.0, passes)

    @property
    def rotations_(self) -> list[Array]:
        """The principal directions of each class's covariance, in columns, of the largest variance first."""
        return [axes for _, axes in self._principal()]

    @property
    def scalings_(self) -> list[Array]:
        """The variances along them."""
        return [variances for variances, _ in self._principal()]

    def _principal(self) -> list[tuple[Array, Array]]:
        found = [np.linalg.eigh(sigma) for sigma in self.covariance_]
        return [(variances[::-1], axes[:, ::-1]) for variances, axes in found]


def _constant(white: Whitening, found: Moments) -> float:
    """−½ (d ln 2π + ln |Σ|), in raw units."""
    log_det = white.log_det + 2 * float(np.sum(np.log(found.frame.scale)))
    return -0.5 * (white.rank * float(np.log(2 * np.pi)) + log_det)


def _raw(sigma: Array, found: Moments) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(sigma * found.frame.scale * found.frame.scale[:, None])


def _linear(found: Moments, white: Whitening, priors: Array) -> Array:
    """W of z_k, about the mean of all rows, in the frame; of two classes the difference."""
    apart = found.mean - found.center
    u = apart @ white.A
    w = u @ white.A.T
    b = np.log(priors) - 0.5 * np.sum(u**2, axis=1) - w @ found.center
    W = np.column_stack([b, w])
    return W[1:] - W[:1] if len(W) == 2 else W


def _evidence(model: Any, task: FitInput, found: Moments, lost: float) -> Recomputed:
    """What the moments say of the fit; where rounding by ``lost`` could show in the scores, what the rows say."""
    gaussians: Gaussians = model.gaussians_
    lost += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
    if not lost <= ROUNDED:
        return likelihood(model.scorer_, gaussians, found, task.X, task.codes, task.weight)
    at = gaussians.on(found)
    return Recomputed(at.objective, null_objective(found), likelihood_bound(at), at.slope)


def _certificate(
    model: Any,
    task: FitInput,
    found: Moments,
    status: str,
    rank: int,
    shared: bool,
    discriminative: int,
    lost: float,
    passes: list[int],
) -> Certificate:
    scorer: Scores = model.scorer_
    at = _evidence(model, task, found, lost)
    return Certificate(
        status=status,
        code="closed-form" if rank == task.X.shape[1] else "singular",
        met=True,
        **at.fields(),
        iterations=1,
        passes=passes[0],
        solver="closed-form",
        why="closed form: sums of (1, x, xxᵀ) by class",
        rank=rank,
        full_rank=task.X.shape[1],
        n_parameters=model.n_parameters_,
        n_rows=task.X.shape[0],
        claim=GaussianClaim(scorer, model.gaussians_, shared),
        facts={"size": f"{model.n_parameters_} parameters, generative; {discriminative} for P(class | x) alone"},
    )
