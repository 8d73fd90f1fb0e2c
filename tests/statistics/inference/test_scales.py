"""Units of any size, and classes that hardly overlap: the same numbers, or a sentence."""

import warnings

import numpy as np
import pytest

import separatrix as sx


def _rows():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.standard_normal((80, 2)), rng.integers(0, 2, 80)])
    return X, (X[:, 0] + rng.logistic(size=80) > 0).astype(int)


@pytest.mark.parametrize("exponent", [600, 1000])
@pytest.mark.parametrize("covariance", ["classical", "HC1"])
def test_a_column_in_other_units_has_its_error_in_those(exponent, covariance):
    X, y = _rows()
    unit = 2.0 ** np.array([exponent, -exponent, 0])
    here, there = (
        sx.summary(sx.LogisticRegression(np.inf).fit(rows, y), rows, y, covariance=covariance) for rows in (X, X * unit)
    )
    np.testing.assert_allclose(there.std_err[1:] * unit, here.std_err[1:], rtol=1e-9)
    np.testing.assert_allclose(there.coef[1:] / there.std_err[1:], here.coef[1:] / here.std_err[1:], rtol=1e-9)


def test_profiles_and_effects_of_a_column_in_other_units():
    X, y = _rows()
    unit = 2.0 ** np.array([900, -900, 0])
    here, there = (
        sx.summary(sx.LogisticRegression(np.inf).fit(rows, y), rows, y, intervals="profile") for rows in (X, X * unit)
    )
    np.testing.assert_allclose(there.low[1:] * unit, here.low[1:], rtol=1e-6)
    np.testing.assert_allclose(there.high[1:] * unit, here.high[1:], rtol=1e-6)
    ours, scaled = (str(found.marginal_effects()).splitlines() for found in (here, there))
    assert len(scaled) == len(ours)  # no column in tiny units is taken for one of zeros
    assert sum("change 0 to 1" in line for line in scaled) == 1


def test_rows_that_all_but_touch_do_not_make_a_column_constant():
    X, y = np.array([[0.0], [1.0], [1 - 1e-14], [2.0], [0.5], [1.5]]), [0, 0, 1, 1, 0, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sx.LogisticRegression(np.inf).fit(X, y)
    found = sx.summary(model, X, y)
    assert not any("constant" in note for note in found.notes)
    assert not found.std_err[1] < 1e6
    assert any("could not be proven" in note for note in found.notes)
