"""Firth's likelihood against results published elsewhere, each with its source beside the number."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chi2

from separatrix import LogisticRegression, firth

DATA = Path(__file__).parents[2] / "data"


def read(name):
    lines = [line for line in (DATA / name).read_text().splitlines() if not line.startswith("#")]
    names, values = lines[0].split(","), np.loadtxt(lines[1:], delimiter=",")
    return {name: values[:, k] for k, name in enumerate(names)}


@pytest.fixture(scope="module")
def endometrial():
    data = read("endometrial.csv")
    X, y = np.column_stack([data["NV"], data["PI"], data["EH"]]), data["HG"].astype(int)
    return X, y, LogisticRegression(bias_reduction="firth").fit(X, y)


@pytest.fixture(scope="module")
def sex2():
    data = read("sex2.csv")
    X = np.column_stack([data[name] for name in ("age", "oc", "vic", "vicl", "vis", "dia")])
    y, count = data["case"].astype(int), data["count"]
    return X, y, count, LogisticRegression(bias_reduction="firth").fit(X, y, count)


def test_endometrial(endometrial):
    """Heinze and Schemper 2002, by R's logistf: quasi-separated by NV, and yet finite.

    logistf stops where no score is above 1e-5, which is 2e-7 in the intercept.
    """
    X, y, model = endometrial
    found = np.concatenate([model.intercept_, model.coef_[0]])
    np.testing.assert_allclose(found, [3.77455951, 2.92927330, -0.03475175, -2.60416387], rtol=1e-7, atol=5e-8)
    assert model.certificate_.met
    assert model.certificate_.code == "gradient"
    assert model.certificate_.bound is None
    assert "not concave" in model.certificate_.bound_reason
    assert model.certificate_.facts["starts"] == "3 of 3 starts led to this maximum"
    assert model.certificate_.verify(X, y)
    assert not model.certificate_.verify(X, 1 - y)


def test_the_profile_interval_of_endometrial(endometrial):
    """By logistf, confint: NV from 0.6097244 to 7.8546317."""
    X, y, model = endometrial
    np.testing.assert_allclose(firth.profile(model, X, y, 0), [0.6097244, 7.8546317], rtol=1e-7)


# By logistf on sex2, with alpha = 0.1: coefficients, profile intervals, penalised likelihood-ratio tests.
SEX2 = {
    "intercept": (0.12025405, -0.6673577, 0.9177303, 0.06286298, 8.020268e-01),
    "age": (-1.10598131, -1.8277045, -0.4328451, 7.50773092, 6.143472e-03),
    "oc": (-0.06881673, -0.7986318, 0.6507581, 0.02467044, 8.751911e-01),
    "vic": (2.26887464, 1.4248338, 3.2325326, 22.93139022, 1.678877e-06),
    "vicl": (-2.11140817, -3.0613215, -1.2704704, 19.10407252, 1.237805e-05),
    "vis": (-0.78831694, -1.4743338, -0.1137542, 3.69740975, 5.449701e-02),
    "dia": (3.09601166, 1.0835108, 6.8752016, 7.89693139, 4.951873e-03),
}


@pytest.mark.parametrize("column", range(7))
def test_sex2(sex2, column):
    X, y, count, model = sex2
    coefficient, low, high, statistic, p = list(SEX2.values())[column]
    assert np.concatenate([model.intercept_, model.coef_[0]])[column] == pytest.approx(coefficient, rel=1e-7)
    problem, W = firth.posed_again(model, X, y, count)
    np.testing.assert_allclose(firth.profile_interval(problem, W, column, 0.9), [low, high], rtol=1e-6)
    # logistf's restricted fits stop at 1e-5, which the statistic shows.
    np.testing.assert_allclose(firth.penalised_test(problem, W, [column]), [statistic, p], rtol=1e-6)


def test_all_columns_of_sex2_at_once(sex2):
    """By logistf: likelihood ratio test = 49.09064 on 6 df, p = 7.15089e-09, n = 239."""
    X, y, count, model = sex2
    problem, W = firth.posed_again(model, X, y, count)
    statistic, p = firth.penalised_test(problem, W, range(1, 7))
    assert statistic == pytest.approx(49.09064, rel=1e-7)
    assert p == pytest.approx(7.15089e-09, rel=1e-6)
    # The certificate's null model is that of this test.
    certificate = model.certificate_
    assert 2 * 239 * (certificate.null_objective - certificate.objective) == pytest.approx(statistic, rel=1e-9)


def test_the_intervals_of_endometrial_in_any_order_of_rows_and_units(endometrial):
    """Rounding differs by the order of the rows, and a step of the root finder may land on an end to the last bit.

    At every end 2 (max l* − l*_prof), by another fit with the weight held there, is χ²₁; and no order changes an end.
    """
    X, y, model = endometrial
    terms = ["intercept", 0, 1, 2]
    plain = [firth.profile(model, X, y, term) for term in terms]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        order, sign = rng.permutation(len(y)), rng.choice([-1.0, 1.0])
        unit = rng.choice([-1.0, 1.0], size=3) * 10.0 ** rng.integers(-3, 4, size=3)
        rows, codes = X[order] * unit, y[order] if sign > 0 else 1 - y[order]
        model = LogisticRegression(bias_reduction="firth").fit(rows, codes)
        for column, by in enumerate(sign * np.concatenate([[1.0], unit])):
            ends = firth.profile(model, rows, codes, terms[column])
            np.testing.assert_allclose(np.sort(np.multiply(ends, by)), plain[column], rtol=1e-6)
            for end in ends:
                assert fallen(model, rows, codes, column, end) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)


def fallen(model, X, y, column, end):
    """2 (max l* − l*_prof) with a weight held at ``end``."""
    problem, W = firth.posed_again(model, X, y)
    frame = problem.objective.rows.frame
    raw = frame.to_original(W)
    raw[0, column] = end
    held = firth.fit_holding(problem, frame.from_original(raw), [column])[0].W
    assert frame.to_original(held)[0, column] == pytest.approx(end, rel=1e-9)
    return 2 * np.subtract(*(firth.penalised_log_likelihood(problem, V) for V in (W, held)))
