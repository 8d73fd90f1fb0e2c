"""Whether a hyperplane separates two classes, with evidence that needs no solver.

linear_programs   the programs, apart from what is made of them
rational          exact elimination on the few rows that carry a proof
verdicts          Separable, QuasiSeparable, Inseparable, Doubtful, each with verify and explain
separability      rows to a verdict
"""
