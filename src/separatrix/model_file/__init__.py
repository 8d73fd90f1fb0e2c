"""A model as JSON, in and out: readable, checked, and nothing in it is ever run.

The file is sealed (``separatrix.sealed``): a model that differs by one byte from what was written is refused. What it
holds is in ``body``; how values stand in it, in ``forms``, ``records`` and ``kinds``; what it keeps of each classifier,
in ``kept``; how older files are read, in ``versions``; what changed from one model to another, in ``differences``.
"""

from separatrix.model_file.differences import Difference, differences
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
