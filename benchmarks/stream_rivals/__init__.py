"""One logistic regression of a table in a file, ours and others': ``python -m benchmarks.stream_rivals``.

Each rival has a module with ``fit(path, names, C)``, which returns (b, w), and a requirements file with the versions of
its packages, of which alone the module makes use. The objective is Σ ln(1 + exp(−t z)) + ‖w‖²/(2C), with a free
intercept.
"""
