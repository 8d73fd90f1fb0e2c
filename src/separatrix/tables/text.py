"""Free text as columns of X: one column for each n-gram, weighted by TF-IDF, or a fixed number of hashed columns.

For a text with n-gram counts c_j, in n training rows of which df_j have n-gram j,

    x_j = (1 + ln c_j) · (1 + ln((1 + n)/(1 + df_j))), then x / ‖x‖

This is scikit-learn's ``TfidfVectorizer(ngram_range=(1, ngrams), min_df=…, max_features=…, sublinear_tf=…)``, or with
``hashed`` its ``HashingVectorizer(n_features=max_features, ngram_range=(1, ngrams))``, which has signed counts in place
of the weights and learns nothing. A text without any of these n-grams is a row of zeros, and so is a missing text.
Rows are CSR throughout.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Annotated, Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array
from separatrix.core.base.codec import Number
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.labels import quoted
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import ByAudience, Message, Setting

# --- The functions that are copied into exported Python files, so that they need only standard modules
#
# ``ngrams`` follows scikit-learn's TfidfVectorizer and HashingVectorizer, ``hashed_place`` its FeatureHasher.


def ngrams(text: str, longest: int) -> list[str]:
    """The words of a text in lower case, then its pairs of neighbouring words, up to runs of ``longest`` words.

    A word is a run of at least two letters, digits or underscores.

    >>> ngrams("A film to see, to SEE!", 2)
    ['film', 'to', 'see', 'to', 'see', 'film to', 'to see', 'see to', 'to see']
    """
    words = re.findall(r"\b\w\w+\b", text.lower())
    found = list(words)
    for length in range(2, longest + 1):
        found.extend(map(" ".join, zip(*(words[k:] for k in range(length)), strict=False)))
    return found


def murmur3(data: bytes) -> int:
    """MurmurHash3 of the bytes with 32 bits and seed 0, as a signed integer.

    A. Appleby, MurmurHash3_x86_32, in the public domain.

    >>> murmur3(b"film"), murmur3(b"")
    (-103666345, 0)
    """
    h, whole = 0, len(data) & ~3
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        k = ((k << 15 | k >> 17) & 0xFFFFFFFF) * 0x1B873593 & 0xFFFFFFFF
        h ^= k
        h = ((h << 13 | h >> 19) & 0xFFFFFFFF) * 5 + 0xE6546B64 & 0xFFFFFFFF
    if whole < len(data):
        k = int.from_bytes(data[whole:], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        h ^= ((k << 15 | k >> 17) & 0xFFFFFFFF) * 0x1B873593 & 0xFFFFFFFF
    h ^= len(data)
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    h ^= h >> 16
    return h - 0x100000000 if h & 0x80000000 else h


def hashed_place(term: str, width: int) -> tuple[int, float]:
    """The column of a hashed term, from 0 to ``width`` − 1, and its sign.

    >>> hashed_place("film", 1000)
    (345, -1.0)
    """
    h = murmur3(term.encode())
    return abs(h) % width, 1.0 if h >= 0 else -1.0


def text_row(text: str, plan: Any) -> list[float]:
    """The columns of X of one text: the same as ``TextFeatures.matrix`` of that text, as a list.

    ``plan`` has the number of columns, ``width``; the most words in an n-gram, ``ngrams``; the column of each n-gram,
    ``places``, or None if they are hashed; their ``idf``; and whether counts are taken as ``sublinear`` logarithms.

    >>> plan = {"width": 2, "ngrams": 1, "places": {"film": 0, "good": 1}, "idf": [1.0, 2.0], "sublinear": True}
    >>> [round(x, 3) for x in text_row("A good film", plan)]
    [0.447, 0.894]
    """
    counts: dict[int, float] = {}
    for term in ngrams(text, plan["ngrams"]):
        if plan["places"] is None:
            j, sign = hashed_place(term, plan["width"])
            counts[j] = counts.get(j, 0.0) + sign
        elif term in plan["places"]:
            j = plan["places"][term]
            counts[j] = counts.get(j, 0.0) + 1.0
    if plan["places"] is not None:
        counts = {j: (1.0 + math.log(c) if plan["sublinear"] else c) * plan["idf"][j] for j, c in counts.items()}
    length = math.sqrt(sum(value * value for value in counts.values())) or 1.0
    x = [0.0] * plan["width"]
    for j, value in counts.items():
        x[j] = value / length
    return x


# --- What the user asks for

# The most columns of X that one text column may become, and the most words in an n-gram.
MOST_FEATURES, MOST_WORDS = 10_000_000, 10


@dataclass(frozen=True)
class TextSettings:
    """How a column of free text becomes columns of X.

    Parameters
    ----------
    ngrams : int
        The most words in an n-gram: 1 for single words, 2 for single words and pairs of neighbouring words.
    min_df : int
        N-grams in fewer training rows than this are left out.
    max_features : int
        The most columns of X. If there are more n-grams, those with the highest counts are kept, and of equal ones the
        first in alphabetical order. With ``hashed`` it is the number of columns.
    sublinear_tf : bool
        Whether an n-gram that occurs c times in a text counts as 1 + ln c, instead of c.
    hashed : bool
        Whether n-grams are hashed to columns instead of having one each. The model then keeps no vocabulary, and its
        columns cannot be told by n-gram. ``min_df`` and ``sublinear_tf`` do not apply.

    Examples
    --------
    >>> TextSettings(ngrams=1).max_features
    100000
    """

    ngrams: int = 2
    min_df: int = 2
    max_features: int = 100_000
    sublinear_tf: bool = True
    hashed: bool = False

    def __post_init__(self) -> None:
        for name, most in (("ngrams", MOST_WORDS), ("min_df", MOST_FEATURES), ("max_features", MOST_FEATURES)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise ParameterError(name, f"got {value!r:.60}", f"give a whole number from 1 to {most}")
            object.__setattr__(self, name, int(value))
        for name in ("sublinear_tf", "hashed"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(name, f"got {getattr(self, name)!r:.60}", "give True or False")
            object.__setattr__(self, name, bool(getattr(self, name)))

    @property
    def lengths(self) -> str:
        """The lengths of the n-grams in words.

        >>> TextSettings().lengths
        '1 to 2 words'
        """
        return "1 word" if self.ngrams == 1 else f"1 to {self.ngrams} words"

    def plain(self) -> dict[str, Any]:
        """The settings as JSON types.

        Returns
        -------
        dict
        """
        return asdict(self)

    @classmethod
    def from_plain(cls, content: Any) -> TextSettings:
        """The settings from the result of ``plain``, in which any may be left out.

        Parameters
        ----------
        content : dict
            Values by the names of the settings.

        Returns
        -------
        TextSettings

        Raises
        ------
        ParameterError
            A key or a value is not one of a setting.

        Examples
        --------
        >>> TextSettings.from_plain({"min_df": 1}) == TextSettings(min_df=1)
        True
        """
        known = [one.name for one in fields(cls)]
        if not isinstance(content, dict) or not set(content) <= set(known):
            raise ParameterError("text", f"got {content!r:.60}", f"give an object with the keys {', '.join(known)}")
        return cls(**content)


DEFAULTS = TextSettings()


def asked_for(text: Any) -> dict[str, TextSettings]:
    """The settings by column, from a name, several names, or a mapping of names to settings.

    >>> list(asked_for("review")), asked_for({"title": TextSettings(ngrams=1)})["title"].ngrams
    (['review'], 1)
    """
    if isinstance(text, str):
        return {text: DEFAULTS}
    asked = dict(text) if isinstance(text, Mapping) else dict.fromkeys(text or (), DEFAULTS)
    for name, settings in asked.items():
        if not isinstance(name, str) or not isinstance(settings, TextSettings):
            problem = f"got {name!r:.60}: {settings!r:.60}"
            raise ParameterError("text", problem, "give names of columns, or a dictionary of names and TextSettings")
    return asked


# --- Counts of n-grams: a table is counted once, and each fit learns from the counts of its own rows


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


@dataclass(frozen=True)
class TextFeatures:
    """The columns of X of one text column: n-grams and their idf, or neither if they are hashed.

    >>> features = TextFeatures(TextSettings(ngrams=1), ("film", "good"), (1.0, 1.0))
    >>> features.matrix(["A good film", None]).toarray().round(3).tolist()
    [[0.707, 0.707], [0.0, 0.0]]
    """

    settings: TextSettings = field(default_factory=TextSettings)
    terms: tuple[str, ...] = ()
    idf: tuple[Annotated[float, Number(above=0.0, finite=True)], ...] = ()

    def misfit(self, sizes: Mapping[str, int]) -> str:
        """What is wrong with the features from a model file; empty if nothing is."""
        if len(set(self.terms)) < len(self.terms):
            return "has n-grams that are not distinct"
        if len(self.idf) != len(self.terms):
            return f"has {len(self.terms)} n-grams and {len(self.idf)} numbers of idf"
        return "" if bool(self.terms) != self.settings.hashed else "has n-grams and hashes, or neither"

    @property
    def width(self) -> int:
        """The number of columns of X."""
        return self.settings.max_features if self.settings.hashed else len(self.terms)

    @property
    def about(self) -> str:
        """The features in words.

        >>> TextFeatures(TextSettings(), ("film", "good film"), (1.0, 1.0)).about
        '2 n-grams of 1 to 2 words'
        """
        n_grams = f"n-gram{'s' * (self.width != 1)} of {self.settings.lengths}"
        return f"{n_grams} hashed to {self.width:,} columns" if self.settings.hashed else f"{self.width:,} {n_grams}"

    def names(self, column: str) -> tuple[str, ...]:
        """The names of the columns of X."""
        terms = (f"#{k}" for k in range(self.width)) if self.settings.hashed else self.terms
        return tuple(f"{column}:{term}" for term in terms)

    def n_letters(self, column: str) -> int:
        """The total length of ``names``, computed without building them.

        >>> features = TextFeatures(TextSettings(max_features=1234, hashed=True))
        >>> features.n_letters("review") == sum(map(len, features.names("review")))
        True
        """
        own = self.width * (len(column) + 1)
        if not self.settings.hashed:
            return own + sum(map(len, self.terms))
        digits = sum(self.width - 10**k if k else self.width for k in range(len(str(self.width - 1))))
        return own + self.width + digits

    @cached_property
    def _places(self) -> dict[str, int]:
        return {term: j for j, term in enumerate(self.terms)}

    def matrix(self, texts: Iterable[str | None]) -> Any:
        """The columns of X, CSR (n, width), of texts; None is a missing text."""
        if self.settings.hashed:
            return self.weighted(count_texts(texts, self.settings).counts)
        return self.weighted(counts_of(texts, self.settings.ngrams, self._places.get, lambda: self.width))

    def of_counts(self, counted: CountedTexts) -> Any:
        """The columns of X of the texts that were counted."""
        if self.settings.hashed:
            return self.weighted(counted.counts)
        return self.weighted(counted.counts[:, [counted.places[term] for term in self.terms]])

    def weighted(self, counts: Any) -> Any:
        """Rows of unit length from counts (n, width) in CSR; a row without any count stays zero."""
        from scipy.sparse import csr_array

        X = csr_array(counts, dtype=np.float64, copy=True)
        X.sort_indices()
        if not self.settings.hashed:
            if self.settings.sublinear_tf:
                X.data = 1.0 + np.log(X.data)
            X.data *= np.asarray(self.idf)[X.indices]
        rows = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
        X.data /= np.sqrt(np.bincount(rows, X.data**2, minlength=X.shape[0]))[rows]
        return X


def learn(
    column: str, settings: TextSettings, counted: CountedTexts, train: AnyArray | None, source: str
) -> TextFeatures:
    """The n-grams and their idf from the training rows, a mask (n,), or from all rows if None."""
    if settings.hashed:
        return TextFeatures(settings)
    rows = counted.counts if train is None else counted.counts[np.flatnonzero(train)]
    df = np.bincount(rows.indices, minlength=rows.shape[1])
    chosen = np.flatnonzero(df >= settings.min_df).tolist()
    if not chosen:
        raise _no_terms(column, settings, counted.has_words, source)
    terms = counted.terms
    if len(chosen) > settings.max_features:
        total = np.bincount(rows.indices, rows.data, minlength=rows.shape[1])
        chosen = sorted(chosen, key=lambda j: (-total[j], terms[j]))[: settings.max_features]
    chosen.sort(key=terms.__getitem__)
    idf: Array = 1.0 + np.log((1 + rows.shape[0]) / (1.0 + df[chosen]))
    return TextFeatures(settings, tuple(terms[j] for j in chosen), tuple(idf.tolist()))


def _no_terms(column: str, settings: TextSettings, has_words: bool, source: str) -> TableError:
    leave = Message("leave the column out with ", Setting("drop", column))
    if not has_words:
        problem = f"the texts of column {column!r} hold no word of two letters or more"
        return TableError(source, problem, leave)
    problem = f"no word of column {column!r} is in {settings.min_df} of the rows fitted"
    return TableError(source, problem, Message("lower ", ByAudience("min_df", shell="--text-min-df"), ", or ", leave))


def without_terms(X: Any, missing: AnyArray) -> int:
    """The number of texts that hold no n-gram of the model, apart from missing ones; X (n, width) in CSR."""
    return int(np.count_nonzero((np.diff(X.indptr) == 0) & ~missing))


def empty_note(column: str, n: int) -> list[str]:
    """A note on the rows whose text holds no n-gram of the model."""
    rows = "1 row holds" if n == 1 else f"{n} rows hold"
    return [f"In column {quoted(column)} {rows} no n-gram of the model; such a text counts as empty."] if n else []


def limit_note(column: str, features: TextFeatures, counted: CountedTexts, train: AnyArray | None) -> list[str]:
    """A note if there were more n-grams than ``max_features``."""
    settings = features.settings
    if settings.hashed or features.width < settings.max_features:
        return []
    rows = counted.counts if train is None else counted.counts[np.flatnonzero(train)]
    n_terms = int(np.count_nonzero(np.bincount(rows.indices, minlength=rows.shape[1]) >= settings.min_df))
    if n_terms == features.width:
        return []
    said = f"{n_terms:,} n-grams in at least {settings.min_df} of the rows fitted"
    return [f"Column {quoted(column)} has {said}; the {features.width:,} with the highest counts are used."]


def beside(D: Array, widths: Sequence[int], texts: Sequence[Any]) -> Any:
    """X in CSR. Before the k-th of the ``texts`` come the next ``widths[k]`` columns of D; the rest follow the last.

    Without texts it is D itself.

    >>> from scipy.sparse import csr_array
    >>> beside(np.array([[1.0, 2.0]]), [1], [csr_array([[7.0]])]).toarray().tolist()
    [[1.0, 7.0, 2.0]]
    """
    if not texts:
        return D
    from scipy.sparse import csr_array, hstack

    blocks, start = list[Any](), 0
    for width, text in zip(widths, texts, strict=True):
        blocks += [csr_array(D[:, start : start + width]), text]
        start += width
    return csr_array(hstack([*blocks, csr_array(D[:, start:])], format="csr"))
