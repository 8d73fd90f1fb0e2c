"""TableEncoder in scikit-learn's pipelines."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.read_table import read_table
from separatrix.tables.schema import Column, Schema
from separatrix.tables.table_encoder import TableEncoder

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 10, 90).round(1),
        "city": np.array(["Brno", "Zlin", "Oslo"])[RNG.integers(0, 3, 90)],
        "zip": RNG.integers(1, 4, 90),
    }
)
LABELS = np.where(FRAME["age"] + 10 * (FRAME["city"] == "Oslo") + RNG.normal(0, 5, 90) > 43, "yes", "no")


def test_the_same_as_read_table():
    table = read_table(FRAME.assign(y=LABELS), "y")
    encoder = TableEncoder().fit(FRAME)
    assert np.array_equal(encoder.transform(FRAME), table.X)
    assert tuple(encoder.get_feature_names_out()) == table.names
    assert encoder.encoder_ == table.encoder
    assert encoder.n_features_in_ == 3
    assert encoder.feature_names_in_.tolist() == ["age", "city", "zip"]


@pytest.mark.parametrize("frame", [FRAME, pl.from_pandas(FRAME)], ids=["pandas", "polars"])
def test_in_a_pipeline(frame):
    model = make_pipeline(sx.TableEncoder(), sx.LogisticRegression()).fit(frame, LABELS)
    assert model.score(frame, LABELS) > 0.75
    assert model[1].coef_.shape == (1, 4)


def test_cross_validated():
    model = make_pipeline(sx.TableEncoder(missing="indicator"), sx.LogisticRegression())
    holes = FRAME.assign(age=FRAME["age"].where(FRAME.index % 7 > 0))
    assert np.all(cross_val_score(model, holes, LABELS, cv=3) > 0.5)


def test_numbers_are_standardised_as_by_a_scaler_behind_it():
    X = np.asarray(TableEncoder().fit_transform(FRAME))
    X = np.where([True, False, False, True], StandardScaler().fit_transform(X), X)  # age and zip are numbers
    own = make_pipeline(TableEncoder(standardise=True), sx.LogisticRegression()).fit(FRAME, LABELS)
    np.testing.assert_allclose(own[0].transform(FRAME), X, rtol=1e-9, atol=1e-9)
    plain = sx.LogisticRegression().fit(X, LABELS)
    np.testing.assert_allclose(own.predict_proba(FRAME), plain.predict_proba(X), rtol=1e-9)
    assert own[0].scaling_ is not None
    assert clone(own[0]).get_params()["standardise"] is True
    assert TableEncoder().fit(FRAME).scaling_ is None
    with pytest.raises(ParameterError, match="standardise: got 'yes'"):
        TableEncoder(standardise="yes").fit(FRAME)


def test_schema_and_drop():
    encoder = TableEncoder(schema=Schema((Column("zip", "category", preferred="2"),)), drop=["city"])
    names = clone(encoder).fit(FRAME).get_feature_names_out().tolist()
    assert names == ["age", "zip=1", "zip=3"]
    assert TableEncoder(drop="city").fit(FRAME).get_feature_names_out().tolist() == ["age", "zip"]


def test_columns_in_any_order_and_frames_out():
    encoder = TableEncoder().set_output(transform="pandas").fit(FRAME)
    found = encoder.transform(FRAME[["zip", "city", "age"]].assign(more=1))
    assert found.columns.tolist() == encoder.get_feature_names_out().tolist()
    with pytest.raises(TableError, match="lacks 1 of the 3 columns of the model: 'zip'"):
        encoder.transform(FRAME[["age", "city"]])


def test_made_from_an_encoder():
    fitted = TableEncoder(missing="impute").fit(FRAME)
    again = TableEncoder.of(fitted.encoder_)
    assert again.encoder_ == fitted.encoder_
    assert np.array_equal(again.transform(FRAME), fitted.transform(FRAME))
    assert again.get_params()["missing"] == "impute"
    dropping = TableEncoder.of(read_table(FRAME.assign(y=LABELS), "y", missing="drop").encoder)
    with pytest.raises(TableError, match="1 value is missing"):
        dropping.transform(FRAME.assign(age=FRAME["age"].where(FRAME.index > 0)))


def test_refusals():
    with pytest.raises(ParameterError, match="a transformer cannot leave rows out"):
        TableEncoder(missing="drop").fit(FRAME)
    with pytest.raises(NotFittedError):
        TableEncoder().transform(FRAME)
    with pytest.raises(TableError, match="got ndarray"):
        TableEncoder().fit(np.zeros((2, 2)))
    with pytest.raises(TableError, match="no column 'town'"):
        TableEncoder(drop=["town"]).fit(FRAME)


def test_columns_of_zeros_and_ones_are_not_standardised():
    """A penalty would hardly see the column of a rare level, which its standard deviation makes large."""
    rng = np.random.default_rng(0)
    rare = np.array(["no"] * 97 + ["yes"] * 3)
    held = pd.DataFrame({"age": rng.normal(40, 9, 100), "rare": rare, "ok": rng.random(100) < 0.1})
    held.loc[:4, "age"] = np.nan
    encoder = sx.TableEncoder(missing="indicator", standardise=True).fit(held)
    X = np.asarray(encoder.transform(held))
    assert encoder.get_feature_names_out().tolist() == ["age", "age=missing", "rare=yes", "ok"]
    assert np.isin(X[:, 1:], [0, 1]).all()
    np.testing.assert_allclose([X[:, 0].mean(), X[:, 0].std()], [0, 1], atol=1e-12)
    assert encoder.scaling_.scale[1:].tolist() == [1.0] * 3
