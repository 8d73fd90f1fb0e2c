"""A model as JSON, in and out: readable, checked, and nothing in it is ever run.

The file carries a checksum (``base.checksummed_json``): a file in which one byte was changed is refused.
``body`` says what a file holds; ``forms``, ``records`` and ``kinds``, how values stand in it; ``fields_by_classifier``,
what it keeps of each classifier; ``versions``, how older files are read; ``changes``, what differs between two models.
"""

from separatrix.model_file.changes import Difference, differences
from separatrix.model_file.model import FORMAT, ModelFile, from_bytes, load, naming, read, save, write
from separatrix.model_file.versions import VERSION

__all__ = [
    "FORMAT",
    "VERSION",
    "Difference",
    "ModelFile",
    "differences",
    "from_bytes",
    "load",
    "naming",
    "read",
    "save",
    "write",
]
