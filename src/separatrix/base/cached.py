"""A cached property without a lock.

``functools.cached_property`` of Python 3.11 holds one lock per class and attribute while it computes, so

- a child process that is forked while another thread computes the attribute of any object inherits the lock in its
  locked state. No thread of the child releases it, so the child hangs when it first uses the attribute;
- a thread that computes the attribute and waits for the thread pool may wait for a task that needs the same attribute
  of another object, which is a deadlock.

``functools.cached_property`` has no lock from Python 3.12 on. Every module of the package uses the class below.
"""

from __future__ import annotations

import functools
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """The value of a method without arguments, computed on first access and stored in the instance.

    Two threads that access it at the same time may both compute it; both get the value that was stored first.

    >>> class Circle:
    ...     @cached_property
    ...     def area(self):
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (3.14, 3.14)
    """

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any] | None = None) -> T: ...
    def __get__(self, instance: object, owner: type[Any] | None = None) -> Self | T:
        # Python looks a stored value up in the instance itself and calls this method only if there is none.
        if instance is None:
            return self
        kept: dict[Any, T] = instance.__dict__
        return kept.setdefault(self.attrname, self.func(instance))
