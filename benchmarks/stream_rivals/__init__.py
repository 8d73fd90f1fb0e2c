"""One logistic regression of a table in a file, ours and others': ``python -m benchmarks.stream_rivals``.

One module for each rival, with ``fit(path, names, C)``, which returns (b, w); beside it the file of its pins. The
objective is Σ ln(1 + exp(−t z)) + ‖w‖²/(2C), with a free intercept. A module needs nothing but its own packages.
"""
