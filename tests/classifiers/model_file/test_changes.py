import numpy as np
import pytest

from separatrix import LogisticRegression, OneVsRestClassifier, Perceptron
from separatrix.classifiers.model_file import ModelFile
from separatrix.core.scorer import Scorer
from separatrix.output.model_changes import Difference, differences
from separatrix.tables.encoder import Encoded, Encoder, Scaling

from .models import NAMES, fitted

NO_YES = np.array(["no", "yes"])


def linear(W, features=None, classes=NO_YES, **more):
    link = "logit" if len(classes) == 2 else "softmax"
    return ModelFile("logistic", Scorer(np.array(W), np.array(classes), link), features=features, **more)


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_nothing_where_models_are_the_same(name, K):
    first, second = (ModelFile.of(fitted(name, K)[0]) for _ in range(2))
    assert differences(first, second) == []


@pytest.mark.parametrize("name", NAMES)
def test_other_rows_show_in_every_kind(name):
    before = ModelFile.of(fitted(name, 3)[0])
    after = ModelFile.of(fitted(name, 3, apart=True)[0])
    numbers = [one for one in differences(before, after) if one.what.startswith(("weight", "mean"))]
    assert numbers
    assert all(one.before != one.after for one in numbers)


def test_weights_by_column_the_largest_changes_first():
    before = linear([[1.0, 5.0, 2.0, 7.0]], ("a", "b", "c"))
    after = linear([[1.5, 7.0, 3.0, 2.5]], ("c", "d", "a"))
    assert differences(before, after) == [
        Difference("columns removed", ("b",), None),
        Difference("columns added", None, ("d",)),
        Difference("columns kept", ("a", "c"), ("a", "c")),
        Difference("order of columns", ("a", "b", "c"), ("c", "d", "a")),
        Difference("weight of d", None, 3.0),
        Difference("weight of a", 5.0, 2.5),
        Difference("weight of b", 2.0, None),
        Difference("intercept", 1.0, 1.5),
    ]


def test_columns_without_names_have_numbers():
    before, after = linear([[0.0, 1.0]]), linear([[0.0, 1.0, 2.0]])
    assert differences(before, after) == [
        Difference("columns added", None, ("column 2",)),
        Difference("columns kept", ("column 1",), ("column 1",)),
        Difference("weight of column 2", None, 2.0),
    ]


def test_classes_and_their_weights():
    before = linear([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0]], ("x",), ["a", "b", "c"])
    after = linear([[0.0, 1.0], [0.0, 2.0], [0.0, 4.0]], ("x",), ["a", "b", "d"])
    found = {what: (old, new) for what, old, new in differences(before, after)}
    assert found["weight of x for c"] == (3.0, None)
    assert found["weight of x for d"] == (None, 4.0)
    assert "weight of x for b" not in found
    [classes] = [one for one in differences(before, after) if one.what == "classes"]
    assert (classes.before, classes.after) == (("a", "b", "c"), ("a", "b", "d"))
    text, whole = linear([[0.0, 1.0]], classes=["1", "2"]), linear([[0.0, 1.0]], classes=[1, 2])
    assert [one.what for one in differences(text, whole)] == ["classes"]


def test_settings_also_of_a_model_within():
    _, X, y = fitted("logistic", apart=True)
    before = ModelFile.of(OneVsRestClassifier(Perceptron(eta0=1.0)).fit(X[:0:-1], y[:0:-1]), training={"rows": 59})
    found = {what: values for what, *values in differences(before, ModelFile.of(LogisticRegression().fit(X, y)))}
    assert found["classifier"] == ["one-versus-rest", "logistic"]
    assert found["setting estimator"] == ["perceptron", None]
    assert found["setting estimator__eta0"] == [1.0, None]
    assert found["setting C"] == [None, 1.0]
    assert found["training rows"] == [59, None]
    assert found["rows"] == [59, 60]
    assert found["certificate status"][1].startswith("optimal")


def test_levels_and_kinds_of_a_table():
    def of(levels, kind="number", missing="error"):
        columns = (Encoded("sex", "category", levels, (0.5,) * (len(levels) - 1)), Encoded("age", kind))
        encoder = Encoder(columns, missing)
        return linear(np.zeros((1, encoder.n_columns + 1)), encoder.names, encoder=encoder)

    before, after = of(("f", "m")), of(("f", "m", "x"), "date", "drop")
    assert differences(before, after) == [
        Difference("missing values", "error", "drop"),
        Difference("levels of sex", ("f", "m"), ("f", "m", "x")),
        Difference("kind of age", "number", "date"),
        Difference("columns added", None, ("sex=x",)),
        Difference("columns kept", ("sex=m", "age"), ("sex=m", "age")),
        Difference("weight of sex=x", None, 0.0),
    ]


def test_units_of_columns():
    W, names = np.ones((1, 3)), ("age", "dose")
    plain = linear(W, names)
    some = linear(W, names, scaling=Scaling(np.array([40.0, 2.0]), np.array([9.0, 0.5])))
    other = linear(W, names, scaling=Scaling(np.array([40.0, 2.5]), np.array([9.0, 0.5])))
    assert differences(some, other) == [Difference("center of dose", 2.0, 2.5)]
    found = {one.what: one[1:] for one in differences(plain, some)}
    assert found["standardised"] == (False, True)
    assert found["scale of age"] == (None, 9.0)


def test_what_has_no_name_shows_in_the_digest():
    """A covariance turned round: the same means, deviations and priors, other answers."""
    from dataclasses import replace

    before = ModelFile.of(fitted("qda", 2)[0])
    gaussians = before.scorer.gaussians
    turned = replace(gaussians, whiten=tuple(-A for A in gaussians.whiten))
    after = replace(before, scorer=replace(before.scorer, gaussians=turned))
    assert [one.what for one in differences(before, after)] == ["scorer's digest"]
