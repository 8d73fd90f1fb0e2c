"""Rows in the memory of the workers of a Dask cluster. Dask is imported only here, and only when it is used."""
