"""JSON files with a checksum of every byte.

    {"format": name, "version": number, "sha256": of the content, "content": {...}}

The four keys are written in this order, one per line, followed by the sorted keys of the content, one per line. The
text is ASCII and contains neither NaN nor Infinity. Floats are the shortest decimals that read back to the same bits.
``sha256`` covers every byte of the file except its own 64 digits. It is compared before the content is parsed.

A digest detects damage but is not a signature. Whoever writes a file can also compute its digest, so no number
in a file is trusted: reading takes at most ``MEMORY_PER_BYTE`` times the file's size, plus ``MEMORY_AT_LEAST``, of
memory.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from separatrix.core.base.errors import ModelFileError, ParameterError

# Largest size of a file that is read, in bytes.
LARGEST_FILE = 512 * 2**20
# Reading a file takes at most MEMORY_PER_BYTE bytes of memory per byte of the file, plus MEMORY_AT_LEAST bytes. Empty
# lists are the most expensive content: Python needs 64 bytes for the three bytes "[],", and more while checking them.
MEMORY_PER_BYTE, MEMORY_AT_LEAST = 128, 32 * 2**20
# Largest depth of nested lists and objects in the content; no model file is nested as deeply.
MOST_NESTED_LISTS = 64
_HEAD = re.compile(
    rb'\{"format": "(?P<format>[a-z-]+)",\n"version": (?P<version>[1-9][0-9]{0,8}),\n'
    rb'"sha256": "(?P<sha256>[0-9a-f]{64})",\n"content": '
)
_END = b"}\n"
# The JSON escape of a UTF-16 surrogate. A pair of surrogates is one character; a lone surrogate cannot be encoded.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")
_LONE = re.compile("[\ud800-\udfff]")


def canonical(value: Any) -> str:
    r"""The canonical JSON text of a value.

    >>> print(canonical({"b": 1.0, "a": [True, None, "é"]}))
    {"a":[true,null,"\u00e9"],"b":1.0}
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def with_checksum(name: str, version: int, content: Mapping[str, Any]) -> bytes:
    """The canonical file with this content.

    >>> checked_content("box", 1, with_checksum("box", 1, {"w": [0.1, -0.0]}))
    {'w': [0.1, -0.0]}
    """
    lines = ",\n".join(f"  {canonical(key)}: {canonical(content[key])}" for key in sorted(content))
    raw = f"{{\n{lines}\n}}".encode("ascii")
    refuse_half_pairs(_suspects(raw, content))
    before = f'{{"format": "{name}",\n"version": {version},\n"sha256": "'.encode("ascii")
    after = b'",\n"content": ' + raw + _END
    return before + _digest(before, after) + after


def checked_content(name: str, version: int, data: bytes) -> dict[str, Any]:
    """The content of a file of this version, after all checks. An error says which check failed.

    >>> checked_content("box", 1, with_checksum("box", 1, {"w": 0.1}).replace(b"0.1", b"0.2"))
    Traceback (most recent call last):
        ...
    separatrix.core.base.errors.ModelFileError: its checksum is wrong: it was altered or damaged since it was written
    """
    head = _HEAD.match(data)
    if head is None or head["format"] != name.encode():
        raise ModelFileError(_without_head(name, version, data))
    if int(head["version"]) != version:
        raise ModelFileError(_of_another_version(int(head["version"]), version))
    if not data.endswith(_END):
        raise ModelFileError("it is incomplete, or has text after its end; write or copy it again")
    whole = memoryview(data)
    if _digest(whole[: head.start("sha256")], whole[head.end("sha256") :]) != head["sha256"]:
        raise ModelFileError("its checksum is wrong: it was altered or damaged since it was written")
    raw = data[head.end() : -len(_END)]
    content = _parsed(raw)
    if not isinstance(content, dict):
        raise ModelFileError("its content is not an object")
    _refuse_depth(content)
    lone = _half_pair(_suspects(raw, content))
    if lone is not None:
        raise ModelFileError(f"its text {lone!r:.60} holds half of a surrogate pair")
    return content


def _digest(*parts: bytes | memoryview) -> bytes:
    """SHA-256 of the parts, one after the other, in hexadecimal."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode("ascii")


def _parsed(raw: bytes) -> Any:
    try:
        return json.loads(
            raw.decode("ascii"), parse_constant=_refuse_constant, parse_float=_finite, object_pairs_hook=distinct_keys
        )
    except RecursionError:
        raise ModelFileError("its lists are nested too deeply") from None
    except ValueError as error:
        why = "" if isinstance(error, UnicodeDecodeError) else f" ({error})"
        raise ModelFileError(f"it is not a model file: it is not JSON, or incomplete{why}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text[:40]} is not finite as a float64")
    return value


def distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, for ``json.loads(object_pairs_hook=...)``; a duplicate key is a ValueError."""
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        [(twice, _)] = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r:.60} occurs twice")
    return mapping


def _refuse_depth(content: Any) -> None:
    """Raise an error if the content is nested too deeply. The levels are visited in turn, without recursion."""
    level = [content]
    for _ in range(MOST_NESTED_LISTS):
        values = [item.values() if isinstance(item, dict) else item for item in level]
        level = [value for items in values for value in items if type(value) in (list, dict)]
        if not level:
            return
    raise ModelFileError(f"its lists are nested more than {MOST_NESTED_LISTS} deep")


def refuse_half_pairs(texts: Iterable[str]) -> None:
    """Raise an error if a text of a model holds a lone surrogate, which cannot be encoded."""
    lone = _half_pair(texts)
    if lone is not None:
        remedy = "write names and labels in valid Unicode"
        raise ParameterError("model", f"its text {lone!r:.60} holds half of a surrogate pair", remedy)


def _half_pair(texts: Iterable[str]) -> str | None:
    """The first text with a lone surrogate; None if there is none.

    >>> half = chr(0xD83D)
    >>> _half_pair(["a", half]) == half, _half_pair(["a", "é"]) is None
    (True, True)
    """
    return next((text for text in texts if _LONE.search(text)), None)


def _suspects(raw: bytes, content: Any) -> Iterator[str]:
    """All strings of the content, keys included; none if its JSON text has no escaped surrogates.

    The levels are visited in turn, without recursion.
    """
    level = [content] if _HALF.search(raw) else []
    while level:
        yield from (item for item in level if isinstance(item, str))
        inside: list[Iterable[Any]] = [item for item in level if isinstance(item, list | tuple)]
        inside += [[*item, *item.values()] for item in level if isinstance(item, Mapping)]
        level = [value for items in inside for value in items if isinstance(value, str | list | tuple | Mapping)]


def _without_head(name: str, expected: int, data: bytes) -> str:
    """A message that says what is wrong with a file that does not begin with the expected header."""
    if not data:
        return "it is empty"
    try:
        whole = _parsed(data)
    except ModelFileError as fault:
        return str(fault)
    if not isinstance(whole, dict) or whole.get("format") != name:
        return f'it lacks "format": "{name}"'
    version = whole.get("version")
    if type(version) is not int or version != expected:
        return _of_another_version(version, expected)
    return "its first lines have changed since it was written: it was altered or reformatted"


def _of_another_version(version: Any, expected: int) -> str:
    problem = f"its version is {version!r:.60}, and this separatrix reads version {expected}"
    return f"{problem}: fit the model again, and save it with this separatrix"


def read_file(path: str | os.PathLike[str]) -> bytes:
    """The bytes of a regular file of at most 512 MB."""
    file = Path(path)
    try:
        if file.exists() and not file.is_file():
            raise ModelFileError("it is a folder, or not a regular file")
        with file.open("rb") as stream:
            return read_stream(stream)
    except FileNotFoundError:
        raise ModelFileError("there is no such file") from None
    except OSError as error:
        raise ModelFileError(f"it cannot be opened ({error.strerror})") from None
    except ModelFileError:
        raise
    except ValueError as error:  # a path with a NUL in it
        raise ModelFileError(f"it cannot be opened ({error})") from None


def read_stream(stream: BinaryIO) -> bytes:
    """All bytes of a stream, 512 MB at most.

    >>> import io
    >>> read_stream(io.BytesIO(b"content"))
    b'content'
    """
    pieces, size = list[bytes](), 0
    while piece := stream.read(2**16):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_FILE:
            raise ModelFileError(f"it is larger than {LARGEST_FILE >> 20} MB, the largest size of a model file")
    return b"".join(pieces)
