"""Fits on a cluster give the bits of fits in memory, however the rows are partitioned."""

from itertools import pairwise

import dask
import dask.array as da
import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix, random_array

import separatrix as sx
from separatrix.core.cluster import workers as held
from separatrix.core.cluster.cluster_rows import ClusterTable, dask_table
from separatrix.core.rows import memory_rows, streamed
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.labelled_table import MemoryTable
from separatrix.core.rows.protocol import BLOCK_BYTES, Order, counted_passes
from separatrix.core.rows.streamed import StreamedRows
from separatrix.core.rows.targets import CLASS_NUMBERS
from tests.core.cluster.tables import from_file, labelled

CLASSIFIERS = {
    "logistic": lambda: sx.LogisticRegression(),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "lasso": lambda: sx.LogisticRegression(l1_ratio=1.0),
    "balanced": lambda: sx.LogisticRegression(class_weight="balanced"),
    "svc": lambda: sx.LinearSVC(),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "fisher": lambda: sx.FisherDiscriminant(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
}
# Partitions that do not coincide with blocks, which have 65 536 rows of 8 columns.
CHUNKS = (40_000, 1, 70_007, 0, 39_992)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """X and y in memory, and as Dask arrays."""
    X, y = labelled(sum(CHUNKS), 8)
    folder = tmp_path_factory.mktemp("table")
    return X, y, from_file(X, folder / "X.npy", CHUNKS), from_file(y, folder / "y.npy", CHUNKS)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_fit_on_a_cluster_is_that_of_memory(as_default, table, name):
    X, y, *on_dask = table
    assert isinstance(dask_table(*on_dask), ClusterTable)
    ours, theirs = CLASSIFIERS[name]().fit(*on_dask), CLASSIFIERS[name]().fit(X, y)
    assert ours.classes_.tolist() == theirs.classes_.tolist()
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)
    np.testing.assert_array_equal(ours.intercept_, theirs.intercept_)
    assert ours.certificate_.n_rows == len(y)


def test_without_a_client_partitions_are_streamed(table):
    X, y, *on_dask = table
    rows = dask_table(*on_dask).rows(CLASS_NUMBERS)
    assert isinstance(rows, StreamedRows)
    ours, theirs = sx.LogisticRegression().fit(*on_dask), sx.LogisticRegression().fit(X, y)
    np.testing.assert_array_equal(ours.coef_, theirs.coef_)


class Ordered:
    """Sums that depend on the order of the blocks, on their edges, and on how they are merged."""

    def zero(self):
        return np.zeros(3)

    def add(self, total, block):
        X = block.X.sum(axis=0).sum() if hasattr(block.X, "tocsr") else block.X.sum()
        return 1.5 * total + [X, block.t.sum() + block.n_rows, block.weight.sum() / (1 + block.start)]

    def merge(self, a, b):
        return 1.25 * a + b


def sparse_chunk(path, begin, end):
    with np.load(path) as file:
        whole = csr_matrix((file["data"], file["indices"], file["indptr"]), shape=file["shape"])
    return whole[begin:end]


def sparse_table(folder, n, d):
    """CSR rows of different lengths, and the same as a Dask array with CSR chunks.

    The chunks are matrices, because Dask 2025.1 cannot concatenate SciPy's sparse arrays.
    """
    rng = np.random.default_rng(1)
    X = csr_array(random_array((n, d), density=0.02, random_state=rng).tocsr())
    path = folder / "X.npz"
    np.savez(path, data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape)
    edges = [0, n // 3, n // 3, n - 5, n]
    meta = csr_matrix((0, d))
    parts = [
        da.from_delayed(dask.delayed(sparse_chunk, pure=False)(str(path), a, b), (b - a, d), meta=meta)
        for a, b in pairwise(edges)
    ]
    return X, da.concatenate(parts), tuple(np.diff(edges).tolist())


# Blocks of one row in ten thousand bytes make hundreds of strands, of which many end in another chunk.
@pytest.mark.parametrize("size", [BLOCK_BYTES, BLOCK_BYTES // 2, 100_003])
@pytest.mark.parametrize("sparse", [False, True])
def test_sums_have_the_tree_of_memory(client, table, tmp_path, monkeypatch, size, sparse):
    for module in (memory_rows, held):
        monkeypatch.setattr(module, "BLOCK_BYTES", size)
    X, y, on_dask, labels = table
    if sparse:
        X, on_dask, chunks = sparse_table(tmp_path, 30_000, 200)
        y = y[: X.shape[0]]
        labels = from_file(y, tmp_path / "y.npy", chunks)
    weight = np.random.default_rng(2).uniform(size=len(y))
    weights = from_file(weight, tmp_path / "w.npy", labels.chunks[0])
    rows = dask_table(on_dask, labels, weights, cluster=client).rows(CLASS_NUMBERS)
    codes = (y == "yes").astype(np.int64)
    in_memory = MemoryTable(X, codes, weight, 2).rows(CLASS_NUMBERS)
    assert len(rows.held.now.edges) == 3, "both workers hold rows"
    np.testing.assert_array_equal(rows.fold(Ordered()), in_memory.fold(Ordered()))


def test_samples_and_batches_are_those_of_memory(client, table):
    X, y, *on_dask = table
    rows = dask_table(*on_dask, cluster=client).rows(CLASS_NUMBERS)
    in_memory = MemoryTable(X, (y == "yes").astype(np.int64), np.ones(len(y)), 2).rows(CLASS_NUMBERS)
    with counted_passes() as passes:
        ours = rows.sample(500, 3, np.array([0, 1]))
    assert passes == [1]
    theirs = in_memory.sample(500, 3, np.array([0, 1]))
    np.testing.assert_array_equal(ours.block.X, theirs.block.X)
    np.testing.assert_array_equal(ours.odds, theirs.odds)
    pairs = zip(rows.blocks(Order(20_011)), in_memory.blocks(Order(20_011)), strict=True)
    for one, other in pairs:
        assert one.start == other.start
        np.testing.assert_array_equal(one.X, other.X)
        np.testing.assert_array_equal(one.t, other.t)
    np.testing.assert_array_equal(summarise(rows).mean, summarise(in_memory).mean)


@pytest.mark.parametrize("draw", ["given", "shuffled"])
@pytest.mark.parametrize("sparse", [False, True])
def test_batches_are_those_of_a_stream(client, tmp_path, monkeypatch, draw, sparse):
    """Shuffled batches, too: the buffer holds the same rows, which are fetched in other pieces."""
    monkeypatch.setattr(held, "BLOCK_BYTES", 30_011)
    monkeypatch.setattr(streamed, "CHUNK_BYTES", 70_001)
    X, y = labelled(12_000, 8)
    rows, chunks = from_file(X, tmp_path / "X.npy", (5000, 0, 7000)), (5000, 0, 7000)
    if sparse:
        _, rows, chunks = sparse_table(tmp_path, 12_000, 40)
    labels = from_file(y, tmp_path / "y.npy", chunks)
    ours, theirs = (dask_table(rows, labels, cluster=where).rows(CLASS_NUMBERS) for where in (client, None))
    with counted_passes() as passes:
        pairs = list(zip(*(each.blocks(Order(997, draw, 3, 1)) for each in (ours, theirs)), strict=True))
    assert passes == [2]
    assert len(pairs) == 13
    for one, other in pairs:
        np.testing.assert_array_equal(*(each.X.toarray() if sparse else each.X for each in (one, other)))
        np.testing.assert_array_equal(one.t, other.t)
        np.testing.assert_array_equal(one.weight, other.weight)
