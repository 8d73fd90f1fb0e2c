"""The graph in onnxruntime says what the model says, in double precision."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest

import separatrix as sx
from separatrix.classifiers.model_file import ModelFile
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.output.onnx import to_onnx
from separatrix.tables.cells import READINGS
from separatrix.tables.encoder import Encoded, Encoder

from .cases import KINDS, draw, same


def run(model, inputs):
    session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, inputs), strict=True))


def inputs_of(case):
    """A tensor (n, 1) a column; rows that no boolean tensor can hold (missing truth values) are told apart."""
    refused = np.zeros(case.table.num_rows, dtype=bool)
    found = {}
    for column in case.encoder.columns:
        cells = case.table[column.name]
        if column.kind == "category":
            values = np.array(["" if v is None else str(v) for v in cells.to_pylist()], dtype=object)
        else:
            values = READINGS[column.kind]("rows", column.name, cells)
            if column.kind == "boolean" and case.encoder.missing in ("error", "drop"):
                refused |= np.isnan(values)
                values = values == 1
        found[column.name] = values[:, None]
    return found, refused


def nothing_of(labels):
    """What stands for no answer among labels of this type."""
    known = next(label for label in labels if label is not None)
    return {str: "", float: None, int: np.iinfo(np.int64).min}[type(known)]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", KINDS)
def test_graph(kind, seed):
    case = draw(kind, seed)
    inputs, refused = inputs_of(case)
    # The empty text is a missing value here, where the table has it as a level never seen.
    empty = np.array([v == "" for v in case.table["naïve col"].to_pylist()])
    kept = ~refused & ~empty
    out = run(case.model, {name: values[kept] for name, values in inputs.items()})
    # A column is called "label", so the output is not.
    labels = [None if v != v or v == nothing_of(case.labels) else v for v in out["label_"].tolist()]
    p = None if case.probabilities is None else case.probabilities[kept]
    part = type(case)(
        case.model,
        case.table,
        case.scores[kept],
        p,
        [label for label, held in zip(case.labels, kept, strict=True) if held],
        case.slack[kept],
    )
    same(part, out["scores"], out.get("probabilities"), labels)
    assert out["scores"].dtype == np.float64


@pytest.mark.parametrize("missing", ["impute", "indicator", "error"])
def test_the_empty_text_is_missing(missing):
    columns = (Encoded("c", "category", ("a", "b"), (0.25,), missing == "indicator"),)
    encoder = Encoder(columns, missing)
    W = np.arange(1.0, encoder.n_columns + 2)[None, :]
    model = ModelFile("logistic", sx.Scorer(W, np.array(["n", "y"]), "logit"), encoder=encoder)
    out = run(model, {"c": np.array([["a"], ["b"], [""]], dtype=object)})
    expected = [1.0, 3.0, {"impute": 1.5, "indicator": 4.5, "error": np.nan}[missing]]
    assert np.array_equal(out["scores"][:, 0], expected, equal_nan=True)
    assert out["label"].tolist() == ["y", "y", "" if missing == "error" else "y"]


def test_a_level_that_is_the_empty_text_is_itself():
    encoder = Encoder((Encoded("c", "category", ("a", ""), (0.25,)),), "impute")
    model = ModelFile("perceptron", sx.Scorer(np.array([[1.0, 2.0]]), np.array([0, 1]), "sign"), encoder=encoder)
    out = run(model, {"c": np.array([[""], ["new"]], dtype=object)})
    assert out["scores"][:, 0].tolist() == [3.0, 1.5]


@pytest.mark.parametrize("K", [2, 3, 5])
def test_every_classifier_on_one_tensor(K):
    from separatrix.classifiers import CLASSIFIERS

    rng = np.random.default_rng(K)
    codes = np.arange(100) % K
    X = rng.normal(size=(100, 5)) + 12.0 * np.eye(5)[codes]
    for kind in CLASSIFIERS.values():
        model = kind().fit(X, np.array(list("abcde"))[codes])
        out = run(model, {"X": X})
        assert out["label"].tolist() == model.predict(X).tolist()
        z = model.decision_function(X).reshape(len(X), -1)
        assert np.allclose(out["scores"], z, rtol=1e-11, atol=1e-11 * np.abs(z).max())
        assert ("probabilities" in out) == model.has_probabilities
        if "probabilities" in out:
            assert np.allclose(out["probabilities"], model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize("kind", ["logit", "probit", "cloglog"])
def test_far_scores(kind):
    z = np.array([-1e6, -800.0, -30.0, -1.0, 0.0, 1e-9, 2.0, 745.0, 1e6])[:, None]
    model = ModelFile("logistic", sx.Scorer(np.array([[0.0, 1.0]]), np.array([False, True]), kind))
    out = run(model, {"X": z})
    expected = model.scorer.probabilities(z)
    assert np.allclose(out["probabilities"], expected, rtol=2e-12, atol=1e-300)
    assert out["label"].tolist() == model.scorer.predict(z).tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["logit", "cloglog", "probit", "softmax"])
def test_no_answer_for_what_is_refused(kind, bad):
    W = np.array([[0.5, 1.0]]) if kind != "softmax" else np.array([[0.0, 1.0], [0.0, 0.0], [1.0, -1.0]])
    classes = np.arange(2 if kind != "softmax" else 3)
    out = run(ModelFile("logistic", sx.Scorer(W, classes, kind)), {"X": np.array([[bad], [1.0]])})
    assert np.isnan(out["scores"][0]).all()
    assert np.isnan(out["probabilities"][0]).all()
    assert out["label"][0] == np.iinfo(np.int64).min
    assert not np.isnan(out["probabilities"][1]).any()


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (np.array([1.5, 2.5]), np.float64),
        (np.array([3, 7]), np.int64),
        (np.array([False, True]), np.bool_),
        (np.array(["a", "b"]), object),
        (np.array([1, "b"], dtype=object), object),
        (np.array([1, 2**70], dtype=object), object),
    ],
)
def test_labels_keep_their_type(classes, dtype):
    out = run(sx.Scorer(np.array([[0.0, 1.0]]), classes, "sign"), {"X": np.array([[-1.0], [1.0]])})
    assert out["label"].dtype == dtype
    expected = classes.tolist() if dtype is not object else [str(label) for label in classes]
    assert out["label"].tolist() == expected


def test_the_model_is_sound_and_says_who_made_it():
    model = to_onnx(draw("softmax", 0).model)
    onnx.checker.check_model(model, full_check=True)
    assert (model.producer_name, model.producer_version) == ("separatrix", sx.__version__)


def test_without_the_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(InputError, match=r"not installed; install it: pip install 'separatrix\[onnx\]'"):
        to_onnx(sx.LogisticRegression().fit([[0.0], [1.0]], [0, 1]))


def test_a_column_without_a_name():
    encoder = Encoder((Encoded("", "number"),))
    with pytest.raises(ParameterError, match="a column's name is empty"):
        to_onnx(ModelFile("logistic", sx.Scorer(np.ones((1, 2)), np.array([0, 1]), "logit"), encoder=encoder))


def test_names_that_the_graph_would_take():
    """Columns called as the graph's own nodes would be."""
    names = ("v0", "c0", "v1_", "scores", "X")
    encoder = Encoder(tuple(Encoded(name, "number") for name in names))
    scorer = sx.Scorer(np.arange(6.0)[None, :], np.array([0, 1]), "logit")
    out = run(ModelFile("logistic", scorer, encoder=encoder), {name: np.array([[1.0]]) for name in names})
    assert out["scores_"].tolist() == [[15.0]]
