"""Tables of text: TF-IDF of Zipf-distributed words, sparse, with many more columns than rows."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.feature_extraction.text import TfidfTransformer


def wide_text(n=400, d=5000, words=15, share=0.15, repeated=0, seed=0):
    """Rows X (n, d) as CSR and classes y of 0 and 1, of which the second has ``share`` of the rows.

    Columns are drawn with odds 1/(rank + 10); in the second class some words are more or less frequent. The last
    ``repeated`` rows repeat earlier ones.
    """
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(np.int64)
    odds = np.tile(1.0 / (np.arange(d) + 10.0), (2, 1))
    odds[1, : d // 10] *= np.exp(2.0 * rng.standard_normal(d // 10) * (rng.random(d // 10) < 0.2))
    edges = np.cumsum(odds, axis=1)
    drawn = rng.random((n, words)) * edges[y, -1][:, None]
    columns = np.stack([np.searchsorted(edges[k], row) for k, row in zip(y, drawn, strict=True)])
    counts = csr_array((np.ones(n * words), (np.repeat(np.arange(n), words), columns.ravel())), shape=(n, d))
    X = csr_array(TfidfTransformer().fit_transform(counts))
    rows = np.concatenate([np.arange(n - repeated), rng.integers(0, n - repeated, repeated)])
    return X[rows], y[rows]
