"""The forms of dataclasses, from the annotations of their fields, and of one dataclass among several kinds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import NoneType, UnionType
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from separatrix.base.cached import cached_property
from separatrix.base.errors import ModelFileError
from separatrix.model_file.forms import Choice, Maybe, Number, Plain, Several
from separatrix.model_file.places import Form, Reading, Writing

_PLAIN: dict[Any, Form] = {str: Plain(str), bool: Plain(bool), int: Plain(int), float: Number()}


def _optional(*hints: Any) -> Form:
    [hint] = [hint for hint in hints if hint is not NoneType]
    return Maybe(form_of(hint))


# The forms of annotations with arguments, by their origin.
_COMPOUND: dict[Any, Callable[..., Form]] = {
    UnionType: _optional,
    Union: _optional,
    Literal: lambda *words: Choice(words),
    tuple: lambda hint, _: Several(form_of(hint)),
}


def form_of(hint: Any) -> Form:
    """The form of an annotation. Arrays and protocols need an explicit form, ``Record(field=form)``.

    >>> form_of(tuple[int, ...]).read([1, 2], Reading("rows"))
    (1, 2)
    """
    if is_dataclass(hint) and isinstance(hint, type):
        return Record(hint)
    form = _PLAIN.get(hint)
    return _COMPOUND[get_origin(hint)](*get_args(hint)) if form is None else form


class Record(Form):
    """A dataclass, stored by its fields. ``kind`` is the class, or "module:class" if it is imported only when needed.

    ``check`` returns what is wrong with a value, given the lengths of axes, or an empty text. The default is the
    method ``misfit`` of the class, if it has one.

    >>> from separatrix.objectives.bound import WeightError
    >>> Record(WeightError).read({"value": None, "unit": "", "reason": "why"}, Reading("weights"))
    WeightError(value=None, unit='', reason='why')
    """

    shared: ClassVar[bool] = True

    def __init__(
        self, kind: type | str, check: Callable[[Any, Mapping[str, int]], str] | None = None, /, **forms: Form
    ) -> None:
        self.kind, self.check, self._given = kind, check, forms

    @property
    def name(self) -> str:
        """The class as "module:class"."""
        return self.kind if isinstance(self.kind, str) else _name(self.kind)

    @cached_property
    def cls(self) -> Any:
        if isinstance(self.kind, type):
            return self.kind
        module, _, name = self.kind.partition(":")
        return getattr(import_module(module), name)

    @cached_property
    def forms(self) -> dict[str, Form]:
        """The forms of the fields, in order."""
        names = [field.name for field in fields(self.cls)]
        hints = get_type_hints(self.cls) if set(names) - set(self._given) else {}
        return {name: self._given.get(name) or form_of(hints[name]) for name in names}

    def plain(self, value: Any, at: Writing) -> Any:
        return {name: at.into(name).plain(form, getattr(value, name)) for name, form in self.forms.items()}

    def read(self, found: Any, at: Reading) -> Any:
        if not isinstance(found, dict):
            raise ModelFileError(f"its {at.path} is not an object")
        require_keys(found, set(self.forms), at)
        value = self.cls(**{name: at.into(name).read(form, found[name]) for name, form in self.forms.items()})
        self._require_sound(value, at)
        return value

    def refit(self, value: Any, at: Reading) -> None:
        at.require(_name(type(value)) == self.name, f"is a {type(value).__name__}")
        self._require_sound(value, at)

    def _require_sound(self, value: Any, at: Reading) -> None:
        check = self.check or getattr(self.cls, "misfit", None)
        problem = check(value, at.sizes) if check else ""
        at.require(not problem, problem)


class Kinds(Form):
    """One of several records, marked by the key "kind". A new kind is one line: its name and its record."""

    shared: ClassVar[bool] = True

    def __init__(self, records: Mapping[str, Record]) -> None:
        self.records = records

    def name_of(self, value: Any) -> str | None:
        """The name of a value's kind."""
        class_name = _name(type(value))
        return next((name for name, record in self.records.items() if record.name == class_name), None)

    def plain(self, value: Any, at: Writing) -> Any:
        name = self.name_of(value)
        if name is None:
            remedy = f"save one of the kinds that a file can hold: {', '.join(self.records)}"
            raise at.refuse(f"is of {type(value).__name__}", remedy)
        return {"kind": name, **self.records[name].plain(value, at)}

    def read(self, found: Any, at: Reading) -> Any:
        name = found.get("kind") if isinstance(found, dict) else None
        if not isinstance(name, str) or name not in self.records:
            raise ModelFileError(f"its {at.path} is of no known kind: {', '.join(self.records)}")
        return self.records[name].read({key: value for key, value in found.items() if key != "kind"}, at)

    def refit(self, value: Any, at: Reading) -> None:
        at.require(self.name_of(value) is not None, f"is a {type(value).__name__}")

    def only(self, *names: str) -> Kinds:
        """Only these kinds."""
        return Kinds({name: self.records[name] for name in names})


def require_keys(found: Mapping[str, Any], expected: set[str], at: Reading) -> None:
    """Refuse missing and unknown keys."""
    lacking, more = sorted(expected - set(found)), sorted(set(found) - expected)
    at.require(not lacking, f"lacks the key {', '.join(lacking)}")
    at.require(not more, f"has an unknown key, {', '.join(more):.60}")


def _name(kind: type) -> str:
    return f"{kind.__module__}:{kind.__qualname__}"
