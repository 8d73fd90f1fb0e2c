"""What is computed of a problem once and kept, each with the parts of the problem that it depends on.

A copy of a problem may change five parts: the ``rows`` with their targets and weights, the ``frame`` in which they are
seen, the ``penalty``, which columns of W are ``pinned``, and the ``loss``. ``Objective.with_`` keeps a statistic that
depends on none of the parts that change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar

from separatrix.base.arrays import AnyArray
from separatrix.base.cached import cached_property

T = TypeVar("T")

Part = Literal["rows", "frame", "penalty", "pinned", "loss"]


class Statistic(cached_property[T]):
    """A cached property that says what it depends on.

    ``narrowed``: the same statistic with more columns pinned, from the statistic and those columns, (d + 1,) of truth
    values; None where it must be computed again.
    """

    depends_on: frozenset[Part]
    narrowed: Callable[[T, AnyArray], T] | None

    def kept(self, value: T, changed: frozenset[Part], more_pinned: AnyArray | None) -> tuple[T] | None:
        """The value for a problem whose parts ``changed``, in a tuple, or None where it no longer holds.

        ``more_pinned``: the columns that are pinned then, where these include all that were pinned before.
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
