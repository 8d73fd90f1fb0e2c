"""How large a table a small file may stand for: a few bytes can ask for gigabytes.

    compressed text    1 GB, or 100 times the compressed size where that is more         max_unpacked, in GB
    Parquet            the same, by the sizes that its footer states                     max_unpacked, in GB
    libsvm             1 000 000 columns, or 10 for each index:value pair in the file    max_columns

CSV files are compressed to a fifth or a tenth of their size, and wide libsvm files have many more pairs than columns. A
file beyond these limits is damaged or hostile, or its owner knows better: then either limit can be given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from separatrix.base.errors import ParameterError, TableError
from separatrix.base.messages import Message, Parameter

# Bytes that a file may unpack to, and how many times its own size, where that is more.
UNPACKED_AT_LEAST, UNPACKED_PER_BYTE = 10**9, 100
# Columns of a libsvm file, and how many for each of its pairs, where that is more.
COLUMNS_AT_LEAST, COLUMNS_PER_PAIR = 10**6, 10


@dataclass(frozen=True)
class Limits:
    """What was given in place of the limits above, None where nothing was.

    >>> Limits().columns(20), Limits(max_columns=7).columns(20), Limits().unpacked(3_000_000)
    (1000000, 7, 1000000000)
    """

    max_columns: int | None = None
    max_unpacked: float | None = None

    def __post_init__(self) -> None:
        for name, value, unit in (("max_columns", self.max_columns, ""), ("max_unpacked", self.max_unpacked, " of GB")):
            number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
            if value is not None and not number:
                raise ParameterError(name, f"got {value!r}", f"give a number{unit} above 0, or None for the usual one")

    def columns(self, n_pairs: int) -> int:
        """How many columns a libsvm file with so many pairs may have."""
        usual = max(COLUMNS_AT_LEAST, COLUMNS_PER_PAIR * n_pairs)
        return usual if self.max_columns is None else math.floor(min(self.max_columns, 2**62))

    def unpacked(self, size: int) -> int:
        """How many bytes a compressed file of so many may unpack to."""
        usual = max(UNPACKED_AT_LEAST, UNPACKED_PER_BYTE * size)
        return usual if self.max_unpacked is None else math.floor(min(self.max_unpacked * 1e9, 2.0**62))

    def refuse_unpacked(self, source: str, size: int, unpacked: int) -> None:
        """A file of ``size`` bytes that unpacks to too many."""
        most = self.unpacked(size)
        if unpacked > most:
            came = f"its {size / 1e6:.3g} MB unpack to more than {most / 1e9:.4g} GB"
            raise_it = Message("if that is meant, raise ", Parameter("max_unpacked"), ", in GB")
            raise TableError(source, came, Message("check where it comes from; ", raise_it))

    def refuse_columns(self, source: str, n_pairs: int, index: int) -> None:
        """A largest index that would make too many columns."""
        most = self.columns(n_pairs)
        if index > most:
            came = f"its largest index is {index:,}, where {n_pairs:,} index:value pairs may have {most:,} columns"
            do = Message("check that line; if it is meant, raise ", Parameter("max_columns"))
            raise TableError(source, came, do)


USUAL = Limits()
