"""Fingerprints of files, which change if the files do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path


def files_fingerprint(name: str, paths: Iterable[Path]) -> str:
    """The name of a table, and the size and the time of the last change of each of its files.

    >>> files_fingerprint("a query", [])
    'a query'
    """
    states = [f"{path.name}: {path.stat().st_size} bytes of {path.stat().st_mtime_ns}" for path in paths]
    return "; ".join([name, *states])
