"""Texts that do not read as numbers, truth values or dates, in a column of which nearly all other cells do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pyarrow import compute

from separatrix.base.arrays import Booleans
from separatrix.table import cells
from separatrix.table.distinct import Distinct

# If at most this share of a column's cells are not of one kind, those cells are taken for mistakes, not for categories.
LARGEST_SHARE_OF_STRAY_CELLS = 0.05
# The stray texts are compared only if there are fewer different ones than this.
MOST_STRAYS_KEPT = 9
_LEAP_YEAR = r"(\d\d(0[48]|[2468][048]|[13579][26])|([02468][048]|[13579][26])00)"
_DAY_OF_ANY_YEAR = r"((0[13578]|1[02])-(0[1-9]|[12]\d|3[01])|(0[469]|11)-(0[1-9]|[12]\d|30)|02-(0[1-9]|1\d|2[0-8]))"
_HOUR, _SIXTY = r"([01]\d|2[0-3])", r"[0-5]\d"
_ZONE = rf"(Z|[-+]{_HOUR}(:?{_SIXTY})?)"
_TIME = rf"[ T]({_HOUR}|{_HOUR}:{_SIXTY}(:{_SIXTY}(\.\d{{1,6}})?)?{_ZONE}?)"
# What ``cells.READINGS`` reads, as patterns, which say it of each text. Infinite numbers do not match.
PATTERNS = {
    "number": r"^[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?$",
    "boolean": r"^(?i:true|false)$",
    "date": rf"^(\d{{4}}-{_DAY_OF_ANY_YEAR}|{_LEAP_YEAR}-02-29)({_TIME})?$",
}


@dataclass(frozen=True)
class Strays:
    """The texts of a column that are not of one kind.

    ``rows``: how many rows have such a text; ``fitting``: how many have a value of the kind. ``first``: the first
    different texts, each with its row.
    """

    rows: int
    fitting: int
    first: tuple[tuple[str, int], ...] = ()

    @property
    def are_few(self) -> bool:
        """Whether nearly all values are of the kind, but not all.

        >>> Strays(5, 95).are_few, Strays(6, 94).are_few, Strays(0, 100).are_few
        (True, False, False)
        """
        return 0 < self.rows <= LARGEST_SHARE_OF_STRAY_CELLS * (self.rows + self.fitting)

    def merge(self, later: Strays) -> Strays:
        """The strays of these rows and of later ones."""
        return Strays(self.rows + later.rows, self.fitting + later.fitting, self._first_with(later))

    def _first_with(self, later: Strays) -> tuple[tuple[str, int], ...]:
        if not later.first:
            return self.first
        texts = list(dict.fromkeys(text for text, _ in (*self.first, *later.first)))[:MOST_STRAYS_KEPT]
        rows = dict([*reversed(later.first), *reversed(self.first)])
        return tuple((text, rows[text]) for text in texts)


def strays_among(texts: Distinct, proper: Any) -> dict[str, Strays]:
    """The strays by kind. ``proper``: the same texts without white space, null where they spell a missing value."""
    n_known = int(texts.counts[cells.as_array(proper.is_valid())].sum())
    return {kind: _strays(texts, unlike(proper, kind), n_known) for kind in PATTERNS}


def _strays(texts: Distinct, odd: Booleans, n_known: int) -> Strays:
    first = tuple((texts.values[int(k)].as_py(), int(texts.first[k])) for k in np.flatnonzero(odd)[:MOST_STRAYS_KEPT])
    rows = int(texts.counts[odd].sum())
    return Strays(rows, n_known - rows, first)


def unlike(proper: Any, kind: str) -> Booleans:
    """Which of the texts, null where they spell a missing value, are not of a kind."""
    odd: Booleans = cells.as_array(
        compute.invert(compute.match_substring_regex(proper, PATTERNS[kind])).fill_null(False)
    )
    return odd


def merged(earlier: Mapping[str, Strays], later: Mapping[str, Strays]) -> dict[str, Strays]:
    """The strays by kind of these rows and of later ones."""
    return {kind: strays.merge(later[kind]) for kind, strays in earlier.items()}
