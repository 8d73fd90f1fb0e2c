"""Where in a file a value stands, and what was met on the way there.

An array or a record that stands in two places of a model is written once, and then as {"same": place}; when read it is
one object again. Errors name the place and what is wrong with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from separatrix.base.errors import ModelFileError, ParameterError


class Form(ABC):
    """How values of one kind stand in a file. ``shared``: whether one may stand in several places as one object."""

    shared: ClassVar[bool] = False

    @abstractmethod
    def plain(self, value: Any, at: Writing) -> Any:
        """The value in JSON's own types."""

    @abstractmethod
    def read(self, found: Any, at: Reading) -> Any:
        """The value again, once its type, its sizes and its range have been seen to fit."""

    def refit(self, value: Any, at: Reading) -> None:
        """Refuse an object met before, in another place, that has no business in this one."""
        at.require(False, "cannot stand in two places")


@dataclass(frozen=True)
class Place:
    """A path such as ``certificate.claim.C``; the lengths of axes by name; the objects met so far."""

    path: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    seen: dict[Any, Any] = field(default_factory=dict)

    def into(self, name: object) -> Self:
        """One step further down, to a key or a number."""
        return type(self)(f"{self.path}.{name}" if self.path else str(name), self.sizes, self.seen)

    def within(self, **sizes: int) -> Self:
        """The same place, with these lengths of axes."""
        return replace(self, sizes=sizes)


class Writing(Place):
    """A place to write to; ``seen`` holds objects by their identity."""

    def plain(self, form: Form, value: Any) -> Any:
        """The value by its form, or where it already stands."""
        if not form.shared:
            return form.plain(value, self)
        if id(value) in self.seen:
            return {"same": self.seen[id(value)][0]}
        self.seen[id(value)] = (self.path, value)  # the object, too: its identity must not pass to another
        return form.plain(value, self)

    def refuse(self, problem: str, do: str) -> ParameterError:
        """The error for a model that cannot be written."""
        return ParameterError("model", f"its {self.path} {problem}", do)


class Reading(Place):
    """A place to read from; ``seen`` holds objects by their path."""

    def read(self, form: Form, found: Any) -> Any:
        """The value by its form, or the one that already stands where this says."""
        if not form.shared:
            return form.read(found, self)
        if isinstance(found, dict) and set(found) == {"same"}:
            known = isinstance(found["same"], str) and found["same"] in self.seen
            self.require(known, "names a place that holds no such thing")
            value = self.seen[found["same"]]
            form.refit(value, self)
        else:
            value = form.read(found, self)
        self.seen[self.path] = value
        return value

    def require(self, holds: bool, problem: str) -> None:
        """Refuse the file unless this holds."""
        if not holds:
            raise ModelFileError(f"its {self.path or 'content'} {problem}")
