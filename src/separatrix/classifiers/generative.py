"""What the generative classifiers share (docs/tour.md, D2, D4, D6, F6).

``Generative`` has the methods that only a model of p(x|C) p(C) can have: densities and sampling. The functions after it
check and apply the settings of covariances and priors, and build the certificate of linear and quadratic discriminant
analysis.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from separatrix.classifiers.fit_input import FitInput, scored, seed_of
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
from separatrix.core.certificate import Bound, Certificate, Recomputed
from separatrix.core.gaussians import Gaussians, Whitening, null_objective, shrunk_covariances
from separatrix.core.linear_algebra import far_from_zero
from separatrix.core.moments import Moments, SummedRows
from separatrix.core.moments_claims import GaussianClaim, likelihood, likelihood_bound
from separatrix.core.rows.targets import CLASS_NUMBERS
from separatrix.core.scorer import Scores

# If the rounding error of the scores is at most this, the certificate is computed from the moments alone. Otherwise the
# objective is recomputed from the rows, which takes another pass.
LARGEST_SCORE_ROUNDING = 1e-11


class Generative:
    """A classifier that models p(x|C) p(C) by ``gaussians_``."""

    gaussians_: Gaussians
    classes_: AnyArray

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


def check_covariance_settings(model: Any, solvers: tuple[str, ...]) -> None:
    """Refuse invalid settings of the covariance estimate. All solver names stand for the same closed form here."""
    check_choice("solver", model.solver, solvers)
    check_flag("store_covariance", model.store_covariance)
    if model.tol is not None:
        check_not_negative("tol", model.tol)
    given, estimator = model.shrinkage, model.covariance_estimator
    if given is not None and not (given == "auto" if isinstance(given, str) else is_number(given) and 0 <= given <= 1):
        raise ParameterError("shrinkage", f"got {given!r}", "give None, 'auto', or a number from 0 to 1")
    if estimator is not None and given not in (None, 0):
        problem = "covariance_estimator and shrinkage parameters are not None"
        raise ParameterError("shrinkage", problem, "Only one of the two can be set")


def shrinks(model: Any) -> bool:
    """Whether covariances are other than the sample covariances."""
    return model.shrinkage is not None or model.covariance_estimator is not None


def covariances_of(model: Any, task: FitInput, moments: Moments) -> Array:
    """The shrunk covariance of each class, (K, d, d), in the coordinates of the moments."""
    rows, by_estimator = [], model.covariance_estimator is not None
    if by_estimator or isinstance(model.shrinkage, str):
        setting = "covariance_estimator" if by_estimator else "shrinkage"
        given = type(model.covariance_estimator).__name__ if by_estimator else "'auto'"
        reason = "the covariance of each class is estimated from its rows"
        task.refuse_outside_memory(setting, given, reason, "set shrinkage to a number")
        if np.any(task.weight != task.weight[0]):
            asked = "covariance_estimator" if by_estimator else "shrinkage='auto'"
            raise WeightError("sample_weight", f"{asked} needs rows of equal weight", "set shrinkage to a number")
        rows = [task.X[task.codes == k] for k in range(task.n_classes)]
    return shrunk_covariances(moments, rows, model.shrinkage, model.covariance_estimator)


def shrinkage_says(model: Any) -> str:
    """How the covariances were shrunk, as part of a status sentence."""
    if model.covariance_estimator is not None:
        return f", each class's covariance by {type(model.covariance_estimator).__name__}"
    how = "by Ledoit and Wolf's formula" if isinstance(model.shrinkage, str) else f"by {float(model.shrinkage):g}"
    return f", each class's covariance (n_k) shrunk towards a multiple of the identity {how}"


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


def refuse_empty_class(task: FitInput, moments: Moments) -> None:
    """Raise an error if a class has no row of positive weight."""
    empty = np.flatnonzero(moments.weight == 0)
    if len(empty):
        raise WeightError(
            "sample_weight",
            f"class {task.classes.tolist()[empty[0]]!r} has no row of positive weight",
            "give one of its rows a positive weight, or leave its rows out",
        )


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


# --- Linear and quadratic discriminant analysis


def log_constant(white: Whitening, moments: Moments) -> float:
    """Return −½ (r ln 2π + ln |Σ|) in the units of the columns, where r is the rank of Σ."""
    log_det = white.log_det + 2 * float(np.sum(np.log(moments.frame.scale)))
    return -0.5 * (white.rank * float(np.log(2 * np.pi)) + log_det)


def in_raw_units(sigma: Array, moments: Moments) -> Array:
    """Convert a covariance matrix of the scaled columns to the original units."""
    with np.errstate(over="ignore"):
        return np.asarray(sigma * moments.frame.scale * moments.frame.scale[:, None])


def _evidence(model: Any, task: FitInput, moments: Moments, rounding: float) -> Recomputed:
    """Compute the objective and its bound from the moments, or from the rows if ``rounding`` is too large."""
    gaussians: Gaussians = model.gaussians_
    rounding += EPS * max(float(np.max(np.sum(np.abs(A), axis=0), initial=0.0)) for A in gaussians.whiten)
    exact = rounding <= LARGEST_SCORE_ROUNDING
    if not exact and not isinstance(task.table, SummedRows):
        return likelihood(model.scorer_, gaussians, moments, task.table.rows(CLASS_NUMBERS))
    at = gaussians.on(moments)
    bound = likelihood_bound(at)
    if not exact and bound.value is not None:
        why = "the scores have lost digits, and the rows from which the loss could be computed are not kept"
        bound = Bound(None, bound.kind, why)
    return Recomputed(at.objective, null_objective(moments), bound, at.slope)


def gaussian_certificate(
    model: Any,
    task: FitInput,
    moments: Moments,
    status: str,
    rank: int,
    shared: bool,
    discriminative: int,
    rounding: float,
    passes: list[int],
) -> Certificate:
    """Return the certificate of a fitted linear or quadratic discriminant analysis.

    ``shared``: whether all classes have the same covariance. ``discriminative``: the number of parameters of a
    discriminative model with the same boundaries. ``rounding``: the rounding error of the scorer's weights.
    """
    scorer: Scores = model.scorer_
    at = _evidence(model, task, moments, rounding)
    if at.bound.value is None and model.gaussians_.on(moments).gap is not None:
        cause = far_from_zero(moments.frame, task.names, least=0.0)
        status = Message(status, "; its scores have lost digits", *([", since ", cause] if cause else []))
    return Certificate(
        status=status,
        code="closed-form" if rank == task.n_features else "singular",
        met=True,
        **at.fields(),
        iterations=1,
        passes=passes[0],
        solver="closed-form",
        why="closed form: sums of (1, x, xxᵀ) by class",
        rank=rank,
        full_rank=task.n_features,
        n_parameters=model.n_parameters_,
        n_rows=task.n_rows,
        claim=GaussianClaim(scorer, model.gaussians_, shared),
        facts={"size": f"{model.n_parameters_} parameters; {discriminative} in a discriminative model"},
    )
