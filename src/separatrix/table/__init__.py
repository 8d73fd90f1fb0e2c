"""Tables: files and frames -> typed columns -> a matrix and labels."""

from separatrix.table.encoded_column import Encoded
from separatrix.table.encoded_table import Table
from separatrix.table.encoder import Encoder
from separatrix.table.fitting import fit_encoder
from separatrix.table.formats import DEMOS, Source, open_source
from separatrix.table.infer import infer
from separatrix.table.new_rows import read_rows
from separatrix.table.raw import RawTable
from separatrix.table.reader import read_raw, read_table
from separatrix.table.scaling import Scaling
from separatrix.table.schema import Column, Schema, read_schema
from separatrix.table.text_settings import TextSettings

__all__ = [
    "DEMOS",
    "Column",
    "Encoded",
    "Encoder",
    "RawTable",
    "Scaling",
    "Schema",
    "Source",
    "Table",
    "TextSettings",
    "fit_encoder",
    "infer",
    "open_source",
    "read_raw",
    "read_rows",
    "read_schema",
    "read_table",
]
