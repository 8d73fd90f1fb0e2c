"""Python objects that are lent to Arrow's threads, which give them back a little after a reader has returned.

To give an object back, a thread needs the interpreter's lock. If the interpreter ends before that, the process aborts.
"""

from __future__ import annotations

import sys
import time
import traceback
from types import TracebackType
from typing import Any, Self

# The longest time to wait for the threads, and the time between two looks at them. They take microseconds, or
# milliseconds on a busy machine.
SECONDS_FOR_THREADS, SECONDS_BETWEEN_COUNTS = 5.0, 0.0005


class Lent:
    """Waits, at the end of a ``with`` block, until nothing that was made inside it refers to the objects any longer.

    The block has to delete its own references to the readers and to their options. Those in the frames of an error
    that leaves the block are deleted here.
    """

    def __init__(self, *objects: Any) -> None:
        self.objects = objects

    def __enter__(self) -> Self:
        # Not counted earlier: during the call of ``__init__``, the caller holds the objects as arguments, too.
        self._before = self._references()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        clear_frames(error)
        deadline = time.monotonic() + SECONDS_FOR_THREADS
        while self.is_held and time.monotonic() < deadline:
            time.sleep(SECONDS_BETWEEN_COUNTS)

    @property
    def is_held(self) -> bool:
        """Whether something still refers to one of the objects that did not when this block began."""
        return any(now > before for now, before in zip(self._references(), self._before, strict=True))

    def _references(self) -> list[int]:
        return [sys.getrefcount(lent) for lent in self.objects]


def clear_frames(error: BaseException | None) -> None:
    """Delete the local variables of the functions that an error has left, and of those that its causes have left."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__cause__ or error.__context__
