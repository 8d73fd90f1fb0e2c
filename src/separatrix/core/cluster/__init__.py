"""Rows on a Dask cluster: the fourth home of `Rows`. Dask is imported here only, when it is used."""
