"""The rows of a worker, without a cluster."""

import pickle

import numpy as np
from scipy.sparse import csr_array

from separatrix.core.cluster.workers import Chunk
from separatrix.core.rows.streamed import Piece
from separatrix.core.rows.targets import Coding


def misaligned(array):
    """A copy that begins one byte past a multiple of its item size, as arrays from a network buffer may."""
    buffer = np.empty(array.nbytes + 1, dtype=np.uint8)
    copy = buffer[1:].view(array.dtype).reshape(array.shape)
    copy[...] = array
    assert not copy.flags.aligned
    return copy


def test_arrays_from_the_network_are_aligned():
    X, codes, weight = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1]), np.ones(4)
    piece = Chunk(0, [Piece(misaligned(X), misaligned(codes), misaligned(weight))]).pieces[0]
    assert all(part.flags.aligned for part in piece)
    np.testing.assert_array_equal(piece.X, X)
    sparse = csr_array(X)
    sparse.data = misaligned(sparse.data)
    piece = Chunk(0, [Piece(sparse, codes, weight)]).pieces[0]
    assert piece.X.data.flags.aligned
    np.testing.assert_array_equal(piece.X.toarray(), X)


def test_a_chunk_keeps_views_and_forgets_its_coding_when_it_moves():
    X = np.arange(12.0).reshape(4, 3)
    chunk = Chunk(7, [Piece(X, np.array([0, 1, 0, 1]), np.ones(4))])
    assert np.shares_memory(chunk.pieces[0].X, X)
    (coded,) = chunk.coded("a", Coding(signs=True))
    assert coded.t.tolist() == [-1.0, 1.0, -1.0, 1.0]
    assert chunk.coded("a", Coding(signs=True))[0] is coded
    moved = pickle.loads(pickle.dumps(chunk.between(8, 10)))
    assert (moved.start, moved.n_rows) == (8, 2)
    assert moved.coded("b", Coding())[0].t.tolist() == [1, 0]
