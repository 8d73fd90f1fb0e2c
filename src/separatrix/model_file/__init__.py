"""Models as JSON files. They are readable and checked, and nothing in them is ever executed.

A file has a checksum (``base.checksummed_json``), so a file in which a byte was changed is refused. ``body`` defines
the content of a file; ``forms``, ``records`` and ``kinds`` how values are written; ``fields_by_classifier`` what is
stored for each classifier; ``changes`` the differences between two models.
"""

from separatrix.model_file.changes import Difference, differences
from separatrix.model_file.model import (
    FORMAT,
    VERSION,
    ModelFile,
    from_bytes,
    load,
    naming,
    read,
    save,
    to_bytes,
    write,
)

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
    "to_bytes",
    "write",
]
