"""Top-level declarations of a module, read from its source without importing it.

The command line lists every classifier, solver and demo table in its help. Importing them takes a second;
reading their declarations takes a few milliseconds. A declaration is one assignment.
"""

from __future__ import annotations

import ast
import re
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any

_FIRST_DEFINITION = re.compile(r"^(?:class |def |@)", re.MULTILINE)


def declared(module: str, name: str) -> Any:
    """The value that a module assigns to ``name``, above its first class and function.

    The expression may use builtins and names that the module imports with ``from ... import ...``. The modules that
    these names come from are imported.

    >>> declared("separatrix.solvers.registry", "SHORT_ROWS")
    4.0
    """
    if module in sys.modules or (source := _source(module)) is None:
        return getattr(import_module(module), name)
    tree = ast.parse(_FIRST_DEFINITION.split(source, maxsplit=1)[0])  # parsing all of it takes several times as long
    value = _assigned(tree, module, name)
    try:
        return eval(compile(ast.Expression(value), module, "eval"), _imported(tree, value))
    except (NameError, TypeError) as error:
        raise type(error)(f"{name} in {module}: {error}") from error


def declared_keys(module: str, name: str) -> tuple[str, ...]:
    """The keys of the dictionary that a module assigns to ``name``, anywhere in it; its values are not evaluated.

    >>> declared_keys("separatrix.solvers.registry", "SOLVERS")[:2]
    ('newton', 'chord')
    """
    if module in sys.modules or (source := _source(module)) is None:
        return tuple(getattr(import_module(module), name))
    value = _assigned(ast.parse(source), module, name)
    if not isinstance(value, ast.Dict):
        raise TypeError(f"{module}.{name} is not written as a dictionary")
    return tuple(ast.literal_eval(key) for key in value.keys if key is not None)


def _source(module: str) -> str | None:
    """The source of a module, or None. Its parent packages are located but not imported."""
    path = spec = None
    for end in [k for k, letter in enumerate(module) if letter == "."] + [len(module)]:
        spec = PathFinder.find_spec(module[:end], path)
        if spec is None:
            return None
        path = spec.submodule_search_locations
    read = getattr(spec and spec.loader, "get_source", None)
    return read(module) if read else None


def _imported(tree: ast.Module, value: ast.expr) -> dict[str, Any]:
    """The objects that an expression uses, by their names, if the module imports them with ``from``."""
    used = {node.id for node in ast.walk(value) if isinstance(node, ast.Name)}
    found = {}
    for node in tree.body:
        if not isinstance(node, ast.ImportFrom):
            continue
        for alias in node.names:
            own = alias.asname or alias.name
            if own in used:
                found[own] = getattr(import_module(node.module or ""), alias.name)
    return found


def _assigned(tree: ast.Module, module: str, name: str) -> ast.expr:
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(target, ast.Name) and target.id == name for target in targets):
                return node.value
    raise AttributeError(f"module {module!r} does not declare {name!r}")
