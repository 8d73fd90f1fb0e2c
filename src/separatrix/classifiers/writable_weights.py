"""Fitted weights that can be written: ``coef_``, ``intercept_`` and ``classes_`` set by hand are what predicts.

A fit keeps its float64 weights in ``scorer_``. ``coef_`` and ``intercept_`` are made of them when first asked for, in
the type of the rows of the fit. From then on their bytes are compared with what they were whenever the scorer is used,
since they may have been written in place; until then ``_untouched`` is the scorer, and a prediction pays nothing.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.base.labels import as_label_array
from separatrix.certificates.certificate import Certificate, NoClaim, Uncertified
from separatrix.rows.block import is_sparse
from separatrix.scorers.scorer import Scorer

# What is kept about weights that nobody has written; forgotten with the fit.
MARKS = ("_untouched", "_seen")
BY_HAND = "uncertified: the weights were set by hand, so they are not those of a fit"


class WrittenWeights:
    """``scorer_``, ``coef_``, ``intercept_`` and ``certificate_`` of a linear classifier, kept in step.

    All four live in the instance's dictionary under their own names, so that copying and pickling need no rule.
    """

    has_probabilities: ClassVar[bool] = False
    # The type of the rows of the fit, and so of ``coef_`` and of answers to rows of that type.
    _dtype: str = "float64"

    @property
    def scorer_(self) -> Scorer:
        """The weights that predict, in float64."""
        held = self.__dict__
        untouched: Scorer | None = held.get("_untouched")
        if untouched is not None:
            return untouched
        scorer: Scorer | None = held.get("scorer_")
        if scorer is None or held.get("classes_") is not scorer.classes or _is_touched(held):
            return self._scorer_as_written(scorer)
        return scorer

    @scorer_.setter
    def scorer_(self, scorer: Scorer) -> None:
        held = self.__dict__
        for name in ("coef_", "intercept_", *MARKS):
            held.pop(name, None)
        held["scorer_"] = held["_untouched"] = scorer
        held["classes_"] = scorer.classes

    @property
    def classes_(self) -> AnyArray:
        """The labels, in the order of the columns of ``predict_proba``; writing them renames the answers."""
        try:
            found: AnyArray = self.__dict__["classes_"]
            return found
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no classes_ yet: call fit first") from None

    @classes_.setter
    def classes_(self, classes: Any) -> None:
        self._write("classes_", classes)

    @property
    def coef_(self) -> Any:
        """Weights (1 or K, n_features); writing them changes the predictions and voids the certificate."""
        return self._weights("coef_")

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._write("coef_", coef)

    @property
    def intercept_(self) -> Any:
        """Intercepts (1 or K,); writing them changes the predictions and voids the certificate."""
        return self._weights("intercept_")

    @intercept_.setter
    def intercept_(self, intercept: Any) -> None:
        self._write("intercept_", intercept)

    @property
    def certificate_(self) -> Certificate:
        """How good the fit is, with ``verify(X, y)``; of weights set by hand, that nothing is known."""
        scorer = self.scorer_  # weights that were written void what was certified
        found: Certificate | None = self.__dict__.get("certificate_")
        return _by_hand(scorer) if found is None else found

    @certificate_.setter
    def certificate_(self, certificate: Certificate) -> None:
        self.__dict__["certificate_"] = certificate

    def sparsify(self) -> Self:
        """Hold ``coef_`` as a CSR matrix, as in scikit-learn; predictions stay the same, and use the dense weights."""
        from scipy.sparse import csr_array

        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Hold ``coef_`` as a dense array again."""
        self.coef_ = _dense(self.coef_)
        return self

    def _write(self, name: str, weights: Any) -> None:
        held = self.__dict__
        held[name] = weights
        for mark in MARKS:
            held.pop(mark, None)

    def _weights(self, name: str) -> Any:
        held = self.__dict__
        if name not in held:
            scorer = held.get("scorer_")
            if scorer is None:
                raise AttributeError(f"{type(self).__name__} has no {name} yet: call fit first")
            # Both at once, so that what is seen now is what the fit had.
            held.pop("_untouched", None)
            untouched = "coef_" not in held and "intercept_" not in held
            held.setdefault("coef_", scorer.W[:, 1:].astype(self._dtype))
            held.setdefault("intercept_", scorer.W[:, 0].astype(self._dtype))
            if untouched:
                held["_seen"] = held["coef_"].tobytes(), held["intercept_"].tobytes()
        return held[name]

    def _scorer_as_written(self, scorer: Scorer | None) -> Scorer:
        """The scorer if its weights are those of ``coef_`` and ``intercept_``, else one that is made of them."""
        held = self.__dict__
        lacking = [name for name in ("coef_", "intercept_", "classes_") if name not in held]
        if scorer is None and lacking:
            raise AttributeError(f"{type(self).__name__} is not fitted: it has no {', '.join(lacking)}")
        coef, intercept, classes = _dense(self.coef_), np.asarray(self.intercept_), held["classes_"]
        if scorer is not None and _is_made_of(scorer, coef, intercept, classes):
            return scorer
        labels = as_label_array(classes)
        W = _stacked(coef, intercept, len(labels), held.get("n_features_in_"))
        link = scorer.link_name if scorer is not None and len(scorer.W) == len(W) else self._link_name(len(labels))
        written = Scorer(W, labels, link)
        held["scorer_"], held["classes_"] = written, labels
        held.setdefault("n_features_in_", written.n_features)
        held.pop("certificate_", None)
        if "walking_" in held:  # a perceptron that is fitted further goes on from these weights
            held["walking_"] = None
        return written

    def _link_name(self, n_classes: int) -> str:
        """The head of a model that was made of weights alone."""
        if self.has_probabilities:
            return "logit" if n_classes == 2 else "softmax"
        return "sign" if n_classes == 2 else "identity"


def _is_touched(held: dict[str, Any]) -> bool:
    """Whether ``coef_`` and ``intercept_`` may be other than the scorer's weights."""
    if "coef_" not in held and "intercept_" not in held:
        return False
    seen = held.get("_seen")
    return seen is None or seen != (held["coef_"].tobytes(), held["intercept_"].tobytes())


def _dense(coef: Any) -> AnyArray:
    return np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef))


def _is_made_of(scorer: Scorer, coef: AnyArray, intercept: AnyArray, classes: Any) -> bool:
    """Whether these are the scorer's weights, rounded to the type that they are held in."""
    W = scorer.W
    return (
        (classes is scorer.classes or np.array_equal(classes, scorer.classes))
        and np.array_equal(intercept, W[:, 0].astype(intercept.dtype))
        and np.array_equal(coef, W[:, 1:].astype(coef.dtype))
    )


def _stacked(coef: AnyArray, intercept: AnyArray, n_classes: int, n_features: int | None) -> Array:
    """W (1 or K, d + 1) of ``coef_`` and ``intercept_``, or an error that says what does not fit."""
    rows = 1 if n_classes == 2 else n_classes
    if coef.ndim != 2 or len(coef) != rows:
        came = f"its shape is {coef.shape} for {n_classes} classes"
        raise ParameterError("coef_", came, f"give {rows} row{'s' if rows > 1 else ''} of weights")
    if n_features is not None and coef.shape[1] != n_features:
        raise ParameterError("coef_", f"it has {coef.shape[1]} columns", f"give the {n_features} columns of the fit")
    if intercept.shape not in ((), (1,), (rows,)):
        raise ParameterError("intercept_", f"its shape is {intercept.shape}", f"give {rows} numbers, or one")
    try:
        return np.column_stack([np.broadcast_to(intercept, (rows,)), coef]).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("coef_", f"it is of type {coef.dtype}", "give numbers") from error


def _by_hand(scorer: Scorer) -> Certificate:
    nothing = float("nan")
    return Uncertified(
        status=BY_HAND,
        code="uncertified",
        met=False,
        objective=nothing,
        null_objective=nothing,
        bound=None,
        bound_kind="none",
        bound_reason="nothing is claimed",
        gradient_norm=nothing,
        iterations=0,
        passes=0,
        solver="",
        why="none: the weights were set by hand",
        rank=None,
        full_rank=scorer.n_features + 1,
        n_parameters=int(scorer.W.size),
        n_rows=0,
        claim=NoClaim(scorer),
    )
