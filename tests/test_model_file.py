"""A model file gives back what was saved, to the bit, or refuses; it never runs anything."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from separatrix import LogisticRegression, load, model_file, save, sealed
from separatrix.certificate import Certificate
from separatrix.claims import LikelihoodClaim
from separatrix.errors import ModelFileError, ParameterError
from separatrix.model_file import FORMAT, VERSION, ModelFile, read, write
from separatrix.scorer import Scorer

finite = st.floats(allow_nan=False, allow_infinity=False, width=64)
extreme = finite | st.sampled_from([5e-324, -5e-324, 1e308, -1e308, -0.0, 0.1, 1 / 3])
# NumPy drops NULs at the end of text, so two names could become one.
text = st.sampled_from(["inf", "nan", "-inf"]) | st.text(
    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8
)
names = st.lists(text, min_size=2, max_size=4, unique=True)


@st.composite
def model_files(draw):
    labels = draw(
        names.map(np.array)
        | st.lists(st.integers(-(2**63), 2**63 - 1), min_size=2, max_size=4, unique=True).map(np.array)
        | st.lists(extreme, min_size=2, max_size=4, unique=True).map(np.array)
        | st.just(np.array([False, True]))
        | st.just(np.array(["one", 2, 2.5, True], dtype=object))
    )
    d = draw(st.integers(1, 4))
    K = len(labels)
    W = draw(hnp.arrays(np.float64, (1 if K == 2 else K, d + 1), elements=extreme))
    scorer = Scorer(W, labels, "logit" if K == 2 else "softmax")
    positive = extreme.map(abs)
    claim = LikelihoodClaim(
        scorer,
        draw(st.sampled_from([np.inf, 1e-300, 0.1])),
        draw(hnp.arrays(np.float64, d, elements=positive)),
        draw(st.booleans()),
        draw(hnp.arrays(np.float64, K, elements=positive)),
        l1_ratio=draw(st.floats(0, 1)),
    )
    anything = st.floats(width=64)
    bound = draw(st.none() | positive)
    certificate = Certificate(
        *(draw(text), draw(text), draw(st.booleans()), draw(anything), draw(anything), bound),
        *(draw(text), draw(text), draw(anything), draw(st.integers(0)), draw(st.integers(0)), draw(text)),
        *(
            draw(text),
            draw(st.none() | st.integers(0)),
            draw(st.integers(0)),
            draw(st.integers(0)),
            draw(st.integers(0)),
            claim,
        ),
        {"mistakes": 3, "bound": 0.5, "note": draw(text)},
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
    assert [*map(type, after.scorer.classes.tolist())] == [*map(type, before.scorer.classes.tolist())]
    assert after.scorer.classes.tolist() == before.scorer.classes.tolist()
    assert (after.features, after.target, after.made_by) == (before.features, before.target, before.made_by)
    assert repr(sorted(after.training.items())) == repr(sorted(before.training.items()))
    assert sealed.canonical(after.content()) == sealed.canonical(before.content())
    if before.certificate is not None:
        assert after.certificate.claim.C == before.certificate.claim.C
        assert after.certificate.claim.l1_ratio == before.certificate.claim.l1_ratio
        assert repr(after.certificate.to_dict()) == repr(before.certificate.to_dict())
    again = path.with_name("again.json")
    write(after, again)
    assert again.read_bytes() == path.read_bytes()


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 3)) * [1e-3, 1.0, 1e3]
    return X, X @ [300.0, 0.5, 0.001] + rng.standard_normal(60)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [3, 7], [1.0, 2.0], ["a", "b", "c"]])
@pytest.mark.parametrize("C", [0.5, np.inf])
def test_a_loaded_classifier_is_the_saved_one(tmp_path, rows, labels, C):
    X, z = rows
    y = np.array(labels)[np.searchsorted(np.quantile(z, np.arange(1, len(labels)) / len(labels)), z)]
    before = LogisticRegression(C=C, class_weight="balanced", tol=1e-6).fit(X, y)
    save(before, tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.get_params() == before.get_params()
    for name in ("coef_", "intercept_", "classes_"):
        assert getattr(after, name).tobytes() == getattr(before, name).tobytes()
    assert after.predict_proba(X).tobytes() == before.predict_proba(X).tobytes()
    assert after.predict(X).tolist() == before.predict(X).tolist()
    assert (after.n_iter_, after.n_features_in_, after.trace_) == (before.n_iter_, 3, ())
    assert str(after.certificate_) == str(before.certificate_)
    assert after.certificate_.verify(X, y)
    assert not after.certificate_.verify(X[1:], y[1:])


@pytest.mark.parametrize("l1_ratio", [0.3, 1.0])
def test_a_claim_with_absolute_values_verifies_from_the_file(tmp_path, rows, l1_ratio):
    X, z = rows
    save(LogisticRegression(C=0.5, l1_ratio=l1_ratio).fit(X, z > 0), tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.l1_ratio == after.certificate_.claim.l1_ratio == l1_ratio
    assert after.certificate_.verify(X, z > 0)


def test_a_share_of_absolute_values_that_cannot_be_is_refused(tmp_path, rows):
    X, z = rows
    path = tmp_path / "model.json"
    save(LogisticRegression(l1_ratio=1.0).fit(X, z > 0), path)
    content = sealed.unseal(FORMAT, VERSION, path.read_bytes())
    content["certificate"]["claim"]["l1_ratio"] = 1.5
    path.write_bytes(sealed.seal(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match="l1_ratio is not between 0 and 1"):
        load(path)


def test_names_and_settings_of_any_form(tmp_path, rows):
    pandas = pytest.importorskip("pandas")
    X, z = rows
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression(
        class_weight={0: 2.0, 1: 1.0}, penalty_factors=np.array([1.0, 0.0, 2.0]), start=np.zeros((1, 4))
    )
    save(model.fit(frame, (z > 0).astype(int)), tmp_path / "model.json")
    after = load(tmp_path / "model.json")
    assert after.feature_names_in_.tolist() == ["a", "b", "c"]
    assert after.class_weight == {0: 2.0, 1: 1.0}
    assert after.penalty_factors == [1.0, 0.0, 2.0]
    assert after.predict_proba(frame).tobytes() == model.predict_proba(frame).tobytes()
    assert after.fit(frame, (z > 0).astype(int)).coef_.tobytes() == model.coef_.tobytes()


def test_settings_that_json_cannot_hold_are_left_out(tmp_path, rows):
    from separatrix.solvers import Newton

    X, z = rows
    save(LogisticRegression(solver=Newton()).fit(X, z > 0), tmp_path / "model.json")
    assert "solver" not in read(tmp_path / "model.json").parameters
    assert load(tmp_path / "model.json").solver == "auto"


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    save(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]), path)
    return path


def test_every_altered_byte_is_seen(small, tmp_path):
    sound = small.read_bytes()
    read(small)
    for place in range(len(sound)):
        for flip in (0x01, 0x20, 0x80):
            altered = bytearray(sound)
            altered[place] ^= flip
            with pytest.raises(ModelFileError):
                model_file._from_content(sealed.unseal(FORMAT, VERSION, bytes(altered)))


def test_every_cut_and_every_addition_is_seen(small):
    sound = small.read_bytes()
    for length in range(len(sound)):
        with pytest.raises(ModelFileError):
            sealed.unseal(FORMAT, VERSION, sound[:length])
    for more in (b" ", b"\n", b"{}", b"\0"):
        with pytest.raises(ModelFileError):
            sealed.unseal(FORMAT, VERSION, sound + more)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "not JSON"),
        (b"\x80\x04pickle", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", '"format"'),
        (b'{"format": "other"}', '"format"'),
        (b'{"format": "separatrix-model", "version": 3}', "version is 3"),
        (b'{"format": "separatrix-model", "version": true}', "version is True"),
        (b'{"format": "separatrix-model", "version": 2}', "keys"),
        (b'{"format": "separatrix-model", "version": 2, "sha256": "", "content": {"a": 1}}', "checksum"),
        (b'{"format": "separatrix-model", "version": 2, "sha256": "", "content": {"a": 1e999}}', "not finite"),
        (b'{"format": "separatrix-model", "version": 2, "sha256": "", "content": {"a": NaN}}', "NaN"),
        (
            b'{"format": "separatrix-model", "version": 2, "sha256": "", "content": {"a": ' + b"1" * 5000 + b"}}",
            "JSON",
        ),
    ],
)
def test_what_is_no_model_file(tmp_path, data, part):
    (tmp_path / "model.json").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model\.json: ") as caught:
        read(tmp_path / "model.json")
    assert part in str(caught.value)


def test_the_same_meaning_in_other_words_is_refused(small):
    content = json.loads(small.read_text())
    small.write_text(json.dumps(content))
    with pytest.raises(ModelFileError, match="canonical form"):
        read(small)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda c: c.pop("weights"), "keys"),
        (lambda c: c.update(more=1), "keys"),
        (lambda c: c.update(weights=[[1.0]]), "no columns"),
        (lambda c: c.update(weights=[[1.0, 2.0], [1.0, 2.0]]), "2 rows"),
        (lambda c: c.update(weights=[[1.0, True]]), "decimal"),
        (lambda c: c.update(weights=[[1.0, "2"]]), "decimal"),
        (lambda c: c.update(weights=5), "matrix"),
        (lambda c: c.update(weights=[7.0]), "no columns"),
        (lambda c: c.update(link="no-such-link"), "link"),
        (lambda c: c.update(link="softmax"), "link"),
        (lambda c: c.update(link=["logit"]), "text"),
        (lambda c: c.update(features=["a", "b"]), "2 names for 1 columns"),
        (lambda c: c.update(features=[1]), "names"),
        (lambda c: c.update(target=1), "target"),
        (lambda c: c.update(training=[]), "training"),
        (lambda c: c["classes"].update(dtype="datetime64"), "unknown type"),
        (lambda c: c["classes"].update(values=["a"]), "two classes"),
        (lambda c: c["classes"].update(values=["a", "a"]), "twice"),
        (lambda c: c["classes"].update(values=["a", 1]), "type str"),
        (lambda c: c["classes"].update(dtype="int8", values=[1, 1000]), "does not fit"),
        (lambda c: c["certificate"].pop("met"), "certificate"),
        (lambda c: c["certificate"].update(met=1), "met"),
        (lambda c: c["certificate"].update(objective="0.1"), "objective"),
        (lambda c: c["certificate"].update(iterations=1.0), "iterations"),
        (lambda c: c["certificate"]["claim"].update(C=-1.0), "C is not positive"),
        (lambda c: c["certificate"]["claim"].update(C="nan"), "C is not positive"),
        (lambda c: c["certificate"]["claim"].update(penalty_factors=[]), "penalty factors"),
        (lambda c: c["certificate"]["claim"].update(class_weights=[1.0, -1.0]), "class weights"),
        (lambda c: c["certificate"]["claim"].pop("C"), "claim"),
    ],
)
def test_wrong_content_is_refused_even_with_a_right_checksum(small, change, part):
    content = read(small).content()
    change(content)
    small.write_bytes(sealed.seal(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=part):
        read(small)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda c: c.update(classifier="os.system"), "classifier"),
        (lambda c: c["parameters"].update(shell="rm"), "no parameter 'shell'"),
        (lambda c: c["parameters"].update(class_weight={"pairs": [[[], 1]]}), "setting"),
    ],
)
def test_what_only_an_estimator_can_judge(small, change, part):
    content = read(small).content()
    change(content)
    small.write_bytes(sealed.seal(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=part):
        load(small)


def test_paths(tmp_path, small, monkeypatch):
    with pytest.raises(ModelFileError, match="no such file"):
        read(tmp_path / "absent.json")
    with pytest.raises(ModelFileError, match="folder"):
        read(tmp_path)
    monkeypatch.setattr(sealed, "LARGEST_FILE", 100)
    with pytest.raises(ModelFileError, match="larger"):
        read(small)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(small, monkeypatch):
    before = small.read_bytes()
    model = load(small)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ParameterError, match="No space left"):
        save(model, small)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save(model, small)
    assert [path.name for path in small.parent.iterdir()] == [small.name]
    assert small.read_bytes() == before


def test_writing_follows_links_and_makes_no_folders(tmp_path, small):
    model = load(small)
    (tmp_path / "link.json").symlink_to(small)
    save(model, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    for path in (tmp_path, tmp_path / "absent" / "model.json"):
        with pytest.raises(ParameterError, match="path"):
            save(model, path)


def test_what_cannot_be_saved(tmp_path):
    from sklearn.linear_model import Ridge

    with pytest.raises(ParameterError, match="Ridge"):
        save(Ridge(), tmp_path / "m.json")
    labels = np.empty(2, dtype=object)
    labels[:] = [("a", 1), ("b", 2)]
    with pytest.raises(ParameterError, match="tuple"):
        save(LogisticRegression().fit([[0.0], [1.0]], labels), tmp_path / "m.json")
    dates = LogisticRegression().fit([[0.0], [1.0]], np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]"))
    with pytest.raises(ParameterError, match="date"):
        save(dates, tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_reading_needs_no_scikit_learn(small):
    script = f"""
import sys
from separatrix import model_file
found = model_file.read({str(small)!r})
print(found.scorer.predict([[0.0], [1.0]]).tolist(), "sklearn" in sys.modules, "pickle" in dir(model_file))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['no', 'yes'] False False"
