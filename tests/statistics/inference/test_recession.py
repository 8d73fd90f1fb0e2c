"""Infinite coefficients: named where every direction agrees, the others estimated from the touching rows."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import statsmodels.api as sm
from scipy.optimize import linprog
from scipy.stats import chi2

import separatrix as sx
from separatrix.core.base.errors import ParameterError, SeparationWarning
from separatrix.statistics.coefficient_states import reach

from .test_summary import drawn, same, summarised

DATA = Path(__file__).parents[2] / "data"


def endometrial():
    """Heinze and Schemper, Statistics in Medicine 21 (2002)."""
    data = pd.read_csv(DATA / "endometrial.csv", comment="#")
    return data[["NV", "PI", "EH"]].astype(np.float64), data["HG"]


def separated_fit(X, y, **given):
    with pytest.warns(SeparationWarning):
        return sx.LogisticRegression(np.inf, **given).fit(X, y)


@pytest.mark.parametrize("kind", [lambda X: X, lambda X: sp.csr_array(X.to_numpy())])
def test_endometrial_cancer(kind):
    X, y = endometrial()
    rows = kind(X)
    found = sx.summary(separated_fit(rows, y), rows, y)
    # R's brglm2 and detectseparation print these; NV has no maximum-likelihood estimate.
    np.testing.assert_allclose(found.coef[[0, 2, 3]], [4.30452, -0.04218, -2.90261], rtol=0, atol=0.5e-5)
    assert found.coef[1] == np.inf
    assert found.states == ("estimated", "infinite", "estimated", "estimated")
    assert np.isnan([found.std_err[1], found.low[1], found.p_value[1]]).all()
    within = y[X["NV"] == 0]
    touching = summarised(X.loc[X["NV"] == 0, ["PI", "EH"]], within)
    same(found.std_err[[0, 2, 3]], touching.std_err, rtol=1e-7)
    same(found.log_likelihood, touching.log_likelihood)
    assert f"{found.names[1]}: infinite" in str(found)


def test_profiles_of_the_finite_part():
    X, y = endometrial()
    found = sx.summary(separated_fit(X, y), X, y, intervals="profile")
    inside = X["NV"] == 0
    touching = summarised(X.loc[inside, ["PI", "EH"]], y[inside], intervals="profile")
    same(found.low[[0, 2, 3]], touching.low, rtol=1e-6)
    assert found.high[1] == np.inf
    # The slow way: the weight of NV held by an offset, the rest fitted again.
    wide = sm.add_constant(X[["PI", "EH"]])
    held = sm.GLM(y, wide, family=sm.families.Binomial(), offset=found.low[1] * X["NV"]).fit(tol=1e-13)
    assert 2 * (found.log_likelihood - held.llf) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-7)
    early = separated_fit(X, y, solver="gradient-descent", max_iter=300)  # it stops at a weight of 0.03
    same(sx.summary(early, X, y, intervals="profile").low[1], found.low[1], rtol=1e-7)
    turned = sx.summary(separated_fit(X, y), X, y, intervals="profile", reference=1)
    same(turned.high[1], -found.low[1], rtol=1e-7)
    assert turned.low[1] == -np.inf


def test_the_other_reference_and_other_units():
    X, y = endometrial()
    turned = sx.summary(separated_fit(X, y), X, y, reference=1)
    assert turned.coef[1] == -np.inf
    moved = X * [1e-6, 1e6, 1.0] + [0.0, 1e8, 1e3]
    found = sx.summary(separated_fit(moved, y), moved, y)
    assert found.coef[1] == np.inf
    same(found.std_err[2:] * [1e6, 1.0], turned.std_err[2:], rtol=1e-6)


def quasi():
    """A column whose ones are all of the second class, then its reverse coding: beside it the intercept is infinite."""
    X, y = drawn(200, 2)
    flag = np.zeros(len(y))
    flag[np.flatnonzero(y == 1)[:9]] = 1.0
    return X, y, flag


def test_coding_the_column_the_other_way_moves_infinity_to_the_intercept():
    X, y, flag = quasi()
    rows = np.column_stack([X, 1 - flag])
    found = sx.summary(separated_fit(rows, y), rows, y)
    assert (found.coef[0], found.coef[3]) == (np.inf, -np.inf)
    assert found.states == ("infinite", "estimated", "estimated", "minus infinite")
    inside = flag == 0
    same(found.coef[1:3], summarised(X[inside], y[inside]).coef[1:], rtol=1e-7)


def test_directions_that_disagree_give_no_sign():
    """Two columns that separate the same rows: their weights may trade against each other without end."""
    X, y, flag = quasi()
    other = flag * np.where(np.arange(len(y)) % 2, 1.0, 2.0)
    rows = np.column_stack([X, flag, other])
    found = sx.summary(separated_fit(rows, y), rows, y)
    assert found.states == ("estimated", "estimated", "estimated", "no finite value", "no finite value")
    assert np.isnan(found.coef[3:]).all()


def test_two_columns_that_separate_different_rows():
    """One direction raises the one, another the other: only the rows on both hyperplanes touch."""
    X, y, flag = quasi()
    other = np.zeros(len(y))
    other[np.flatnonzero(y == 0)[:7]] = 1.0
    rows = np.column_stack([X, flag, other])
    found = sx.summary(separated_fit(rows, y), rows, y)
    assert found.states == ("estimated", "estimated", "estimated", "infinite", "minus infinite")
    inside = (flag == 0) & (other == 0)
    same(found.coef[:3], summarised(X[inside], y[inside]).coef, rtol=1e-7)
    same(found.log_likelihood, summarised(X[inside], y[inside]).log_likelihood)


def test_collinear_and_constant_columns_beside_an_infinite_one():
    X, y, flag = quasi()
    rows = np.column_stack([X, flag, np.full(len(y), 2.0), 2 * X[:, 0]])
    found = sx.summary(separated_fit(rows, y), rows, y)
    assert found.states == ("estimated", "not identified", "estimated", "infinite", "constant", "not identified")
    inside = flag == 0
    same(found.std_err[[0, 2]], summarised(X[inside], y[inside]).std_err[[0, 2]], rtol=1e-7)


def test_weights_and_groups_beside_an_infinite_coefficient():
    X, y, flag = quasi()
    rows, inside = np.column_stack([X, flag]), flag == 0
    f, groups = 1 + np.arange(len(y)) % 3, np.arange(len(y)) % 11
    f[:5] = 0
    with pytest.warns(SeparationWarning):
        model = sx.LogisticRegression(np.inf).fit(rows, y, f)
    found = sx.summary(model, rows, y, sample_weight=f, weights="frequency", groups=groups)
    part = sx.LogisticRegression(np.inf).fit(X[inside], y[inside], f[inside])
    alone = sx.summary(part, X[inside], y[inside], sample_weight=f[inside], weights="frequency", groups=groups[inside])
    same(found.std_err[:3], alone.std_err, rtol=1e-7)
    assert found.n == f.sum()


def test_a_penalty_on_other_columns():
    X, y, flag = quasi()
    rows = np.column_stack([X, flag])
    found = sx.summary(separated_fit(rows, y, penalty_factors=[0.0, 0.0, 0.0]), rows, y)
    assert found.states[3] == "infinite"
    with pytest.warns(SeparationWarning):
        held = sx.LogisticRegression(1.0, penalty_factors=[1.0, 1.0, 0.0]).fit(rows, y)
    assert "penalised in other columns" in sx.summary(held, rows, y).withheld


def test_the_program_finds_the_rows_that_bind():
    """Of many rows two bind; neither is among those that the program begins with."""
    rng = np.random.default_rng(0)
    B = np.column_stack([rng.standard_normal((4000, 2)) * 0.1, np.ones(4000)])
    B[1] = [1.0, 0.0, 0.0]
    B[2] = [-1.0, 0.0, 0.0]
    exact = linprog([-1.0, -1.0, 0.0], A_ub=-B, b_ub=np.zeros(4000), bounds=(-1, 1))
    assert reach(B, np.array([1.0, 1.0, 0.0])) == pytest.approx(-exact.fun, abs=1e-6)
    assert reach(B, np.array([1.0, 0.0, 0.0])) == pytest.approx(0.0, abs=1e-6)


def test_separated_classes_have_no_estimates():
    X, y = np.arange(8.0)[:, None], np.repeat(["a", "b"], 4)
    found = sx.summary(separated_fit(X, y), X, y)
    assert np.isnan(found.coef).all()
    assert np.isnan([found.log_likelihood, found.aic, found.lr_p_value]).all()
    for words in ("no coefficient can be estimated", "firth", "ridge", "without the columns"):
        assert words in found.withheld
        assert words in " ".join(str(found).split())
    assert found.to_dict()["withheld"] == found.withheld
    with pytest.raises(ParameterError, match="separated"):
        found.marginal_effects()


def test_a_fit_that_takes_separated_classes_for_touching_ones_is_put_right_by_the_proof():
    X, y = np.arange(8.0)[:, None], np.repeat([0, 1], 4)
    model = separated_fit(X, y, solver="gradient-descent", max_iter=2000)
    assert model.certificate_.code == "separated"
    assert "no coefficient can be estimated" in sx.summary(model, X, y).withheld
