"""Compiler flags that allow the compiler to vectorise a sum, by reordering its additions.

Infinity and NaN keep their meaning, and the order of additions is fixed at compilation, so it is the same in every run.
"""

LANES = {"reassoc", "contract", "nsz"}
