"""Tables: files and bundled sets -> named columns -> arrays. Numbers and one column of labels."""

from separatrix.table.encode import Table
from separatrix.table.select import read_columns, read_labelled
from separatrix.table.sources import DEMOS, Source, open_source

__all__ = ["DEMOS", "Source", "Table", "open_source", "read_columns", "read_labelled"]
