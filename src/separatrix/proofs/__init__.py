"""Whether linear scores separate classes, with evidence that needs no solver.

differences       the rows (e_y − e_k) ⊗ x̄ that separation is about, never written out
linear_programs   the programs, apart from what is made of them
newton            a hyperplane without a program, where one is easily found
working_set       programs on few of many rows, one pass a round
together          all rows that touch, by one program
enclosure         a positive dependency, proven in floating point
rational          exact numbers from floats
residues          systems solved exactly, by digits modulo a prime
dependencies      whole multipliers of the few rows that carry a proof
quasi             a direction in whole numbers, in few columns
naming            classes, columns and rows in words
verdicts          Separable, QuasiSeparable, Inseparable, Doubtful, each with verify and explain
scales            columns of any size, counted in powers of two
separability      rows to a verdict
existence         when a fit's own bound proves that there is a maximum
"""
