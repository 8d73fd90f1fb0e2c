"""Sources of tables: files of several formats, folders of files, standard input, frames and demo tables.

A source knows the names of its columns before it reads rows, so columns that are not needed are never converted.
"""

from separatrix.table.formats.demos import DEMO, DEMOS
from separatrix.table.formats.frames import open_frame
from separatrix.table.formats.opening import STDIN, CalledFile, files_read, open_source
from separatrix.table.formats.source import MemorySource, Source
from separatrix.table.formats.spelling import Spelling
from separatrix.table.formats.svmlight import SparseSource

__all__ = [
    "DEMO",
    "DEMOS",
    "STDIN",
    "CalledFile",
    "MemorySource",
    "Source",
    "SparseSource",
    "Spelling",
    "files_read",
    "open_frame",
    "open_source",
]
