"""Quadratic discriminant analysis: a Gaussian with its own covariance for each class (docs/tour.md, D2, D4, D6, F6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from separatrix.classifiers.base import Approach, ClassifierTraits, ScoringClassifier
from separatrix.classifiers.description import GAUSSIAN_CLAIM, GENERATIVE, Description, Requires
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.generative import Generative, priors_of
from separatrix.classifiers.moments_fit import gathered
from separatrix.core.base.arrays import Array, check_not_negative
from separatrix.core.base.codec import array
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.base.messages import Classifier, Message, Parameter
from separatrix.core.gaussians import WITHOUT_SCATTER, QuadraticScorer, Whitening, singular_columns
from separatrix.core.moments import ClassSums, covariance_matrices, kept
from separatrix.core.rows.protocol import Rows

MORE_ROWS = Message(
    "give the class more rows",
    ", set ",
    Parameter("reg_param"),
    " > 0, or use ",
    Classifier("LinearDiscriminantAnalysis"),
)

DESCRIPTION = Description(
    about="quadratic discriminant analysis: Gaussian classes with separate covariances",
    scorers=("quadratic",),
    claims={"gaussian": GAUSSIAN_CLAIM},
    fitted={**GENERATIVE, "covariance_": array("K", "d", "d", finite=False)},
    probabilities=True,
    curved=True,
    requires=(Requires.FEW_COLUMNS, Requires.MORE_ROWS_THAN_COLUMNS),
)


class QuadraticDiscriminantAnalysis(Generative, ScoringClassifier):
    r"""p(x|C_k) = N(m_k, Σ_k), a covariance for each class; Bayes' rule gives quadratic boundaries.

    See docs/tour.md, F6, D2, D4, D6. Σ_k has n_k − 1 in the denominator, as in R's MASS::qda. With ``sample_weight``,
    n_k is the total weight of the class. Along directions in which a class does not vary, its variance is replaced by
    the pooled variance, and the certificate says so.

    Parameters
    ----------
    priors : array (n_classes,) or None, default None
        p(C_k), in the order of the sorted classes. None: the classes' shares of the rows.
    reg_param : float in [0, 1], default 0.0
        The share of the identity matrix, in the units of the columns, in the covariance of each class. Σ_k becomes
        (1 − reg_param) Σ_k + reg_param I, as in scikit-learn.
    shrinkage : None, "auto" or float in [0, 1], default None
        Shrink the covariance of each class towards a multiple of the identity, with this coefficient from 0 to 1, or
        with that of Ledoit and Wolf ("auto"). Then Σ_k has n_k in the denominator, as in scikit-learn.
    covariance_estimator : estimator or None, default None
        Estimates each Σ_k instead; it has ``fit(X)`` and ``covariance_``.

    Other Parameters
    ----------------
    solver : "svd" or "eigen", default "svd"
        scikit-learn's names, which both stand for the same closed form here.
    store_covariance, tol
        Accepted for compatibility with scikit-learn and ignored: ``covariance_`` is always stored, and the rank is
        the numerical rank in float64.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_, means_, priors_ : as in scikit-learn
    covariance_ : array (n_classes, n_features, n_features)
    rotations_, scalings_ : lists of arrays (n_features, n_features) and (n_features,)
        The principal directions of each covariance, in columns, and the variances along them, the largest first.
    n_parameters_ : int
        K d for the means, K d (d + 1)/2 for the covariances, and K − 1 for the priors unless given.
    moments_ : Moments or None
        The sums over the rows, to which ``partial_fit`` adds; None beyond 1,000 columns and in models from files.
    has_sample_weight_ : bool or None
        Whether the fit had sample weights; None if it is not known.
    certificate_ : Certificate
        The objective is −(1/n) Σ ln p(x, y). Its bound is the distance to the maximum of the likelihood.

    Examples
    --------
    >>> from separatrix import QuadraticDiscriminantAnalysis
    >>> X, y = [[-1.0], [0.0], [1.0], [-9.0], [-8.0], [8.0], [9.0]], ["in"] * 3 + ["out"] * 4
    >>> QuadraticDiscriminantAnalysis().fit(X, y).predict([[-20.0], [0.5], [20.0]]).tolist()
    ['out', 'in', 'out']
    """

    approach: ClassVar[Approach] = "generative"
    has_probabilities: ClassVar[bool] = DESCRIPTION.probabilities
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(scale_free=True)

    shared_covariance: ClassVar[bool] = False
    scorer_: QuadraticScorer

    def __init__(
        self,
        priors: Any = None,
        reg_param: float = 0.0,
        *,
        solver: str = "svd",
        shrinkage: float | Literal["auto"] | None = None,
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

    def _check_settings(self) -> None:
        self._check_covariance_settings(("svd", "eigen"))
        check_not_negative("reg_param", self.reg_param)
        if self.reg_param > 1:
            raise ParameterError("reg_param", f"got {self.reg_param!r}", "give a number from 0 to 1")
        if self.reg_param and self._shrinks():
            problem = f"got {self.reg_param!r} together with shrinkage or a covariance_estimator"
            raise ParameterError("reg_param", problem, "set only one of them")

    def _pools(self) -> bool:
        return False

    def _has_enough(self, sums: ClassSums) -> bool:
        return self.reg_param > 0 or bool(np.all(sums.moments.weight > 1))

    def _fit_rows(self, task: FitInput, rows: Rows) -> None:
        spread, r = float(np.sqrt(self.reg_param)), float(self.reg_param)
        held = covariance_matrices(task.n_classes)
        moments = gathered(task, rows, spread=lambda total: spread, matrices=held)
        short = np.flatnonzero(moments.weight <= 1)
        if len(short) and r == 0:
            label = task.classes.tolist()[short[0]]
            problem = f"class {label!r} has one row (n_samples = 1 by weight), so no covariance"
            raise LabelError("y", problem, MORE_ROWS)
        self.moments_ = kept(moments)
        K, d = moments.mean.shape
        freedom = moments.weight - 1
        share = np.divide(1 - r, freedom, out=np.zeros(K), where=freedom > 0)
        sigma = self._covariances(task, moments) if self._shrinks() else share[:, None, None] * moments.scatter
        sigma[:, np.arange(d), np.arange(d)] += (np.sqrt(r) / moments.frame.scale) ** 2
        pooled = Whitening.of(np.einsum("k,kij->ij", moments.shares, sigma))
        whites, ranks = zip(*(pooled.completed(S) for S in sigma), strict=True)
        self._keep_gaussians(moments, priors_of(self.priors, moments), sigma, whites)
        self.scorer_, self.classes_ = QuadraticScorer(self.gaussians_, task.classes), task.classes
        self._certify_gaussians(task, rows, moments, self._status(task, pooled, ranks), min(ranks), 0.0)

    def _status(self, task: FitInput, pooled: Whitening, ranks: Sequence[int]) -> str:
        """What was fitted, and along which directions the rows do not determine a variance."""
        status = "class means, a covariance (n_k − 1) for each class and priors, in closed form"
        if self._shrinks():
            status = f"class means{self._shrinkage_says()}, and priors, in closed form"
        if self.reg_param > 0:
            status += f", each covariance shrunk towards the identity by {float(self.reg_param):g}"
        if pooled.singular:
            status += Message(
                f"; the covariance is singular in every class (rank {pooled.rank} of {task.n_features}): ",
                singular_columns(pooled, task.names, "give more rows", WITHOUT_SCATTER),
            )
        deficient = [k for k, rank in enumerate(ranks) if rank < pooled.rank]
        if deficient:
            k = deficient[0]
            status += Message(
                f"; class {task.classes.tolist()[k]!r} varies along {ranks[k]} of {pooled.rank} directions"
                " and takes the pooled variance along the others: ",
                MORE_ROWS,
            )
        return status

    @property
    def rotations_(self) -> list[Array]:
        """The principal directions of each class's covariance, in columns, the largest variance first."""
        return [axes for _, axes in self._principal()]

    @property
    def scalings_(self) -> list[Array]:
        """The variances along ``rotations_``, for each class."""
        return [variances for variances, _ in self._principal()]

    def _principal(self) -> list[tuple[Array, Array]]:
        """The eigenvalues and eigenvectors of each class's covariance, the largest eigenvalue first."""
        ascending = [np.linalg.eigh(sigma) for sigma in self.covariance_]
        return [(variances[::-1], axes[:, ::-1]) for variances, axes in ascending]
