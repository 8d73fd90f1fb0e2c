"""How the columns of a table become the columns of X. It is all data, so that an exported model can repeat it.

    number, boolean, date    one column of X
    category                 one column of X for each level but the first, 1 where the row has that level, else 0
    words                    one column of X for each n-gram of a free text, sparse (``text``); X is then CSR
    an indicator             one more column: 1 where the value is missing, else 0

The first level, the reference, has no column: with an intercept, its column would be 1 minus the sum of the others.
``fill`` replaces a missing value. With ``missing="impute"`` it is the mean of a number or a date over the training
rows, the more frequent of true and false, and the most frequent level of a category. With ``missing="indicator"`` it is
the same, next to the indicator; for a category it is 0 in all columns but the indicator's, so that "missing" is a level
like any other. ``average`` replaces a level that no training row had (``unseen="average"``): it holds the share of each
level in the training rows, so that the score of such a row is the mean of its scores with the known levels, weighted by
how frequent they are. Unlike a row of zeros, it does not depend on which level is the reference. A column without an
``average``, such as one from an older model file, has ``fill`` in its place. A missing text counts as an empty one: the
means of its n-grams would fill X.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import MissingValuesError, ParameterError, TableError
from separatrix.base.messages import ByAudience, Message, Setting
from separatrix.base.watching import Part, watched
from separatrix.table import cells
from separatrix.table.encoded_column import MEASURED, Encoded
from separatrix.table.encoder_checks import checked_columns, require
from separatrix.table.lookalikes import perhaps
from separatrix.table.text import beside, plain_features, without_terms


@dataclass(frozen=True)
class Reading:
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

    def read(self, table: pa.Table, source: str) -> Reading:
        """``transform`` with counts of missing values and of unseen levels."""
        self._refuse_lacking(table, source)
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
        self._refuse_unwanted(source, missing, unseen, table.num_rows)
        X = self.assembled(D, texts)
        return Reading(X if kept.all() else X[kept], kept, missing, unseen, wordless)

    def _refuse_unwanted(
        self, source: str, missing: dict[str, int], unseen: dict[str, dict[str, int]], n_rows: int
    ) -> None:
        """Raise an error for missing values or unseen levels, if the training settings say so."""
        if missing and self.missing == "error":
            raise refuse_missing(source, missing, n_rows)
        if unseen and self.unseen == "error":
            raise refuse_unseen(source, unseen, self.levels_of)

    @property
    def levels_of(self) -> dict[str, tuple[str, ...]]:
        """The levels of each category, by column."""
        return {column.name: column.levels for column in self.columns if column.levels}

    @property
    def references(self) -> dict[str, str]:
        """The reference level of each category, by column."""
        return {column.name: column.levels[0] for column in self.columns if column.levels}

    def _refuse_lacking(self, table: pa.Table, source: str) -> None:
        present = set(table.column_names)
        lacking = [column.name for column in self.columns if column.name not in present]
        if lacking:
            problem = f"it lacks the columns {cells.listed(lacking)}"
            raise TableError(source, problem, "give all columns that the model was fitted on")

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
        f"column {name!r} has {cells.shortened(level)!r}{perhaps(level, (levels_of or {}).get(name, ()))} in {count} "
        f"row{'s' * (count > 1)}"
        for name, levels in unseen.items()
        for level, count in list(levels.items())[:3]
    ]
    problem = f"levels that no training row had: {'; '.join(parts[:8])}"
    if asked_by_fit:
        way = Message("fit ", ByAudience("with unseen='average'", shell="without --strict"))
    else:
        way = Message(ByAudience("read them with strict=False", shell="leave --strict out"))
    return TableError(
        source, problem, Message("correct them, or ", way, ", which encodes them as the training average")
    )
