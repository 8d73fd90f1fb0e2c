"""Fitted weights that users can change: predictions follow ``coef_``, ``intercept_`` and ``classes_`` set by hand.

A fit stores its float64 weights in ``scorer_``. ``coef_`` and ``intercept_`` are created from them on first access,
with the dtype of the training rows. After that, users may modify them in place, so every use of the scorer compares
them with its weights. Before the first access, ``_untouched`` caches the scorer and no comparison is needed.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.labels import as_label_array
from separatrix.core.certificate import Certificate, NoClaim, Uncertified
from separatrix.core.rows.block import is_sparse
from separatrix.core.scorer import Scorer

# Private attributes that are valid only while the weights are the fitted ones: the cached scorer.
UNCHANGED_WEIGHTS = ("_untouched",)
SET_BY_HAND = "uncertified: the weights were set by hand and do not come from a fit"


class WrittenWeights:
    """Keeps ``scorer_``, ``coef_``, ``intercept_`` and ``certificate_`` of a linear classifier consistent.

    All four are stored in the instance's ``__dict__`` under their own names, so copying and pickling work as usual.
    """

    has_probabilities: ClassVar[bool] = False
    # The dtype of the training rows. ``coef_`` has the same dtype, and rows of this dtype get scores of this dtype.
    _dtype: str = "float64"

    @property
    def scorer_(self) -> Scorer:
        """The scorer that predictions use, with float64 weights."""
        held = self.__dict__
        untouched: Scorer | None = held.get("_untouched")
        if untouched is not None:
            return untouched
        return self._scorer_as_written(held.get("scorer_"))

    @scorer_.setter
    def scorer_(self, scorer: Scorer) -> None:
        held = self.__dict__
        for name in ("coef_", "intercept_", *UNCHANGED_WEIGHTS):
            held.pop(name, None)
        held["scorer_"] = held["_untouched"] = scorer
        held["classes_"] = scorer.classes

    @property
    def classes_(self) -> AnyArray:
        """The class labels, in the order of the columns of ``predict_proba``. Setting them renames the predictions."""
        try:
            classes: AnyArray = self.__dict__["classes_"]
            return classes
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no classes_ yet: call fit first") from None

    @classes_.setter
    def classes_(self, classes: Any) -> None:
        self._write("classes_", classes)

    @property
    def coef_(self) -> Any:
        """The weights, (1 or K, n_features). Changing them changes the predictions and removes the certificate."""
        return self._weights("coef_")

    @coef_.setter
    def coef_(self, coef: Any) -> None:
        self._write("coef_", coef)

    @property
    def intercept_(self) -> Any:
        """The intercepts, (1 or K,). Changing them changes the predictions and removes the certificate."""
        return self._weights("intercept_")

    @intercept_.setter
    def intercept_(self, intercept: Any) -> None:
        self._write("intercept_", intercept)

    @property
    def certificate_(self) -> Certificate:
        """The certificate of the fit; an ``Uncertified`` if the weights were set by hand."""
        scorer = self.scorer_  # reading it removes the certificate if the weights were changed
        certificate: Certificate | None = self.__dict__.get("certificate_")
        return _uncertified(scorer) if certificate is None else certificate

    @certificate_.setter
    def certificate_(self, certificate: Certificate) -> None:
        self.__dict__["certificate_"] = certificate

    def sparsify(self) -> Self:
        """Convert ``coef_`` to a CSR matrix, as in scikit-learn. Predictions still use the dense weights and do not
        change.

        Returns
        -------
        self
        """
        from scipy.sparse import csr_array

        self.coef_ = csr_array(self.coef_)
        return self

    def densify(self) -> Self:
        """Convert ``coef_`` back to a dense array.

        Returns
        -------
        self
        """
        self.coef_ = _dense(self.coef_)
        return self

    def _write(self, name: str, weights: Any) -> None:
        held = self.__dict__
        held[name] = weights
        for attribute in UNCHANGED_WEIGHTS:
            held.pop(attribute, None)

    def _weights(self, name: str) -> Any:
        """Return ``coef_`` or ``intercept_``, created from the scorer on first access."""
        held = self.__dict__
        if name not in held:
            scorer = held.get("scorer_")
            if scorer is None:
                raise AttributeError(f"{type(self).__name__} has no {name} yet: call fit first")
            held.pop("_untouched", None)
            held.setdefault("coef_", scorer.W[:, 1:].astype(self._dtype))
            held.setdefault("intercept_", scorer.W[:, 0].astype(self._dtype))
        return held[name]

    def _scorer_as_written(self, scorer: Scorer | None) -> Scorer:
        """Return ``scorer`` if its weights equal ``coef_`` and ``intercept_``, else a new scorer with these weights."""
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
        if "walking_" in held:  # so that the next ``partial_fit`` of a perceptron starts from these weights
            held["walking_"] = None
        return written

    def _link_name(self, n_classes: int) -> str:
        """The name of the link for weights that did not come from a fit."""
        if self.has_probabilities:
            return "logit" if n_classes == 2 else "softmax"
        return "sign" if n_classes == 2 else "identity"


def _dense(coef: Any) -> AnyArray:
    return np.atleast_2d(np.asarray(coef.toarray() if is_sparse(coef) else coef))


def _is_made_of(scorer: Scorer, coef: AnyArray, intercept: AnyArray, classes: Any) -> bool:
    """Whether the arguments equal the scorer's weights and classes, after rounding to the dtype of each argument."""
    W = scorer.W
    return (
        (classes is scorer.classes or np.array_equal(classes, scorer.classes))
        and np.array_equal(intercept, W[:, 0].astype(intercept.dtype))
        and np.array_equal(coef, W[:, 1:].astype(coef.dtype))
    )


def _stacked(coef: AnyArray, intercept: AnyArray, n_classes: int, n_features: int | None) -> Array:
    """Stack ``intercept_`` and ``coef_`` to W, (1 or K, d + 1). Raises an error if their shapes do not match."""
    rows = 1 if n_classes == 2 else n_classes
    if coef.ndim != 2 or len(coef) != rows:
        problem = f"its shape is {coef.shape} for {n_classes} classes"
        raise ParameterError("coef_", problem, f"give an array with {rows} row{'s' if rows > 1 else ''}")
    if n_features is not None and coef.shape[1] != n_features:
        raise ParameterError("coef_", f"it has {coef.shape[1]} columns", f"give {n_features} columns, as in the fit")
    if intercept.shape not in ((), (1,), (rows,)):
        raise ParameterError("intercept_", f"its shape is {intercept.shape}", f"give a scalar or {rows} numbers")
    try:
        return np.column_stack([np.broadcast_to(intercept, (rows,)), coef]).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ParameterError("coef_", f"its dtype is {coef.dtype}", "give numbers") from error


def _uncertified(scorer: Scorer) -> Certificate:
    """Return the certificate of weights that were set by hand, which makes no claim."""
    unknown = float("nan")
    return Uncertified(
        status=SET_BY_HAND,
        code="uncertified",
        met=False,
        objective=unknown,
        null_objective=unknown,
        bound=None,
        bound_kind="none",
        bound_reason="the weights were set by hand",
        gradient_norm=unknown,
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
