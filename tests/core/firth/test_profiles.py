"""Tests and intervals by profiles of Firth's likelihood."""

from functools import partial

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import chi2

import separatrix as sx
from separatrix import LogisticRegression, firth
from separatrix.core.rows.labelled_table import labelled_rows

from .reference import optimum, penalised
from .test_laws import rows


def posed(K, n=40, d=3, seed=0, separated=False):
    X, y = rows(K, n, d, seed)
    if separated:
        y = (np.argsort(np.argsort(X[:, 0])) * K) // n
    problem = firth.pose(labelled_rows(X, y, K), K)
    return X, y, problem, firth.fit(problem).point.W


@pytest.mark.parametrize("separated", [False, True])
def test_an_interval_ends_where_the_slow_profile_falls_by_half_of_chi_squared(separated):
    X, y, problem, W = posed(2, 30, 2, 3, separated)
    top, _ = optimum(X, 1 - y, 2)  # the reference's last class is its base: ours is the first
    frame = problem.objective.rows.frame
    for column in (1, 2):
        for end in firth.profile_interval(problem, W, column, 0.9):

            def cost(rest, end=end, column=column):
                value = penalised(np.insert(rest, column, end), X, 1 - y, 2)
                return -value if np.isfinite(value) else 1e300

            raw = frame.to_original(W)
            raw[0, column] = end  # where classes are separated, this is where every probability is 0 or 1
            held = frame.to_original(firth.fit_holding(problem, frame.from_original(raw), [column])[0].W)[0]
            assert held[column] == pytest.approx(end, rel=1e-12)
            close = {"xatol": 1e-9, "fatol": 1e-12, "maxfev": 4000}
            found = minimize(cost, np.delete(held, column), method="Nelder-Mead", options=close).fun
            assert top + found == pytest.approx(0.5 * chi2.ppf(0.9, 1), rel=1e-5)


@pytest.mark.parametrize("K", [2, 3])
def test_the_interval_holds_what_the_test_does_not_reject(K):
    """0 lies at the end of the interval whose level is 1 − p of the test."""
    _, _, problem, W = posed(K)
    if K == 2:
        for column in range(4):
            statistic, p = firth.penalised_test(problem, W, [column])
            ends = np.abs(firth.profile_interval(problem, W, column, 1 - p))
            assert statistic == pytest.approx(chi2.isf(p, 1))
            assert min(ends) <= 1e-5 * max(ends)
    else:
        low, high = firth.profile_interval(problem, W, 2, contrast=[1, -1, 0])
        np.testing.assert_allclose(firth.profile_interval(problem, W, 2, contrast=[-1, 1, 0]), [-high, -low], rtol=1e-6)
        np.testing.assert_allclose(
            firth.profile_interval(problem, W, 2, contrast=[2, -2, 0]), [2 * low, 2 * high], rtol=1e-6
        )


def test_two_columns_at_once_for_three_classes():
    _, _, problem, W = posed(3)
    statistic, p = firth.penalised_test(problem, W, [2, 3])
    point, taken = firth.fit_holding(problem, np.where([True, True, False, False], W, 0.0), [2, 3])
    assert taken == 4
    assert p == pytest.approx(chi2.sf(statistic, 4))
    assert np.all(point.W[:, 2:] == 0)
    top = firth.penalised_log_likelihood(problem, W)
    assert statistic == pytest.approx(2 * (top - firth.penalised_log_likelihood(problem, point.W)), rel=1e-9)
    assert np.linalg.norm(problem.gradient(point.W, point.level.factor)[:, :2]) < 1e-9


def test_intervals_move_with_the_columns_units():
    X, y = rows(2)
    plain, moved = (LogisticRegression(bias_reduction="firth").fit(Z, y) for Z in (X, 100 * X + 7))
    ends = np.array(firth.profile(plain, X, y, 1))
    np.testing.assert_allclose(firth.profile(moved, 100 * X + 7, y, 1), ends / 100, rtol=1e-6)


def test_the_interval_of_an_intercept_is_that_of_a_column_of_ones():
    X, y = rows(2)
    with_intercept = LogisticRegression(bias_reduction="firth").fit(X, y)
    ones = np.column_stack([np.ones(len(y)), X])
    without = LogisticRegression(bias_reduction="firth", fit_intercept=False).fit(ones, y)
    np.testing.assert_allclose(
        firth.profile(with_intercept, X, y, "intercept"), firth.profile(without, ones, y, 0), rtol=1e-6
    )
    problem, W = firth.posed_again(with_intercept, X, y)
    other, V = firth.posed_again(without, ones, y)
    np.testing.assert_allclose(firth.penalised_test(problem, W, [0]), firth.penalised_test(other, V, [1]), rtol=1e-6)


def test_columns_by_name():
    import pandas as pd

    X, y = rows(2)
    frame = pd.DataFrame(X, columns=["a", "b", "intercept"])
    model = LogisticRegression(bias_reduction="firth").fit(frame, y)
    assert firth.profile(model, frame, y, "b") == firth.profile(model, frame, y, 1)
    assert firth.profile(model, frame, y, "intercept") == firth.profile(model, frame, y, 2)


def test_what_cannot_be_asked_is_said():
    X, y = rows(2)
    wide = np.column_stack([X, X[:, 0] + X[:, 1]])
    model = LogisticRegression(bias_reduction="firth").fit(wide, y)
    with pytest.raises(sx.errors.InputError, match="combination of the others"):
        firth.profile(model, wide, y, 0)
    assert firth.profile(model, wide, y, 2)[0] < model.coef_[0, 2]
    problem, W = firth.posed_again(model, wide, y)
    with pytest.raises(sx.errors.InputError, match=r"^columns: the others say all"):
        firth.penalised_test(problem, W, [1])
    assert firth.fit_holding(problem, W, [1, 2])[1] == 1
    for columns in ([9], [0.5], [True]):
        with pytest.raises(sx.errors.InputError, match=r"^columns: got"):
            firth.penalised_test(problem, W, columns)
    for column in (4, -1, "height"):
        with pytest.raises(sx.errors.InputError, match=r"^column: got"):
            firth.profile(model, wide, y, column)
    with pytest.raises(sx.errors.InputError, match=r"^column: got 9"):
        firth.profile_interval(problem, W, 9)
    with pytest.raises(sx.errors.ParameterError, match=r"^level: got 95"):
        firth.profile(model, wide, y, 2, 95)
    with pytest.raises(sx.errors.InputError, match="was not fitted by Firth's likelihood"):
        firth.profile(LogisticRegression().fit(X, y), X, y, 0)
    X, y = rows(3)
    model = LogisticRegression(bias_reduction="firth").fit(X, y)
    for contrast in (None, [1, 0, 0], [0, 0, 0], [1, -1]):
        with pytest.raises(sx.errors.ParameterError, match=r"^contrast: got"):
            firth.profile(model, X, y, 0, contrast=contrast)


def test_too_many_parameters_are_refused():
    X = np.random.default_rng(0).standard_normal((4, 3001))
    with pytest.raises(sx.errors.ParameterError, match="bias_reduction: got 'firth' for 3002 parameters"):
        LogisticRegression(bias_reduction="firth").fit(X, [0, 1, 0, 1])


def test_an_end_that_is_not_found_is_nan_with_a_reason(monkeypatch):
    X, y = rows(2)
    model = LogisticRegression(bias_reduction="firth").fit(X, y)
    monkeypatch.setattr("separatrix.core.firth.profiles.MOST_EVALUATIONS", 1)
    with pytest.warns(sx.errors.NotConvergedWarning, match="no (lower|upper) end of the profile interval of column 1"):
        assert np.isnan(firth.profile(model, X, y, 0)).all()


def test_weights_that_are_no_maximum_have_no_profile(monkeypatch):
    _, _, problem, W = posed(2)
    monkeypatch.setattr("separatrix.core.firth.profiles.Ascent", partial(firth.Ascent, max_iter=0))
    low, high = firth.profile_ends(problem, W + 0.1, 1)
    assert "the fit is not a maximum" in low.reason
    assert np.isnan([low.v, high.v]).all()
