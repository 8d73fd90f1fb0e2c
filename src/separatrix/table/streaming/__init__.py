"""Learn how a table becomes a matrix from batches of its rows, when the table does not fit into memory.

    columns     what the columns hold, by the rules of ``infer``
    target      which labels there are, and how many rows have each
    split       which rows are held out, by a hash of their numbers
    learning    levels, means and standard deviations of the rows fitted
    table       all of this for a source: a ``StreamedTable``

Everything is a sum over batches, so that the result is that of reading the table at once.
"""
