"""The tables of the page Your data: uploaded files in a private folder, files of the command line, and demo tables."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory
from threading import Lock
from typing import Any

from separatrix.tables.formats.opening import CalledFile, known_extension

# The most bytes of an uploaded file: a CSV of a million rows and 14 columns of 16 digits. Larger ones need not be
# copied: `separatrix lab FILE` reads them where they are.
LARGEST_UPLOAD = 256 * 2**20
TOO_LARGE = (
    f"The file has more than {LARGEST_UPLOAD >> 20} MB, which is the most that this page takes. Start the lab with the "
    "file instead, so that it is read where it is: separatrix lab FILE"
)
# The most tables, and files made for download, that are kept; the oldest are forgotten. Uploads take disk space.
MOST_TABLES, MOST_MADE = 16, 16


@dataclass(frozen=True)
class OpenTable:
    """A table: what the reader opens, its name as the user gave it, and its target if that is known."""

    id: str
    name: str
    data: str | CalledFile
    target: str | None = None


@dataclass(frozen=True)
class Made:
    """A file that was made for the user, with its name, its type, and the headers of its response."""

    content: bytes
    name: str
    type: str
    headers: dict[str, str]


class Tables:
    """All tables of one server by their ids, which cannot be guessed; and the files made from them."""

    def __init__(self) -> None:
        self._tables: dict[str, OpenTable] = {}
        self._made: dict[str, Made] = {}
        self._folder: TemporaryDirectory[str] | None = None
        self._lock = Lock()

    def uploaded(self, name: str) -> tuple[str, Path]:
        """An id and a new path for a file of this name, of which only the extension is used."""
        shown = base_name(name)
        extension, number = known_extension(shown, Path(shown)), secrets.token_urlsafe(12)
        with self._lock:
            if self._folder is None:
                self._folder = TemporaryDirectory(prefix="separatrix-lab-", ignore_cleanup_errors=True)
            return number, Path(self._folder.name) / f"{number}{extension}"

    def add(self, name: str, data: str | CalledFile, target: str | None = None, number: str | None = None) -> OpenTable:
        """Keep a table. The oldest one is forgotten if there are too many."""
        table = OpenTable(number or secrets.token_urlsafe(12), name, data, target)
        with self._lock:
            self._tables[table.id] = table
            while len(self._tables) > MOST_TABLES:
                self._remove(self._tables.pop(next(iter(self._tables))))
        return table

    def _remove(self, table: OpenTable) -> None:
        """Delete the file of a forgotten table, if it was uploaded."""
        if isinstance(table.data, CalledFile):
            Path(table.data.path).unlink(missing_ok=True)

    def get(self, number: Any) -> OpenTable | None:
        """The table of this id, or None if the server does not have it."""
        return self._tables.get(number) if isinstance(number, str) else None

    def make(self, made: Made) -> str:
        """Keep a file for download, and return the path of its address."""
        number = secrets.token_urlsafe(12)
        with self._lock:
            self._made[number] = made
            while len(self._made) > MOST_MADE:
                del self._made[next(iter(self._made))]
        return f"made/{number}"

    def made(self, number: str) -> Made | None:
        """A file that was made, or None."""
        return self._made.get(number)

    def close(self) -> None:
        """Forget all tables and delete the uploaded files."""
        with self._lock:
            self._tables.clear()
            self._made.clear()
            if self._folder is not None:
                self._folder.cleanup()
                self._folder = None


def base_name(name: str) -> str:
    r"""The last part of a file's name, whatever system it comes from.

    >>> base_name("../../x.csv"), base_name("C:\\fakepath\\x.csv"), base_name("")
    ('x.csv', 'x.csv', 'table')
    """
    return PurePath(name.replace("\\", "/")).name or "table"


# The tables of this process, which serves one lab.
TABLES = Tables()
