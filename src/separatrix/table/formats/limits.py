"""How large a table a file may expand to. A hostile or damaged file of a few bytes can ask for gigabytes.

    compressed text    1 GB, or 100 times the compressed size where that is more         max_unpacked, in GB
    Parquet            the same, by the sizes that its footer states                     max_unpacked, in GB
    libsvm             1 000 000 columns, or 10 for each index:value pair in the file    max_columns

Compression makes CSV files 5 to 10 times smaller, and wide libsvm files have many more pairs than columns. So a sound
file rarely exceeds these limits. For one that does, ``max_unpacked`` or ``max_columns`` replaces the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from separatrix.base.errors import ParameterError, TableError
from separatrix.base.messages import Message, Parameter

# A file may unpack to this many bytes, or to this many times its size if that is more.
UNPACKED_AT_LEAST, UNPACKED_PER_BYTE = 10**9, 100
# A libsvm file may have this many columns, or this many per index:value pair if that is more.
COLUMNS_AT_LEAST, COLUMNS_PER_PAIR = 10**6, 10


@dataclass(frozen=True)
class Limits:
    """The user's limits; None keeps the default.

    >>> Limits().columns(20), Limits(max_columns=7).columns(20), Limits().unpacked(3_000_000)
    (1000000, 7, 1000000000)
    """

    max_columns: int | None = None
    max_unpacked: float | None = None

    def __post_init__(self) -> None:
        for name, value, unit in (("max_columns", self.max_columns, ""), ("max_unpacked", self.max_unpacked, " of GB")):
            number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            if value is not None and not number:
                raise ParameterError(name, f"got {value!r}", f"give a number{unit} above 0, or None for the default")

    def columns(self, n_pairs: int) -> int:
        """The most columns that a libsvm file with ``n_pairs`` pairs may have."""
        default = max(COLUMNS_AT_LEAST, COLUMNS_PER_PAIR * n_pairs)
        return default if self.max_columns is None else math.floor(min(self.max_columns, 2**62))

    def unpacked(self, size: int) -> int:
        """The most bytes that a file of ``size`` bytes may unpack to."""
        default = max(UNPACKED_AT_LEAST, UNPACKED_PER_BYTE * size)
        return default if self.max_unpacked is None else math.floor(min(self.max_unpacked * 1e9, 2.0**62))

    def refuse_unpacked(self, source: str, size: int, unpacked: int) -> None:
        """Refuse a file of ``size`` bytes that unpacks to too many."""
        most = self.unpacked(size)
        if unpacked > most:
            problem = f"its {size / 1e6:.3g} MB unpack to more than {most / 1e9:.4g} GB"
            raise_it = Message("if you trust it, raise ", Parameter("max_unpacked"), ", in GB")
            raise TableError(source, problem, Message("check where it comes from; ", raise_it))

    def refuse_columns(self, source: str, n_pairs: int, index: int) -> None:
        """Refuse a libsvm file whose largest index would make too many columns."""
        most = self.columns(n_pairs)
        if index > most:
            problem = f"its largest index is {index:,}, where {n_pairs:,} index:value pairs may have {most:,} columns"
            remedy = Message("check that line; if the index is right, raise ", Parameter("max_columns"))
            raise TableError(source, problem, remedy)


DEFAULT_LIMITS = Limits()
