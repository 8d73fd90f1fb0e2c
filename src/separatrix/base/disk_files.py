"""Temporary files that the user did not ask for: how much of the disk they may take, and reading at an offset."""

from __future__ import annotations

import os
import shutil
import threading
from typing import Any

# A temporary file that the user did not ask for leaves at least this share of the free space of the disk.
FREE_SHARE = 0.5

_SEEKING = threading.Lock()


def room_for_temporary(folder: str | os.PathLike[str]) -> float:
    """The bytes that a temporary file in this folder may take."""
    return FREE_SHARE * shutil.disk_usage(folder).free


def read_at(file: Any, view: memoryview, place: int) -> int:
    """Read bytes from the offset ``place`` into ``view``, without moving the file's position, which threads share.

    Returns the number of bytes, which is 0 at the end of the file.
    """
    if hasattr(os, "preadv"):
        return os.preadv(file.fileno(), [view], place)
    with _SEEKING:  # Windows
        file.seek(place)
        return int(file.readinto(view))


def read_whole(file: Any, array: Any, place: int) -> bool:
    """Fill an array with the bytes of a file from ``place`` on. False if the file ends before."""
    view, done = memoryview(array.reshape(-1).view("u1")), 0
    while done < array.nbytes:
        got = read_at(file, view[done:], place + done)
        if got == 0:
            return False
        done += got
    return True
