"""Tables with columns of free text: sparse X beside numbers and categories, missing texts, schemas, suggestions."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from separatrix import LogisticRegression, TableEncoder, compare, read_table
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.infer import infer
from separatrix.tables.read_table import read_raw, read_rows
from separatrix.tables.schema import Schema
from separatrix.tables.text import TextSettings
from tests.docstrings import docstrings

REVIEWS = pd.DataFrame(
    {
        "age": [31.0, 25.0, None, 52.0, 44.0, 29.0],
        "review": ["good film", "a bad film", None, "good good story", "", "bad story"],
        "sex": ["f", "m", "f", "m", "f", "m"],
        "liked": ["yes", "no", "no", "yes", "yes", "no"],
    }
)


def read(frame=REVIEWS, text="review", missing="impute", **more):
    return read_table(frame, target="liked", text={text: TextSettings(ngrams=1)}, missing=missing, **more)


def test_text_stands_beside_numbers_and_categories_in_the_order_of_the_table():
    table = read()
    assert table.names == ("age", "review:bad", "review:film", "review:good", "review:story", "sex=m")
    assert table.X.format == "csr"
    X = table.X.toarray()
    np.testing.assert_allclose(X[:, 0], [31.0, 25.0, 36.2, 52.0, 44.0, 29.0])
    assert X[:, 5].tolist() == [0, 1, 0, 1, 0, 1]
    np.testing.assert_allclose(X[[0, 1, 3, 5], 1:5] ** 2 @ np.ones(4), 1.0)
    assert not X[[2, 4], 1:5].any()


def test_a_mixed_table_is_scikit_learn_s_column_transformer():
    frame = docstrings("numpy", "scipy").drop(columns="name")
    ours = TableEncoder(text="doc", standardise=True, drop="package").fit_transform(frame)
    theirs = ColumnTransformer(
        [
            ("doc", TfidfVectorizer(ngram_range=(1, 2), min_df=2, sublinear_tf=True), "doc"),
            ("lines", StandardScaler(with_mean=False), ["lines"]),
        ]
    ).fit_transform(frame)
    assert abs(ours - theirs).max() <= 1e-12


@pytest.mark.parametrize("missing", ["indicator", "drop", "error"])
def test_missing_texts(missing):
    if missing == "error":
        with pytest.raises(TableError, match="'review' 2"):
            read(missing=missing)
        return
    table = read(missing=missing)
    X = table.X.toarray()
    if missing == "drop":
        assert table.rows.tolist() == [1, 2, 4, 6]
    else:
        assert (table.names[1], table.names[6]) == ("age=missing", "review=missing")
        assert X[:, 6].tolist() == [0, 0, 1, 0, 1, 0]
        assert not X[[2, 4], 2:6].any()


def test_rows_for_prediction_are_encoded_as_in_training():
    table = read()
    again = read_rows(REVIEWS, table.encoder)
    assert abs(again.X - table.X).max() == 0
    new = REVIEWS.assign(review=["???", "unknown words", "film", "film", None, "x"])
    told = [note for note in read_rows(new, table.encoder).notes if "n-gram" in note]
    assert told == ["In column 'review' 3 rows hold no n-gram of the model; such a text counts as empty."]


def test_each_fit_learns_its_n_grams_from_its_own_rows():
    frame = docstrings("numpy")[["doc", "lines"]].assign(y=lambda f: np.arange(len(f)) % 2)
    raw = read_raw(frame, target="y", text="doc")
    train = np.arange(len(frame)) % 4 > 0
    alone = read_table(frame[train], target="y", text="doc")
    table = raw.learned(train)
    assert table.names == alone.names
    assert abs(table.X[np.flatnonzero(train)] - alone.X).max() == 0


def test_standardise_leaves_n_grams_as_they_are():
    raw = read_raw(REVIEWS, target="liked", text={"review": TextSettings(ngrams=1)}, missing="impute")
    plain, scaled = raw.learned(), raw.learned(standardise=True)
    assert abs(plain.X[:, [1, 2, 3, 4]] - scaled.X[:, [1, 2, 3, 4]]).max() == 0
    np.testing.assert_allclose(scaled.X[:, [0]].toarray().std(), 1.0)
    assert any("Numbers and dates are divided by" in note for note in scaled.notes)


def test_the_limit_is_noted():
    table = read_table(REVIEWS, "liked", missing="impute", text={"review": TextSettings(1, max_features=2)})
    assert table.names[1:3] == ("review:bad", "review:good")
    assert any("has 4 n-grams in at least 2 of the rows fitted; the 2 with" in note for note in table.notes)


def test_a_schema_asks_for_text():
    asked = Schema(()).with_words({"review": TextSettings(ngrams=1)})
    assert Schema.from_plain(asked.plain()) == asked
    assert read_table(REVIEWS, "liked", schema=asked, missing="impute").names == read().names
    for content, said in (({"kind": "number", "text": {"ngrams": 1}}, "kind"), ({"kind": "words", "text": 3}, "text")):
        with pytest.raises(TableError, match=said):
            Schema.from_plain({"columns": [{"name": "review", **content}]})


@pytest.mark.parametrize(
    ("text", "more", "said"),
    [
        ("liked", {}, "text.*'liked' is the target"),
        ("review", {"drop": "review"}, "left out"),
        ("reviews", {}, "no column 'reviews'; perhaps 'review'"),
        (
            "age",
            {"schema": Schema.from_plain({"columns": [{"name": "age", "kind": "number"}]})},
            "number in the schema",
        ),
    ],
)
def test_text_that_cannot_be_meant_is_refused(text, more, said):
    with pytest.raises((ParameterError, TableError), match=said):
        read(text=text, **more)


def test_a_libsvm_file_has_no_text(tmp_path):
    (tmp_path / "a.libsvm").write_text("1 1:2\n0 1:3\n")
    with pytest.raises(TableError, match="none is text; leave text= out"):
        read_table(tmp_path / "a.libsvm", text="x1")


def test_numbers_can_be_read_as_words():
    frame = pd.DataFrame({"code": [10, 22, 10, 22], "y": [0, 1, 0, 1]})
    assert read_table(frame, "y", text="code").names == ("code:10", "code:22")


def test_free_text_is_told_from_names_and_keys():
    docs = docstrings("numpy")
    columns = infer(pa.table({"doc": docs.doc, "name": docs.name, "key": [f"k{k}" for k in range(len(docs))]})).columns
    assert ["text='" in column.note for column in columns] == [True, False, False]
    with pytest.raises(TableError, match="use its words with text='doc'"):
        read_table(docs[["doc", "package"]], "package")


def test_a_pipeline_and_a_comparison():
    frame = docstrings("numpy", "scipy")
    model = make_pipeline(TableEncoder(text=["doc"], drop=["name", "package"]), LogisticRegression())
    model.fit(frame[::2], frame.package[::2])
    assert model.score(frame[1::2], frame.package[1::2]) > 0.9
    found = compare(frame[["doc"]], frame.package, cv=2, only=["logistic", "lda"], text="doc")
    assert found["logistic"].accuracy.mean > 0.9
