"""L-BFGS around second derivatives that are kept: few factors, and the same minimum."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core import gap_bounds
from separatrix.core.penalty import Penalty
from separatrix.core.problem import Objective, build_objective
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.labelled_table import labelled_rows
from separatrix.core.solvers.lbfgs import LBFGS
from separatrix.core.solvers.preconditioners import Chord
from separatrix.core.solvers.registry import choose


def drawn(n=3000, d=90, strength=2.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) @ (np.eye(d) + 0.7 * rng.standard_normal((d, d)) / np.sqrt(d))
    z = X @ rng.standard_normal(d)
    return X, (strength * z / z.std() + rng.logistic(size=n) > 0).astype(int)


@pytest.fixture
def factors(monkeypatch):
    """How often second derivatives of all rows were factored."""
    counted, factor = [], Objective.factor

    def counting(self, W, *more, **named):
        counted.append(W)
        return factor(self, W, *more, **named)

    monkeypatch.setattr(Objective, "factor", counting)
    return counted


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_few_factors_and_newtons_minimum(factors, C):
    X, y = drawn()
    chord = sx.LogisticRegression(C, solver=LBFGS(Chord())).fit(X, y).certificate_
    kept = len(factors)
    newton = sx.LogisticRegression(C, solver="newton").fit(X, y).certificate_
    assert chord.code == newton.code == "optimal"
    assert chord.objective == pytest.approx(newton.objective, abs=2e-8 * newton.null_objective)
    assert kept <= 1
    assert len(factors) - kept >= 3  # and the first of Newton's method, from the columns' products


def test_a_slow_run_takes_second_derivatives_anew(factors):
    X, y = drawn(n=200, strength=20.0)  # separated: curvature at the end is nothing like the null model's
    certificate = sx.LogisticRegression(100.0, solver=LBFGS(Chord())).fit(X, y).certificate_
    assert certificate.code == "optimal"
    assert len(factors) >= 2
    assert certificate.passes < 150


def test_second_derivatives_are_not_taken_for_a_bound_that_passes_make_as_small(monkeypatch):
    X, y = drawn()

    def taken(*args, **kwargs):
        raise AssertionError("the affine bound was asked for")

    monkeypatch.setattr(gap_bounds, "by_curvature", taken)
    certificate = sx.LogisticRegression(solver=LBFGS(Chord())).fit(X, y).certificate_
    assert certificate.met
    assert certificate.bound_kind == "duality"


def test_without_a_penalty_the_affine_bound_is_asked_for():
    X, y = drawn(n=2000, d=70, strength=1.0)
    certificate = sx.LogisticRegression(np.inf, solver=LBFGS(Chord())).fit(X, y).certificate_
    assert certificate.met
    assert certificate.bound_kind == "self-concordance"


@pytest.mark.parametrize(
    ("d", "classes", "C", "sparse", "suits"),
    [
        (90, 2, 1.0, False, True),
        (30, 2, 1.0, False, False),
        (90, 3, 1.0, False, False),
        (90, 2, np.inf, False, False),
        (90, 2, 1.0, True, False),
    ],
)
def test_chosen_for_one_score_with_many_dense_columns_that_are_held(d, classes, C, sparse, suits):
    from scipy.sparse import csr_array

    X = np.random.default_rng(1).standard_normal((300, d))
    rows, codes = csr_array(X * (X > 2)) if sparse else X, np.arange(300) % classes
    assert is_sparse(rows) == sparse
    problem = build_objective(
        labelled_rows(rows, codes, classes, np.ones(300)), classes, Penalty(0.0 if np.isinf(C) else 1 / C, np.ones(d))
    )
    assert (choose(problem)[0] == LBFGS(Chord())) == suits
