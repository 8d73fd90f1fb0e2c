"""Files of older versions of the format, as the code of their day wrote them: ``files/`` never changes.

Two were fitted to the rows below with C = 0.7, the second with l1_ratio = 0.25; the third is Firth's, of three classes;
of version 3 one is behind a table's encoder, with a column that marks what is missing, one holds a proof; of version 4
one is behind a scaler, one holds a proof, one is one versus one, of three logistic regressions; of version 5 one is a
logistic regression, one holds a quasi-complete separation; of version 6 one is behind a table's encoder with scaling,
and one fills missing categories with averages; of version 7 one is a logistic regression with sample weights, one is
one versus one.
The probabilities and scores beside them were printed by the code that wrote them. The file holds the weights to the
last bit. Scores computed from them may differ by rounding, some 1e-16 of the largest term: one processor fuses
multiplication and addition, another does not.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from separatrix import LogisticRegression, load, save
from separatrix.base import checksummed_json
from separatrix.base.errors import ModelFileError, NotConvergedWarning
from separatrix.model_file import FORMAT, VERSION, read
from separatrix.model_file.versions import up_to_date

ROUNDING = 1e-13
FILES = Path(__file__).parent / "files"
X = np.array([[0.1, 3.0], [1.3, -2.0], [2.7, 5e-324], [3.1, 1.0], [0.7, 1e3], [2.2, -7.0]])
y = np.array(["no", "no", "yes", "yes", "no", "yes"])
SECOND = {
    "version_1": [0.15538341425924046, 0.5310934604349197, 0.7185685877463409, 0.7498985197099571],
    "version_2": [0.17810485212740035, 0.527141241369858, 0.7205109182391799, 0.7554395369937295],
}


@pytest.mark.parametrize(("name", "l1_ratio"), [("version_1", 0.0), ("version_2", 0.25)])
def test_older_files_are_read(name, l1_ratio):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["age", "dose"])
    model = load(FILES / f"{name}.json")
    assert json.loads((FILES / f"{name}.json").read_text())["content"]["weights"] == [
        [*model.intercept_.tolist(), *model.coef_[0].tolist()]
    ]
    np.testing.assert_allclose(model.predict_proba(frame)[:4, 1], SECOND[name], rtol=ROUNDING)
    assert (model.C, model.C_, model.l1_ratio, model.n_parameters_) == (0.7, 0.7, l1_ratio, 3)
    assert model.feature_names_in_.tolist() == ["age", "dose"]
    assert model.certificate_.claim.l1_ratio == l1_ratio
    assert model.certificate_.verify(X, y)
    assert not model.certificate_.verify(X, y[::-1])
    found = read(FILES / f"{name}.json")
    assert (found.target, found.encoder, found.left_out) == ("ill", None, ())
    assert found.training == {
        "source": "people.csv",
        "rows": 6,
        "held_out_accuracy": 0.5,
        "note": "nan",
        "share": np.inf,
    }


def test_a_table_s_pipeline_of_version_3():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01", "2021-05-06", "2020-02-03", "2019-01-01"])
    frame = pandas.DataFrame({"age": [31.0, 25.0, 47.0, None], "sex": ["f", "m", "x", "m"], "since": days})
    model = load(FILES / "version_3.json")
    printed = [0.5834650913539491, 0.3322656396337292, 0.4996830684744251, 0.7095119258176888]
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1], printed, rtol=ROUNDING)
    new = pandas.DataFrame({"since": pandas.to_datetime(["2022-01-01"]), "sex": ["never seen"], "age": [None]})
    np.testing.assert_allclose(model.predict_proba(new)[:, 1], [0.19774298910584762], rtol=ROUNDING)
    assert model[0].scaling_ is None
    assert not model[0].standardise
    assert read(FILES / "version_3.json").target == "ill"


def test_a_scaled_model_of_version_4():
    model = load(FILES / "version_4.json")
    printed = [0.22021538652820447, 0.4464083525026898, 0.7314865044944865, 0.794069180906004]
    np.testing.assert_allclose(model.predict_proba(X[:4])[:, 1], printed, rtol=ROUNDING)
    assert model[-1].certificate_.verify(model[0].transform(X), y)


@pytest.mark.parametrize("version", [3, 4])
def test_an_older_proof(version):
    model = load(FILES / f"version_{version}_proof.json")
    rows, labels = [[0.0], [1.0], [2.0], [3.0]], ["a", "b", "a", "b"]
    (verdict,) = model.verdicts_
    assert type(verdict).__name__ == "Inseparable"
    assert verdict.verify(rows, labels)
    assert not verdict.verify(rows, ["a", "a", "b", "b"])


def test_a_model_of_version_5():
    model = load(FILES / "version_5.json")
    printed = [0.15538327090855894, 0.5310936684666772, 0.7185686253763223, 0.7498984900778144]
    np.testing.assert_allclose(model.predict_proba(X[:4])[:, 1], printed, rtol=ROUNDING)
    assert model.certificate_.verify(X, y)
    assert model.certificate_.weight_error > 0


def test_a_separation_of_version_5_has_one_direction():
    rows, labels = [[0.0, 0], [1, 0], [2, 0], [3, 0], [1.5, 1], [2.5, 1]], ["a", "b", "a", "b", "a", "a"]
    verdict = load(FILES / "version_5_proof.json").separation_
    assert (type(verdict).__name__, verdict.further) == ("QuasiSeparable", ())
    assert verdict.verify(rows, labels)


def test_a_table_s_pipeline_of_version_6_fills_categories_with_averages():
    pandas = pytest.importorskip("pandas")
    rows = {"age": [40.0, None, 20.0], "sex": ["never seen", None, "f"], "ok": [None, True, False]}
    model = load(FILES / "version_6_filled.json")
    printed = [0.5261398222364944, 0.41037501649060976, 0.25635587929685855]
    np.testing.assert_allclose(model.predict_proba(pandas.DataFrame(rows))[:, 1], printed, rtol=ROUNDING)
    column = model[0].encoder_.columns[1]
    assert (column.average, column.unseen) == ((), column.fill)


def test_all_directions_of_a_separation_are_kept(tmp_path):
    rows = np.array([[0.0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 0], [1.5, 1, 0], [2.5, 0, 1]])
    labels = ["a", "b", "a", "b", "a", "a"]
    with pytest.warns(NotConvergedWarning):
        model = LogisticRegression(C=np.inf).fit(rows, labels)
    assert sorted(map(tuple, model.separation_.causes)) == [(1,), (2,)]
    save(model, tmp_path / "model.json")
    kept = load(tmp_path / "model.json").separation_
    assert [columns.tolist() for columns in kept.causes] == [columns.tolist() for columns in model.separation_.causes]
    assert kept.verify(rows, labels)


def test_a_table_s_pipeline_of_version_6():
    pandas = pytest.importorskip("pandas")
    days = pandas.to_datetime(["2020-01-01", "2021-05-06", "2020-02-03", "2019-01-01"])
    frame = pandas.DataFrame({"age": [31.0, 25.0, 47.0, None], "sex": ["f", "m", "m", "f"], "since": days})
    model = load(FILES / "version_6.json")
    printed = [0.43081836554279024, 0.3663506466202956, 0.4277769820230226, 0.7355675257727725]
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1], printed, rtol=ROUNDING)
    assert [column.text for column in model[0].encoder_.columns] == [None] * 3


def test_a_column_of_version_6_with_n_grams_is_refused(tmp_path):
    content = json.loads((FILES / "version_6.json").read_text())["content"]
    content["encoder"]["columns"][0]["text"] = None
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 6, content))
    with pytest.raises(ModelFileError, match="its version is 6, and it has the key text of a newer version"):
        read(tmp_path / "m.json")


def test_models_of_version_7_do_not_know_whether_they_had_weights(tmp_path):
    model = load(FILES / "version_7.json")
    printed = [0.09819081967963647, 0.39559944560723403, 0.6547063166441428, 0.7083509365040578]
    np.testing.assert_allclose(model.predict_proba(X[:4])[:, 1], printed, rtol=ROUNDING)
    assert model.has_sample_weight_ is None
    assert model.certificate_.verify(X, y, [1, 2, 1, 1, 3, 1])
    pairs = load(FILES / "version_7_pairs.json")
    printed = [[2.298420041086076, 0.7487192420486722, -0.2819328719955894]]
    np.testing.assert_allclose(pairs.decision_function(X[:1]), printed, rtol=ROUNDING)
    assert [part.has_sample_weight_ for part in (pairs, *pairs.estimators_)] == [None] * 4
    content = json.loads((FILES / "version_7.json").read_text())["content"]
    content["fitted"]["has_sample_weight_"] = True
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 7, content))
    with pytest.raises(ModelFileError, match="its version is 7, and it has the key has_sample_weight_ of a newer"):
        read(tmp_path / "m.json")


def test_firth_of_version_2():
    model = load(FILES / "version_2_firth.json")
    assert model.classes_.tolist() == [2, 5, 7]
    printed = [[1.5919334961822682, -1.6768820909825852, 0.08494859480031708]]
    np.testing.assert_allclose(model.decision_function(X[:1]), printed, rtol=ROUNDING)
    assert model.bias_reduction == "firth"
    assert np.isinf(model.C_)
    assert model.certificate_.verify(X, [2, 2, 5, 5, 7, 7])


def test_certificates_of_older_files_say_nothing_of_the_weights_error():
    for name in ("version_1", "version_3", "version_4"):
        model = load(FILES / f"{name}.json")
        certificate = getattr(model, "steps", [("", model)])[-1][1].certificate_
        assert certificate.weight_error is None
        assert "weights:" not in str(certificate)


def test_the_weights_error_is_kept(tmp_path):
    model = LogisticRegression().fit(X, y)
    save(model, tmp_path / "model.json")
    kept = load(tmp_path / "model.json").certificate_
    assert kept.weight_error == model.certificate_.weight_error > 0
    assert str(kept) == str(model.certificate_)


@pytest.mark.parametrize(
    "name",
    [
        "version_1",
        "version_2",
        "version_2_firth",
        "version_3",
        "version_4",
        "version_5",
        "version_6",
        "version_6_filled",
        "version_7",
    ],
)
def test_an_older_file_saved_again_is_of_the_newest(tmp_path, name):
    model = load(FILES / f"{name}.json")
    save(model, tmp_path / "model.json")
    assert json.loads((tmp_path / "model.json").read_text())["version"] == VERSION
    again = load(tmp_path / "model.json")
    last, first = (getattr(one, "steps", [("", one)])[-1][1] for one in (again, model))
    assert last.coef_.tobytes() == first.coef_.tobytes()
    assert last.get_params() == first.get_params()
    assert str(last.certificate_) == str(first.certificate_)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda c: c.pop("weights"), "not that of a file of version 2"),
        (lambda c: c.update(weights=5), "not that of a file of version 2"),
        (lambda c: c.update(weights=[]), "columns is 0, below 1"),
        (lambda c: c.update(certificate=[]), "not that of a file of version 2"),
        (lambda c: c["certificate"].update(claim=None), "not that of a file of version 2"),
        (lambda c: c["certificate"]["claim"].update(bias_reduction="none"), "bias_reduction is unknown"),
        (lambda c: c["certificate"]["claim"].pop("C"), "claim lacks the key C|C_ is 'inf'"),
        (lambda c: c.update(more=1), "has an unknown key, more"),
        (lambda c: c.update(certificate=None, weights=[[1.0]]), "columns is 0, below 1"),
    ],
)
def test_wrong_content_of_an_older_file(tmp_path, change, part):
    content = json.loads((FILES / "version_2.json").read_text())["content"]
    change(content)
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 2, content))
    with pytest.raises(ModelFileError, match=part):
        read(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("version", "change", "key"),
    [
        (1, lambda c: c["certificate"]["claim"].update(l1_ratio=0.5), "l1_ratio"),
        (1, lambda c: c["certificate"]["claim"].update(bias_reduction="firth"), "bias_reduction"),
        (2, lambda c: c.update(encoder=None), "encoder"),
        (2, lambda c: c.update(fitted={}), "fitted"),
        (2, lambda c: c["certificate"]["claim"].update(kind="firth"), "kind"),
        (3, lambda c: c.update(scaling=None), "scaling"),
    ],
)
def test_an_older_file_with_a_key_of_a_newer_version_is_refused(tmp_path, version, change, key):
    content = json.loads((FILES / f"version_{version}.json").read_text())["content"]
    change(content)
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, version, content))
    with pytest.raises(ModelFileError, match=f"its version is {version}, and it has the key {key} of a newer version"):
        read(tmp_path / "m.json")


def test_a_proof_with_a_key_of_a_newer_version_is_refused(tmp_path):
    content = json.loads((FILES / "version_3_proof.json").read_text())["content"]
    content["fitted"]["verdicts_"][0]["near"] = None
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 3, content))
    with pytest.raises(ModelFileError, match="its version is 3, and it has the key near"):
        read(tmp_path / "m.json")


def test_a_separation_with_a_key_of_a_newer_version_is_refused(tmp_path):
    content = json.loads((FILES / "version_5_proof.json").read_text())["content"]
    content["fitted"]["separation_"]["further"] = []
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 5, content))
    with pytest.raises(ModelFileError, match="its version is 5, and it has the key further"):
        read(tmp_path / "m.json")


def test_an_older_file_without_a_certificate(tmp_path):
    content = json.loads((FILES / "version_2.json").read_text())["content"] | {"certificate": None}
    (tmp_path / "m.json").write_bytes(checksummed_json.with_checksum(FORMAT, 2, content))
    assert load(tmp_path / "m.json").coef_.tobytes() == load(FILES / "version_2.json").coef_.tobytes()


def test_models_within_a_file_of_version_4_are_brought_up_to_date():
    model = load(FILES / "version_4_pairs.json")
    printed = [[-1.2711716143329075, -0.6655928272241541], [0.15125165332306503, -0.25529014760939756]]
    found = [part.decision_function(X[:2]) for part in model.estimators_[:2]]
    np.testing.assert_allclose(found, printed, rtol=ROUNDING)
    assert [part.n_iter_.tolist() for part in model.estimators_] == [[8], [8], [3]]
    assert model.certificate_.verify(X, ["low", "low", "mid", "mid", "high", "high"])
    assert model.decision_function(X.astype(np.float32)).dtype == np.float64


def test_there_is_a_step_from_every_older_version():
    for version in range(1, VERSION):
        content = json.loads((FILES / f"version_{version}.json").read_text())["content"]
        assert "scorer" in up_to_date(version, content)


def test_a_newer_file_says_who_wrote_it(tmp_path):
    data = checksummed_json.with_checksum(FORMAT, VERSION + 1, {"separatrix": "9.1", "anything": []})
    (tmp_path / "m.json").write_bytes(data)
    with pytest.raises(
        ModelFileError, match=rf"version is {VERSION + 1}, written by separatrix 9\.1, .*up to {VERSION}"
    ):
        read(tmp_path / "m.json")
