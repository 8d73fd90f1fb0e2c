"""Decides whether linear scores separate the classes, and returns evidence that can be checked without a solver.

class_differences  the rows (e_y − e_k) ⊗ x̄ that decide separation, generated on demand
linear_programs    the linear programs, independent of what their solutions are used for
newton_separator   Newton's method, which finds a hyperplane without a linear program when one is easy to find
row_working_set    linear programs on a working set of rows, with one pass over all rows per round
together           all touching rows (those with a·v = 0 for every v with A v ≥ 0), found by one linear program
enclosure          a positive dependency proven in floating point
rational           exact numbers from floats
residues           linear systems solved exactly with residues modulo primes
dependencies       integer multipliers of the few rows that make up a proof
null_space         directions in which every row scores zero, proven exactly
quasi              an integer direction of quasi-complete separation that uses few columns
causes             all sets of columns that cause a quasi-complete separation
naming             classes, columns and rows described in words
asked_rows         the rows that a verdict is about
asked_tables       the same for tables outside memory
verifiable         the base class of verdicts that make a claim
separable          the verdict Separable, proven by a hyperplane
overlapping        the verdicts QuasiSeparable and Inseparable, proven by rows
verdicts           all verdicts, with Doubtful
overlap_proof      proofs that no hyperplane separates, extended row by row
scales             columns of extreme size, rescaled by powers of two
offsets            columns far from zero, moved without rounding
deciding           the algorithm: from rows in memory to a verdict
row_claims         claims about every row, checked block by block
enclosing_rows     a few rows whose hull contains the origin, a quick proof of overlap for few columns
reference_levels   reference levels of categories that cause a quasi-complete separation
violation_descent  the least sum of violations over few columns
core_rows          the rows kept in memory during a search over rows outside memory
widest_separator   the hyperplane that is farthest from these rows
direction_rows     the rows that a direction touches and moves, outside memory
streamed_separability   from rows outside memory to a verdict, in a few passes
separability       the entry points: from rows to a verdict
existence          when the bound of a fit proves that a maximum of the likelihood exists
"""
