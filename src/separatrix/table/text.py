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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.cached import cached_property
from separatrix.base.errors import ParameterError, TableError
from separatrix.base.labels import quoted
from separatrix.base.messages import ByAudience, Message, Setting
from separatrix.table.text_counts import CountedTexts, count_texts, counts_of
from separatrix.table.text_settings import TextSettings


@dataclass(frozen=True)
class TextFeatures:
    """The columns of X of one text column: n-grams and their idf, or neither if they are hashed.

    >>> features = TextFeatures(TextSettings(ngrams=1), ("film", "good"), (1.0, 1.0))
    >>> features.matrix(["A good film", None]).toarray().round(3).tolist()
    [[0.707, 0.707], [0.0, 0.0]]
    """

    settings: TextSettings = field(default_factory=TextSettings)
    terms: tuple[str, ...] = ()
    idf: tuple[float, ...] = ()

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
        raise _without_terms(column, settings, counted.has_words, source)
    terms = counted.terms
    if len(chosen) > settings.max_features:
        total = np.bincount(rows.indices, rows.data, minlength=rows.shape[1])
        chosen = sorted(chosen, key=lambda j: (-total[j], terms[j]))[: settings.max_features]
    chosen.sort(key=terms.__getitem__)
    idf: Array = 1.0 + np.log((1 + rows.shape[0]) / (1.0 + df[chosen]))
    return TextFeatures(settings, tuple(terms[j] for j in chosen), tuple(idf.tolist()))


def _without_terms(column: str, settings: TextSettings, has_words: bool, source: str) -> TableError:
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


def checked_features(content: Any, require: Callable[[bool, str], None]) -> TextFeatures:
    """The features from ``plain_features``, after checking every key, type and length with ``require``."""
    keyed = isinstance(content, dict) and set(content) == {"settings", "terms", "idf"}
    require(keyed, "is not an object with settings, terms and idf")
    try:
        settings = TextSettings.from_plain(content["settings"])
    except ParameterError:
        require(False, "has settings that are not those of text")
        raise
    terms, idf = content["terms"], content["idf"]
    of_text = isinstance(terms, list) and all(isinstance(term, str) for term in terms)
    require(of_text and len(set(terms)) == len(terms), "has n-grams that are not distinct texts")
    finite = isinstance(idf, list) and all(type(value) is float and math.isfinite(value) for value in idf)
    require(finite and all(value > 0 for value in idf), "has an idf that is not of positive decimal numbers")
    require(len(idf) == len(terms), f"has {len(terms)} n-grams and {len(idf)} numbers of idf")
    require(bool(terms) != settings.hashed, "has n-grams and hashes, or neither")
    return TextFeatures(settings, tuple(terms), tuple(idf))


def plain_features(features: TextFeatures | None) -> dict[str, Any] | None:
    """The features as JSON types."""
    if features is None:
        return None
    return {"settings": features.settings.plain(), "terms": list(features.terms), "idf": list(features.idf)}


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
