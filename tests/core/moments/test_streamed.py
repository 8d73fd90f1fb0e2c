"""Moments of streamed rows are those of rows in memory, and so is what follows from them."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix.core.firth.likelihood import Ascent, Penalised
from separatrix.core.moments import gather
from separatrix.core.penalty import Penalty
from separatrix.core.problem import build_objective
from separatrix.core.projections import Fisher
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.squared_cost import OneHot, build_squared_cost
from tests.streamed import streamed

FORMS = {"dense": np.asarray, "sparse": csr_array}


def drawn(seed, form, offset=0.0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, 3, 60)
    X = rng.standard_normal((60, 4)) * np.array([1.0, 10.0, 0.1, 3.0]) + codes[:, None] + offset
    X[:, 3] *= rng.random(60) < 0.5
    return FORMS[form](X), codes, rng.integers(1, 4, 60).astype(float)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("pooled", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_moments(form, pooled, offset):
    rows = memory_rows(*drawn(1, form, offset))
    ours, theirs = (gather(of, 3, pooled) for of in (streamed(rows), rows))
    np.testing.assert_allclose(ours.weight, theirs.weight)
    np.testing.assert_allclose(ours.raw_mean, theirs.raw_mean, rtol=1e-10)
    np.testing.assert_allclose(ours.raw_scatter, theirs.raw_scatter, rtol=1e-8, atol=1e-9)
    directions = [Fisher().best(found, 2)[0] for found in (ours, theirs)]
    np.testing.assert_allclose(*directions, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("form", FORMS)
def test_least_squares(form, l2):
    rows = memory_rows(*drawn(2, form))
    ours, theirs = (build_squared_cost(of, OneHot().table(3), l2, True).minimise() for of in (streamed(rows), rows))
    np.testing.assert_allclose(ours.raw, theirs.raw, rtol=1e-8, atol=1e-10)
    assert ours.value == pytest.approx(theirs.value, rel=1e-10)
    assert ours.gap <= 1e-8 * ours.value


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("K", [2, 3])
def test_firth(form, K):
    X, codes, weight = drawn(3, form)
    rows = labelled_rows(X, np.minimum(codes, K - 1), K, weight)
    found = []
    for of in (streamed(rows), rows):
        objective = build_objective(of, K, Penalty.none(4), hide_constant=False)
        problem = Penalised(objective, rows.weight_unit)
        run = Ascent()(problem, problem.zero)
        found.append(run)
    assert found[0][1].status.code == found[1][1].status.code
    np.testing.assert_allclose(found[0][0].W, found[1][0].W, rtol=1e-6, atol=1e-8)
