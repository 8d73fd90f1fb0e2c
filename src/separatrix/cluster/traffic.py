"""Counts what is sent to the workers and back, in bytes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field


@dataclass(frozen=True)
class PassTraffic:
    """One pass: the name of the sum, the number of tasks, and the bytes of their arguments and of their results."""

    what: str
    tasks: int
    sent: int
    received: int

    @property
    def bytes_per_task(self) -> float:
        """The bytes per task, in both directions."""
        return (self.sent + self.received) / max(1, self.tasks)


@dataclass
class Traffic:
    """The passes inside a ``counted_traffic`` block, in order."""

    passes: list[PassTraffic] = field(default_factory=list)

    @property
    def bytes(self) -> int:
        """The bytes of all passes, in both directions."""
        return sum(each.sent + each.received for each in self.passes)


_open: ContextVar[tuple[Traffic, ...]] = ContextVar("separatrix_traffic", default=())


def count_traffic(one: PassTraffic) -> None:
    """Add a pass to every ``counted_traffic`` block that is open."""
    for traffic in _open.get():
        traffic.passes.append(one)


@contextmanager
def counted_traffic() -> Iterator[Traffic]:
    """Count the bytes that passes over a cluster send inside a ``with`` block.

    The bytes are those of the sums and their results. Dask's own messages come on top: about two kilobytes per task.

    Yields
    ------
    Traffic
        ``passes`` has an entry for each pass: its sum, its tasks, the bytes sent and received.

    Examples
    --------
    >>> with counted_traffic() as traffic:
    ...     count_traffic(PassTraffic("ValueGradient", 2, 3000, 5000))
    >>> traffic.bytes, traffic.passes[0].bytes_per_task
    (8000, 4000.0)
    """
    traffic = Traffic()
    token = _open.set((*_open.get(), traffic))
    try:
        yield traffic
    finally:
        _open.reset(token)
