"""A sequence whose items are computed on demand and stored, so that going back is cheap."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class History(Generic[T]):
    """The sequence first, advance(first), advance(advance(first)), … until ``advance`` returns None.

    At most ``keep`` of the most recently requested items are stored, and as many landmarks: every item whose number is
    a multiple of the stride, which doubles when there are too many. An item that is not stored is computed again from
    the landmark before it, so ``advance`` must always return the same result.

    >>> halves = History(16, lambda n: n // 2 if n > 1 else None, keep=2)
    >>> [halves.at(k) for k in (4, 0, 3, 5)], halves.known, halves.ended
    ([1, 16, 2, None], 4, True)
    """

    def __init__(self, first: T, advance: Callable[[T], T | None], keep: int) -> None:
        self._advance, self._keep, self._stride = advance, keep, 1
        self._landmarks, self._recent = {0: first}, OrderedDict({0: first})
        self.known, self.ended = 0, False

    def at(self, k: int) -> T | None:
        """Item k, which is computed if it is not stored; None if the sequence ends before it."""
        if k in self._recent:
            self._recent.move_to_end(k)
            return self._recent[k]
        if self.ended and k > self.known:
            return None
        place, item = self._nearest_before(k)
        while place < k:
            following = self._advance(item)
            if following is None:
                self.ended, self.known = True, place
                return None
            place, item = place + 1, following
            self._store(place, item)
        return item

    def _nearest_before(self, k: int) -> tuple[int, T]:
        if k - 1 in self._recent:
            return k - 1, self._recent[k - 1]
        place = min(k, self.known) // self._stride * self._stride
        later = [near for near in self._recent if place < near <= k]
        if later:
            return max(later), self._recent[max(later)]
        return place, self._landmarks[place]

    def _store(self, place: int, item: T) -> None:
        self.known = max(self.known, place)
        self._recent[place] = item
        self._recent.move_to_end(place)
        if len(self._recent) > self._keep:
            self._recent.popitem(last=False)
        if place % self._stride == 0:
            self._landmarks[place] = item
        if len(self._landmarks) > self._keep:
            self._stride *= 2
            self._landmarks = {k: kept for k, kept in self._landmarks.items() if k % self._stride == 0}
