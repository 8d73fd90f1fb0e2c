"""What the compiler may do to a sum: run it in several lanes side by side, where each addition else waits for the last.

Infinity and NaN stay what they are; the order is the same every time.
"""

LANES = {"reassoc", "contract", "nsz"}
