"""Checks of the arguments of ``fit`` and ``predict``, and their conversion to the forms that solvers and scorers take.

``validate`` makes a ``FitInput`` of rows, labels and weights, which may be arrays, data frames, or a table outside
memory with its labels and weights in columns of its own. ``scored`` passes rows to a fitted scorer. The rest is about
the weights of classes, and about classes that first appear in a later call of ``partial_fit``.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from separatrix.classifiers.writable_weights import UNCHANGED_WEIGHTS
from separatrix.core.base.arrays import AnyArray, Array, Integers, refuse_text, refuse_unclear
from separatrix.core.base.errors import (
    InputError,
    LabelError,
    NoRowsError,
    NotFiniteError,
    ParameterError,
    TableError,
    WeightError,
)
from separatrix.core.base.labels import RowNames, as_label_array, encode, refuse_fractions
from separatrix.core.base.lazy import is_dask
from separatrix.core.cluster import read_in_place
from separatrix.core.rows.block import as_csr, is_sparse
from separatrix.core.rows.column_statistics import refuse_not_finite_pieces
from separatrix.core.rows.labelled_table import LabelledTable, MemoryTable, OutsideMemory, with_offset
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.protocol import Rows
from separatrix.core.rows.targets import ClassTotals, Coding, row_weights


@dataclass(frozen=True)
class FitInput:
    """The checked arguments of ``fit``.

    ``table``: the rows with their class numbers and weights, in memory or elsewhere. ``classes``: the labels.
    ``names``: the column names, or None. ``before``: the scorer of an earlier fit of the same estimator, for a warm
    start. ``row_names``: the names of the rows in the user's table, or None.
    """

    table: LabelledTable
    classes: AnyArray
    names: list[str] | None
    before: Any = None
    row_names: RowNames | None = None

    def told(self, sentence: str) -> str:
        """A sentence about the fit that names rows as the user's table does, if that is known."""
        return sentence if self.row_names is None else self.row_names.told(sentence)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def n_rows(self) -> int:
        return self.table.n_rows

    @property
    def n_features(self) -> int:
        return self.table.n_features

    def likelihood_rows(self, coding: Coding, offset: Array | None = None) -> Rows:
        """The rows with the targets and weights of a likelihood, and with an offset as the last columns."""
        if offset is None:
            return self.table.rows(coding)
        t, weight = coding.of(self.codes, self.weight)
        return memory_rows(with_offset(self.X, offset), t, weight, weight_unit=coding.unit)

    @property
    def is_in_memory(self) -> bool:
        return isinstance(self.table, MemoryTable)

    @property
    def memory(self) -> MemoryTable:
        """The rows in memory. Settings that need them call ``refuse_outside_memory`` first."""
        if isinstance(self.table, MemoryTable):
            return self.table
        problem = "its rows are not in memory, and this function needs them there"
        raise ParameterError("X", problem, "read the rows into memory first")

    def refuse_outside_memory(self, setting: str, given: str, reason: str, instead: str) -> None:
        """Raise an error about a setting that needs the rows in memory, if they are elsewhere."""
        if not self.is_in_memory:
            problem = f"got {given}, and the rows are not in memory: {reason}"
            raise ParameterError(setting, problem, f"{instead}, or read the rows into memory")

    @property
    def X(self) -> Any:
        """The rows in memory, dense or CSR, in float32 or float64."""
        return self.memory.X

    @property
    def codes(self) -> Integers:
        """The class number of each row, in memory."""
        return self.memory.codes

    @property
    def weight(self) -> Array:
        """The weight of each row, in memory."""
        return self.memory.weight


def validate(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> FitInput:
    """Check rows, labels and weights. The first pass over the rows looks for NaN and infinity.

    All attributes that an earlier fit has set are removed from the estimator.
    """
    if is_dask(X):
        X, y, sample_weight = read_in_place(X, y, sample_weight)
    if isinstance(X, OutsideMemory):
        return _outside_memory(estimator, X, y, sample_weight)
    # The first steps of a pipeline may have gathered X. Labels and weights take less memory than X.
    y, sample_weight = (given.compute() if is_dask(given) else given for given in (y, sample_weight))
    if y is None:
        raise LabelError("y", "requires y to be passed, but the target y is None", "give one label per row")
    named, row_names = getattr(X, "column_names", None), getattr(X, "row_names", None)
    X = rows_to_fit(estimator, X)
    y = as_label_array(column_or_1d(y, warn=True) if getattr(y, "ndim", 1) == 2 else y)
    refuse_fractions(y)
    if X.shape[0] != len(y):
        check_consistent_length(X, y)  # the error of scikit-learn
    classes, codes = encode(y)
    _refuse_one_class(classes)
    weight, names = row_weights(sample_weight, X.shape[0]), column_names(estimator) or named
    before = forgotten(estimator)
    estimator._dtype = "float32" if X.dtype == np.float32 else "float64"
    estimator.has_sample_weight_ = sample_weight is not None
    return FitInput(MemoryTable(X, codes, weight, len(classes)), classes, names, before, row_names)


def _outside_memory(estimator: Any, table: OutsideMemory, y: Any, sample_weight: Any) -> FitInput:
    """The input of a fit to a table outside memory, whose labels and weights are columns of the table."""
    refuse_beside_table(table, y, sample_weight)
    reason = estimator.traits.in_memory
    if reason:
        problem = f"its rows are not in memory, and {type(estimator).__name__} needs them there: {reason}"
        raise ParameterError("X", problem, f"read the rows into memory, or use {estimator.traits.instead}")
    _refuse_one_class(table.classes)
    if not table.n_features:
        raise TableError(table.name, "the target is the only column", "give at least one column to learn from")
    estimator.n_features_in_ = table.n_features
    vars(estimator).pop("feature_names_in_", None)
    if table.has_names:
        estimator.feature_names_in_ = np.array(table.columns, dtype=object)
    before = forgotten(estimator)
    estimator._dtype = np.dtype(table.dtype).name
    estimator.has_sample_weight_ = table.has_weights
    return FitInput(table, table.classes, list(table.columns) if table.has_names else None, before)


def refuse_beside_table(table: OutsideMemory, y: Any = None, sample_weight: Any = None) -> None:
    """Refuse labels and weights that are given with a table outside memory, which has them in columns of its own."""
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is not None:
            what = "target" if name == "y" else "weight"
            raise ParameterError(name, f"got one together with {table.name}", f"name its column: scan(..., {what}=...)")


def refuse_steps_outside_memory(**given: Any) -> None:
    """Refuse arguments of ``partial_fit`` that are not in memory: they would be gathered without notice."""
    for name, value in given.items():
        if is_dask(value):
            problem = "it is a Dask collection, and partial_fit takes rows in memory"
            remedy = "use fit, which takes Dask collections, or give the partitions one by one"
            raise ParameterError(name, problem, remedy)
        if isinstance(value, OutsideMemory):
            raise ParameterError(name, "partial_fit takes rows in memory", "use fit, which reads a table in pieces")


def _refuse_one_class(classes: AnyArray) -> None:
    if len(classes) < 2:
        problem = f"it has only one class, {classes.tolist()[0]!r}"
        raise LabelError("y", problem, "give rows of at least two classes, not one class")


def forgotten(estimator: Any) -> Any:
    """Remove the attributes of an earlier fit, except those that describe the columns of X, and return its scorer."""
    held = vars(estimator)
    kept = ("n_features_in_", "feature_names_in_")
    fitted = [name for name in held if name[-1] == "_" != name[0] and name not in kept]
    if not fitted:
        return None
    try:
        before = getattr(estimator, "scorer_", None)
    except InputError:  # weights that were set by hand to shapes that do not fit together
        before = None
    for name in fitted:
        held.pop(name, None)
    for name in UNCHANGED_WEIGHTS:
        held.pop(name, None)
    return before


def rows_to_fit(estimator: Any, X: Any, reset: bool = True) -> Any:
    """Rows as float32 or float64: dense, or CSR with sorted indices and no duplicate entries. Copied only if needed."""
    rows = checked_rows(estimator, X, (np.float64, np.float32), reset)
    return as_csr(rows) if is_sparse(rows) else rows


def rows_to_score(estimator: Any, X: Any) -> tuple[Any, list[str] | None]:
    """Checked rows for a fitted estimator, and the column names for error messages."""
    if is_dask(X):
        problem = "it is a Dask collection, and this function needs an array"
        raise ParameterError("X", problem, "give separatrix.dask_table(X, y) in place of X and y, or X.compute()")
    if is_plain(X) and X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_"):
        return X, None
    return checked_rows(estimator, X, "numeric", reset=False), column_names(estimator)


def scored(estimator: Any, X: Any, answer: Callable[[Any, list[str] | None], Array]) -> Array:
    """What ``answer`` returns for rows X and the names of their columns, for each row.

    A table outside memory is answered piece by piece; only the answers for all rows are kept. The answer for a Dask
    collection is a Dask array, which is computed when it is used.
    """
    if is_dask(X):
        from separatrix.core.cluster.connection import answered

        lazy: Array = answered(X, lambda rows: answer(*rows_to_score(estimator, rows)))
        return lazy
    if not isinstance(X, OutsideMemory):
        return answer(*rows_to_score(estimator, X))
    from separatrix.core.rows.views import model_matrices

    check_is_fitted(estimator)
    names = column_names(estimator)
    pieces = partial(model_matrices, X, names, estimator.n_features_in_)
    try:
        answers = [answer(rows, list(names or X.columns)) for rows in pieces()]
    except NotFiniteError:
        refuse_not_finite_pieces(pieces(), list(names or X.columns))  # a piece counts its rows from its own start
        raise
    if not answers:
        raise NoRowsError(X.name, "it has no rows", "give a table with rows to predict")
    return np.concatenate(answers)


def as_precise(answers: Array, rows: Any, fitted: str) -> Array:
    """Answers in float32 if both these rows and those of the fit were float32, as in scikit-learn; else in float64.

    A score outside the range of float32 is clipped to the nearest finite float32.
    """
    if fitted != "float32" or rows != np.float32:
        return answers
    most = float(np.finfo(np.float32).max)
    with np.errstate(under="ignore"):
        return np.clip(answers, -most, most).astype(np.float32)


def checked_rows(estimator: Any, X: Any, dtype: Any, reset: bool = True) -> Any:
    """Rows checked by scikit-learn, except for NaN and infinity. The error about a text column names the column.

    A plain array of floats needs no conversion and has no column names, so only its width is stored.
    """
    if reset and is_plain(X) and X.shape[1] > 0:
        vars(estimator).pop("feature_names_in_", None)
        estimator.n_features_in_ = X.shape[1]
        return X
    refuse_unclear(X)
    try:
        return validate_data(estimator, X, reset=reset, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)
    except (TypeError, ValueError) as error:
        refuse_text(X, error)
        raise


def is_plain(X: Any) -> bool:
    """Whether X is a non-empty 2-D array of floats, which needs neither conversion nor a comparison of names."""
    return type(X) is np.ndarray and X.ndim == 2 and X.dtype.char in "df" and X.dtype.isnative and X.shape[0] > 0


def column_names(estimator: Any) -> list[str] | None:
    names = getattr(estimator, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def seed_of(random_state: Any) -> int:
    """A seed from scikit-learn's ``random_state``. None gives 0, so that fits are reproducible."""
    from sklearn.utils import check_random_state

    if random_state is None:
        return 0
    try:
        checked = check_random_state(random_state)
    except ValueError as error:
        raise ParameterError("random_state", f"got {random_state!r}", "give a whole number >= 0 or None") from error
    return int(random_state) if isinstance(random_state, Integral) else int(checked.randint(2**31 - 1))


# --- The weights of classes


def refuse_weightless_classes(classes: AnyArray, weight: Array, least: int | None = None) -> None:
    """Raise an error if fewer than ``least`` classes (by default all) have weight; ``weight`` (K,): that of each."""
    held = weight > 0
    if held.all() or not np.count_nonzero(held):
        return  # if no row has weight, the first pass over the rows raises the error
    if held.sum() < (len(classes) if least is None else least):
        label = classes.tolist()[int(np.argmin(held))]
        problem = f"all rows of the class {label!r} have weight zero"
        raise WeightError("sample_weight", problem, "drop these rows, or give one of them a positive weight")


def totals_for(class_weight: Any, table: LabelledTable) -> ClassTotals:
    """Totals of a table that are enough for these class weights: "balanced" ones need those of all rows."""
    return table.totals if isinstance(class_weight, str) else table.seen_totals


def class_weights(class_weight: Any, classes: AnyArray, totals: Array) -> Array:
    """A factor for each class: 1, or given by label, or "balanced": S/(K S_k), where S_k in ``totals`` is the weight of
    class k, and S that of all.
    """
    factors = np.ones(len(classes))
    if class_weight is None:
        return factors
    if isinstance(class_weight, str) and class_weight == "balanced":
        factors[totals > 0] = totals.sum() / (len(classes) * totals[totals > 0])
        return factors
    if not isinstance(class_weight, dict):
        remedy = "give None, 'balanced', or a factor for each label"
        raise ParameterError("class_weight", f"got {class_weight!r}", remedy)
    labels = classes.tolist()
    for label, factor in class_weight.items():
        if label not in labels:
            raise ParameterError("class_weight", f"it names {label!r}", f"use the labels {labels}")
        if not isinstance(factor, Real) or not 0 <= float(factor) < np.inf:
            raise WeightError("class_weight", f"{label!r} has {factor!r}", "give finite factors >= 0")
        factors[labels.index(label)] = factor
    return factors


# --- Classes that appear in a later call of partial_fit


def with_later(classes: AnyArray, y: Any) -> AnyArray:
    """The sorted classes with those of y that are new; the same array if there are none.

    >>> with_later(np.array(["a", "c"]), ["b", "c"]).tolist()
    ['a', 'b', 'c']
    """
    known = set(classes.tolist())
    new = [label for label in dict.fromkeys(as_label_array(y).tolist()) if label not in known]
    return encode([*classes.tolist(), *new])[0] if new else classes


def places_of(classes: AnyArray, among: AnyArray) -> Integers:
    """The place of each of ``classes`` in an older array of classes, −1 for a new one.

    >>> places_of(np.array(["a", "b", "c"]), np.array(["a", "c"])).tolist()
    [0, -1, 1]
    """
    place = {label: k for k, label in enumerate(among.tolist())}
    return np.array([place.get(label, -1) for label in classes.tolist()], dtype=np.int64)


def widened_weights(W: Array, before: AnyArray, classes: AnyArray, unseen: Array) -> Array:
    """Weights (K, d + 1) of each class against the rest, made of those of fewer classes.

    Two classes have one row, the weights of the second; those of the first are its negative. ``unseen`` (d + 1,) are
    the weights of a new class.

    >>> widened_weights(np.array([[1.0, 2.0]]), np.array([0, 5]), np.array([0, 3, 5]), np.array([-1.0, 0.0])).tolist()
    [[-1.0, -2.0], [-1.0, 0.0], [1.0, 2.0]]
    """
    each = np.vstack([-W, W]) if len(before) == 2 else W
    return np.vstack([each, unseen])[places_of(classes, before)]


@dataclass
class LaterModels:
    """Models that one versus rest keeps while classes may appear.

    A class that has not appeared yet would have seen all rows so far as the rest, whichever class it is. So ``unseen``
    is trained with every row on the other side, and a copy of it becomes the model of a new class. The result is the
    same as if the first call had been given all classes. ``first`` is the model of the first class: two classes share
    one model, that of the second.
    """

    unseen: Any
    first: Any

    @classmethod
    def of(cls, base: Any) -> LaterModels:
        """New models, of an estimator that is not fitted."""
        return cls(deepcopy(base), deepcopy(base))

    def step(self, rows: Any, codes: Integers, n_classes: int) -> None:
        """Update the models with rows of these class numbers."""
        sides = np.array([0, 1])
        self.unseen.partial_fit(rows, np.zeros(len(codes), dtype=np.int64), classes=sides)
        if n_classes == 2:
            self.first.partial_fit(rows, (codes == 0).astype(np.int64), classes=sides)

    def widened(self, models: list[Any], before: AnyArray, classes: AnyArray) -> list[Any]:
        """The models of all classes, made of those of fewer classes."""
        each = [self.first, *models] if len(before) == 2 else models
        return [deepcopy(self.unseen) if k < 0 else each[k] for k in places_of(classes, before)]
