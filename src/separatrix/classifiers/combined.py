"""Combines several fitted two-class models into one classifier: its scores, weights (if linear) and certificate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, over_rows
from separatrix.certificates.certificate import Certificate, Claim, Recomputed, Uncertified
from separatrix.certificates.parts_claim import PartsClaim, summed_bound
from separatrix.classifiers.linear import ScoringClassifier
from separatrix.geometry import Hyperplane, Region, voted_regions
from separatrix.losses.links import LINKS, Link
from separatrix.objectives.bound import Bound
from separatrix.rows import memory_rows
from separatrix.rows.column_statistics import refuse_not_finite
from separatrix.scorers.schemes import OneVersusOne, Part, Scheme, pairs
from separatrix.scorers.scorer import Scorer, Scores, chosen_classes


@dataclass(frozen=True)
class PartsScorer:
    """Combines the scores of two-class models by a scheme. ``W`` holds their weights, or None if a model is not linear.

    >>> from separatrix.scorers.schemes import OneVersusOne
    >>> W = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, -1.0]])
    >>> PartsScorer(OneVersusOne(), (), W, np.array(["low", "middle", "high"])).predict(np.array([[2.0]])).tolist()
    ['high']
    """

    scheme: Scheme
    estimators: tuple[Any, ...]
    W: Array | None
    classes: AnyArray

    @property
    def n_features(self) -> int:
        return int(self.estimators[0].n_features_in_ if self.W is None else self.W.shape[1] - 1)

    def parts_scores(self, X: Any, names: list[str] | None = None) -> Array:
        """The scores of each model, (n, models). NaN and infinity in X raise an error that names the cell."""
        if self.W is not None:
            z = Scorer(self.W, np.arange(len(self.W)), "identity").scores(X, names)
            return z if z.ndim == 2 else z[:, None]
        if not all(takes_nan(estimator) for estimator in self.estimators):
            refuse_not_finite(memory_rows(X, np.zeros(X.shape[0])), names)
        return np.column_stack([score_of(estimator, X) for estimator in self.estimators])

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        """Return the scores, (n, K). For two classes they have shape (n,) and are positive for the second class."""
        H = self.parts_scores(X, names)
        if len(self.classes) == 2:
            return np.asarray(H[:, 0])
        return self.scheme.combine(H, self._lengths(H.shape[1]), len(self.classes))

    def _lengths(self, n_models: int) -> Array:
        """Return ‖w‖ of each model, so that h/‖w‖ is a distance; 1 if w = 0 or the model is not linear."""
        if self.W is None:
            return np.ones(n_models)
        lengths = np.linalg.norm(self.W[:, 1:], axis=1)
        return np.where(lengths > 0, lengths, 1.0)

    @property
    def link(self) -> Link:
        """The link of the first model. With two classes it decides which class a score of zero predicts."""
        return LINKS[link_of(self.estimators)]

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return chosen_classes(self.scores(X, names), self.classes, self.link)

    def hyperplane(self, i: Any, j: Any) -> Hyperplane:
        """Return the hyperplane of the model for classes i and j, positive on the side of i (one-versus-one only)."""
        labels = self.classes.tolist()
        if i not in labels or j not in labels or i == j or self.W is None:
            raise ParameterError(
                "i, j",
                f"got {np.asarray(i).tolist()!r} and {np.asarray(j).tolist()!r}",
                f"give two different classes among {labels}",
            )
        a, b = labels.index(i), labels.index(j)
        w = self.W[pairs(len(labels)).index((min(a, b), max(a, b)))]
        return Hyperplane.from_homogeneous(w if a < b else -w)

    def regions_in(self, box: Any, on_plane: Callable[[Array], Array] = np.asarray) -> list[Region]:
        """Return the polygons in which each class is predicted; see ``separatrix.regions``.

        ``on_plane`` maps the weights of the models (P, d + 1) to the weights of their restriction to a plane (P, 3).
        The default is for models of two columns.
        """
        scheme = self.scheme
        if self.W is None or not isinstance(scheme, OneVersusOne):
            kinds = ", ".join(sorted({type(estimator).__name__ for estimator in self.estimators}))
            do = "give one-versus-one over linear models, or use boundary_curve, which traces any boundary"
            raise ParameterError("model", f"{scheme.name} over {kinds} is not linear in the columns", do)
        lines, K = on_plane(self.W), len(self.classes)
        if lines.shape[1] != 3:
            came = f"its weights have shape {lines.shape}"
            raise ParameterError("model", came, "give a linear model of two columns")
        confidence = scheme.confidence(lines.T, self._lengths(len(lines)), K).T
        return voted_regions(lines, confidence, lambda signs: scheme.contenders(signs, K), self.classes.tolist(), box)

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        raise ParameterError(
            "probabilities", f"{self.scheme.name} has only scores", "use a classifier with probabilities, e.g. logistic"
        )

    log_probabilities = probabilities


@dataclass(frozen=True)
class PairwiseScorer(PartsScorer):
    """For estimators with a precomputed kernel: each model gets only the kernel columns of its own training rows."""

    indices: tuple[Integers, ...] = ()

    def parts_scores(self, X: Any, names: list[str] | None = None) -> Array:
        return np.column_stack(
            [score_of(estimator, X[:, rows]) for estimator, rows in zip(self.estimators, self.indices, strict=True)]
        )


def score_of(estimator: Any, X: Any) -> Array:
    """Return the score of a two-class model, positive for class 1.

    The score is the decision function if there is one; else ŷ − ½ for a regressor with targets 0 and 1; else P(1 | x) −
    ½.
    """
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X), dtype=np.float64)
    if is_regressor(estimator):
        return np.asarray(np.ravel(estimator.predict(X)) - 0.5, dtype=np.float64)
    return np.asarray(estimator.predict_proba(X)[:, 1] - 0.5, dtype=np.float64)


def takes_nan(estimator: Any) -> bool:
    """Whether the scikit-learn tags of a model, or of the first step of a pipeline, allow NaN."""
    steps = getattr(estimator, "steps", None)
    first = steps[0][1] if steps else estimator
    return hasattr(first, "__sklearn_tags__") and bool(get_tags(first).input_tags.allow_nan)


def link_of(estimators: Sequence[Any]) -> str:
    """Return the name of the models' link, which decides ties: with probabilities, the first class is predicted.

    >>> from separatrix import LogisticRegression, Perceptron
    >>> rows = [[0.0], [1.0]], [0, 1]
    >>> link_of([LogisticRegression().fit(*rows)]), link_of([Perceptron().fit(*rows)])
    ('logit', 'sign')
    """
    first = estimators[0] if estimators else None
    link = getattr(getattr(first, "scorer_", None), "link_name", None)
    return link or ("logit" if hasattr(first, "predict_proba") else "sign")


def linear_weights(estimators: Sequence[Any], n_features: int) -> Array | None:
    """Return the weights (b, w) of all models, (models, d + 1), or None if some model is not linear in the columns.

    >>> from separatrix import LogisticRegression
    >>> linear_weights([LogisticRegression().fit([[-1.0], [1.0]], [0, 1])], 1).shape
    (1, 2)
    """
    weights = [_weights(estimator, n_features) for estimator in estimators]
    return None if any(w is None for w in weights) else np.array(weights, dtype=np.float64)


def _weights(estimator: Any, n_features: int) -> Array | None:
    if isinstance(estimator, ScoringClassifier):
        # A classifier of this package may have weights although its boundary is not a hyperplane: the posteriors of
        # ``FisherDiscriminant`` may cross twice. Its scorer is then not a ``Scorer``.
        if not isinstance(estimator.scorer_, Scorer):
            return None
        # Shift the intercept so that the score is positive exactly where the model predicts class 1.
        # The boundary of the
        # complementary log-log link is at the score ln ln 2.
        w: Array = estimator.scorer_.W[0].copy()
        w[0] -= estimator.scorer_.link.boundary
        return w
    coef, intercept = getattr(estimator, "coef_", None), getattr(estimator, "intercept_", None)
    if not isinstance(coef, np.ndarray) or intercept is None or coef.shape != (1, n_features):
        return None
    return np.concatenate([np.ravel(intercept)[:1], coef[0]])


def certificate_of(
    scheme: Scheme, scorer: Scores, estimators: Sequence[Any], codes: Integers, full_rank: int
) -> Certificate:
    """Return one certificate for all models: the sums of objectives, bounds and work, and the smallest rank."""
    parts = list(scheme.parts(codes, len(scorer.classes)))
    claim = PartsClaim(scorer, scheme, claims_of(estimators))
    return summed_certificate(scheme.name, scorer.classes.tolist(), estimators, parts, claim, len(codes), full_rank)


def claims_of(estimators: Sequence[Any]) -> tuple[Claim | None, ...]:
    """Return the claim of each model's certificate, or None for a model without a certificate."""
    certificates = [getattr(estimator, "certificate_", None) for estimator in estimators]
    return tuple(None if c is None else c.claim for c in certificates)


class _Totals(NamedTuple):
    """Totals over the models' certificates; NaN if there are none. ``rank`` is the smallest rank."""

    objective: float
    null_objective: float
    gradient_norm: float
    rank: int | None
    iterations: int = 0
    passes: int = 0
    solvers: str = ""


def _totals(certificates: Sequence[Certificate]) -> _Totals:
    if not certificates:
        return _Totals(np.nan, np.nan, np.nan, None)
    ranks = [c.rank for c in certificates if c.rank is not None]
    return _Totals(
        sum(c.objective for c in certificates),
        sum(c.null_objective for c in certificates),
        float(np.linalg.norm([c.gradient_norm for c in certificates])),
        min(ranks) if len(ranks) == len(certificates) else None,
        sum(c.iterations for c in certificates),
        sum(c.passes for c in certificates),
        ", ".join(sorted({c.solver for c in certificates})),
    )


def summed_certificate(
    name: str,
    labels: list[Any],
    estimators: Sequence[Any],
    parts: Sequence[Part],
    claim: Claim,
    n_rows: int,
    full_rank: int,
) -> Certificate:
    """Return one certificate for several models. ``name`` is the name of the scheme that combines them."""
    certificates = [getattr(estimator, "certificate_", None) for estimator in estimators]
    known = [certificate for certificate in certificates if certificate is not None]
    counts = [_n_parameters(estimator) for estimator in estimators]
    code, status = _status(estimators, parts, labels)
    bound = summed_bound([Bound(c.bound, c.bound_kind, c.bound_reason) for c in known], len(estimators))
    totals = _totals(known)
    facts = {"scheme": f"{name}, {len(estimators)} models"}
    if None in counts:
        facts["parameters"] = "unknown for at least one model"
    kinds = sorted({type(estimator).__name__ for estimator in estimators})
    kind = Certificate if known else Uncertified
    return kind(
        status=status,
        code=code,
        met=code == "met",
        **Recomputed(totals.objective, totals.null_objective, bound, totals.gradient_norm).fields(),
        iterations=totals.iterations,
        passes=totals.passes,
        solver=totals.solvers,
        why=f"{name} over {', '.join(kinds)}",
        rank=totals.rank,
        full_rank=full_rank,
        n_parameters=sum(count or 0 for count in counts),
        n_rows=n_rows,
        claim=claim,
        facts=facts,
    )


def _status(estimators: Sequence[Any], parts: Sequence[Part], labels: list[Any]) -> tuple[str, str]:
    """Return a status code and a sentence: how many models met their stopping rule, and the status of the first."""
    total = len(estimators)
    known = [(e, part) for e, part in zip(estimators, parts, strict=True) if hasattr(e, "certificate_")]
    unmet = [(e, part) for e, part in known if not e.certificate_.met]
    if unmet:
        first = _part_status(*unmet[0], labels)
        return "unmet", Message(f"{len(unmet)} of {total} models did not converge; status of the first: ", first)
    if len(known) < total:
        without = total - len(known)
        return "uncertified", f"uncertified: {without} of {total} models have no certificate"
    return "met", Message(f"all {total} models converged; status of the first: ", _part_status(*known[0], labels))


def _part_status(estimator: Any, part: Part, labels: list[Any]) -> str:
    """Return the status of one model, with the names of its classes and with row numbers of the whole table."""
    status: str = estimator.certificate_.status
    if len(labels) == 2:
        return status
    for_, against = part.names
    classes = f"class {labels[for_]!r} against {'the rest' if against is None else repr(labels[against])}"
    return Message(f"{classes}: ", over_rows(status, part.rows))


def _n_parameters(estimator: Any) -> int | None:
    if hasattr(estimator, "n_parameters_"):
        return int(estimator.n_parameters_)
    coef = getattr(estimator, "coef_", None)
    return None if coef is None else int(coef.shape[-1]) + int(bool(getattr(estimator, "fit_intercept", True)))
