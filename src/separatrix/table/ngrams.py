"""Words of a text, their n-grams, and the columns of X that a row of n-grams becomes.

The functions need only standard modules: they are copied into exported Python files. They follow scikit-learn:
``ngrams`` its ``TfidfVectorizer`` and ``HashingVectorizer`` with ``ngram_range=(1, longest)``, ``hashed_place`` its
``FeatureHasher``.
"""

from __future__ import annotations

import math
import re
from typing import Any


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
