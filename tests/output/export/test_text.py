"""Exports of models with a column of free text: Python gives the model's answers; SQL and ONNX refuse."""

import csv
import subprocess
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix import TextSettings
from separatrix.classifiers.model_file import ModelFile
from separatrix.core.base.errors import ParameterError
from separatrix.output.onnx import to_onnx
from separatrix.output.python import to_python
from separatrix.output.sql import to_sql
from separatrix.tables import read_table as read_table_module
from separatrix.tables.text import TextFeatures, text_row
from tests.docstrings import docstrings

from .test_python import ALONE, run

WAYS = {
    "tf-idf": (TextSettings(max_features=400), sx.LogisticRegression(), "indicator"),
    "hashed": (TextSettings(ngrams=1, max_features=128, hashed=True), sx.LogisticRegression(C=10.0), "impute"),
    "counts, LDA": (TextSettings(max_features=30, sublinear_tf=False), sx.LinearDiscriminantAnalysis(), "drop"),
    "Gaussians": (TextSettings(ngrams=1, max_features=8), sx.QuadraticDiscriminantAnalysis(shrinkage=0.1), "impute"),
}
ODD = ["", None, "a", "NA", " NA ", "Grüße İstanbul ΣΑΣ", "np.array " * 50_000, "line\nbreak array", "数学 of shape"]


def fitted(way):
    asked, classifier, missing = WAYS[way]
    frame = docstrings()[["doc", "lines", "package"]].iloc[::2]
    frame.loc[frame.index[::50], "doc"] = None
    table = sx.read_table(frame, "package", missing=missing, text={"doc": asked})
    classifier.fit(table.X, table.y)
    return ModelFile.of(classifier, encoder=table.encoder), docstrings()[["doc", "lines"]].iloc[1:60:2]


@pytest.mark.parametrize("way", WAYS)
def test_a_python_file_gives_the_model_s_answers(tmp_path, way):
    known, frame = fitted(way)
    new = pd.concat([frame, pd.DataFrame({"doc": ODD, "lines": np.arange(len(ODD))})], ignore_index=True)
    rows = [{"doc": doc if isinstance(doc, str) else None, "lines": k} for doc, k in new.itertuples(index=False)]
    found = run(tmp_path, known, rows)
    table = read_table_module.read_rows(new, known.encoder)
    model = known.estimator()
    scores, labels = model.decision_function(table.X), model.predict(table.X)
    answered = dict(zip((table.rows - 1).tolist(), range(len(table.rows)), strict=True))
    for k, (score, *_, label) in enumerate(found):
        if k not in answered:
            assert label is None
        else:
            np.testing.assert_allclose(score, scores[answered[k]], rtol=1e-9, atol=1e-9)
            assert label == labels[answered[k]]


def test_a_table_with_a_very_long_text(tmp_path):
    known, _ = fitted("tf-idf")
    (tmp_path / "model.py").write_text(to_python(known), encoding="utf-8")
    with (tmp_path / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["doc", "lines"], ["scipy " * 100_000, 3]])
    command = [*ALONE, str(tmp_path / "model.py")]
    with (tmp_path / "rows.csv").open("rb") as rows:
        ended = subprocess.run(command, stdin=rows, capture_output=True, text=True, check=True)
    assert ended.stdout == "scipy\n"


@pytest.mark.parametrize("asked", [TextSettings(max_features=50), TextSettings(max_features=16, hashed=True)])
def test_one_row_is_a_row_of_the_matrix(asked):
    texts = [text for text in ODD if text]
    terms, idf = (("np", "array", "np array", "of"), (1.5, 2.0, 3.0, 1.1)) if not asked.hashed else ((), ())
    features = TextFeatures(asked, terms, idf)
    places = None if asked.hashed else dict(zip(terms, range(4), strict=True))
    plan = {"width": features.width, "ngrams": 2, "places": places, "idf": idf, "sublinear": True}
    rows = [text_row(text, plan) for text in texts]
    np.testing.assert_allclose(rows, features.matrix(texts).toarray(), atol=1e-12)


@pytest.mark.parametrize("export", [to_sql, to_onnx, partial(to_sql, parts=True)])
def test_sql_and_onnx_refuse_text(export):
    known, _ = fitted("hashed")
    with pytest.raises(ParameterError, match=r"its column 'doc' is free text, .*; export it to Python"):
        export(known)


def test_a_pipeline_can_be_exported():
    frame = docstrings("numpy", "scipy")
    model = make_pipeline(sx.TableEncoder(text={"doc": TextSettings(max_features=50)}), sx.LogisticRegression())
    model.fit(frame[["doc"]], frame.package)
    names = {}
    exec(to_python(model), names)
    assert names["predict"]({"doc": frame.doc[3]}) == model.predict(frame[["doc"]].iloc[3:4])[0]


def test_an_export_without_text_has_no_functions_for_it():
    model = sx.LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    assert "murmur3" not in to_python(model)
