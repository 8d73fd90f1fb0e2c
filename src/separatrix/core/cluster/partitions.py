"""Dask collections as tables in partitions, whose labels, weights and rows tasks can make at any time.

The classes are found in a pass over labels and weights alone. The rows of a table in partitions are then computed by
the workers of a cluster, which keep them (``core/cluster/cluster_rows.py``), or without a cluster in this process,
again in every pass and a few partitions at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.errors import InputError, LabelError, ParameterError, TableError, WeightError
from separatrix.core.base.labels import as_label_array, encode, known_codes, refuse_fractions
from separatrix.core.base.lazy import is_dask, is_data_frame
from separatrix.core.rows.block import as_csr, is_sparse
from separatrix.core.rows.streamed import Piece
from separatrix.core.rows.targets import ClassTotals, refuse_extreme_weights

# --- Labels and weights


@dataclass(frozen=True)
class PartLabels:
    """The labels that occur in a partition, sorted, and the rows and weights of each."""

    classes: AnyArray
    totals: ClassTotals

    @property
    def n_rows(self) -> int:
        return self.totals.n_rows

    @classmethod
    def of(cls, part: int, y: Any, weight: Any) -> PartLabels:
        """The labels of partition number ``part``. ``weight`` is None if all rows have weight one."""
        labels = labels_of(part, y)
        if len(labels) == 0:
            return cls(labels, ClassTotals.of(np.empty(0, dtype=np.int64), np.empty(0), 0))
        classes, codes = encode(labels)
        return cls(classes, ClassTotals.of(codes, weights_of(part, weight, len(labels)), len(classes)))


def labels_of(part: int, y: Any) -> AnyArray:
    """The labels of a partition, (m,). Errors name the partition."""
    values = np.asarray(y)
    try:
        labels = as_label_array(values[:, 0] if values.ndim == 2 and values.shape[1] == 1 else values)
        refuse_fractions(labels)
    except LabelError as error:
        raise in_partition(error, part) from error
    return labels


def weights_of(part: int, weight: Any, n_rows: int) -> Array:
    """The weights of a partition, (m,); ones if there are none."""
    if weight is None:
        return np.ones(n_rows)
    weights: Array = np.asarray(weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        problem = f"partition {part} has {n_rows} labels, and weights of shape {weights.shape}"
        raise WeightError("sample_weight", problem, "give one weight per row, in partitions like those of y")
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = f"row {row} of partition {part} has {weights[row]}"
        raise WeightError("sample_weight", problem, "give finite weights that are not negative")
    return weights


def in_partition(error: InputError, part: int) -> InputError:
    """The same error, with the number of the partition added."""
    return type(error)(error.argument, f"in partition {part}, {error.problem}", error.remedy)


def united(parts: Sequence[PartLabels]) -> tuple[AnyArray, ClassTotals]:
    """The classes of all partitions, sorted, and their totals.

    >>> one, two = PartLabels.of(0, ["b", "b"], None), PartLabels.of(1, ["c", "a", "b"], None)
    >>> classes, totals = united([one, two])
    >>> classes.tolist(), totals.rows.tolist()
    (['a', 'b', 'c'], [1, 3, 1])
    """
    filled = [part for part in parts if part.n_rows]
    if not filled:
        raise LabelError("y", "it holds no labels", "give at least one row of each of two classes")
    classes, places = encode(_together([part.classes for part in filled]))
    totals, begin = ClassTotals.none(len(classes)), 0
    for part in filled:
        place = places[begin : begin + len(part.classes)]
        begin += len(part.classes)
        totals = totals.merge(part.totals.regrouped(place, len(classes)))
    refuse_extreme_weights("sample_weight", "the largest", float(totals.largest.max()))
    return classes, totals


def _together(labels: Sequence[AnyArray]) -> AnyArray:
    """All labels in one array. Labels of different kinds, such as text and numbers, keep their types."""
    kinds = {"n" if each.dtype.kind in "biuf" else each.dtype.kind for each in labels}
    if len(kinds) == 1:
        return np.concatenate(labels)
    return np.concatenate([each.astype(object) for each in labels])


# --- Partitions


@dataclass(frozen=True)
class PartitionSurvey:
    """What must be known before rows are loaded: the sorted labels, their totals, and the length of each partition."""

    classes: AnyArray
    totals: ClassTotals
    counts: list[int]


@dataclass(frozen=True)
class TableForm:
    """The form of a table, which every partition of X must have: its columns, float type, and whether it is sparse.

    ``has_names``: the user gave the columns names. ``has_weights``: the user gave weights.
    """

    name: str
    columns: tuple[str, ...]
    has_names: bool = True
    dtype: Any = np.float64
    is_sparse: bool = False
    has_weights: bool = False

    def matrix(self, part: int, X: Any) -> Any:
        """A partition as row-major floats or as CSR rows. It is copied only if it has another form."""
        if is_sparse(X) != self.is_sparse:
            found, declared = ("sparse", "dense") if is_sparse(X) else ("dense", "sparse")
            problem = f"partition {part} is {found}, but X is declared to be {declared}"
            raise TableError("X", problem, "give all partitions the same form, and the right meta to map_blocks")
        self._check_columns(part, X)
        self._check_precision(part, X)
        if is_sparse(X):
            return as_csr(X if X.dtype == self.dtype else X.astype(self.dtype))
        try:
            # A missing value of a pandas data frame becomes NaN.
            floats = X.to_numpy(self.dtype, na_value=np.nan) if hasattr(X, "columns") else np.asarray(X, self.dtype)
            return np.ascontiguousarray(floats)
        except (TypeError, ValueError) as error:
            raise TableError("X", f"partition {part} cannot be converted to numbers ({error})", "clean it") from error

    def _check_columns(self, part: int, X: Any) -> None:
        if self.has_names:
            found = tuple(str(name) for name in X.columns)
            if found != self.columns:
                problem = f"partition {part} has the columns {list(found)}, and X has {list(self.columns)}"
                raise TableError("X", problem, "give every partition the same columns, in the same order")
        elif X.ndim != 2 or X.shape[1] != len(self.columns):
            problem = f"partition {part} has the shape {X.shape}, and X has {len(self.columns)} columns"
            raise TableError("X", problem, "give every partition the same columns")

    def _check_precision(self, part: int, X: Any) -> None:
        """Raise an error if numbers of the partition would be rounded to float32."""
        if self.dtype != np.float32 or not X.shape[0]:
            return
        for kind in X.dtypes if hasattr(X, "columns") else [X.dtype]:
            if not np.can_cast(getattr(kind, "numpy_dtype", kind), np.float32):
                problem = f"partition {part} holds {kind}, but X is declared to hold float32, and would be rounded"
                raise TableError("X", problem, "give X.astype('float64'), or the right meta to map_blocks")


class Partitions(Protocol):
    """A table in consecutive partitions, each of which tasks (``dask.delayed`` objects) can make at any time.

    ``survey(run)`` finds the classes; ``run`` computes tasks. ``pieces(classes)`` gives a task for each partition whose
    result is its ``Piece`` with class numbers. ``are_files``: the tasks read files, and depend on no other tasks.
    """

    @property
    def form(self) -> TableForm: ...
    @property
    def are_files(self) -> bool: ...
    def survey(self, run: Callable[[list[Any]], list[Any]]) -> PartitionSurvey: ...
    def pieces(self, classes: AnyArray) -> list[Any]: ...


def piece(form: TableForm, part: int, classes: AnyArray, X: Any, y: Any, weight: Any) -> Piece:
    """The rows of partition number ``part``."""
    matrix = form.matrix(part, X)
    try:
        codes = known_codes(labels_of(part, y), classes)
    except LabelError as error:
        raise in_partition(error, part) from error
    if matrix.shape[0] != len(codes):
        problem = f"partition {part} of X has {matrix.shape[0]} rows, and that of y has {len(codes)} labels"
        raise TableError("X", problem, "give X and y the same partitions")
    return Piece(matrix, codes, weights_of(part, weight, len(codes)))


@dataclass(frozen=True)
class DaskPartitions:
    """The partitions of Dask collections X, y and weights. ``weights`` is a list of None if there are none."""

    form: TableForm
    X: Sequence[Any]
    y: Sequence[Any]
    weights: Sequence[Any]
    are_files: ClassVar[bool] = False

    def survey(self, run: Callable[[list[Any]], list[Any]]) -> PartitionSurvey:
        """The classes, found in a pass over labels and weights alone."""
        pairs = enumerate(zip(self.y, self.weights, strict=True))
        found = run(tasks(PartLabels.of, [(k, *pair) for k, pair in pairs]))
        return PartitionSurvey(*united(found), [part.n_rows for part in found])

    def pieces(self, classes: AnyArray) -> list[Any]:
        parts = enumerate(zip(self.X, self.y, self.weights, strict=True))
        return tasks(piece, [(self.form, k, classes, *part) for k, part in parts])


def tasks(function: Any, arguments: Sequence[tuple[Any, ...]]) -> list[Any]:
    """A task for each tuple of arguments."""
    from dask import delayed

    task = delayed(function, pure=False)
    return [task(*given) for given in arguments]


def partitions_of(X: Any, y: Any, weight: Any = None) -> DaskPartitions:
    """The partitions of a Dask array or data frame X, with labels and weights in the same partitions.

    Arrays whose chunk sizes are known are given the chunks of X. Otherwise all must have the same number of partitions;
    whether these agree in length is checked when they are loaded.
    """
    form = _form_of_frame(X) if is_data_frame(X) else _form_of_array(X)
    if y is None:
        raise InputError("y", "requires y to be passed, but the target y is None", "give one label per row")
    if not is_data_frame(X):
        X = X.rechunk({1: X.shape[1]})
    parts = [X.to_delayed()] if is_data_frame(X) else [X.to_delayed().ravel().tolist()]
    for argument, given in (("y", y), ("sample_weight", weight)):
        if given is None:
            parts.append([None] * len(parts[0]))
            continue
        found = _vector(argument, given, X)
        if len(found) != len(parts[0]):
            problem = f"it has {len(found)} partitions, X has {len(parts[0])}, and their sizes are not known"
            raise InputError(argument, problem, "give both the same partitions, or call compute_chunk_sizes() first")
        parts.append(found)
    return DaskPartitions(replace(form, has_weights=weight is not None), *parts)


def _form_of_array(X: Any) -> TableForm:
    if X.ndim != 2:
        problem = "it has 1 dimension" if X.ndim == 1 else f"it has {X.ndim} dimensions"
        raise InputError("X", problem, "give an array or a data frame with one row per example")
    if X.dtype.kind not in "biuf":
        raise InputError("X", f"it holds {X.dtype}, not numbers", "encode text as numbers first")
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    return TableForm("the Dask array X", tuple(f"x{j}" for j in range(X.shape[1])), False, dtype, is_sparse(X._meta))


def _form_of_frame(X: Any) -> TableForm:
    kinds = X.dtypes
    for name, kind in kinds.items():
        if getattr(kind, "kind", "O") not in "biuf":
            problem = f"column {name!r} holds {kind}, not numbers"
            raise TableError("X", problem, "leave it out, or turn it into numbers first")
    dtype = np.float32 if all(str(kind) == "float32" for kind in kinds) else np.float64
    return TableForm("the Dask data frame X", tuple(str(name) for name in X.columns), dtype=dtype)


def _vector(argument: str, given: Any, X: Any) -> list[Any]:
    """The partitions of labels or weights. An array in memory is divided like X."""
    import dask.array as da

    chunks = None if is_data_frame(X) or np.isnan(X.chunks[0]).any() else X.chunks[0]
    if not is_dask(given):
        if chunks is None:
            problem = "it is in memory, and the sizes of the partitions of X are not known"
            raise ParameterError(argument, problem, "give a Dask collection with the partitions of X")
        given = np.asarray(given)
        _check_length(argument, len(given), sum(chunks))
        given = da.from_array(given, chunks=(chunks, *given.shape[1:]))
    if not hasattr(given, "chunks"):
        return list(given.to_delayed())
    if given.ndim == 2 and given.shape[1] == 1:
        given = given[:, 0]
    if given.ndim != 1:
        raise InputError(argument, f"its shape is {given.shape}", "give one value per row")
    if chunks is not None and not np.isnan(given.chunks[0]).any():
        _check_length(argument, given.shape[0], sum(chunks))
        given = given.rechunk((chunks,))
    return list(given.to_delayed().ravel())


def _check_length(argument: str, found: int, expected: int) -> None:
    if found != expected:
        raise InputError(argument, f"it has {found} entries, and X has {expected} rows", "give one entry per row")
