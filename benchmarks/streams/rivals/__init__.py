"""One module for each rival, with ``fit(path, d, C) -> (intercept, weights)``; beside it the file of its pins.

The objective is Σ ln(1 + exp(−t z)) + ‖w‖²/(2C), with a free intercept. A module needs nothing but its own packages.
"""
