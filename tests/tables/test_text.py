"""N-grams of text columns: scikit-learn's numbers, learned from the training rows alone, and the edges of text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.utils import murmurhash3_32

from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.text import TextFeatures, TextSettings, asked_for, beside, count_texts, learn, murmur3
from tests.docstrings import docstrings

SETTINGS = {
    "the defaults": TextSettings(),
    "single words": TextSettings(ngrams=1, min_df=1),
    "three words, counts": TextSettings(ngrams=3, min_df=3, sublinear_tf=False),
}
ODD = [
    "Grüße an ΣΊΣΥΦΟΣ und İstanbul",
    "naïve café naïve",
    "数学 и математика",
    "a b c",
    "",
    "!!! ???",
    "_x_ under_score 123 4",
    "e\u0301t\u00e9 été",
    "line\nbreaks\tand\u00a0spaces\u2028here",
]


def fitted(texts, asked):
    counted = count_texts(texts, asked)
    features = learn("doc", asked, counted, None, "a table")
    return features, features.of_counts(counted)


def tfidf(asked, **more):
    return TfidfVectorizer(
        ngram_range=(1, asked.ngrams), min_df=asked.min_df, sublinear_tf=asked.sublinear_tf, dtype=np.float64, **more
    )


@pytest.mark.parametrize("asked", SETTINGS.values(), ids=SETTINGS)
def test_tf_idf_is_scikit_learn_s(asked):
    texts = [*docstrings("numpy").doc, *ODD, *ODD, *ODD]
    features, X = fitted(texts, asked)
    theirs = tfidf(asked).fit(texts)
    assert features.terms == tuple(theirs.get_feature_names_out())
    np.testing.assert_allclose(features.idf, theirs.idf_, rtol=1e-14)
    assert abs(X - theirs.transform(texts)).max() <= 1e-12
    new = [*docstrings("scipy").doc[:100], *ODD, "nothing-known zzzzqqq"]
    assert abs(features.matrix(new) - theirs.transform(new)).max() <= 1e-12


@pytest.mark.parametrize(("longest", "width"), [(1, 2**20), (2, 1000), (3, 7)])
def test_hashes_are_scikit_learn_s(longest, width):
    texts = [*docstrings("numpy").doc, *ODD]
    asked = TextSettings(ngrams=longest, max_features=width, hashed=True)
    features, X = fitted(texts, asked)
    theirs = HashingVectorizer(ngram_range=(1, longest), n_features=width).transform(texts)
    assert X.shape == theirs.shape == (len(texts), features.width)
    assert abs(X - theirs).max() <= 1e-12
    assert abs(features.matrix(texts) - X).max() == 0


@given(st.binary(max_size=40))
@settings(max_examples=300, deadline=None)
def test_murmur3_is_scikit_learn_s(data):
    assert murmur3(data) == murmurhash3_32(data, seed=0)


@given(st.lists(st.text(max_size=60), min_size=2, max_size=8))
@settings(max_examples=100, deadline=None)
def test_any_unicode_text_is_read_as_scikit_learn_reads_it(texts):
    texts = [*texts, "common words", "common words"]
    features, X = fitted(texts, SETTINGS["single words"])
    theirs = tfidf(SETTINGS["single words"]).fit(texts)
    assert features.terms == tuple(theirs.get_feature_names_out())
    assert abs(X - theirs.transform(texts)).max() <= 1e-12


def test_the_most_frequent_n_grams_are_kept():
    texts = docstrings("numpy").doc
    features, _ = fitted(texts, TextSettings(max_features=200))
    theirs = tfidf(TextSettings(), max_features=200).fit(texts)
    counts = count_texts(texts, TextSettings())
    total = dict(zip(counts.terms, np.asarray(counts.counts.sum(axis=0)).ravel(), strict=True))
    ours, sklearns = ([sorted(total[term] for term in terms)] for terms in (features.terms, theirs.vocabulary_))
    assert ours == sklearns
    least = min(map(total.get, features.terms))
    assert {t for t in features.terms if total[t] > least} == {t for t in theirs.vocabulary_ if total[t] > least}
    tied = sorted(t for t in total if total[t] == least and np.sum(counts.counts[:, [counts.places[t]]] > 0) >= 2)
    kept = [t for t in features.terms if total[t] == least]
    assert kept == tied[: len(kept)]


def test_only_training_rows_are_learned_from():
    texts = docstrings("numpy").doc
    train = np.arange(len(texts)) % 3 > 0
    counted = count_texts(texts, TextSettings())
    features = learn("doc", TextSettings(), counted, train, "a table")
    alone, X = fitted(texts[train], TextSettings())
    assert features == alone
    assert abs(features.of_counts(counted)[np.flatnonzero(train)] - X).max() == 0


def test_counted_once_or_read_anew_a_text_has_the_same_row():
    texts = docstrings("scipy").doc[:200]
    features, X = fitted(texts, TextSettings())
    again = features.matrix(texts)
    assert (X.indices == again.indices).all()
    assert (X.data == again.data).all()


def test_a_row_has_unit_length_or_none():
    _, X = fitted([*docstrings("numpy").doc[:50], "", None, "a b", "unknown-word-of-one-row"], TextSettings())
    lengths = np.sqrt(X.multiply(X).sum(axis=1))
    np.testing.assert_allclose(lengths[:50], 1.0, rtol=1e-14)
    assert not lengths[50:53].any()


def test_a_very_long_text():
    features, X = fitted(["word " * 500_000 + "other", "word other", "other"], TextSettings(ngrams=1))
    assert features.terms == ("other", "word")
    counts = np.array([1.0, 1.0 + np.log(500_000)]) * features.idf
    np.testing.assert_allclose(X.toarray()[0], counts / np.linalg.norm(counts), rtol=1e-14)


@pytest.mark.parametrize(("texts", "said"), [(["a b", "!"], "no word of two"), (["one", "two"], "no word of column")])
def test_texts_without_features_are_named(texts, said):
    with pytest.raises(TableError, match=f"'doc'.*{said}|{said}.*'doc'"):
        fitted(texts, TextSettings())


@pytest.mark.parametrize(
    "asked", [{"ngrams": 0}, {"ngrams": 11}, {"min_df": True}, {"max_features": 1.5}, {"hashed": "yes"}]
)
def test_settings_are_checked(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=name):
        TextSettings(**asked)


def test_what_is_asked_for():
    assert asked_for(["a", "b"]) == {"a": TextSettings(), "b": TextSettings()}
    assert asked_for(None) == {}
    with pytest.raises(ParameterError, match="text"):
        asked_for({"a": 3})


def test_numbers_stay_beside_texts():
    features = TextFeatures(TextSettings(), ("film",), (1.0,))
    D = np.arange(6.0).reshape(2, 3)
    X = beside(D, [2, 0], [features.matrix(["film", ""]), features.matrix(["", "film"])])
    assert X.format == "csr"
    assert X.toarray().tolist() == [[0, 1, 1, 0, 2], [3, 4, 0, 1, 5]]
    assert beside(D, [], []) is D
