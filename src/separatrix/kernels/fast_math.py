"""Compiler flags that allow a sum to run in several lanes at once; otherwise each addition waits for the last.

Infinity and NaN keep their meaning, and the order of additions is the same in every run.
"""

LANES = {"reassoc", "contract", "nsz"}
