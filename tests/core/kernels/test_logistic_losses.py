"""The logistic losses of several rows at a time, against the C library; and that all code made of them sums alike."""

import math
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.kernels import dense_rows, sparse_rows
from separatrix.core.kernels.dense_rows import LOSSES_AT_A_TIME, exponentials, sum_losses


def computed(margins):
    """e^{−|m|} and log(1 + e^{−|m|}) of any number of margins."""
    short = -len(margins) % LOSSES_AT_A_TIME
    m = np.concatenate([margins, np.zeros(short)]).reshape(-1, LOSSES_AT_A_TIME)
    e, log = np.empty_like(m), np.empty_like(m)
    for row in range(len(m)):
        exponentials(m[row], e[row], log[row])
    return e.ravel()[: len(margins)], log.ravel()[: len(margins)]


def in_last_places(found, expected):
    return np.max(np.abs(found - expected) / np.spacing(expected))


def test_exponentials_are_accurate_to_the_last_places():
    rng = np.random.default_rng(0)
    near_the_middle = -math.log(math.sqrt(2) - 1) + 1e-9 * rng.standard_normal(1000)
    near_halves = (rng.integers(0, 1000, 1000) + 0.5) * math.log(2) + 1e-12 * rng.standard_normal(1000)
    tiny = 10.0 ** rng.uniform(-320, 0, 1000)
    m = np.concatenate([rng.uniform(-40, 40, 5000), rng.uniform(0, 707, 5000), near_the_middle, near_halves, tiny])
    e, log = computed(m)
    true = np.array([math.exp(-abs(x)) for x in m])
    assert in_last_places(e, true) <= 3
    assert in_last_places(log, np.array([math.log1p(x) for x in true])) <= 5


def test_margins_beyond_all_bounds():
    e, log = computed(np.array([0.0, -0.0, 708.5, 1e308, np.inf, -np.inf]))
    np.testing.assert_array_equal(e, [1, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(log, [math.log(2), math.log(2), 0, 0, 0, 0])
    assert np.isnan(computed(np.array([np.nan]))).all()


@pytest.mark.parametrize("n", [1, 3, 4, 31, 32])
def test_losses_of_fewer_rows_than_fit(n):
    rng = np.random.default_rng(n)
    t, weight, z = rng.choice([-1.0, 1.0], 50), rng.random(50), rng.standard_normal(50)
    r, e, log = (np.full(LOSSES_AT_A_TIME, 7.0) for _ in range(3))
    r[:n] = z[9 : 9 + n]
    found = sum_losses(r, t, weight, 9, 9 + n, 0.3, e, log)
    part = slice(9, 9 + n)
    m = t[part] * (z[part] + 0.3)
    slopes = -t[part] * weight[part] / (1 + np.exp(m))
    np.testing.assert_allclose(found, [weight[part] @ np.logaddexp(0, -m), slopes.sum()], rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(r[:n], slopes, rtol=1e-13)
    np.testing.assert_array_equal(r[n:], 0.0)


@pytest.mark.parametrize("d", [3, 600])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("centred", [False, True])
def test_passes_over_some_rows_against_plain_sums(d, dtype, centred):
    """Rows of more than 512 columns are read 8 at a time. Rows with zero weight count for nothing."""
    rng = np.random.default_rng(d)
    n, begin, end = 90, 5, 77
    X = (rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.5)).astype(dtype)
    t, weight, w = rng.choice([-1.0, 1.0], n), rng.integers(0, 3, n).astype(float), rng.standard_normal(d) / np.sqrt(d)
    center = rng.standard_normal(d) if centred else None
    x = (X - center if centred else X)[begin:end].astype(np.float64)
    m = t[begin:end] * (x @ w + 0.3)
    slopes = -t[begin:end] * weight[begin:end] / (1 + np.exp(m))
    expected = [weight[begin:end] @ np.logaddexp(0, -m), slopes.sum(), *(slopes @ x)]
    found = np.zeros(d)
    sums = dense_rows.logistic_pass(X, begin, end, t, weight, w, 0.3, found, center)
    np.testing.assert_allclose([*sums, *found], expected, rtol=1e-11, atol=1e-12)
    if not centred:
        S, found = csr_array(X), np.zeros(d)
        sums = sparse_rows.logistic_pass(S.data, S.indices, S.indptr, begin, end, t, weight, w, 0.3, found)
        np.testing.assert_allclose([*sums, *found], expected, rtol=1e-11, atol=1e-12)


def test_a_row_without_weight_adds_nothing_even_if_its_score_is_infinite():
    t, weight, w = np.array([-1.0, 1.0]), np.array([0.0, 1.0]), np.zeros(1)
    X = np.ones((2, 1))
    S = csr_array(X)
    assert dense_rows.logistic_pass(X, 0, 2, t, weight, w, np.inf, np.zeros(1)) == (0.0, 0.0)
    assert sparse_rows.logistic_pass(S.data, S.indices, S.indptr, 0, 2, t, weight, w, np.inf, np.zeros(1)) == (0.0, 0.0)


FIRST_COMPILED_BY_A_PASS = """
import numpy as np
from separatrix.core.kernels import dense_rows as dense
rng = np.random.default_rng(0)
X, t, w = rng.standard_normal((100, 3)), rng.choice([-1.0, 1.0], 100), np.array([1.0, -2.0, 0.5])
value, _ = dense.logistic_pass(X, 0, 100, t, np.ones(100), w, 0.3, np.zeros(3))
assert np.isclose(value, np.logaddexp(0, -t * (X @ w + 0.3)).sum(), rtol=1e-13)
"""


def test_the_compiler_flags_of_a_pass_do_not_reach_the_series(tmp_path):
    """Numba gives a function the flags of the one for which it is compiled, if it has none of its own."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    subprocess.run([sys.executable, "-c", FIRST_COMPILED_BY_A_PASS], check=True, env=environment)


def frozen(*arrays):
    """Copies that cannot be written to, for which the compiler makes other code."""
    copies = [array.copy() for array in arrays]
    for array in copies:
        array.flags.writeable = False
    return copies


@pytest.mark.parametrize("n", [16, 48, 301])
@pytest.mark.parametrize("d", [1, 3, 20])
def test_code_for_other_types_of_rows_gives_the_same_bits(n, d):
    rng = np.random.default_rng(n + d)
    X, t, weight = rng.standard_normal((n, d)), rng.choice([-1.0, 1.0], n), rng.random(n)
    S, w = csr_array(X), rng.standard_normal(d)
    sums = []
    for rows in ((X, t, weight), (*frozen(X), t, weight), (X, *frozen(t, weight)), frozen(X, t, weight)):
        gradient = np.zeros(d)
        sums.append((dense_rows.logistic_pass(rows[0], 0, n, *rows[1:], w, 0.3, gradient), gradient.tobytes()))
    assert all(other == sums[0] for other in sums)
    sums = []
    for data, indptr in (
        (S.data, S.indptr),
        (*frozen(S.data), S.indptr),
        (*frozen(S.data), S.indptr.astype(np.int64)),
        frozen(S.data, S.indptr),
    ):
        gradient = np.zeros(d)
        sums.append(
            (sparse_rows.logistic_pass(data, S.indices, indptr, 0, n, t, weight, w, 0.3, gradient), gradient.tobytes())
        )
    assert all(other == sums[0] for other in sums)
