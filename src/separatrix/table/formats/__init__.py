"""Where rows come from: files of several formats, folders of them, standard input, frames, and sets to try things on.

A source knows its columns before any row is read, so a column that nobody asks for is never converted.
"""

from separatrix.table.formats.delimited import Spelling
from separatrix.table.formats.demos import DEMO, DEMOS
from separatrix.table.formats.frames import open_frame
from separatrix.table.formats.opening import STDIN, open_source
from separatrix.table.formats.source import MemorySource, Source
from separatrix.table.formats.svmlight import SparseSource

__all__ = ["DEMO", "DEMOS", "STDIN", "MemorySource", "Source", "SparseSource", "Spelling", "open_frame", "open_source"]
