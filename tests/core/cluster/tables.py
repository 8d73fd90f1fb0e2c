"""Tables in files, as Dask collections whose partitions are read from these files."""

from itertools import accumulate, pairwise

import dask
import dask.array as da
import numpy as np


def labelled(n, d, seed=0):
    """n rows of d columns of different scales, and labels that follow two of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d)
    return X, np.where(X[:, 0] + X[:, 3] > rng.logistic(size=n), "yes", "no")


def between(path, begin, end):
    """Some rows of an array in a file."""
    return np.load(path, mmap_mode="r")[begin:end].copy()


def from_file(array, path, chunks, unknown=False):
    """An array as a Dask array with these chunks along the rows, whose sizes Dask knows unless ``unknown``."""
    np.save(path, array)
    parts = []
    for begin, end in pairwise(accumulate(chunks, initial=0)):
        part = dask.delayed(between, pure=False)(str(path), begin, end)
        shape = (np.nan if unknown else end - begin, *array.shape[1:])
        parts.append(da.from_delayed(part, shape, array.dtype))
    return da.concatenate(parts, allow_unknown_chunksizes=unknown)
