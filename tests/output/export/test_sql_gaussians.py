"""SQL and Python of Gaussian classes say what the model says."""

import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.gaussians import Gaussians, QuadraticScorer
from separatrix.core.rows.frame import Frame
from separatrix.output.sql import to_sql

from .sql_engines import ENGINES, in_duckdb


def test_gaussians_far_from_zero_keep_their_digits():
    """Rows at 10⁹ ± 1: without a shift of the columns a quadratic score would be off by units."""
    rng = np.random.default_rng(5)
    X = 1e9 + rng.normal(size=(80, 2)) * [1.0, 2.0]
    y = (rng.random(80) < 0.5).astype(int)
    model = sx.QuadraticDiscriminantAnalysis().fit(X, y)
    table = pa.table({"x0": X[:, 0], "x1": X[:, 1], "id": np.arange(80)})
    rows = in_duckdb(table, to_sql(model, "duckdb", keep=["id"]))
    assert np.allclose([row[1] for row in rows], model.decision_function(X), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("engine", [*ENGINES, "python"])
def test_gaussians_of_a_column_that_never_varies(engine):
    model = sx.QuadraticDiscriminantAnalysis().fit(np.zeros((30, 1)), np.repeat([0, 1, 2], [8, 12, 10]))
    assert model.predict([[0.0], [5.0]]).tolist() == [1, 1]
    if engine == "python":
        names = {}
        exec(sx.to_python(model), names)
        assert [names["predict"]({"x0": v}) for v in (0.0, 5.0)] == [1, 1]
    else:
        table = pa.table({"x0": [0.0, 5.0, None], "id": [0, 1, 2]})
        rows = ENGINES[engine](table, to_sql(model, engine, keep=["id"]))
        assert [row[-1] for row in rows] == [1, 1, None]


@pytest.mark.parametrize("engine", ENGINES)
def test_gaussians_of_which_one_never_varies(engine):
    """Its score is the same for every row, but none where a value is missing."""
    one = np.ones((1, 1))
    found = Gaussians(
        Frame.identity(1), np.full(3, 1 / 3), np.array([[0.0], [1.0], [4.0]]), (one, one[:, :0], one), (), np.zeros(3)
    )
    table = pa.table({"x0": [0.0, 3.5, -9.0, None], "id": [0, 1, 2, 3]})
    rows = ENGINES[engine](table, to_sql(QuadraticScorer(found, np.arange(3)), engine, keep=["id"]))
    assert [row[-1] for row in rows] == [0, 1, 1, None]
    assert rows[3][1:] == (None,) * (len(rows[3]) - 1)
    z = QuadraticScorer(found, np.arange(3)).scores(np.array([[0.0], [3.5], [-9.0]]))
    assert np.allclose([row[1:4] for row in rows[:3]], z, rtol=1e-12, atol=1e-12)


FAR = np.array(
    [
        [1e155, 0.0, 0.0],
        [1e155, -1e150, 1e160],
        [-1e200, 1e199, 3e202],
        [0.0, 0.0, 1e250],
        [1e300, -1e300, 1e303],
        [1e308, 1e308, -1e308],
        [1e130, 0.0, 1.0],
        [0.5, 1e-3, 10.0],
    ]
)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("engine", [*ENGINES, "python"])
def test_gaussians_whose_squares_would_overflow(engine, K):
    """The nearest class is the nearest at any distance, by ``predict`` and by what was exported alike."""
    rng = np.random.default_rng(K)
    codes = np.arange(30 * K) % K
    X = rng.normal(size=(30 * K, 3)) * [1.0, 1e-3, 1e3] * (1.0 + codes[:, None])
    for kind in (sx.QuadraticDiscriminantAnalysis(), sx.OneVsOneClassifier(sx.QuadraticDiscriminantAnalysis())):
        model = kind.fit(X, codes)
        # The widest class is the nearest to what is far away in every direction.
        assert model.predict(FAR).tolist() == [K - 1] * 7 + [model.predict(FAR[-1:])[0]]
        assert model.predict(-FAR[:6]).tolist() == [K - 1] * 6
        if engine == "python":
            names = {}
            exec(sx.to_python(model), names)
            found = [names["predict"]({f"x{j}": v for j, v in enumerate(row)}) for row in FAR.tolist()]
        else:
            table = pa.table({f"x{j}": FAR[:, j] for j in range(3)} | {"id": np.arange(len(FAR))})
            found = [row[-1] for row in ENGINES[engine](table, to_sql(model, engine, keep=["id"]))]
        assert found == model.predict(FAR).tolist()
