"""Rows that are read in pieces, with the sample from which the fit of a likelihood starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.objectives.row_statistics import SAMPLE_SEED, sample_size
from separatrix.rows.coding import Coding
from separatrix.rows.frame import Frame
from separatrix.rows.labelled import OutsideMemory
from separatrix.rows.sampling import LowestHashes
from separatrix.rows.streamed import Learnt, StreamedRows
from separatrix.streams.memory_limit import most_drawn

# A table of unknown length gets the largest sample, from which the rows of any smaller one are taken later.
UNKNOWN_ROWS = 1 << 62


def sampled_rows(source: Any, table: OutsideMemory, coding: Coding, memory: float) -> StreamedRows:
    """The rows of a source with the targets of a coding. The sample is drawn in the first pass, whatever that computes.

    ``memory``: that of the fit in bytes, of which the sample takes a part; ``table``: the table of the rows.
    """
    n_classes = coding.n_classes(len(table.classes))
    width = table.n_features + 1
    n_parameters = width * (1 if coding.signs else n_classes)
    most = most_drawn(memory, n_parameters, width)
    n_rows, draw = table.known_rows, None
    if coding.signs or n_classes > 2:  # the coding of a likelihood, whose solvers ask for this sample
        targets = np.array([-1.0, 1.0]) if coding.signs else np.arange(n_classes)
        size = sample_size(UNKNOWN_ROWS if n_rows is None else n_rows, n_parameters, width)
        draw = LowestHashes(min(size, most), SAMPLE_SEED, targets)
    frame, learnt = Frame.identity(table.n_features), Learnt(n_rows)
    return StreamedRows(source, frame, weight_unit=coding.unit, draw=draw, most_drawn=most, learnt=learnt)
