"""The reference level of a category: stable between subsets of rows, or the one that was asked for."""

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.tables.read_table import read_table
from separatrix.tables.schema import Column, Schema

ROWS = pd.DataFrame(
    {
        "city": ["Zlin", "Brno", "Zlin", "Kyiv", "Zlin", "Brno", "Kyiv", "Kyiv"],
        "age": [31, 25, 47, 52, 38, 29, 44, 60],
        "ok": [True, False, True, True, False, False, True, False],
        "one": ["a"] * 8,
        "y": [0, 1, 0, 1, 1, 0, 1, 0],
    }
)


@pytest.mark.parametrize("seed", range(20))
def test_subsets_of_rows_with_the_same_levels_have_the_same_reference(seed):
    rng = np.random.default_rng(seed)
    some = ROWS.iloc[rng.choice(8, 30)]
    if some["city"].nunique() == 3 and some["y"].nunique() == 2:
        assert read_table(some, "y").encoder.levels_of == {"city": ("Brno", "Kyiv", "Zlin")}


@pytest.mark.parametrize("level", ["Brno", "Kyiv", "Zlin"])
def test_any_reference_gives_the_same_model_without_a_penalty(level):
    """Another reference is another basis of the same columns: the scores do not change, the weights are differences."""
    rows = pd.concat([ROWS, ROWS.assign(y=1 - ROWS["y"], age=ROWS["age"] + 3)])
    usual, other = read_table(rows, "y"), read_table(rows, "y", reference={"city": level})
    assert other.encoder.levels_of["city"][0] == level
    assert f"city={level}" not in other.names
    model = sx.LogisticRegression(C=np.inf, tol=1e-12)
    scores = [model.fit(table.X, table.y).decision_function(table.X) for table in (usual, other)]
    np.testing.assert_allclose(*scores, atol=1e-6)


def test_a_transformer_and_a_comparison_take_the_same_argument():
    X, y = ROWS.drop(columns=["y", "one"]), ROWS["y"]
    encoder = sx.TableEncoder(reference={"city": "Zlin"}).fit(X)
    assert encoder.get_feature_names_out().tolist() == ["city=Brno", "city=Kyiv", "age", "ok"]
    assert sx.compare(X, y, cv=2, only=["logistic"], reference={"city": "Zlin"})["logistic"].fitted
    with pytest.raises(ParameterError, match=r"reference: got .* and X is not a data frame"):
        sx.compare(X[["age"]].to_numpy(), y, reference={"city": "Zlin"})


def test_it_overrides_the_schema():
    for column in (Column("city", "category", ("Kyiv", "Zlin", "Brno")), Column("city", "category", preferred="Kyiv")):
        levels = read_table(ROWS, "y", schema=Schema((column,)), reference={"city": "Brno"}).encoder.levels_of["city"]
        assert levels[0] == "Brno"
        assert sorted(levels) == ["Brno", "Kyiv", "Zlin"]


@pytest.mark.parametrize(
    ("reference", "match"),
    [
        ({"city": "brno"}, "has no level 'brno' \\(perhaps 'Brno'\\); give one of 'Brno', 'Kyiv', 'Zlin'"),
        ({"city": "Brnoo"}, "has no level 'Brnoo' \\(perhaps 'Brno'\\)"),
        ({"city": "Rome"}, "has no level 'Rome'; give one of 'Brno'"),
        ({"age": "31"}, "column 'age' holds numbers; name a category"),
        ({"ok": "true"}, "column 'ok' holds true and false"),
        ({"one": "a"}, "column 'one' is left out"),
        ({"y": "0"}, "column 'y' is the target"),
        ({"city": 3}, 'give a dictionary such as {"column": "level"}'),
        ("city=Brno", "give a dictionary"),
    ],
)
def test_what_is_refused(reference, match):
    with pytest.raises(ParameterError, match=match):
        read_table(ROWS, "y", reference=reference)


def test_an_unknown_column_is_refused_with_a_suggestion():
    with pytest.raises(TableError, match="it has no column 'town'"):
        read_table(ROWS, "y", reference={"town": "Brno"})
    with pytest.raises(ParameterError, match="column 'city' is left out"):
        read_table(ROWS, "y", drop="city", reference={"city": "Brno"})
