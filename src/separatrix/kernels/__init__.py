"""The compiled loops and nothing else. Import a kernel where it is called: Numba loads with it."""
