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

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
import pyarrow as pa

from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.codec import Choice, Finite, array
from separatrix.core.base.errors import MissingValuesError, ParameterError, TableError
from separatrix.core.base.messages import ByAudience, Message, RowNumber, Setting
from separatrix.core.base.watching import Part, watched
from separatrix.tables import cells
from separatrix.tables.text import TextFeatures, beside, without_terms

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
    kind: Annotated[str, Choice(KINDS)]
    levels: tuple[str, ...] = ()
    fill: tuple[Finite, ...] = ()
    indicator: bool = False
    average: tuple[Finite, ...] = ()
    text: TextFeatures | None = None

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with a column from a model file; empty if nothing is."""
        n_levels, of_text = len(self.levels), self.text is not None
        if len(set(self.levels)) < n_levels:
            return "has levels that are not distinct"
        if (self.kind == "category" and n_levels < 2) or (self.kind != "category" and n_levels):
            return f"has {n_levels} levels, which does not fit a {self.kind}"
        if of_text != (self.kind == WORDS):
            return f"is of the kind {self.kind} and has {'' if of_text else 'no '}n-grams"
        if of_text and (self.fill or self.average):
            return "is text and has fills"
        if self.fill and len(self.fill) != self.values:
            return f"needs {self.values} fills"
        if self.average and (self.kind != "category" or len(self.average) != self.values):
            return f"has {len(self.average)} averages, which does not fit a {self.kind}"
        return ""

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
    missing: Annotated[str, Choice(MISSING)] = "error"
    unseen: Annotated[str, Choice(UNSEEN)] = "average"

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

    def makes(self, names: Sequence[str]) -> bool:
        """Whether the columns of X have these names.

        Their number and total length are compared first: building the names of a hostile file could take much more
        memory than the file itself.
        """
        alike = (self.n_columns, self.n_letters) == (len(names), sum(map(len, names)))
        return alike and self.names == tuple(names)

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with an encoder from a model file; empty if nothing is."""
        if len({column.name for column in self.columns}) < len(self.columns):
            return "has two columns of the same name"
        filled, averaged = self.missing in ("impute", "indicator"), self.unseen == "average"
        for column in self.columns:
            place = f"column {cells.shortened(column.name)!r}"
            if column.indicator and self.missing != "indicator":
                return f"has an indicator for {place}, which its 'missing' does not allow"
            if filled and not column.fill and column.text is None:
                return f"needs {column.values} fills for {place}"
            if column.kind == "category" and averaged and not column.unseen:
                return f"needs {column.values} averages for {place}"
        return ""


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

    center: Annotated[Array, array("d")]
    scale: Annotated[Array, array("d")]

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with a scaling from a model file; empty if nothing is."""
        return "" if (self.scale > 0).all() else "has a scale that is not above 0"

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

        >>> Scaling(np.array([1.0, 0.3]), np.array([2.0, 0.5])).only(np.array([True, False]))
        Scaling(center=array([1., 0.]), scale=array([2., 1.]))
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
