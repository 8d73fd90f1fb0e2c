"""JSON files of which every byte is checked.

    {"format": name, "version": number, "sha256": of the content, "content": {...}}

``canonical`` JSON has sorted keys, no spaces, ASCII only, no NaN and no Infinity; floats are the shortest decimals
that read back to the same bits. ``sha256`` digests the bytes of the canonical content. The file is one exact text:
those four keys in that order, a line each, then every key of the content, sorted, on a line of its own with its
canonical value. A text that differs, even where it means the same, is refused: no byte can be altered unseen.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from separatrix.errors import ModelFileError, ParameterError

LARGEST_FILE = 512 * 2**20
_KEYS = ("format", "version", "sha256", "content")


def canonical(value: Any) -> str:
    r"""The one JSON text of a value.

    >>> print(canonical({"b": 1.0, "a": [True, None, "é"]}))
    {"a":[true,null,"\u00e9"],"b":1.0}
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical content."""
    return hashlib.sha256(canonical(content).encode("utf-8")).hexdigest()


def seal(name: str, version: int, content: Mapping[str, Any]) -> bytes:
    """The one file with this content.

    >>> unseal("box", 1, seal("box", 1, {"w": [0.1, -0.0]}))
    {'w': [0.1, -0.0]}
    """
    lines = ",\n".join(f"  {canonical(key)}: {canonical(content[key])}" for key in sorted(content))
    head = f'{{"format": "{name}",\n"version": {version},\n"sha256": "{digest(content)}",\n"content": {{\n'
    return f"{head}{lines}\n}}}}\n".encode("ascii")


def unseal(name: str, version: int, data: bytes) -> dict[str, Any]:
    """The content of a file, after every check; the error says which check failed.

    >>> unseal("box", 1, seal("box", 1, {"w": 0.1}).replace(b"0.1", b"0.2"))
    Traceback (most recent call last):
        ...
    separatrix.errors.ModelFileError: its checksum is wrong: it was altered or damaged since it was written
    """
    try:
        outer = json.loads(data.decode("ascii"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"it is not JSON, or cut short ({error})") from None
    if not isinstance(outer, dict) or outer.get("format") != name:
        raise ModelFileError(f'it lacks "format": "{name}"')
    if type(outer.get("version")) is not int or outer["version"] != version:
        raise ModelFileError(f"its version is {outer.get('version')!r}; version {version} can be read here")
    if set(outer) != set(_KEYS) or not isinstance(outer["content"], dict):
        raise ModelFileError(f"its keys are not {', '.join(_KEYS)}")
    content: dict[str, Any] = outer["content"]
    try:
        if outer["sha256"] != digest(content):
            raise ModelFileError("its checksum is wrong: it was altered or damaged since it was written")
        exact = seal(name, version, content)
    except (ValueError, RecursionError) as error:  # a decimal too large for a float64
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError("its content holds a number that is not finite") from None
    if exact != data:
        raise ModelFileError("its bytes are not in canonical form: it was altered since it was written")
    return content


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most 512 MB."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ModelFileError("it is a folder, or no regular file")
        with file.open("rb") as stream:
            data = stream.read(LARGEST_FILE + 1)
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be opened ({error.strerror})") from None
    if len(data) > LARGEST_FILE:
        raise ModelFileError(f"it is larger than {LARGEST_FILE >> 20} MB, as no model file is")
    return data


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Put ``data`` at ``path``: a temporary file beside it, flushed to the disk, then renamed over it."""
    final = Path(os.path.realpath(path))
    if final.exists() and not final.is_file():
        raise ParameterError("path", f"{os.fspath(path)!r} is not a regular file", "give the path of a file")
    temporary = final.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with temporary.open("xb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.replace(temporary, final)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if not isinstance(error, OSError):
            raise
        came = f"{os.fspath(path)!r} cannot be written ({error.strerror})"
        raise ParameterError("path", came, "give a path in a folder that exists and can be written to") from error


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
