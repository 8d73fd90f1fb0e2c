"""Words of a text, their n-grams, and the columns of X that a row of n-grams becomes.

The functions need only standard modules: they are copied into exported Python files. They follow scikit-learn:
``ngrams`` its ``TfidfVectorizer`` and ``HashingVectorizer`` with ``ngram_range=(1, longest)``, ``hashed_place`` its
``FeatureHasher``.
"""

from __future__ import annotations

import re


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
