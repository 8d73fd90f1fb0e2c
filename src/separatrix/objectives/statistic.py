"""Cached statistics of a problem, each with the parts of the problem that it depends on.

A copy of a problem may change five parts: the ``rows`` with their targets and weights, their ``frame``, the
``penalty``, which columns of W are ``pinned``, and the ``loss``. ``Objective.with_`` keeps the statistics that depend
on none of the changed parts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property

T = TypeVar("T")

Part = Literal["rows", "frame", "penalty", "pinned", "loss"]


class Statistic(cached_property[T]):
    """A cached property that declares the parts of the problem it depends on.

    ``narrowed``: a function that updates the statistic when more columns are pinned, given its value and the pinned
    columns, (d + 1,) booleans; None if it must be computed again.
    """

    depends_on: frozenset[Part]
    narrowed: Callable[[T, AnyArray], T] | None

    def kept(self, value: T, changed: frozenset[Part], more_pinned: AnyArray | None) -> tuple[T] | None:
        """The value after the parts ``changed``, in a tuple, or None if it is no longer valid.

        ``more_pinned``: the newly pinned columns, if these include all that were pinned before; otherwise None.
        """
        lost = self.depends_on & changed
        if not lost:
            return (value,)
        if lost == {"pinned"} and more_pinned is not None and self.narrowed is not None:
            return (self.narrowed(value, more_pinned),)
        return None


def depends_on(
    *parts: Part, narrowed: Callable[[Any, AnyArray], Any] | None = None
) -> Callable[[Callable[[Any], T]], Statistic[T]]:
    """Declare a method without arguments as a statistic of these parts of the problem.

    >>> class Problem:
    ...     @depends_on("rows")
    ...     def total(self):
    ...         return 3.0
    >>> Problem().total, sorted(Problem.total.depends_on)
    (3.0, ['rows'])
    """

    def declare(method: Callable[[Any], T]) -> Statistic[T]:
        statistic = Statistic(method)
        statistic.depends_on, statistic.narrowed = frozenset(parts), narrowed
        return statistic

    return declare
