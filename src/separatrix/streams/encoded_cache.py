"""A cache of encoded rows, so that a table of text is parsed and encoded only once."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.base.cached import cached_property
from separatrix.base.disk_files import room_for_temporary
from separatrix.rows.coding import Coding
from separatrix.rows.streamed import StreamedRows
from separatrix.streams.cache_file import CacheFile, CacheWriter, DamagedCache
from separatrix.streams.caching import CacheChoice, refuse_unwritten
from separatrix.streams.encoded_scan import EncodedRows, EncodedSource
from separatrix.streams.labelling import Numbering
from separatrix.streams.sources import CachedRows
from separatrix.streams.streamed_likelihood import sampled_rows

# The bytes of a class number in the cache, rounded up.
CODE_BYTES = 8


@dataclass(frozen=True, eq=False)
class CachedEncodedRows(EncodedRows):
    """Encoded rows that are read from a cache after the first pass."""

    cache: CacheChoice = field(default_factory=CacheChoice)

    @cached_property
    def _file(self) -> CacheFile | None:
        """The cache, which is written when it is first used; None if there is no room for it."""
        try:
            return self._temporary() if self.cache.folder is None else self._kept(self.cache.folder)
        except OSError as error:
            refuse_unwritten(self.cache, error)
            return None

    def _kept(self, folder: Path) -> CacheFile:
        """The cache in a folder, which is written if it is missing or damaged."""
        path, key = folder / f"{self._key}.rows", self._key
        try:
            return CacheFile.checked(path, key)
        except (DamagedCache, OSError, ValueError, KeyError, TypeError):
            self._write(path, key, lasting=True)
            return CacheFile.opened(path, key)

    def _temporary(self) -> CacheFile:
        """A cache that has no name, and so vanishes with the process."""
        folder = Path(tempfile.mkdtemp(prefix="separatrix-"))
        try:
            self._write(folder / "table.rows", "", lasting=False)
            return CacheFile.opened(folder / "table.rows", "")
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _write(self, path: Path, key: str, lasting: bool) -> None:
        with CacheWriter(path, np.float64, lasting) as writer:
            for X, codes in self.pieces():
                writer.add(X, codes, None)
            numbering = Numbering(self.classes, self.totals, np.arange(len(self.classes)))
            writer.finish(key, list(self.columns), numbering)

    @property
    def _key(self) -> str:
        learned, table, rule = self.learned, self.table, self.rule
        scaling = None if learned.scaling is None else learned.scaling.plain()
        rows = (table.batched.fingerprint, table.missing, self.share, rule.seed, rule.thresholds.tolist(), self.held)
        content = [rows, learned.encoder.plain(), scaling]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[:32]

    def rows(self, coding: Coding) -> StreamedRows:
        """The rows with the targets and weights of a coding, from the cache if there is one."""
        file = self._file
        source = EncodedSource(self, coding) if file is None else CachedRows(self.name, file, coding)
        return sampled_rows(source, self, coding, self.memory)


def cached_rows(rows: EncodedRows, cache: Any) -> EncodedRows:
    """The rows with a cache: in a folder, if one is given, or in a temporary file, if the disk has room.

    Sparse rows are encoded again in every pass.
    """
    choice = CacheChoice.of(cache)
    size = rows.n_rows * (8 * rows.n_features + CODE_BYTES)
    room = choice.folder is not None or size <= room_for_temporary(tempfile.gettempdir())
    if rows.is_sparse or not choice.allowed or not room:
        return rows
    kept = {name: getattr(rows, name) for name in ("table", "learned", "rule", "counts", "share", "held", "memory")}
    return CachedEncodedRows(**kept, cache=choice)
