"""What the rules of ``infer`` need to know about a column of text, found part by part.

The different texts are kept, with their counts. Where there are too many to keep, the first of them are, together with
what the rules ask about all of them. In memory all are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyarrow import compute

from separatrix.base.arrays import Integers
from separatrix.table import cells
from separatrix.table.comma_numbers import COMMA, MARKS, NO_POINTS
from separatrix.table.distinct import Distinct
from separatrix.table.marks import date_forms
from separatrix.table.stray_texts import Strays, merged, strays_among

# The most different texts, and the most bytes of them, that are kept of a column that is read in parts. A category has
# at most 1000 levels.
MOST_TEXTS_KEPT, MOST_BYTES_KEPT = 5000, 4 << 20
# Whether a column is free text is judged by this many of its different texts, the first ones.
TEXTS_JUDGED = 200
DAY_FIRST = r"^\d{1,2}([./-])\d{1,2}[./-](\d{2}|\d{4})$"
# Numbers with a currency or per cent sign, brackets around negative money, a typographic minus sign, or separated
# thousands, and with either decimal mark.
_SEPARATED = r"(\d+([ ,_'’\x{a0}\x{202f}]\d{3})*(\.\d*)?|\d+([ .'’\x{a0}\x{202f}]\d{3})*(,\d*)?)"
MARKED = rf"^([$€£¥]?\s?[-+−]?\s?[$€£¥]?\s?{_SEPARATED}\s?[%‰$€£¥]?|\([$€£¥]\s?{_SEPARATED}\))$"


@dataclass(frozen=True)
class Facts:
    """What is known about all texts. ``patterns``: those that every text matches, apart from missing values.

    ``comma``: the first text with a comma, if there is one.
    ``strays``: the texts that are not numbers, those that are not truth values and those that are not dates, by kind.
    ``forms``: the forms of dates that read every text. ``example``: the first text with a value.
    """

    n_known: int
    patterns: frozenset[str]
    comma: str | None
    strays: Mapping[str, Strays]
    forms: tuple[str, ...]
    example: str | None

    @classmethod
    def of(cls, texts: Distinct) -> Facts:
        """The facts about these texts."""
        proper = cells.stripped(texts.column)
        known = proper.drop_null()
        patterns = frozenset(pattern for pattern in (DAY_FIRST, COMMA, MARKED) if _all_match(known, pattern))
        if COMMA in patterns:
            patterns |= {pattern for pattern in MARKS if _all_match(known, pattern)}
        forms = tuple(date_forms(known.to_pylist())) if DAY_FIRST in patterns and len(known) else ()
        commas = known.filter(compute.match_substring(known, ","))
        return cls(texts.total, patterns, _first(commas), strays_among(texts, proper), forms, _first(known))

    def merge(self, later: Facts) -> Facts:
        """The facts about these texts and those of later rows."""
        return Facts(
            self.n_known + later.n_known,
            self.patterns & later.patterns,
            later.comma if self.comma is None else self.comma,
            merged(self.strays, later.strays),
            _shared_forms(self, later),
            later.example if self.example is None else self.example,
        )

    @property
    def has_points(self) -> bool:
        """Whether the texts are numbers of which some have points, which may separate decimals or thousands."""
        return COMMA in self.patterns and NO_POINTS not in self.patterns


def _first(texts: Any) -> str | None:
    return texts[0].as_py() if len(texts) else None


def _shared_forms(a: Facts, b: Facts) -> tuple[str, ...]:
    """The forms that read the texts of both; those of one if the other has no text."""
    if a.example is None or b.example is None:
        return b.forms if a.example is None else a.forms
    return tuple(form for form in a.forms if form in b.forms)


@dataclass(frozen=True, eq=False)
class SeenTexts:
    """The texts of ``n`` rows: all different ones, or the first of them and the ``facts`` about all."""

    n: int
    texts: Distinct
    facts: Facts | None = None

    @classmethod
    def of(cls, column: Any, start: int | Integers = 0) -> SeenTexts:
        """The texts of a column.

        >>> import pyarrow as pa
        >>> SeenTexts.of(pa.chunked_array([["a", "b", None, "a"]])).n_different
        2
        """
        return cls(len(column), Distinct.of(column, start))

    def merge(self, later: SeenTexts) -> SeenTexts:
        """These rows and the ones after them, with at most MOST_TEXTS_KEPT texts."""
        n = self.n + later.n
        if self.facts is not None:
            return SeenTexts(n, self.texts, self.facts.merge(later.about))
        texts = self.texts.merge(later.texts)
        if later.facts is None and len(texts) <= MOST_TEXTS_KEPT and texts.values.nbytes <= MOST_BYTES_KEPT:
            return SeenTexts(n, texts)
        kept = texts.head(MOST_TEXTS_KEPT)
        if kept.values.nbytes > MOST_BYTES_KEPT:
            kept = kept.head(TEXTS_JUDGED)
        return SeenTexts(n, kept, self.about.merge(later.about))

    @property
    def about(self) -> Facts:
        """The facts about all texts."""
        return Facts.of(self.texts) if self.facts is None else self.facts

    @property
    def is_complete(self) -> bool:
        """Whether ``texts`` has all different texts."""
        return self.facts is None

    @property
    def has_long_texts(self) -> bool:
        """Whether texts are left out because of their length, not because of their number."""
        return not self.is_complete and len(self.texts) < MOST_TEXTS_KEPT

    @property
    def n_different(self) -> int:
        """The number of different texts that are kept. If some were left out, the column has more."""
        return len(self.texts)

    def trimmed(self) -> SeenTexts:
        """The texts without surrounding white space; a blank text is missing."""
        return SeenTexts(self.n, self.texts.renamed(cells.trimmed(self.texts.column)), self.facts)


def _all_match(texts: Any, pattern: str) -> bool:
    """Whether all texts match; also if there is none."""
    return compute.all(compute.match_substring_regex(texts, pattern), min_count=0).as_py() is True
