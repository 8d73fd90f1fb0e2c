"""How the columns of a table become the columns of X. It is all data, so that an exported model can repeat it.

    number, boolean, date    one column of X
    category                 one column of X for each level but the first, 1 where the row has that level, else 0
    words                    one column of X for each n-gram of a free text, sparse; X is then CSR
    an indicator             one more column: 1 where the value is missing, else 0

The first level, the reference, has no column: with an intercept, its column would be 1 minus the sum of the others. The
columns of X can be standardised (``Scaling``), and those that come from one column of the table change together
(``EncodedFactor``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import MissingValuesError, ModelFileError, ParameterError, TableError
from separatrix.core.base.messages import ByAudience, Message, RowNumber, Setting
from separatrix.core.base.watching import Part, watched
from separatrix.tables import cells
from separatrix.tables.text import TextFeatures, beside, checked_features, plain_features, without_terms

# The kind of a column of free text that becomes n-grams.
WORDS = "words"
KINDS = ("number", "boolean", "category", "date", WORDS)
# The kinds whose values have a unit.
MEASURED = ("number", "date")
# The code of a category's cell whose level is not among the known ones.
UNKNOWN = -1.0
# What is done with missing values, and with levels that no training row had.
MISSING = ("error", "impute", "indicator", "drop")
UNSEEN = ("average", "error")


@dataclass(frozen=True)
class Encoded:
    """One column of the table, and the columns of X that it becomes.

    ``fill`` replaces a missing value. With ``missing="impute"`` it is the mean of a number or a date over the training
    rows, the more frequent of true and false, and the most frequent level of a category. With ``missing="indicator"``
    it is the same, next to the indicator; for a category it is 0 in all columns but the indicator's, so that "missing"
    is a level like any other. A missing text counts as an empty one: the means of its n-grams would fill X.

    ``average`` replaces a level that no training row had (``unseen="average"``): it holds the share of each level in
    the training rows, so that the score of such a row is the mean of its scores with the known levels, weighted by how
    frequent they are. Unlike a row of zeros, it does not depend on which level is the reference. A column without an
    ``average``, such as one from an older model file, has ``fill`` in its place.

    >>> Encoded("student", "category", ("No", "Yes", "Part"), (0.0, 0.0), indicator=True).names
    ('student=Yes', 'student=Part', 'student=missing')
    """

    name: str
    kind: str
    levels: tuple[str, ...] = ()
    fill: tuple[float, ...] = ()
    indicator: bool = False
    average: tuple[float, ...] = ()
    text: TextFeatures | None = None

    @property
    def values(self) -> int:
        """The number of columns of X, without the indicator."""
        if self.text is not None:
            return self.text.width
        return len(self.levels) - 1 if self.kind == "category" else 1

    @property
    def n_dense(self) -> int:
        """The number of columns of X that are not n-grams."""
        return self.width if self.text is None else int(self.indicator)

    @property
    def unseen(self) -> tuple[float, ...]:
        """The columns of X for a level that no training row had, without the indicator; empty if they are not known."""
        return self.average or self.fill

    @property
    def width(self) -> int:
        """The number of columns of X."""
        return self.values + self.indicator

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        if self.text is not None:
            names = self.text.names(self.name)
        else:
            names = tuple(f"{self.name}={level}" for level in self.levels[1:]) or (self.name,)
        return (*names, f"{self.name}=missing") if self.indicator else names

    @property
    def n_letters(self) -> int:
        """The total length of ``names``, computed without building them.

        >>> column = Encoded("student", "category", ("No", "Yes", "Part"), (0.0, 0.0), indicator=True)
        >>> column.n_letters == sum(map(len, column.names))
        True
        """
        if self.text is not None:
            letters = self.text.n_letters(self.name)
        else:
            letters = sum(len(self.name) + 1 + len(level) for level in self.levels[1:]) or len(self.name)
        return letters + (len(self.name) + len("=missing")) * self.indicator

    def read(self, table: pa.Table, source: str) -> Array:
        """The column's cells (n,) as numbers, NaN where missing.

        A cell of a category is the number of its level, or ``UNKNOWN`` if it is not among ``levels``. A text is 0.
        """
        column = table.column(self.name)
        found = self._read_once(column, source) if pa.types.is_dictionary(column.type) else None
        return self._read(column, source) if found is None else found

    def _read_once(self, column: Any, source: str) -> Array | None:
        """The cells of a column of Arrow's dictionary type, each different value read once.

        None if there are more values than rows, and if a value is refused: it may be in no row, and an error names
        rows.
        """
        parts = []
        for chunk in column.chunks:
            if len(chunk.dictionary) > len(chunk):
                return None
            try:
                v = self._read(pa.chunked_array([chunk.dictionary]), source)
            except TableError:
                return None
            places = cells.as_places(chunk.indices)
            parts.append(np.append(v, np.nan)[places])
        return np.concatenate(parts) if parts else None

    def _read(self, column: Any, source: str) -> Array:
        if self.kind == WORDS:
            return np.where(cells.as_array(cells.texts(source, self.name, column).is_null()), np.nan, 0.0)
        if self.kind == "category":
            codes, missing = cells.codes(source, self.name, column, self.levels)
            return np.where(missing, np.nan, codes)
        v = cells.READINGS[self.kind](source, self.name, column)
        infinite = np.isinf(v)
        if infinite.any():
            unlike = f", column {self.name!r} is infinite, or too large for a float64"
            problem = Message("row ", RowNumber(int(np.argmax(infinite)) + 1), unlike)
            raise TableError(source, problem, "give finite numbers, or take the row out")
        return v

    def strange(self, v: Array) -> AnyArray:
        """Which of the cells v (n,) have a level that is not among ``levels``."""
        return (v == UNKNOWN) if self.kind == "category" else np.zeros(len(v), dtype=bool)

    def write(self, X: Array, v: Array) -> None:
        """Write cells v (n,) into X (n, n_dense), which holds zeros. N-grams are not written: they are sparse.

        A missing cell gets ``fill`` and a cell with an unseen level ``unseen``, if they are known.
        """
        if self.text is not None:
            X[:, : self.indicator] = np.isnan(v)[:, None]
            return
        if self.kind == "category":
            rows = np.flatnonzero(v > 0)
            X[rows, v[rows].astype(np.intp) - 1] = 1.0
        else:
            X[:, 0] = v
        missing = np.isnan(v)
        if self.fill:
            X[np.flatnonzero(missing), : self.values] = self.fill
        if self.unseen:
            X[np.flatnonzero(self.strange(v)), : self.values] = self.unseen
        if self.indicator:
            X[:, -1] = missing


@dataclass(frozen=True)
class EncodedBatch:
    """X (m, d) of the rows ``kept`` (n,), with counts of missing values and of unseen levels by column.

    X is CSR if a column is text. ``wordless`` counts the texts that hold no n-gram of the model, by column.
    """

    X: Any
    kept: AnyArray
    missing: dict[str, int] = field(default_factory=dict)
    unseen: dict[str, dict[str, int]] = field(default_factory=dict)
    wordless: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Encoder:
    """Turn the columns of a table into X.

    >>> table = pa.table({"age": [30, 50], "student": ["Yes", "No"]})
    >>> encoder = Encoder((Encoded("age", "number"), Encoded("student", "category", ("No", "Yes"))))
    >>> encoder.names, encoder.transform(table, "a table")[0].tolist()
    (('age', 'student=Yes'), [[30.0, 1.0], [50.0, 0.0]])
    """

    columns: tuple[Encoded, ...]
    missing: str = "error"
    unseen: str = "average"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns of X."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def measured(self) -> AnyArray:
        """Which columns of X (d,) hold numbers or dates. The others are 0 or 1 and are not standardised.

        >>> Encoder((Encoded("age", "number", (), (40.0,), True), Encoded("ok", "boolean"))).measured.tolist()
        [True, False, False]
        """
        parts = [(column.kind in MEASURED,) * column.values + (False,) * column.indicator for column in self.columns]
        return np.array([one for part in parts for one in part], dtype=bool)

    @property
    def n_columns(self) -> int:
        """The number of columns of X."""
        return sum(column.width for column in self.columns)

    @property
    def n_letters(self) -> int:
        """The total length of ``names``, computed without building them."""
        return sum(column.n_letters for column in self.columns)

    def transform(self, table: pa.Table, source: str) -> tuple[Any, AnyArray]:
        """X (m, d) of the rows that are kept, and a mask (n,) of them. ``missing="drop"`` leaves some rows out."""
        reading = self.read(table, source)
        return reading.X, reading.kept

    def read(self, table: pa.Table, source: str) -> EncodedBatch:
        """``transform`` with counts of missing values and of unseen levels.

        Missing values or unseen levels are refused if the settings of training say so.
        """
        present = set(table.column_names)
        lacking = [column.name for column in self.columns if column.name not in present]
        if lacking:
            problem = f"it lacks the columns {cells.listed(lacking)}"
            raise TableError(source, problem, "give all columns that the model was fitted on")
        D = np.zeros((table.num_rows, self.n_dense))
        kept = np.ones(table.num_rows, dtype=bool)
        missing: dict[str, int] = {}
        unseen: dict[str, dict[str, int]] = {}
        texts: dict[str, Any] = {}
        wordless: dict[str, int] = {}
        tell = watched()
        for k, (column, part) in enumerate(self.places(D), 1):
            if tell is not None:
                tell(Part("as numbers: column", k, len(self.columns)))
            v = column.read(table, source)
            column.write(part, v)
            holes, strange = np.isnan(v), column.strange(v)
            missing[column.name] = int(holes.sum())
            if strange.any():
                unseen[column.name] = counted(table, column.name, strange, source)
            if column.text is not None:
                texts[column.name] = column.text.matrix(text_cells(table, column.name, source))
                wordless[column.name] = without_terms(texts[column.name], holes)
            if self.missing == "drop":
                kept &= ~holes
        missing = {name: count for name, count in missing.items() if count}
        if missing and self.missing == "error":
            raise refuse_missing(source, missing, table.num_rows)
        if unseen and self.unseen == "error":
            raise refuse_unseen(source, unseen, self.levels_of)
        X = self.assembled(D, texts)
        return EncodedBatch(X if kept.all() else X[kept], kept, missing, unseen, wordless)

    @property
    def levels_of(self) -> dict[str, tuple[str, ...]]:
        """The levels of each category, by column."""
        return {column.name: column.levels for column in self.columns if column.levels}

    @property
    def references(self) -> dict[str, str]:
        """The reference level of each category, by column."""
        return {column.name: column.levels[0] for column in self.columns if column.levels}

    @property
    def n_dense(self) -> int:
        """The number of columns of X that are not n-grams."""
        return sum(column.n_dense for column in self.columns)

    def places(self, D: Array) -> Iterator[tuple[Encoded, Array]]:
        """Each column of the table with its view of D (n, n_dense), the columns of X that are not n-grams."""
        start = 0
        for column in self.columns:
            yield column, D[:, start : start + column.n_dense]
            start += column.n_dense

    def together(self) -> list[slice]:
        """The columns of X that each column of the table became, but for n-grams.

        >>> Encoder((Encoded("age", "number"), Encoded("race", "category", ("black", "other", "white")))).together()
        [slice(0, 1, None), slice(1, 3, None)]
        """
        ends = np.cumsum([0, *(column.width for column in self.columns)]).tolist()
        return [
            slice(start, stop)
            for column, start, stop in zip(self.columns, ends, ends[1:], strict=False)
            if column.text is None and stop > start
        ]

    def assembled(self, D: Array, texts: Mapping[str, Any]) -> Any:
        """X (n, d): D, or with columns of text a CSR matrix that has their n-grams, ``texts``, in their places."""
        widths, named, width = list[int](), list[str](), 0
        for column in self.columns:
            if column.text is not None:
                widths.append(width)
                named.append(column.name)
                width = 0
            width += column.n_dense
        return beside(D, widths, [texts[name] for name in named])

    @property
    def of_text(self) -> AnyArray:
        """Which columns of X (d,) are n-grams."""
        parts = [np.arange(column.width) < column.values * (column.text is not None) for column in self.columns]
        return np.concatenate(parts)

    def plain(self) -> dict[str, Any]:
        """The encoder as JSON types."""
        return {
            "columns": [
                {
                    "name": column.name,
                    "kind": column.kind,
                    "levels": list(column.levels),
                    "fill": list(column.fill),
                    "indicator": column.indicator,
                    "average": list(column.average),
                    "text": plain_features(column.text),
                }
                for column in self.columns
            ],
            "missing": self.missing,
            "unseen": self.unseen,
        }

    @classmethod
    def from_plain(cls, content: Any, names: Sequence[str] | None = None) -> Encoder:
        """An encoder from the result of ``plain``, after checking every key, type and length.

        ``names``, if given, are the names that the columns of X must have. Their number and total length are compared
        first: building the names of a hostile file could take much more memory than the file itself.

        >>> encoder = Encoder((Encoded("age", "number", fill=(40.0,)),), "impute")
        >>> Encoder.from_plain(encoder.plain()) == encoder
        True
        """
        encoder = cls(checked_columns(content), content["missing"], content["unseen"])
        if names is not None:
            alike = (encoder.n_columns, encoder.n_letters) == (len(names), sum(map(len, names)))
            require(alike and encoder.names == tuple(names), "it does not make the model's features")
        require(len(set(encoder.names)) == encoder.n_columns, "two columns of X have the same name")
        return encoder


def checked(argument: str, value: str, allowed: tuple[str, ...]) -> str:
    """The value, if it is one of those allowed."""
    if value not in allowed:
        raise ParameterError(argument, f"got {value!r}", f"give one of {', '.join(map(repr, allowed))}")
    return value


def text_cells(table: pa.Table, name: str, source: str) -> list[str | None]:
    """The texts of a column; None where one is missing."""
    texts: list[str | None] = cells.texts(source, name, table.column(name)).to_pylist()
    return texts


def counted(table: pa.Table, name: str, rows: AnyArray, source: str) -> dict[str, int]:
    """The texts of a column in the rows of a mask, with their counts, most frequent first."""
    text: Any = cells.texts(source, name, table.column(name)).filter(pa.array(rows))
    pairs = [(pair["values"], pair["counts"]) for pair in text.value_counts().to_pylist()]
    return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))


def refuse_missing(source: str, missing: dict[str, int], n: int) -> TableError:
    """The error for missing values, with their number in each column."""
    total = sum(missing.values())
    where = ", ".join(f"{name!r} {count}" for name, count in missing.items())
    problem = f"{total} value{'s are' if total > 1 else ' is'} missing in {cells.rows_counted(n)}, by column: {where}"
    remedy = Message("fill them in, or fit with ", Setting("missing", "impute", "indicator", "drop"))
    return MissingValuesError(source, problem, remedy, (Setting("missing", "impute"),))


def refuse_unseen(
    source: str,
    unseen: dict[str, dict[str, int]],
    levels_of: Mapping[str, Sequence[str]] | None = None,
    asked_by_fit: bool = True,
) -> TableError:
    """The error for levels that no training row had.

    ``levels_of``: the levels of each column, to suggest one that is spelled alike. ``asked_by_fit``: whether the fit
    asked to refuse them; otherwise the reader of new rows did.
    """
    parts = [
        f"column {name!r} has {cells.shortened(level)!r}{cells.perhaps(level, (levels_of or {}).get(name, ()))} "
        f"in {cells.rows_counted(count)}"
        for name, levels in unseen.items()
        for level, count in list(levels.items())[:3]
    ]
    problem = f"levels that no training row had: {'; '.join(parts[:8])}"
    if asked_by_fit:
        way = Message("fit ", ByAudience("with unseen='average'", shell="without --strict"))
    else:
        way = Message(ByAudience("read them with strict=False", shell="leave --strict out"))
    remedy = Message("correct them, or ", way, ", which encodes them as the training average")
    return TableError(source, problem, remedy)


# --- Standardised columns


@dataclass(frozen=True, eq=False)
class Scaling:
    """x ↦ (x − center)/scale, column by column, with ``center`` (d,) and ``scale`` (d,), all positive.

    A standardised column has mean 0 and standard deviation 1 over the training rows. A penalty then treats all columns
    alike, and methods that visit rows one by one, such as the perceptron, need few steps. Fits without a penalty and
    methods based on moments give the same answers in any units. Sparse rows are only scaled: centring would fill them.

    The 0/1 columns of categories, truth values and missing values stay as they are (``Encoder.measured``). Divided by
    its standard deviation √(p (1 − p)), the column of a rare level would get large values, and its weight, per row,
    almost no penalty. On 21 tables with categories this costs log loss with C = 1 (``python -m benchmarks.encoding``).

    >>> Scaling(np.array([1.0]), np.array([2.0])).apply(np.array([[1.0], [5.0]])).tolist()
    [[0.0], [2.0]]
    """

    center: Array
    scale: Array

    @classmethod
    def of(cls, X: Any, train: AnyArray | None = None) -> Scaling:
        """The mean and the population standard deviation of the rows ``train`` (n,) of X, or of all rows if None.

        A column that is constant in these rows has scale 1.

        >>> scaling = Scaling.of(np.array([[0.0, 7.0], [4.0, 7.0], [90.0, 8.0]]), np.array([True, True, False]))
        >>> scaling.center.tolist(), scaling.scale.tolist()
        ([2.0, 7.0], [2.0, 1.0])
        """
        from separatrix.core.base.machine import one_blas_thread
        from separatrix.core.rows.block import is_sparse
        from separatrix.core.rows.column_statistics import summarise
        from separatrix.core.rows.memory_rows import memory_rows

        weight = None if train is None else np.asarray(train, dtype=np.float64)
        with one_blas_thread:
            statistics = summarise(memory_rows(X, np.zeros(X.shape[0]), weight), ranges=False)
        usable = ~statistics.constant & np.isfinite(statistics.std) & (statistics.std > 0)
        center = np.where(statistics.constant, statistics.minimum, statistics.mean)
        return cls(np.zeros_like(center) if is_sparse(X) else center, np.where(usable, statistics.std, 1.0))

    def only(self, columns: AnyArray) -> Scaling:
        """The scaling of the columns of a mask (d,); the others stay as they are.

        >>> Scaling(np.array([1.0, 0.3]), np.array([2.0, 0.5])).only(np.array([True, False])).plain()
        {'center': [1.0, 0.0], 'scale': [2.0, 1.0]}
        """
        return Scaling(np.where(columns, self.center, 0.0), np.where(columns, self.scale, 1.0))

    def apply(self, X: Any) -> Any:
        """A scaled copy of X (n, d). Sparse rows stay sparse if all centers are zero."""
        if not hasattr(X, "nnz"):
            scaled = X - self.center
            scaled /= self.scale
            return scaled
        if self.center.any():
            return self.apply(X.toarray())
        scaled = X.tocsr().astype(np.float64)
        scaled.data /= self.scale[scaled.indices]
        return scaled

    def after(self, first: Scaling | None) -> Scaling:
        """One scaling that does the same as ``first`` and then this one.

        >>> both = Scaling(np.array([3.0]), np.array([0.5])).after(Scaling(np.array([1.0]), np.array([2.0])))
        >>> both.center.tolist(), both.scale.tolist()
        ([7.0], [1.0])
        """
        if first is None:
            return self
        return Scaling(first.center + first.scale * self.center, first.scale * self.scale)

    def plain(self) -> dict[str, list[float]]:
        """The scaling as JSON types."""
        return {"center": self.center.tolist(), "scale": self.scale.tolist()}


# --- Factors: columns of X that come from one column of a table

# What values are compared with, by the kind of the column. For a category it is the reference level.
REFERENCES = {"boolean": "false", "number": "its mean", "date": "its mean", WORDS: "an empty text"}


@dataclass(frozen=True, eq=False)
class EncodedFactor:
    """The columns of X (b,) that one column of a table became, and their values for each of its levels.

        category         a level: its column is 1 and those of the other levels are 0; for the reference all are 0
        boolean          true, against false
        an indicator     missing: the indicator is 1, and the other columns hold what replaces the value

    A row in which one of these columns changes alone cannot exist: nobody has two levels. A missing category is
    compared with the reference level, and a missing truth value with false. A missing number or date is compared with
    the value that replaces it, its mean over the training rows, and a missing text with an empty one.

    ``base`` (b,) are the values for the reference level, which ``reference`` describes, and ``levels`` (m, b) those for
    the other levels. ``own`` (m,) has the column of X that each of these is named after.
    """

    columns: Integers
    base: Array
    levels: Array
    own: Integers
    reference: str


def factors(encoder: Encoder, scaling: Scaling | None = None) -> list[EncodedFactor]:
    """The factors among the columns of X that an encoder makes, in the units of a scaling.

    >>> column = Encoded("race", "category", ("white", "black", "other"))
    >>> [found] = factors(Encoder((Encoded("age", "number"), column)))
    >>> found.columns.tolist(), found.base.tolist(), found.levels.tolist(), found.reference
    ([1, 2], [0.0, 0.0], [[1.0, 0.0], [0.0, 1.0]], 'white')
    """
    found, start = list[EncodedFactor](), 0
    for column in encoder.columns:
        columns = np.arange(start, start + column.width)
        start += column.width
        base, levels, own = _settings(column)
        if scaling is not None:
            base, levels = ((v - scaling.center[columns]) / scaling.scale[columns] for v in (base, levels))
        if len(levels):
            reference = column.levels[0] if column.kind == "category" else REFERENCES[column.kind]
            found.append(EncodedFactor(columns, base, levels, columns[own], reference))
    return found


def with_indicators(found: list[EncodedFactor], are_indicators: AnyArray) -> list[EncodedFactor]:
    """The factors together with those columns of a mask (d,) that belong to none of them, in the order of the columns.

    The latter hold zeros and ones, and have no reference level.
    """
    alone = set(np.flatnonzero(are_indicators).tolist()).difference(*(factor.columns.tolist() for factor in found))
    one = np.ones((1, 1))
    more = [EncodedFactor(np.array([j]), np.zeros(1), one, np.array([j]), "") for j in alone]
    return sorted([*found, *more], key=lambda factor: int(factor.columns[0]))


def _settings(column: Encoded) -> tuple[Array, Array, Integers]:
    """``base``, ``levels`` and the places of ``own`` of a column of a table; without levels it is no factor."""
    values, width = column.values, column.width
    if column.kind in ("category", "boolean"):
        levels = np.eye(width)
        levels[values:, :values] = column.fill or 0.0
        return np.zeros(width), levels, np.arange(width)
    base = np.zeros(width)
    base[:values] = column.fill or 0.0
    levels = np.tile(base, (column.indicator, 1))
    levels[:, values:] = 1.0
    return base, levels, np.arange(values, width)


# --- Encoders of model files: checks of every key, type and length


def checked_columns(content: Any) -> tuple[Encoded, ...]:
    """The columns of an encoder, from the result of its ``plain``.

    >>> one = {"name": "age", "kind": "number", "levels": [], "fill": [40.0], "indicator": False, "average": []}
    >>> checked_columns({"columns": [one | {"text": None}], "missing": "impute", "unseen": "average"})[0].fill
    (40.0,)
    """
    require(isinstance(content, dict) and set(content) == {"columns", "missing", "unseen"}, "it has a wrong form")
    require(content["missing"] in MISSING, f"its 'missing' is {content['missing']!r:.60}")
    require(content["unseen"] in UNSEEN, f"its 'unseen' is {content['unseen']!r:.60}")
    require(isinstance(content["columns"], list), "its columns are not a list")
    columns = tuple(_column(k + 1, column, content) for k, column in enumerate(content["columns"]))
    require(len({column.name for column in columns}) == len(columns), "two columns have the same name")
    return columns


def _column(k: int, content: Any, whole: dict[str, Any]) -> Encoded:
    """Column k, counted from 1."""
    keys = {"name", "kind", "levels", "fill", "indicator", "average", "text"}
    require(isinstance(content, dict) and set(content) == keys, f"column {k} has a wrong form")
    name, kind, indicator = content["name"], content["kind"], content["indicator"]
    require(isinstance(name, str), f"column {k} has no name")
    place = f"column {cells.shortened(name)!r}"
    require(isinstance(kind, str) and kind in KINDS, f"{place} is of an unknown kind, {kind!r:.60}")
    levels = _checked_levels(place, kind, content["levels"])
    fill, average = (_checked_numbers(place, key, content[key]) for key in ("fill", "average"))
    require(isinstance(indicator, bool), f"{place} has an indicator that is not true or false")
    text = _checked_text(place, kind, content["text"])
    allowed = whole["missing"] == "indicator"
    require(not indicator or allowed, f"{place} has an indicator that its 'missing' does not allow")
    column = Encoded(name, kind, levels, fill, indicator, average, text)
    if text is not None:
        require(not fill and not average, f"{place} is text and has fills")
    else:
        _check_replacements(place, column, whole)
    return column


def _check_replacements(place: str, column: Encoded, whole: dict[str, Any]) -> None:
    """Require that the replacements of missing values and of unseen levels fit the column."""
    filled = whole["missing"] in ("impute", "indicator")
    fits = len(column.fill) == column.values or (not column.fill and not filled)
    require(fits, f"{place} needs {column.values} fills")
    averaged = column.kind == "category" and whole["unseen"] == "average"
    require(bool(column.unseen) or not averaged, f"{place} needs {column.values} averages")
    fits = not column.average or (column.kind == "category" and len(column.average) == column.values)
    require(fits, f"{place} has {len(column.average)} averages, which does not fit a {column.kind}")


def _checked_text(place: str, kind: str, content: Any) -> TextFeatures | None:
    none = "no " if content is None else ""
    require(bool(none) == (kind != WORDS), f"{place} is of the kind {kind} and has {none}n-grams")
    if content is None:
        return None
    return checked_features(content, lambda holds, check: require(holds, f"the text of {place} {check}"))


def _checked_levels(place: str, kind: str, levels: Any) -> tuple[str, ...]:
    of_text = isinstance(levels, list) and all(isinstance(level, str) for level in levels)
    require(of_text and len(set(levels)) == len(levels), f"{place} has levels that are not distinct texts")
    fits = len(levels) >= 2 if kind == "category" else not levels
    require(fits, f"{place} has {len(levels)} levels, which does not fit a {kind}")
    return tuple(levels)


def _checked_numbers(place: str, key: str, found: Any) -> tuple[float, ...]:
    finite = isinstance(found, list) and all(type(value) is float and math.isfinite(value) for value in found)
    require(finite, f"{place} has a '{key}' that is not of finite decimal numbers")
    return tuple(found)


def require(holds: bool, check: str) -> None:
    """Raise an error about the encoder of a model file, if a check of it does not hold."""
    if not holds:
        raise ModelFileError(f"its encoder: {check}")
