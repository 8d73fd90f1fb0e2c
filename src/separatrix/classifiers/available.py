"""Methods that only some models of a class have, with a sentence for the others."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any


def offered_where(check: Callable[[Any], None]) -> Callable[[Callable[..., Any]], Any]:
    """A method that is there only where ``check`` passes; else asking for it raises what the check says.

    scikit-learn's ``available_if`` would keep that sentence in the exception's cause.

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
