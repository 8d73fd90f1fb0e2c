"""One row explained: its numbers are the model's, they add up, and what a model lacks is said."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS, lacks_probabilities
from separatrix.core.base.errors import InputError, LabelError
from separatrix.core.losses import LOSSES

RNG = np.random.default_rng(5)
Y = np.repeat([0, 1, 2], 20)
X = np.array([[0.0, 0.0], [5.0, 1.0], [1.0, 6.0]])[Y] + RNG.normal(size=(60, 2))
TWO = Y < 2
NAMES = np.array(["red", "green", "blue"])


def made(name):
    parts = {"one-versus-one": (sx.LeastSquaresClassifier(),), "one-versus-rest": (sx.LeastSquaresClassifier(),)}
    return CLASSIFIERS[name](*parts.get(name, ()))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_the_numbers_are_the_models(name, classes):
    keep = classes > Y
    if name == "one-versus-one" and classes == 2:
        pytest.skip("one versus one of two classes is one model")
    model = made(name).fit(X[keep], NAMES[Y[keep]])
    x, label = X[3], "red"
    found = sx.explain_row(model, x, label)
    assert found.predicted == model.predict(x[None, :])[0]
    np.testing.assert_allclose(found.scores, np.atleast_1d(model.decision_function(x[None, :])[0]))
    if found.distance is not None:
        assert found.intercept + found.contributions.sum() == pytest.approx(found.lead)
        at = sx.explain_row(model, found.projection)
        assert at.lead == pytest.approx(0.0, abs=1e-9 * (1 + np.abs(found.scores).max()))
        assert np.linalg.norm(x - found.projection) == pytest.approx(found.distance)
        assert found.lead >= 0
        assert found.distance >= 0
    else:
        assert "linear" in found.missing["distance"]
    if hasattr(model, "predict_proba") and model.has_probabilities:
        np.testing.assert_allclose(found.probabilities, model.predict_proba(x[None, :])[0])
        code = model.classes_.tolist().index(label)
        assert found.loss == pytest.approx(-model.predict_log_proba(x[None, :])[0, code])
    else:
        assert found.probabilities is None
        assert found.missing["probability"] == lacks_probabilities(type(model).__name__)
    assert (found.margin > 0) == (found.predicted == label)
    text = str(found)
    assert text.startswith(f"predicted {found.predicted}")
    assert "None" not in text
    json.dumps(found.to_dict(), allow_nan=False)


def test_two_classes_by_hand():
    X, y = np.array([[-1.0, 0.0], [1.0, 0.0], [-1.0, 2.0], [1.0, 2.0]]), [0, 1, 0, 1]
    model = sx.MaxMarginClassifier().fit(X, y)  # w ∝ (1, 0), b = 0
    found = sx.explain_row(model, [-3.0, 5.0], 1)
    assert found.signed_distance == pytest.approx(-3.0)
    assert found.distance == pytest.approx(3.0)
    np.testing.assert_allclose(found.projection, [0.0, 5.0], atol=1e-9)
    assert (found.predicted, found.against) == (0, 1)
    assert found.margin == pytest.approx(found.scores[0])
    assert found.loss == pytest.approx(1 - found.margin)


@pytest.mark.parametrize("name", ["logistic", "least-squares", "lda"])
def test_without_weights_there_is_no_boundary(name):
    """On XOR all weights are zero by symmetry."""
    rows = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    model = CLASSIFIERS[name]().fit(rows, [0, 0, 1, 1])
    assert not np.any(model.coef_)
    found = sx.explain_row(model, [1.0, 1.0], 0)
    assert found.distance is found.projection is found.signed_distance is None
    assert found.missing["distance"] == "all weights are zero, so there is no boundary"
    np.testing.assert_array_equal(found.contributions, [0.0, 0.0])
    assert found.lead == found.intercept == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(("model", "loss"), [(sx.Perceptron(), "perceptron"), (sx.LinearSVC(), "squared_hinge")])
def test_losses_of_the_margin(model, loss):
    model.fit(X[TWO], Y[TWO])
    for row, label in zip(X[TWO][::9], Y[TWO][::9], strict=True):
        found = sx.explain_row(model, row, label)
        t = 2.0 * label - 1
        assert found.loss_name == f"{loss} loss"
        assert found.loss == pytest.approx(float(LOSSES[loss].value(t, found.scores[0])))


ONE_AGAINST_REST = [
    (sx.Perceptron(), "perceptron"),
    (sx.LinearSVC(), "squared_hinge"),
    (sx.LinearSVC(loss="hinge"), "hinge"),
    (sx.MaxMarginClassifier(), "hinge"),
    (sx.OneVsRestClassifier(sx.LinearSVC(loss="hinge")), "hinge"),
    (sx.OneVsRestClassifier(sx.LogisticRegression()), "logistic"),
]


@pytest.mark.parametrize(("model", "loss"), ONE_AGAINST_REST)
def test_losses_of_several_classes_are_summed(model, loss):
    model.fit(X, Y)
    for row, label in zip(X[::9], Y[::9], strict=True):
        found = sx.explain_row(model, row, label)
        t = np.where(np.arange(3) == label, 1.0, -1.0)
        assert found.loss_name == f"{loss} loss, summed over the classes"
        assert found.loss == pytest.approx(float(LOSSES[loss].value(t, found.scores).sum()))


def test_the_losses_of_the_rows_are_the_objective():
    model = sx.LinearSVC(loss="hinge").fit(X, Y)
    total = sum(sx.explain_row(model, row, label).loss for row, label in zip(X, Y, strict=True))
    penalty = np.sum(model.coef_**2) / (2 * model.C * len(X))
    assert model.certificate_.objective == pytest.approx(total / len(X) + penalty, rel=1e-6)


@pytest.mark.parametrize("targets", ["one-hot", "signed"])
def test_squared_losses_of_several_classes_compare_outputs_with_their_codes(targets):
    model = sx.LeastSquaresClassifier(targets=targets).fit(X, Y)
    code = np.array([1.0, 0.0, 0.0]) if targets == "one-hot" else np.array([1.0, -1.0, -1.0])
    found = sx.explain_row(model, X[3], 0)
    assert found.loss_name == "squared loss, summed over the classes"
    assert found.loss == pytest.approx(np.sum((found.scores - code) ** 2))


def test_why_there_is_no_loss():
    pairs = sx.explain_row(sx.OneVsOneClassifier(sx.LinearSVC()).fit(X, Y), X[0], 0)
    assert pairs.missing["loss"] == "OneVsOneClassifier fits a model to each pair of classes, not to all rows at once"
    for model in (sx.FisherDiscriminant(), sx.KozinecClassifier()):
        assert "is not a sum of losses" in sx.explain_row(model.fit(X, Y), X[0], 0).missing["loss"]


def test_pipelines_names_and_refusals():
    frame = pd.DataFrame(X[TWO], columns=["age", "height"])
    named = sx.LogisticRegression().fit(frame, Y[TWO])
    assert sx.explain_row(named, X[0]).columns == ["age", "height"]
    pipe = make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X[TWO], Y[TWO])
    found = sx.explain_row(pipe, X[0], 0)
    assert len(found.contributions) == 5
    assert found.loss == pytest.approx(-pipe.predict_log_proba(X[:1])[0, 0])
    with pytest.raises(InputError, match="one row"):
        sx.explain_row(named, X[:2])
    with pytest.raises(InputError, match="numbers"):
        sx.explain_row(named, ["a", "b"])
    with pytest.raises((LabelError, InputError)):
        sx.explain_row(named, X[0], "purple")
    with pytest.raises(InputError):
        sx.explain_row(named, [1.0, 2.0, 3.0])


def encoded_pipeline():
    table = pd.DataFrame({"city": ["Rome", "Prague", "Rome", "Prague"] * 5, "age": np.arange(20.0), "id": 1})
    return table, make_pipeline(sx.TableEncoder(), sx.LogisticRegression()).fit(table, Y[TWO][::2])


@pytest.mark.parametrize(
    "as_row", [lambda table: table.iloc[3], lambda table: table.iloc[[3]]], ids=["series", "frame"]
)
def test_a_pipeline_explains_a_row_of_its_data_frame(as_row):
    table, model = encoded_pipeline()
    found = sx.explain_row(model, as_row(table), 0)
    assert found.predicted == model.predict(table.iloc[[3]])[0]
    np.testing.assert_allclose(found.probabilities, model.predict_proba(table.iloc[[3]])[0])
    assert found.columns == list(model[0].get_feature_names_out())


def test_a_row_of_a_data_frame_without_a_pipeline():
    frame = pd.DataFrame(X[TWO], columns=["age", "height"])
    model = sx.LogisticRegression().fit(frame, Y[TWO])
    expected = sx.explain_row(model, X[3])
    for row in (frame.iloc[3], frame.iloc[[3]]):
        np.testing.assert_array_equal(sx.explain_row(model, row).contributions, expected.contributions)


def test_a_data_frame_of_several_rows_is_refused():
    table, model = encoded_pipeline()
    with pytest.raises(InputError, match="2 rows; give one row"):
        sx.explain_row(model, table.iloc[:2])


def test_text_without_a_data_frame_is_refused_with_the_remedy():
    table, model = encoded_pipeline()
    with pytest.raises(InputError, match="a row of a data frame"):
        sx.explain_row(model, table.iloc[3].tolist())


def test_the_text_marks_coordinates_that_it_leaves_out():
    wide = np.hstack([X[TWO]] * 4)
    text = str(sx.explain_row(sx.LogisticRegression().fit(wide, Y[TWO]), wide[0]))
    assert text.splitlines()[1].startswith("  lead ")
    assert ", …)" in text.splitlines()[2]


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_are_labels(unit):
    days = np.array(["2020-01-01", "2021-06-01", "2022-03-05"], dtype=f"datetime64[{unit}]")
    model = sx.LeastSquaresClassifier().fit(X, days[Y])
    for label in (days[0], days[0].astype("datetime64[D]"), days[0].astype("datetime64[D]").item()):
        found = sx.explain_row(model, X[0], label)
        assert found.label == found.predicted == days[0]
        assert found.to_dict()["label"] == str(days[0])
        assert "label 2020-01-01" in str(found)
        json.dumps(found.to_dict())
    with pytest.raises(LabelError, match=r"2020-01-02.*2021-06-01"):
        sx.explain_row(model, X[0], np.datetime64("2020-01-02"))


def test_one_versus_rest_has_no_model_of_the_probabilities():
    model = sx.OneVsRestClassifier().fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    said = "OneVsRestClassifier combines models of two classes and is not itself a model of P(class | x)"
    assert sx.explain_row(model, [1.0]).missing["probability"] == said


@pytest.mark.parametrize("loss", ["cloglog", "probit"])
def test_the_margin_is_measured_from_the_threshold_of_the_link(loss):
    """With cloglog, P = ½ at z = ln ln 2 = −0.37, so rows with scores between that and 0 are of the second class."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], [30, 20])
    X = rng.standard_normal((50, 2)) + np.outer(y, [1.5, 1.0])
    model = sx.LogisticRegression(loss=loss).fit(X, y)
    found = [sx.explain_row(model, x, label) for x, label in zip(X, y.tolist(), strict=True)]
    np.testing.assert_array_equal([one.margin > 0 for one in found], model.predict(X) == y)
    np.testing.assert_allclose([abs(one.margin) for one in found], [one.lead for one in found])
