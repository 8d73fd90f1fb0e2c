"""Fits of one table in files, ours beside those of other packages: ``python -m benchmarks.streams``."""
