"""The place of a value in a file, and the objects that were written or read before it.

An array or a record that occurs in two places of a model is written once, and the second time as {"same": place}. When
it is read, it becomes one object again. Errors name the place and what is wrong with it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

from separatrix.base.errors import ModelFileError, ParameterError


class Form(ABC):
    """How values of one kind are stored. ``shared`` says that one object may occur in several places."""

    shared: ClassVar[bool] = False

    @abstractmethod
    def plain(self, value: Any, at: Writing) -> Any:
        """The value as JSON types."""

    @abstractmethod
    def read(self, found: Any, at: Reading) -> Any:
        """The value, after checking its type, its sizes and its range."""

    def refit(self, value: Any, at: Reading) -> None:
        """Refuse an object from another place that does not fit here."""
        at.require(False, "cannot occur in two places")


@dataclass(frozen=True)
class Place:
    """A path such as ``certificate.claim.C``, the lengths of named axes, and the shared objects seen so far."""

    path: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    seen: dict[Any, Any] = field(default_factory=dict)

    def into(self, name: object) -> Self:
        """The place of an item, by its key or index."""
        return type(self)(f"{self.path}.{name}" if self.path else str(name), self.sizes, self.seen)

    def within(self, **sizes: int) -> Self:
        """The same place with these lengths of axes."""
        return replace(self, sizes=sizes)


class Writing(Place):
    """A place to write to; ``seen`` holds objects by their identity."""

    def plain(self, form: Form, value: Any) -> Any:
        """The value as JSON types, or a reference to the place where it was written before."""
        if not form.shared:
            return form.plain(value, self)
        if id(value) in self.seen:
            return {"same": self.seen[id(value)][0]}
        self.seen[id(value)] = (self.path, value)  # The object is kept alive, so that its id is not reused.
        return form.plain(value, self)

    def refuse(self, problem: str, remedy: str) -> ParameterError:
        """The error for a model that cannot be written."""
        return ParameterError("model", f"its {self.path} {problem}", remedy)


class Reading(Place):
    """A place to read from; ``seen`` holds objects by their path. Classifiers inside others become estimators."""

    estimators: ClassVar[bool] = True

    def read(self, form: Form, found: Any) -> Any:
        """The value, or the object from the place that ``found`` refers to."""
        if not form.shared:
            return form.read(found, self)
        if isinstance(found, dict) and set(found) == {"same"}:
            known = isinstance(found["same"], str) and found["same"] in self.seen
            self.require(known, "refers to a place that has not been read")
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


class ReadingScorers(Reading):
    """A place to read from, where classifiers inside others are read as ``StoredModel``, without scikit-learn."""

    estimators: ClassVar[bool] = False
