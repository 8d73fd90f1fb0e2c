"""Combines several fitted two-class models into one classifier: its weights (if linear) and its certificate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.messages import Message
from separatrix.base.renamed_messages import over_rows
from separatrix.certificates.certificate import Certificate, Uncertified
from separatrix.certificates.claim import Claim, Recomputed
from separatrix.certificates.parts_claim import PartsClaim, summed_bound
from separatrix.classifiers.linear import ScoringClassifier
from separatrix.objectives.bound import Bound
from separatrix.scorers.schemes import Part, Scheme
from separatrix.scorers.scorer import Scorer, Scores


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
    scheme: Scheme, scorer: Scores, estimators: Sequence[Any], codes: Integers | None, n_rows: int, full_rank: int
) -> Certificate:
    """Return one certificate for all models: the sums of objectives, bounds and work, and the smallest rank.

    ``codes`` are the class numbers of the rows, None if the rows are not in memory. Then the models name the rows of
    the whole table.
    """
    K = len(scorer.classes)
    parts = list(scheme.parts(np.arange(K) if codes is None else codes, K))
    claim, labels = PartsClaim(scorer, scheme, claims_of(estimators)), scorer.classes.tolist()
    named = codes is None
    return summed_certificate(scheme.name, labels, estimators, parts, claim, n_rows, full_rank, rows_are_named=named)


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
    rows_are_named: bool = False,
) -> Certificate:
    """Return one certificate for several models. ``name`` is the name of the scheme that combines them.

    ``rows_are_named``: the models name rows by their numbers in the whole table, not in their parts.
    """
    certificates = [getattr(estimator, "certificate_", None) for estimator in estimators]
    known = [certificate for certificate in certificates if certificate is not None]
    counts = [_n_parameters(estimator) for estimator in estimators]
    code, status = _status(estimators, parts, labels, rows_are_named)
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


def _status(estimators: Sequence[Any], parts: Sequence[Part], labels: list[Any], named: bool) -> tuple[str, str]:
    """Return a status code and a sentence: how many models met their stopping rule, and the status of the first."""
    total = len(estimators)
    known = [(e, part) for e, part in zip(estimators, parts, strict=True) if hasattr(e, "certificate_")]
    unmet = [(e, part) for e, part in known if not e.certificate_.met]
    if unmet:
        first = _part_status(*unmet[0], labels, named)
        return "unmet", Message(f"{len(unmet)} of {total} models did not converge; status of the first: ", first)
    if len(known) < total:
        without = total - len(known)
        return "uncertified", f"uncertified: {without} of {total} models have no certificate"
    first = _part_status(*known[0], labels, named)
    return "met", Message(f"all {total} models converged; status of the first: ", first)


def _part_status(estimator: Any, part: Part, labels: list[Any], named: bool) -> str:
    """Return the status of one model, with the names of its classes and with row numbers of the whole table."""
    status: str = estimator.certificate_.status
    if len(labels) == 2:
        return status
    for_, against = part.names
    classes = f"class {labels[for_]!r} against {'the rest' if against is None else repr(labels[against])}"
    return Message(f"{classes}: ", status if named else over_rows(status, part.rows))


def _n_parameters(estimator: Any) -> int | None:
    if hasattr(estimator, "n_parameters_"):
        return int(estimator.n_parameters_)
    coef = getattr(estimator, "coef_", None)
    return None if coef is None else int(coef.shape[-1]) + int(bool(getattr(estimator, "fit_intercept", True)))
