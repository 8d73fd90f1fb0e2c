"""Objects made of numbers, arrays and dataclasses as bytes, without pickle: reading them runs no code of a file.

    None, truth values, whole numbers, text    as in JSON
    a float                                    its bits, in hexadecimal
    an array                                   its type, shape and memory order, and its bytes
    a tuple, list or dictionary                its items
    a CSR matrix                               its shape and its three arrays
    an Arrow array                             as an Arrow stream
    a message                                  its parts
    a dataclass, named tuple or Enum member    the class by its name in this package, and its fields

The bytes are one line of JSON, in which arrays are numbered, followed by the bytes of the arrays. The memory order is
kept because products of matrices in another order may be rounded differently.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from typing import Any

import numpy as np

from separatrix.base.messages import Message

_PACKAGE = __name__.partition(".")[0]
# Modules whose import would run a program have names with two underscores.
_CLASS = re.compile(rf"({_PACKAGE}(?:\.[a-z][a-z0-9_]*)+):(\w+(?:\.\w+)*)")
_PLAIN_KINDS = "biufc"


class NotPlainError(TypeError):
    """An object that cannot be written as bytes."""


class DamagedObjectError(ValueError):
    """Bytes that are not those of an object."""


def to_bytes(value: Any) -> bytes:
    """The bytes of an object.

    >>> from_bytes(to_bytes((1, 0.1, None, {"a": np.arange(3)})))
    (1, 0.1, None, {'a': array([0, 1, 2])})
    """
    arrays: list[bytes] = []
    tree = _tree(value, arrays)
    head = json.dumps({"tree": tree, "sizes": [len(part) for part in arrays]}, separators=(",", ":"))
    return b"".join([head.encode("ascii"), b"\n", *arrays])


def from_bytes(data: bytes) -> Any:
    """The object that ``to_bytes`` wrote."""
    end = data.find(b"\n")
    try:
        head = json.loads(data[:end])
        arrays, start = [], end + 1
        for size in head["sizes"]:
            arrays.append(data[start : start + size])
            start += size
        return _value(head["tree"], arrays)
    except (ValueError, TypeError, KeyError, IndexError, AttributeError, ImportError) as error:
        raise DamagedObjectError(str(error)) from error


def _tree(value: Any, arrays: list[bytes]) -> Any:
    """The object as JSON types, its arrays appended to ``arrays``."""
    if value is None or type(value) in (bool, int, str):
        return value
    if type(value) in (float, np.float64):
        return {"float": float(value).hex()}
    for name, (fits, write, _) in _FORMS.items():
        if fits(value):
            return {name: write(value, arrays)}
    raise NotPlainError(f"{type(value).__name__} cannot be written as bytes")


def _value(tree: Any, arrays: list[bytes]) -> Any:
    if not isinstance(tree, dict):
        return tree
    ((name, content),) = tree.items()
    return float.fromhex(content) if name == "float" else _FORMS[name][2](content, arrays)


def _array_tree(value: Any, arrays: list[bytes]) -> Any:
    column_major = value.flags.f_contiguous and not value.flags.c_contiguous
    arrays.append((value.T if column_major else np.ascontiguousarray(value)).tobytes())
    return [len(arrays) - 1, value.dtype.str, list(value.shape), "F" if column_major else "C"]


def _array(content: Any, arrays: list[bytes]) -> Any:
    number, kind, shape, order = content
    dtype = np.dtype(kind)
    if dtype.kind not in _PLAIN_KINDS:
        raise DamagedObjectError(f"an array holds {kind!r:.20}")
    flat = np.frombuffer(arrays[number], dtype).copy()
    return flat.reshape(shape[::-1]).T if order == "F" else flat.reshape(shape)


def _texts_tree(value: Any, arrays: list[bytes]) -> Any:
    return [_tree(item, arrays) for item in value.ravel().tolist()], list(value.shape), value.dtype.str


def _texts(content: Any, arrays: list[bytes]) -> Any:
    items, shape, kind = content
    if np.dtype(kind).kind not in "UO":
        raise DamagedObjectError(f"an array of text holds {kind!r:.20}")
    made = np.empty(len(items), dtype=kind)
    made[:] = [_value(item, arrays) for item in items]
    return made.reshape(shape)


def _is_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in _PLAIN_KINDS


def _is_text_array(value: Any) -> bool:
    return type(value) is np.ndarray and value.dtype.kind in "UO"


def _is_csr(value: Any) -> bool:
    return getattr(value, "format", None) == "csr" and hasattr(value, "indptr")


def _csr_tree(value: Any, arrays: list[bytes]) -> Any:
    parts = [_array_tree(part, arrays) for part in (value.data, value.indices, value.indptr)]
    return [list(value.shape), *parts]


def _csr(content: Any, arrays: list[bytes]) -> Any:
    from scipy.sparse import csr_array

    shape, *parts = content
    data, indices, indptr = (_array(part, arrays) for part in parts)
    return csr_array((data, indices, indptr), shape=shape)


def _arrow_tree(value: Any, arrays: list[bytes]) -> Any:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    table = pa.table({"values": value})
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    arrays.append(sink.getvalue().to_pybytes())
    return len(arrays) - 1


def _arrow(content: Any, arrays: list[bytes]) -> Any:
    import pyarrow as pa

    column = pa.ipc.open_stream(arrays[content]).read_all().column(0)
    column.validate(full=True)
    return column.combine_chunks()


def _is_named_tuple(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def _object_tree(value: Any, arrays: list[bytes]) -> Any:
    return [_class_name(type(value)), {one.name: _tree(getattr(value, one.name), arrays) for one in fields(value)}]


def _object(content: Any, arrays: list[bytes]) -> Any:
    """An object with these fields. Its own ``__init__`` is not called: it may take other arguments."""
    name, parts = content
    kind = _class_called(name, is_dataclass)
    if {one.name for one in fields(kind)} != set(parts):
        raise DamagedObjectError(f"it has other fields than {name!r:.80}")
    made = object.__new__(kind)
    for key, part in parts.items():
        object.__setattr__(made, key, _value(part, arrays))
    return made


def _class_name(kind: type) -> str:
    name = f"{kind.__module__}:{kind.__qualname__}"
    if _CLASS.fullmatch(name) is None:
        raise NotPlainError(f"{name} is not a class of this package")
    return name


def _class_called(name: str, fits: Callable[[type], bool]) -> Any:
    """The class of a name, if it is one of this package's classes of data."""
    match = _CLASS.fullmatch(name)
    if match is None:
        raise DamagedObjectError(f"it names {name!r:.80}, which is not a class of data")
    found: Any = sys.modules.get(match[1]) or import_module(match[1])
    for part in match[2].split("."):
        found = getattr(found, part)
    if not (isinstance(found, type) and fits(found)):
        raise DamagedObjectError(f"it names {name!r:.80}, which is not a class of data")
    return found


# For each form: whether an object has it, the object as JSON types, and back. The first that fits is taken.
_FORMS: dict[
    str, tuple[Callable[[Any], bool], Callable[[Any, list[bytes]], Any], Callable[[Any, list[bytes]], Any]]
] = {
    "array": (_is_array, _array_tree, _array),
    "texts": (_is_text_array, _texts_tree, _texts),
    "scalar": (
        lambda value: isinstance(value, np.generic) and value.dtype.kind in _PLAIN_KINDS,
        lambda value, arrays: _array_tree(np.asarray(value), arrays),
        lambda content, arrays: _array(content, arrays)[()],
    ),
    "member": (
        lambda value: isinstance(value, Enum),
        lambda value, arrays: [_class_name(type(value)), value.name],
        lambda content, arrays: _class_called(content[0], lambda kind: issubclass(kind, Enum))[content[1]],
    ),
    "named": (
        _is_named_tuple,
        lambda value, arrays: [_class_name(type(value)), [_tree(item, arrays) for item in value]],
        lambda content, arrays: _class_called(content[0], lambda kind: hasattr(kind, "_fields"))(
            *[_value(item, arrays) for item in content[1]]
        ),
    ),
    "tuple": (
        lambda value: type(value) is tuple,
        lambda value, arrays: [_tree(item, arrays) for item in value],
        lambda content, arrays: tuple(_value(item, arrays) for item in content),
    ),
    "list": (
        lambda value: type(value) is list,
        lambda value, arrays: [_tree(item, arrays) for item in value],
        lambda content, arrays: [_value(item, arrays) for item in content],
    ),
    "dict": (
        lambda value: type(value) is dict,
        lambda value, arrays: [[_tree(key, arrays), _tree(item, arrays)] for key, item in value.items()],
        lambda content, arrays: {_value(key, arrays): _value(item, arrays) for key, item in content},
    ),
    "csr": (_is_csr, _csr_tree, _csr),
    "message": (
        lambda value: type(value) is Message,
        lambda value, arrays: [_tree(part, arrays) for part in value.parts],
        lambda content, arrays: Message(*[_value(part, arrays) for part in content]),
    ),
    "arrow": (lambda value: hasattr(value, "__arrow_c_array__"), _arrow_tree, _arrow),
    "object": (lambda value: is_dataclass(value) and not isinstance(value, type), _object_tree, _object),
}


def digest(value: Any) -> str | None:
    """A digest of an object, which two objects share only if they are equal; None if it cannot be written as bytes.

    >>> digest((1, np.zeros(2))) == digest((1, np.zeros(2))), digest((1, np.ones(2))) == digest((1, np.zeros(2)))
    (True, False)
    >>> digest(print) is None
    True
    """
    try:
        return hashlib.sha256(to_bytes(value)).hexdigest()
    except NotPlainError:
        return None
