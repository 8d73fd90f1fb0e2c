"""Methods that exist only on some models of a class; on the others, access raises an error that says why."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


def offered_where(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """Make a method available only where ``check`` passes; elsewhere accessing it raises the error of the check.

    scikit-learn's ``available_if`` does the same, but hides the check's message in the cause of its own error.

    >>> def never(model):
    ...     raise AttributeError("not for this one")
    >>> class Model:
    ...     @offered_where(never)
    ...     def answer(self): ...
    >>> hasattr(Model(), "answer")
    False
    """

    class Offered:
        def __init__(self, method: Callable[..., Any]) -> None:
            self.method, self.__doc__ = method, method.__doc__

        def __get__(self, model: Any, owner: Any = None) -> Any:
            if model is None:
                return self.method
            check(model)
            return MethodType(self.method, model)

    return Offered
