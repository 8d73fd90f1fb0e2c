"""Compiled loops. Import a kernel inside the function that calls it, because the import loads Numba."""
