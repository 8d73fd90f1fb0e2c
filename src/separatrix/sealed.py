"""JSON files of which every byte is checked.

    {"format": name, "version": number, "sha256": of the content, "content": {...}}

The four keys stand in this order, a line each; then every key of the content, sorted, on a line of its own. Text is
ASCII only, without NaN and Infinity; floats are the shortest decimals that read back to the same bits. ``sha256``
digests the raw bytes of the content, from its first brace to its last, and is compared before anything in it is read.
Versions before ``RAW`` digested the content without its line breaks, and are compared with the one text that such
content has.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import secrets
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from separatrix.errors import ModelFileError, ParameterError

LARGEST_FILE = 512 * 2**20
# The first version whose digest is that of the raw bytes.
RAW = 3
# Lists within lists within lists: no model needs as many as these.
DEEPEST = 64
_HEAD = re.compile(
    rb'\{"format": "(?P<format>[a-z-]+)",\n"version": (?P<version>[1-9][0-9]{0,8}),\n'
    rb'"sha256": "(?P<sha256>[0-9a-f]{64})",\n"content": '
)
_END = b"}\n"
_ALTERED = "its checksum is wrong: it was altered or damaged since it was written"


class Unsealed(NamedTuple):
    """What a file holds, and the version of the format that it is written in."""

    version: int
    content: dict[str, Any]


def canonical(value: Any) -> str:
    r"""The one JSON text of a value.

    >>> print(canonical({"b": 1.0, "a": [True, None, "é"]}))
    {"a":[true,null,"\u00e9"],"b":1.0}
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def seal(name: str, version: int, content: Mapping[str, Any]) -> bytes:
    """The one file with this content.

    >>> unseal("box", 3, seal("box", 3, {"w": [0.1, -0.0]})).content
    {'w': [0.1, -0.0]}
    """
    lines = ",\n".join(f"  {canonical(key)}: {canonical(content[key])}" for key in sorted(content))
    raw = f"{{\n{lines}\n}}".encode("ascii")
    digested = raw if version >= RAW else canonical(content).encode("ascii")
    head = f'{{"format": "{name}",\n"version": {version},\n"sha256": "{hashlib.sha256(digested).hexdigest()}",\n'
    return head.encode("ascii") + b'"content": ' + raw + _END


def unseal(name: str, newest: int, data: bytes) -> Unsealed:
    """The content of a file of version ``newest`` or an older one, after every check; the error says which failed.

    >>> unseal("box", 3, seal("box", 3, {"w": 0.1}).replace(b"0.1", b"0.2"))
    Traceback (most recent call last):
        ...
    separatrix.errors.ModelFileError: its checksum is wrong: it was altered or damaged since it was written
    """
    head = _HEAD.match(data)
    if head is None or head["format"] != name.encode():
        raise ModelFileError(_without_head(name, newest, data))
    version = int(head["version"])
    if version > newest:
        raise ModelFileError(_newer(version, newest, data))
    if not data.endswith(_END):
        raise ModelFileError("it is cut short, or goes on past its end")
    raw = data[head.end() : -len(_END)]
    if version >= RAW and hashlib.sha256(raw).hexdigest().encode() != head["sha256"]:
        raise ModelFileError(_ALTERED)
    content = _parsed(raw)
    if not isinstance(content, dict):
        raise ModelFileError("its content is not an object")
    _refuse_depth(content)
    if version < RAW and seal(name, version, content) != data:
        raise ModelFileError(_ALTERED)
    return Unsealed(version, content)


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(
            raw.decode("ascii"), parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=distinct_keys
        )
    except RecursionError:
        raise ModelFileError("its lists are nested too deeply") from None
    except ValueError as error:
        why = "" if isinstance(error, UnicodeDecodeError) else f" ({error})"
        raise ModelFileError(f"it is no model file: not JSON, or cut short{why}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is not finite as a float64")
    return value


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, for ``json.loads(object_pairs_hook=...)``; a key that is there twice is a ValueError."""
    found = dict(pairs)
    if len(found) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _refuse_depth(content: Any) -> None:
    """Level by level, without recursion."""
    level = [content]
    for _ in range(DEEPEST):
        values = [item.values() if isinstance(item, dict) else item for item in level]
        level = [value for items in values for value in items if type(value) in (list, dict)]
        if not level:
            return
    raise ModelFileError(f"its lists are nested more than {DEEPEST} deep")


def _without_head(name: str, newest: int, data: bytes) -> str:
    """What is wrong with a file that does not begin as it should."""
    if not data:
        return "it is empty"
    try:
        whole = _parsed(data)
    except ModelFileError as fault:
        return str(fault)
    if not isinstance(whole, dict) or whole.get("format") != name:
        return f'it lacks "format": "{name}"'
    version = whole.get("version")
    if type(version) is int and version > newest:
        return _newer(version, newest, data)
    if type(version) is not int or version < 1:
        return f"its version is {version!r}, which is none"
    return "its first lines are not as they were written: it was altered, or formatted anew"


def _newer(version: int, newest: int, data: bytes) -> str:
    try:
        writer = _parsed(data)["content"]["separatrix"]
    except (ModelFileError, KeyError, TypeError):
        writer = None
    by = f", written by separatrix {writer}" if isinstance(writer, str) else ""
    return f"its version is {version}{by}, and this separatrix reads versions up to {newest}: install a newer one"


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most 512 MB."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ModelFileError("it is a folder, or no regular file")
        with file.open("rb") as stream:
            if os.fstat(stream.fileno()).st_size > LARGEST_FILE:
                raise ModelFileError(f"it is larger than {LARGEST_FILE >> 20} MB, as no model file is")
            return stream.read()
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be opened ({error.strerror})") from None


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
