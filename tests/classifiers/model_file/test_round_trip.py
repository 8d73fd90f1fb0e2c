"""What is written is read to the bit: of every classifier, with any labels, and of any numbers."""

import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from separatrix import LogisticRegression, OneVsRestClassifier, Perceptron, errors, load, save
from separatrix.classifiers import CLASSIFIERS
from separatrix.classifiers.model_file import SCORERS, ModelFile, every_claim, read, write
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import ParameterError
from separatrix.core.certificate import Certificate
from separatrix.core.likelihood_claims import LikelihoodClaim
from separatrix.core.scorer import Scorer

from .models import NAMES, fitted, rows

ANSWERS = ("predict", "decision_function", "predict_proba", "predict_log_proba", "transform", "outputs", "boundaries")


def assert_alike(before, after, X, y):
    """The same answers to the bit, the same attributes, settings and evidence."""
    assert type(after) is type(before)
    for name in ANSWERS:
        assert hasattr(after, name) == hasattr(before, name)
        if hasattr(before, name):
            args = () if name == "boundaries" else (X,)
            found, expected = getattr(after, name)(*args), getattr(before, name)(*args)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes(), name
    # Sums over the rows serve ``partial_fit``, and files leave most of them out.
    assert set(vars(after)) - {"moments_"} == set(vars(before)) - {"moments_"}
    assert repr(after.get_params()) == repr(before.get_params())
    for name in ("coef_", "intercept_"):
        if hasattr(before, name):
            assert getattr(after, name).tobytes() == getattr(before, name).tobytes()
    assert str(after.certificate_) == str(before.certificate_)
    assert str(after.certificate_.verify(X, y)) == str(before.certificate_.verify(X, y))
    other = y[::-1]
    assert str(after.certificate_.verify(X, other)) == str(before.certificate_.verify(X, other))


def boundary(model):
    """w and b between the first two classes, to the bit; or why there is none."""
    try:
        found = model.hyperplane(*model.classes_.tolist()[:2])
    except (AttributeError, ParameterError) as error:
        return str(error)
    return found.w.tobytes(), found.b


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", NAMES)
def test_a_loaded_classifier_is_the_saved_one(tmp_path, name, K, apart):
    before, X, y = fitted(name, K, apart)
    path, again = tmp_path / "model.json", tmp_path / "again.json"
    save(before, path)
    after = load(path)
    assert_alike(before, after, X, y)
    assert boundary(after) == boundary(before)
    save(after, again)
    assert again.read_bytes() == path.read_bytes()


def test_every_kind_is_under_the_law():
    """Each kind of scorer and claim in a registry is one that some fit here has."""
    found = [fitted(name, K, apart)[0] for name in NAMES for K in (2, 3) for apart in (False, True)]
    assert {SCORERS.name_of(model.scorer_) for model in found} == set(SCORERS.records)
    assert {every_claim().name_of(model.certificate_.claim) for model in found} == set(every_claim().records)


@pytest.mark.parametrize(
    "labels",
    [
        ["no", "yes"],
        [False, True],
        [-3, 7],
        [1.0, 2.0],
        np.array([1, 250], np.uint8),
        np.array(["a", "b"], "<U9"),
        ["x", "y", "z"],
    ],
    ids=str,
)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_labels_of_any_type(tmp_path, name, labels):
    before, X, _ = fitted(name, len(labels), labels=labels)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.classes_.dtype == before.classes_.dtype
    assert after.predict(X).tobytes() == before.predict(X).tobytes()


def test_mixed_labels(tmp_path):
    labels = np.array(["one", 2, 2.5, True], dtype=object)
    scorer = Scorer(np.eye(4, 3), labels, "softmax")
    write(ModelFile("logistic", scorer), tmp_path / "m.json")
    found = read(tmp_path / "m.json").scorer.classes.tolist()
    assert [(type(label), label) for label in found] == [(type(label), label) for label in labels.tolist()]


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_names_of_columns(tmp_path, name):
    pandas = pytest.importorskip("pandas")
    X, codes = rows(2, True)
    frame = pandas.DataFrame(X, columns=["age", "höhe", 'a "b"\n', ""])
    before = CLASSIFIERS[name]().fit(frame, codes)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.feature_names_in_.tolist() == frame.columns.tolist()
    assert after.predict(frame).tolist() == before.predict(frame).tolist()


def test_one_object_stays_one(tmp_path):
    before, _, _ = fitted("lda", 3)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.certificate_.claim.gaussians is after.gaussians_
    assert after.certificate_.claim.scorer is after.scorer_
    assert after.gaussians_.whiten[0] is after.gaussians_.whiten[2]


def test_wide_matrices_by_columns(tmp_path):
    """BLAS rounds by the order in memory; enough columns for that to show."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 70)), rng.integers(0, 3, 300)
    for name in ("lda", "qda"):
        before = CLASSIFIERS[name]().fit(X, y)
        by_columns = tuple(np.asfortranarray(C) for C in before.gaussians_.colour)
        object.__setattr__(before.gaussians_, "colour", by_columns)  # the file must keep whatever order there is
        save(before, tmp_path / "model.json")
        after = load(tmp_path / "model.json")
        assert all(C.flags.f_contiguous for C in after.gaussians_.colour)
        assert after.decision_function(X).tobytes() == before.decision_function(X).tobytes()
        drawn, expected = after.sample(9, random_state=1)[0], before.sample(9, random_state=1)[0]
        assert drawn.tobytes() == expected.tobytes()


# ------------------------------------------------------------------------------------------- any numbers

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
extreme = finite | st.sampled_from([5e-324, -5e-324, 2.2e-308, 1e308, -1e308, -0.0, 0.1, 1 / 3])
# NumPy drops NULs at the end of text, so two names could become one.
text = st.sampled_from(["inf", "nan", "-inf", "same", "kind"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8
)


@st.composite
def model_files(draw):
    labels = draw(
        st.lists(text, min_size=2, max_size=4, unique=True).map(np.array)
        | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True).map(np.array)
        | st.lists(extreme, min_size=2, max_size=4, unique=True).map(np.array)
    )
    d, K = draw(st.integers(1, 4)), len(labels)
    W = draw(hnp.arrays(np.float64, (1 if K == 2 else K, d + 1), elements=extreme))
    scorer, positive, anything = (
        Scorer(W, labels, "logit" if K == 2 else "softmax"),
        extreme.map(abs),
        st.floats(width=64),
    )
    claim = LikelihoodClaim(
        scorer,
        draw(st.sampled_from([np.inf, 1e-300, 0.1])),
        draw(hnp.arrays(np.float64, d, elements=positive)),
        draw(st.booleans()),
        draw(hnp.arrays(np.float64, K, elements=positive)),
        l1_ratio=draw(st.floats(0, 1)),
    )
    whole = st.integers(0, 2**70)
    certificate = Certificate(
        *(draw(text), draw(text), draw(st.booleans()), draw(anything), draw(anything), draw(st.none() | positive)),
        *(draw(text), draw(text), draw(anything), draw(whole), draw(whole), draw(text), draw(text)),
        *(draw(st.none() | whole), draw(whole), draw(whole), draw(whole), claim),
        {"mistakes": 3, "bound": 0.5, "note": draw(text)},
        *(draw(st.none() | positive), draw(text), draw(text)),
    )
    training = draw(st.dictionaries(text, text | st.floats() | st.booleans() | st.none(), max_size=3))
    features = draw(st.none() | st.lists(text, min_size=d, max_size=d, unique=True).map(tuple))
    kept = draw(st.none() | st.just(certificate))
    return ModelFile("logistic", scorer, {"C": "inf"}, features, draw(st.none() | text), kept, training)


@settings(deadline=None, max_examples=60)
@given(model_files())
def test_what_is_written_is_read_to_the_bit(tmp_path_factory, before):
    path = tmp_path_factory.mktemp("models") / "model.json"
    write(before, path)
    after = read(path)
    assert after.scorer.W.tobytes() == before.scorer.W.tobytes()
    assert after.scorer.classes.dtype == before.scorer.classes.dtype
    assert after.scorer.classes.tolist() == before.scorer.classes.tolist()
    assert (after.features, after.target, after.made_by) == (before.features, before.target, before.made_by)
    assert repr(sorted(after.training.items())) == repr(sorted(before.training.items()))
    assert checksummed_json.canonical(after.content()) == checksummed_json.canonical(before.content())
    if before.certificate is not None:
        assert after.certificate.claim.C == before.certificate.claim.C
        assert after.certificate.claim.l1_ratio == before.certificate.claim.l1_ratio
        assert repr(after.certificate.to_dict()) == repr(before.certificate.to_dict())
    again = path.with_name("again.json")
    write(after, again)
    assert again.read_bytes() == path.read_bytes()
    json.loads(path.read_bytes(), parse_constant=pytest.fail)


# ---------------------------------------------------------------------------------------------- settings


def test_settings_of_any_form(tmp_path):
    _, X, y = fitted("logistic")
    model = LogisticRegression(
        class_weight={"no": 2.0, "yes": 1.0}, penalty_factors=np.array([1.0, 0.0, 2.0, 1.0]), start=np.zeros((1, 5))
    ).fit(X, y)
    save(model, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.class_weight == {"no": 2.0, "yes": 1.0}
    assert after.penalty_factors == [1.0, 0.0, 2.0, 1.0]
    assert after.fit(X, y).coef_.tobytes() == model.coef_.tobytes()


def test_settings_that_json_cannot_hold_are_left_out_and_named(tmp_path):
    from separatrix.core.solvers.newton import Newton

    _, X, y = fitted("logistic")
    path = tmp_path / "model.json"
    with pytest.warns(errors.SeparatrixWarning, match="solver: left out"):
        save(LogisticRegression(solver=Newton()).fit(X, y), path)
    assert "solver" not in read(path).parameters
    assert read(path).left_out == ("solver",)
    assert load(path).solver == "auto"
    with pytest.warns(errors.SeparatrixWarning, match="estimator__solver: left out"):
        save(OneVsRestClassifier(LogisticRegression(solver=Newton())).fit(X, y), path)


def test_a_perceptron_walks_on_where_it_was(tmp_path):
    _, X, y = fitted("perceptron")
    before = Perceptron(pocket=True).partial_fit(X, y)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.partial_fit(X, y).coef_.tobytes() == before.partial_fit(X, y).coef_.tobytes()
    assert (after.n_iter_, after.mistakes_) == (before.n_iter_, before.mistakes_)


def test_a_verdict_on_separation_verifies_from_the_file(tmp_path):
    for K in (2, 3):
        before, X, y = fitted("maximum likelihood", K, apart=True)
        save(before, tmp_path / "model.json")
        after = load(tmp_path / "model.json")
        assert after.separation_.verify(X, y, exact=True)
        assert after.separation_.explain() == before.separation_.explain()
    before, X, y = fitted("kozinec")
    save(before, tmp_path / "model.json")
    [proof], [claimed] = load(tmp_path / "model.json").verdicts_, before.verdicts_
    assert proof.verify(X, y)
    assert proof.multipliers == claimed.multipliers
    X, y = np.array([[0.0], [1.0], [1.0], [2.0]]), [0, 0, 1, 1]
    with pytest.warns(errors.SeparationWarning):
        before = LogisticRegression(C=np.inf).fit(X, y)
    save(before, tmp_path / "model.json")
    quasi = load(tmp_path / "model.json").separation_
    assert quasi.verify(X, y, exact=True)
    assert quasi.direction.tolist() == before.separation_.direction.tolist()


# ---------------------------------------------------------------------------------------------- refusals


def test_what_cannot_be_saved(tmp_path):
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression as Other
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline

    path = tmp_path / "m.json"
    _, X, y = fitted("logistic")
    with pytest.raises(ParameterError, match="Ridge"):
        save(Ridge(), path)
    with pytest.raises(ParameterError, match=r"LogisticRegression.*parts only from this package"):
        save(OneVsRestClassifier(Other()).fit(X, y), path)
    with pytest.raises(ParameterError, match="its step 'pca' is PCA"):
        save(make_pipeline(PCA(1), LogisticRegression()).fit(X, y), path)
    labels = np.empty(2, dtype=object)
    labels[:] = [("a", 1), ("b", 2)]
    with pytest.raises(ParameterError, match="tuple"):
        save(LogisticRegression().fit([[0.0], [1.0]], labels), path)
    dates = LogisticRegression().fit([[0.0], [1.0]], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"))
    with pytest.raises(ParameterError, match="date"):
        save(dates, path)
    two = ModelFile("logistic", Scorer(np.ones((1, 3)), np.array([0, 1]), "logit"), features=("a", "a"))
    with pytest.raises(ParameterError, match="distinct"):
        write(two, path)
    for bad in (np.nan, np.inf):
        with pytest.raises(ParameterError, match="NaN or infinity"):
            write(ModelFile("logistic", Scorer(np.array([[0.0, bad]]), np.array([0, 1]), "logit")), path)
    with pytest.raises(Exception, match="not fitted"):
        save(LogisticRegression(), path)
    assert not list(tmp_path.iterdir())


def test_a_model_too_large_for_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr(checksummed_json, "LARGEST_FILE", 100)
    with pytest.raises(ParameterError, match="MB"):
        save(fitted("logistic")[0], tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["logistic", "lda", "qda", "fisher", "max-margin"])
def test_reading_needs_no_scikit_learn(tmp_path, name):
    model, X, _ = fitted(name)
    save(model, tmp_path / "model.json")
    script = f"""
import sys
import numpy as np
from separatrix.classifiers import model_file
found = model_file.read({str(tmp_path / "model.json")!r})
print(found.scorer.predict(np.array({X[:3].tolist()!r})).tolist(), {{"sklearn", "pyarrow"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{model.predict(X[:3]).tolist()} set()"


def test_all_directions_of_a_separation_are_kept(tmp_path):
    rows = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [1.5, 1, 0], [2.5, 0, 1]])
    labels = ["a", "b", "a", "b", "a", "a"]
    with pytest.warns(errors.NotConvergedWarning):
        model = LogisticRegression(C=np.inf).fit(rows, labels)
    assert sorted(map(tuple, model.separation_.causes)) == [(1,), (2,)]
    save(model, tmp_path / "model.json")
    kept = load(tmp_path / "model.json").separation_
    assert [columns.tolist() for columns in kept.causes] == [columns.tolist() for columns in model.separation_.causes]
    assert kept.verify(rows, labels)


def test_the_weights_error_is_kept(tmp_path):
    model = LogisticRegression().fit([[0.1], [1.3], [2.7], [3.1]], ["no", "yes", "no", "yes"])
    save(model, tmp_path / "model.json")
    kept = load(tmp_path / "model.json").certificate_
    assert kept.weight_error == model.certificate_.weight_error > 0
    assert str(kept) == str(model.certificate_)
