"""Rows in a report have the values of their table, whatever was done to the columns before the fit."""

import re

import numpy as np
import pytest

import separatrix as sx
from separatrix.output.report.column_sections import entries, in_units
from separatrix.tables.encoder import Encoded, Encoder, Scaling

from .test_verdicts import section_of


@pytest.fixture(scope="module")
def births():
    """The birth weights with ``race`` as a category, and reports on the raw and on the standardised columns."""
    table = sx.read_table("docs/data/birthwt.csv", target="low")
    scaling = Scaling.of(table.X).only(table.encoder.measured)
    pages = []
    for X, before in ((table.X, None), (scaling.apply(table.X), scaling)):
        model = sx.LogisticRegression(C=np.inf).fit(X, table.y)
        pages.append(
            sx.report(model, X, table.y, names=table.names, rows=table.row_names, encoder=table.encoder, scaling=before)
        )
    return table, pages


@pytest.mark.parametrize("section", ["surprise", "influence", "distributions"])
def test_standardised_columns_are_shown_in_the_units_of_the_table(births, section):
    raw, standardised = (section_of(page, section) for page in births[1])
    assert raw == standardised


def test_a_category_is_one_entry_with_its_level(births):
    table, (page, _) = births
    categories = [column for column in table.encoder.columns if column.kind == "category"]
    assert categories
    for section in ("surprise", "influence"):
        whole = section_of(page, section)
        for column in categories:
            assert f"{column.name}=" not in whole
            assert any(f"{column.name}: {level}" in whole for level in column.levels)
        for card in re.split(r"Row \d", whole)[1:]:
            assert card.count(f"{categories[0].name}: ") <= 1


def test_the_parts_of_a_row_add_up_whatever_the_encoding():
    rng = np.random.default_rng(0)
    encoder = Encoder(
        (
            Encoded("age", "number", (), (40.0,), indicator=True),
            Encoded("race", "category", ("black", "other", "white"), (0.0, 0.0), indicator=True),
            Encoded("smoker", "boolean", (), (0.0,)),
            Encoded("born", "date", (), (0.0,)),
        ),
        "indicator",
    )
    x = np.array([40.0, 1.0, 0.0, 0.0, 1.0, 1.0, 6273.0])
    parts = rng.normal(size=7)
    found = entries(x, parts, encoder.names, encoder=encoder)
    assert sum(one.part for one in found) == pytest.approx(parts.sum())
    told = {one.name: one.joined + one.value for one in found}
    assert told == {"age": ": missing", "race": ": missing", "smoker": " = true", "born": " = 1987-03-06"}
    sizes = [abs(one.part) for one in found]
    assert sizes == sorted(sizes, reverse=True)


def test_other_names_than_the_encoders_have_an_entry_a_column():
    encoder = Encoder((Encoded("race", "category", ("a", "b", "c")),))
    found = entries(np.array([0.0, 1.0]), np.array([0.5, 0.25]), ("u", "v"), encoder=encoder)
    assert [(one.name, one.value) for one in found] == [("u", "0"), ("v", "1")]


def test_scaling_back_undoes_scaling():
    rng = np.random.default_rng(1)
    X = rng.normal(50.0, 20.0, size=(30, 3))
    X[0] = 0.0
    scaling = Scaling.of(X)
    back = in_units(scaling.apply(X), scaling)
    np.testing.assert_allclose(back, X, atol=1e-10)
    assert np.all(back[0] == 0.0)
    np.testing.assert_allclose(in_units(scaling.apply(X)[:, [2, 0]], scaling, [2, 0]), X[:, [2, 0]], atol=1e-10)
