"""Tables that are read from files in every pass, because they do not fit into memory.

A file, a data set or a query gives record batches (``batches``), the columns of a batch become a matrix (``matrix``),
its labels become class numbers (``labelling``), and a ``Scan`` gives them to classifiers as ``Rows``.
"""

from separatrix.streams.scan import Scan, scan

__all__ = ["Scan", "scan"]
