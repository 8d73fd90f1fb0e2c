"""Count the n-grams of texts. A table is counted once; each fit then learns from the counts of its own rows."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.cached import cached_property
from separatrix.table.ngrams import hashed_place, ngrams
from separatrix.table.text_settings import TextSettings


@dataclass(frozen=True, eq=False)
class CountedTexts:
    """How often each n-gram is in each text: ``counts`` (n, m) in CSR, and the column of each n-gram.

    Hashed counts have as many columns as X, and no n-grams. ``has_words`` tells whether a text has any n-gram.
    """

    counts: Any
    places: Mapping[str, int] = field(default_factory=dict)
    has_words: bool = True

    @cached_property
    def terms(self) -> list[str]:
        """The n-grams in the order of the columns."""
        return list(self.places)


def count_texts(texts: Iterable[str | None], settings: TextSettings) -> CountedTexts:
    """Count the n-grams of texts, of which some may be None.

    N-grams in fewer than ``min_df`` of the texts are left out: no part of the rows can have more of them. In free text
    that is nine n-grams of ten.

    >>> counted = count_texts(["to see, to believe"], TextSettings(ngrams=1, min_df=1))
    >>> counted.terms, counted.counts.toarray().tolist()
    (['to', 'see', 'believe'], [[2.0, 1.0, 1.0]])
    """
    if settings.hashed:
        hashes = _Hashes(settings.max_features)
        counts = counts_of(texts, settings.ngrams, hashes.__getitem__, lambda: settings.max_features)
        counts.eliminate_zeros()
        return CountedTexts(counts)
    places = _Growing()
    counts = counts_of(texts, settings.ngrams, places.__getitem__, lambda: len(places))
    kept = np.flatnonzero(np.bincount(counts.indices, minlength=len(places)) >= settings.min_df)
    terms = list(places)
    return CountedTexts(counts[:, kept], {terms[j]: k for k, j in enumerate(kept.tolist())}, bool(terms))


class _Growing(dict[str, int]):
    """A vocabulary that grows: a new n-gram gets the next number."""

    def __missing__(self, term: str) -> int:
        self[term] = k = len(self)
        return k


class _Hashes(dict[str, int]):
    """The column j of each n-gram by its hash; ~j, which is negative, if its sign is negative."""

    def __init__(self, width: int) -> None:
        self.width = width

    def __missing__(self, term: str) -> int:
        j, sign = hashed_place(term, self.width)
        self[term] = signed = j if sign > 0 else ~j
        return signed


def counts_of(
    texts: Iterable[str | None], longest: int, place: Callable[[str], int | None], width: Callable[[], int]
) -> Any:
    """Counts (n, width) in CSR. ``place`` gives the column of an n-gram, ~column to subtract, or None."""
    from scipy.sparse import csr_array

    columns, values, ends = array("q"), array("d"), array("q", [0])
    for text in texts:
        for term, count in Counter(ngrams(text, longest) if text else ()).items():
            j = place(term)
            if j is not None:
                columns.append(j if j >= 0 else ~j)
                values.append(count if j >= 0 else -count)
        ends.append(len(columns))
    shape = (len(ends) - 1, width())
    counts = csr_array((np.array(values), np.array(columns, dtype=np.int64), np.array(ends)), shape=shape)
    counts.sum_duplicates()
    return counts
