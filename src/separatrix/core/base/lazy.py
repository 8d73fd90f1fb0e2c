"""What is found out late, so that nothing is computed or imported before it is needed.

A cached property is computed on first access. The declarations of a module, such as its table of solvers, are read from
its source without importing it: the command line lists every classifier, solver and demo table in its help, and
importing them takes a second, where reading their declarations takes a few milliseconds. Dask collections are
recognised without importing Dask, so that every fit can ask for them.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from importlib import import_module
from importlib.machinery import PathFinder
from typing import Any, Self, TypeVar, overload

T = TypeVar("T")


class cached_property(functools.cached_property[T]):
    """The value of a method without arguments, computed on first access and stored in the instance.

    Two threads that access it at the same time may both compute it; both get the value that was stored first.

    All packages use this class in place of the one in ``functools``, which in Python 3.11 holds one lock per class and
    attribute while it computes, so

    - a child process that is forked while another thread computes the attribute of any object inherits the lock in its
      locked state. No thread of the child releases it, so the child hangs when it first uses the attribute;
    - a thread that computes the attribute and waits for the thread pool may wait for a task that needs the same
      attribute of another object, which is a deadlock.

    From Python 3.12 on, that class has no lock either.

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


# --- Declarations that are read from the source of a module

_FIRST_DEFINITION = re.compile(r"^(?:class |def |@)", re.MULTILINE)


def declared(module: str, name: str) -> Any:
    """The value that a module assigns to ``name``, above its first class and function.

    The expression may use builtins and names that the module imports with ``from ... import ...``. The modules that
    these names come from are imported.

    >>> declared("separatrix.core.solvers.registry", "SHORT_ROWS")
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

    >>> declared_keys("separatrix.core.solvers.registry", "OFFERED")[:2]
    ('newton', 'lbfgs')
    """
    if module in sys.modules or (source := _source(module)) is None:
        return tuple(getattr(import_module(module), name))
    value = _assigned(ast.parse(source), module, name)
    if not isinstance(value, ast.Dict):
        raise TypeError(f"{module}.{name} is not written as a dictionary")
    return tuple(ast.literal_eval(key) for key in value.keys if key is not None)


def class_head(module: str, name: str, last: str) -> ast.ClassDef:
    """A top-level class as its module's source defines it, up to the end of its method ``last`` if it has that.

    >>> ast.get_docstring(class_head("separatrix.core.base.lazy", "cached_property", "__get__")).partition(",")[0]
    'The value of a method without arguments'
    """
    source = _source(module) or ""
    found = re.search(rf"^class {name}\b.*?(?=^[\w@]|\Z)", source, re.MULTILINE | re.DOTALL)
    if found is None:
        raise AttributeError(f"the source of module {module!r} does not define a class {name!r}")
    until = re.match(rf".*?^    def {last}\b.*?(?=^    (?:def |@)|\Z)", found[0], re.MULTILINE | re.DOTALL)
    (head,) = ast.parse((until or found)[0]).body  # parsing all of the class takes several times as long
    assert isinstance(head, ast.ClassDef)
    return head


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


# --- Dask collections


def is_dask(given: object) -> bool:
    """Whether an argument is a Dask array, data frame or series. Dask is not imported.

    >>> is_dask([[1.0]])
    False
    """
    return type(given).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_data_frame(given: object) -> bool:
    """Whether a Dask collection is a data frame. A series has ``columns``, too."""
    return is_dask(given) and hasattr(given, "columns") and getattr(given, "ndim", 1) == 2


def is_dask_table(given: object) -> bool:
    """Whether an argument is a Dask array of two dimensions or a Dask data frame, and so may hold rows."""
    return is_dask(given) and getattr(given, "ndim", 1) == 2
