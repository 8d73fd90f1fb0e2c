"""Text columns in model files: the same predictions after reading, and every part of a hostile file checked."""

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TableEncoder, load, save
from separatrix.classifiers.model_file import FORMAT, VERSION, ModelFile, read
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import ModelFileError
from separatrix.output.model_changes import differences
from separatrix.tables.text import TextSettings
from tests.docstrings import docstrings

WAYS = {"tf-idf": TextSettings(max_features=300), "hashed": TextSettings(max_features=256, hashed=True)}


@cache
def pipeline(asked, **more):
    frame = docstrings("numpy", "scipy")[::3]
    model = make_pipeline(TableEncoder(text={"doc": asked}, drop="name", **more), LogisticRegression())
    return model.fit(frame.drop(columns="package"), frame.package), frame


@pytest.mark.parametrize("asked", WAYS.values(), ids=WAYS)
def test_a_file_keeps_the_predictions(tmp_path, asked):
    model, frame = pipeline(asked, missing="indicator", standardise=True)
    save(model, tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again[0].encoder_ == model[0].encoder_
    assert again[0].text == {"doc": asked}
    new = frame[::7].assign(doc=frame.doc[::7].str.upper().where(np.arange(len(frame[::7])) % 5 > 0))
    assert again.predict_proba(new).tobytes() == model.predict_proba(new).tobytes()
    save(again, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda c: c.pop("text"), r"columns\.0 is of the kind words and has no n-grams"),
        (lambda c: c.update(text=None), "is of the kind words and has no n-grams"),
        (lambda c: c.update(kind="number"), "is of the kind number and has n-grams"),
        (lambda c: c.update(text=[]), r"columns\.0\.text is not an object"),
        (lambda c: c["text"].update(more=1), "text has an unknown key, more"),
        (lambda c: c["text"].update(settings={"ngrams": 0}), r"text\.settings is refused: ngrams: got 0; give"),
        (lambda c: c["text"].update(settings={"ngrams": 1.5}), r"settings\.ngrams is 1\.5, not of type int"),
        (lambda c: c["text"].update(settings={"unknown": 1}), "settings has an unknown key, unknown"),
        (lambda c: c["text"]["settings"].update(hashed=True), "n-grams and hashes"),
        (lambda c: c["text"]["terms"].append("zzz zzz"), "301 n-grams and 300 numbers"),
        (lambda c: c["text"]["terms"].__setitem__(0, c["text"]["terms"][1]), "n-grams that are not distinct"),
        (lambda c: c["text"]["terms"].__setitem__(0, 7), r"text\.terms\.0 is 7, not of type str"),
        (lambda c: c["text"]["terms"].__setitem__(0, "another"), "does not make the model's features"),
        (lambda c: c["text"]["idf"].__setitem__(0, "nan"), r"text\.idf\.0 is nan, not finite"),
        (lambda c: c["text"]["idf"].__setitem__(0, 0.0), r"text\.idf\.0 is 0\.0, not above 0"),
        (lambda c: c["text"].update(terms=[], idf=[]), "n-grams and hashes, or neither"),
        (lambda c: c.update(fill=[0.0]), "is text and has fills"),
        (lambda c: c.update(indicator=True), "an indicator for column 'doc', which its 'missing' does not allow"),
    ],
)
def test_a_hostile_text_column_is_refused(tmp_path, change, part):
    model, _ = pipeline(WAYS["tf-idf"])
    save(model, tmp_path / "model.json")
    content = json.loads((tmp_path / "model.json").read_text())["content"]
    change(content["encoder"]["columns"][0])
    (tmp_path / "hostile.json").write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=part):
        read(tmp_path / "hostile.json")


def test_changes_of_a_text_column_are_told():
    model, _ = pipeline(WAYS["tf-idf"])
    before = ModelFile.of(model)
    column = before.encoder.columns[0]
    settings = replace(column.text.settings, sublinear_tf=False)
    text = replace(column.text, settings=settings, idf=(column.text.idf[0] + 1.0, *column.text.idf[1:]))
    columns = (replace(column, text=text), *before.encoder.columns[1:])
    after = replace(before, encoder=replace(before.encoder, columns=columns))
    assert [change.what for change in differences(before, after)] == [
        "text sublinear_tf of doc",
        f"idf of doc:{column.text.terms[0]}",
    ]
