"""A budget of processor time, which stops work at the next step that it reports to its watcher.

The fits of one classifier share a budget and may run in several threads. Each thread counts its own processor time, so
neither the number of threads nor other work on the machine changes what is spent.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from separatrix.base.errors import ParameterError
from separatrix.base.messages import ByAudience, Message, Remedy
from separatrix.base.watching import Stage, watch

# What to do about a budget that is spent.
RAISE_SECONDS = Remedy(Message("raise ", ByAudience("seconds", shell="--seconds"), " to wait for it"))


class OutOfTime(Exception):
    """The budget is spent."""


class Account:
    """The processor time of one block of work."""

    seconds = 0.0


class Budget:
    """At most ``seconds`` of processor time for all blocks of work under ``spending`` together.

    >>> budget = Budget(0.0)
    >>> with budget.spending():
    ...     pass
    Traceback (most recent call last):
    ...
    separatrix.evaluation.budget.OutOfTime
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._accounts: list[Account] = []  # one for each block, written by its own thread alone: so without a lock

    def _spent(self) -> float:
        return sum(account.seconds for account in self._accounts)

    @contextmanager
    def spending(self, follow: Callable[[Stage], None] | None = None) -> Iterator[None]:
        """Count the processor time of this thread in the ``with`` block, and raise ``OutOfTime`` when none is left.

        ``follow`` receives every stage of the work, and may stop it by an exception of its own.
        """
        if self._spent() >= self.seconds:
            raise OutOfTime
        account, begin = Account(), time.thread_time()
        self._accounts.append(account)

        def count() -> float:
            account.seconds = time.thread_time() - begin
            return self._spent()

        def reported(stage: Stage, within: tuple[Stage, ...]) -> None:
            if follow is not None:
                follow(stage)
            if count() >= self.seconds:
                raise OutOfTime

        try:
            with watch(reported):
                yield
        finally:
            count()


def checked_seconds(seconds: float) -> float:
    """The budget as a float; an error if it is not a positive number. It may be infinite.

    >>> checked_seconds(60)
    60.0
    """
    number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
    if not number or math.isnan(seconds) or seconds <= 0:
        remedy = Message("give a positive number of seconds, or ", ByAudience("math.inf", shell="inf"), " for no limit")
        raise ParameterError("seconds", f"got {seconds!r}", remedy)
    return float(seconds)
