"""The statistical table of a fit to a table outside memory is that of the same rows in memory."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError, WeightError
from tests.tables.scan.tables import labelled, written


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def table(request, tmp_path_factory):
    X, y = labelled(5_000, n_classes=request.param)
    weight = (np.arange(len(y)) % 4).astype(float)
    return X, y, weight, written(tmp_path_factory.mktemp("table"), X, y, weight)


@pytest.mark.parametrize("covariance", ["classical", "HC0", "HC1"])
@pytest.mark.parametrize("weights", [None, "frequency", "probability"])
def test_the_table_is_that_of_memory(table, covariance, weights):
    X, y, weight, files = table
    if weights == "probability" and covariance == "classical":
        pytest.skip("probability weights have no classical covariance")
    if weights is None:
        X, scan = np.column_stack([X, weight]), sx.scan(files, target="y")
    else:
        scan = sx.scan(files, target="y", weight="w")
    settings = {"covariance": covariance, "weights": weights}
    given = {} if weights is None else {"sample_weight": weight}
    ours = sx.summary(sx.LogisticRegression(C=np.inf).fit(scan), scan, **settings)
    theirs = sx.summary(sx.LogisticRegression(C=np.inf).fit(X, y, **given), X, y, **given, **settings)
    for field in ("coef", "std_err", "low", "high", "log_likelihood", "null_log_likelihood"):
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), rtol=1e-6)
    assert ours.n == theirs.n
    assert ours.names[1:3] == ("x0", "x1")
    if theirs.is_likelihood:
        assert ours.lr_p_value == pytest.approx(theirs.lr_p_value)
        assert ours.bic == pytest.approx(theirs.bic)
    assert f"observations {theirs.n:>21}" in str(ours)


def test_probit_and_class_weights(table):
    X, y, _, files = table
    X = np.column_stack([X, table[2]])
    scan = sx.scan(files, target="y")
    settings = {"class_weight": "balanced"} if len(set(y)) > 2 else {"loss": "probit"}
    ours = sx.summary(sx.LogisticRegression(C=np.inf, **settings).fit(scan), scan, covariance="HC1")
    theirs = sx.summary(sx.LogisticRegression(C=np.inf, **settings).fit(X, y), X, y, covariance="HC1")
    np.testing.assert_allclose(ours.std_err, theirs.std_err, rtol=1e-6)


def test_effects_are_sums_over_rows(table):
    X, y, _, files = table
    X = np.column_stack([X, table[2]])
    scan = sx.scan(files, target="y")
    ours = sx.summary(sx.LogisticRegression(C=np.inf).fit(scan), scan).marginal_effects()
    theirs = sx.summary(sx.LogisticRegression(C=np.inf).fit(X, y), X, y).marginal_effects()
    np.testing.assert_allclose(ours.effect, theirs.effect, rtol=1e-6)


def test_other_rows_are_refused(table, tmp_path):
    X, y, _, files = table
    model = sx.LogisticRegression(C=np.inf).fit(sx.scan(files, target="y", weight="w"))
    with pytest.raises(InputError, match="the certificate does not hold"):
        sx.summary(model, sx.scan(written(tmp_path, X, y), target="y"))


def test_what_needs_rows_in_memory_is_named(table):
    _, y, _, files = table
    scan = sx.scan(files, target="y")
    model = sx.LogisticRegression(C=np.inf).fit(scan)
    with pytest.raises(ParameterError, match="'profile', which needs the rows in memory"):
        sx.summary(model, scan, intervals="profile")
    with pytest.raises(ParameterError, match="covariance: it needs the rows in memory"):
        sx.summary(model, scan, groups=np.arange(len(y)))
    found = sx.summary(model, scan)
    with pytest.raises(ParameterError, match="infinite coefficients and nested models"):
        sx.likelihood_ratio_test(found, found)
    with pytest.raises(ParameterError, match="y: got one together with"):
        sx.summary(model, scan, y)


def test_weights_need_a_meaning(table, tmp_path):
    X, y, weight, files = table
    scan = sx.scan(files, target="y", weight="w")
    model = sx.LogisticRegression(C=np.inf).fit(scan)
    with pytest.raises(ParameterError, match="say what they mean"):
        sx.summary(model, scan)
    halved = sx.scan(written(tmp_path, X, y, weight / 2), target="y", weight="w")
    with pytest.raises(WeightError, match=r"row 1 of .* has the frequency 0.5"):
        sx.summary(sx.LogisticRegression(C=np.inf).fit(halved), halved, weights="frequency")
