r"""How a table is written: what its user knows about a file and the file itself does not say.

encoding, delimiter, quote, decimal, header    text files; they belong to a file, and models do not store them
na, date_format                                texts that mean a missing value, and how dates are written
max_columns, max_unpacked                      limits on the size (``limits``)
"""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.table.formats.limits import Limits

_DELIMITER_NAMES = {"tab": "\t", "\\t": "\t"}
# The word that says that a text file has no quoted cells.
NO_QUOTES = "none"
# Used to try a format: a date whose day, month and year cannot be confused.
_SOME_DATE = datetime(2024, 12, 31, 23, 59, 58, tzinfo=UTC)


@dataclass(frozen=True)
class Spelling:
    r"""The marks of a text file, the texts that mean a missing value, the forms of dates, and size limits.

    A delimiter of None is detected from the header. ``quote`` is the mark around cells that hold the delimiter, or
    "none". Without a ``header``, columns are called x1, x2, …. ``na`` is a text or several. ``date_format`` is a form
    of ``strptime`` for all columns that hold such dates, or a mapping of columns to forms, in which "" stands for all.
    ``target_place`` is for rows to predict without a header: (n, k) says that the k-th of n columns is the target, so
    that a file of n − 1 columns lacks that one.

    >>> Spelling(delimiter="tab").delimiter, Spelling(na="-").na, Spelling(date_format="%d.%m.%Y").date_format
    ('\t', ('-',), {'': '%d.%m.%Y'})
    """

    encoding: str = "utf-8"
    delimiter: str | None = None
    decimal: str = "."
    max_columns: int | None = None
    max_unpacked: float | None = None
    header: bool = True
    quote: str = '"'
    na: str | Sequence[str] = ()
    date_format: str | Mapping[str, str] | None = None
    target_place: tuple[int, int] | None = None
    limits: Limits = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "limits", Limits(self.max_columns, self.max_unpacked))
        object.__setattr__(self, "encoding", _known(self.encoding))
        mark = self.delimiter if self.delimiter is None else _DELIMITER_NAMES.get(self.delimiter, self.delimiter)
        if mark is not None and not _is_mark(mark, '"'):
            remedy = "give one character, such as ';', or 'tab'; leave it out to have it detected"
            raise ParameterError("delimiter", f"got {self.delimiter!r}", remedy)
        object.__setattr__(self, "delimiter", mark)
        if self.decimal not in (".", ","):
            raise ParameterError("decimal", f"got {self.decimal!r}", "give '.' or ','")
        if self.quote != NO_QUOTES and not _is_mark(self.quote, mark or ","):
            remedy = (
                f'give one character other than the delimiter, such as "\'", or {NO_QUOTES!r} for a file without quotes'
            )
            raise ParameterError("quote", f"got {self.quote!r}", remedy)
        if not isinstance(self.header, bool):
            raise ParameterError("header", f"got {self.header!r}", "give True or False")
        object.__setattr__(self, "na", _texts(self.na))
        object.__setattr__(self, "date_format", _forms(self.date_format))

    @property
    def quote_mark(self) -> str | None:
        """The quote mark; None if cells are not quoted."""
        return None if self.quote == NO_QUOTES else self.quote

    @property
    def missing_texts(self) -> tuple[str, ...]:
        """The texts of ``na``."""
        return tuple(self.na)

    @property
    def date_forms(self) -> Mapping[str, str]:
        """The forms of dates by column; "" stands for all columns."""
        assert isinstance(self.date_format, Mapping)
        return self.date_format


def _is_mark(mark: Any, other: str) -> bool:
    """Whether it is one ASCII character that can separate or enclose cells, and not the other mark."""
    return isinstance(mark, str) and len(mark) == 1 and mark.isascii() and mark not in "\r\n\0" + other


def _texts(na: Any) -> tuple[str, ...]:
    texts = (na,) if isinstance(na, str) else tuple(na) if isinstance(na, Sequence) else (None,)
    if not all(isinstance(text, str) for text in texts):
        raise ParameterError("na", f"got {na!r}", "give a text such as '?', or a list of texts")
    return tuple(dict.fromkeys(text.strip() for text in texts))


def _forms(given: Any) -> dict[str, str]:
    """Forms by column, each of which must hold at least a year, or all that is needed to tell two days apart."""
    if given is None:
        return {}
    forms: dict[str, Any] = {"": given} if not isinstance(given, Mapping) else dict(given)
    for form in forms.values():
        if not isinstance(form, str) or not _reads_days(form):
            remedy = "give a form of strptime with day, month and year, such as '%d.%m.%Y' for 31.12.2024"
            raise ParameterError("date_format", f"got {form!r}", remedy)
    return forms


def _reads_days(form: str) -> bool:
    """Whether the day of a date survives being written and read in this form."""
    try:
        return datetime.strptime(_SOME_DATE.strftime(form), form).date() == _SOME_DATE.date()
    except (ValueError, TypeError):
        return False


def _known(encoding: str) -> str:
    try:
        "".encode(encoding)  # Refuses codecs that are not for text, such as hex.
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        remedy = "give one that Python knows, such as 'utf-8', 'latin-1' or 'cp1252'"
        raise ParameterError("encoding", f"got {encoding!r}", remedy) from None
