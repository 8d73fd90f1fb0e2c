"""Learn how a table becomes a matrix from batches of its rows, when the table does not fit into memory.

    passes            a pass over the batches, by this process or by the workers of a cluster
    first_pass        the first pass, which finds the types of the columns and the labels
    batch_column      a column of a batch, with facts about all its cells
    streamed_columns  the types of the columns, by the rules of ``infer``
    streamed_labels   the labels, and the number of rows of each
    learning          levels, means and standard deviations of the fitted rows
    typed_copy        the parsed cells in a temporary file, for later passes
    streamed_table    all of this for a source: a ``StreamedTable``

Held-out rows are chosen by a hash of their numbers (``rows.held_out``). Everything is a sum over batches, so the result
is the same as if the table were read at once.
"""
