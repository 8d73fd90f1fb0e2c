"""The hyperparameters of a classifier, as its signature and its docstring give them.

The options of the command line and the forms of pages follow from them. They are read from the source without importing
the classifier, which would take a second.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import cleandoc
from typing import Any, Literal

from separatrix.core.base.lazy import class_head, declared_keys

Kind = Literal["number", "integer", "choice", "switch", "text"]
_NUMBERS: dict[str, Kind] = {"float": "number", "int": "integer", "bool": "switch"}
# Annotations that stand for the names in a registry.
_REGISTRIES = {"Solver": ("separatrix.core.solvers.registry", "OFFERED")}
# The section "Parameters" of a docstring, an entry of it with one name, and the end of a sentence.
_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\S[^\n]*\n-+\n|\Z)", re.MULTILINE | re.DOTALL)
_ENTRY = re.compile(r"^(\w+)(?: :.*)?\n((?:(?: .*)?(?:\n|\Z))+)", re.MULTILINE)
_END_OF_SENTENCE = re.compile(r"(?<=\.)\s+")


@dataclass(frozen=True)
class Hyperparameter:
    """A parameter of a classifier whose value can be written in a word.

    ``words``: the values of a choice, or what a number may be besides numbers. ``exclusive``: whether a choice has no
    other values. ``about``: the first sentence of its description.
    """

    name: str
    kind: Kind
    default: Any
    words: tuple[str, ...]
    exclusive: bool
    about: str


def read_hyperparameters(module: str, name: str) -> tuple[Hyperparameter, ...]:
    """The hyperparameters of a class, in the order of its signature.

    They are the parameters that its docstring describes under "Parameters" (not under "Other Parameters"), if their
    annotation names float, int, bool, str, ``Solver`` or a ``Literal``.

    >>> [one.name for one in read_hyperparameters("separatrix.classifiers.least_squares", "LeastSquaresClassifier")]
    ['l2', 'targets', 'fit_intercept']
    """
    head = class_head(module, name, "__init__")
    section = _SECTION.search(cleandoc(ast.get_docstring(head) or ""))
    described = dict(_ENTRY.findall(section[1])) if section else {}
    init = next((one for one in head.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"), None)
    if init is None:
        return ()
    found = []
    for argument, default in _with_defaults(init.args):
        if argument.arg not in described:
            continue
        types = list(_types(argument.annotation))
        words = tuple(word for one in types for word in _words(one))
        named = {one.id for one in types if isinstance(one, ast.Name)}
        number = next((kind for name, kind in _NUMBERS.items() if name in named), None)
        if number is None and not words and "str" not in named:
            continue
        about = " ".join(_END_OF_SENTENCE.split(described[argument.arg].strip(), 1)[0].split())
        kind: Kind = number or ("choice" if words else "text")
        value = ast.literal_eval(default)
        if kind == "choice" and isinstance(value, str) and value not in words:
            words = (value, *words)
        found.append(Hyperparameter(argument.arg, kind, value, words, "str" not in named, about))
    return tuple(found)


def _with_defaults(given: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The arguments with defaults, positional ones first."""
    if given.defaults:
        yield from zip(given.args[-len(given.defaults) :], given.defaults, strict=True)
    for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True):
        if default is not None:
            yield argument, default


def _types(annotation: ast.expr | None) -> Iterator[ast.expr]:
    """The members of a union."""
    if isinstance(annotation, ast.BinOp):
        yield from _types(annotation.left)
        yield from _types(annotation.right)
    elif annotation is not None:
        yield annotation


def _words(annotation: ast.expr) -> tuple[str, ...]:
    """The words of a ``Literal``, or the names in a registry."""
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Literal":
        values = annotation.slice.elts if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return tuple(map(ast.literal_eval, values))
    if isinstance(annotation, ast.Name) and annotation.id in _REGISTRIES:
        return declared_keys(*_REGISTRIES[annotation.id])
    return ()
