"""A table fitted in one call: the numbers of ``separatrix fit``, by public names only."""

import json

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from tests.cli.running import run


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(3)
    age, city = rng.integers(18, 80, 160), rng.choice(["Brno", "Praha", "Roma"], 160)
    smoker = np.where(age + 20 * (city == "Roma") + rng.normal(0, 15, 160) > 55, "yes", "no")
    frame = pd.DataFrame({"age": age, "city": city, "note": "x", "smoker": smoker})
    frame.loc[4, "city"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path / "people.csv"


def test_the_numbers_are_those_of_the_command(people):
    told = run("fit", people, "--target", "smoker", "--missing", "impute", "--drop", "note", "--standardise", "--json")
    known = json.loads(told.stdout)
    fit = sx.fit_table(sx.LogisticRegression(), people, "smoker", drop="note", missing="impute", standardise=True)
    assert fit.accuracy == known["held_out"]["accuracy"]
    np.testing.assert_array_equal(fit.model.coef_, known["weights"]["coef"])


def test_the_given_model_stays_and_a_frame_gives_the_same_as_its_file(people):
    model, frame = sx.LogisticRegression(), pd.read_csv(people)
    before = frame.copy()
    fit = sx.fit_table(model, frame, "smoker", missing="drop")
    assert not hasattr(model, "classes_")
    pd.testing.assert_frame_equal(frame, before)
    np.testing.assert_array_equal(fit.model.coef_, sx.fit_table(model, people, "smoker", missing="drop").model.coef_)


def test_shares_and_seeds(people):
    fits = [
        sx.fit_table(sx.LinearDiscriminantAnalysis(), "demo:iris", test_size=share, seed=seed)
        for share, seed in [(0.5, 0), (0.5, 1)]
    ]
    assert [int(fit.held.sum()) for fit in fits] == [75, 75]
    assert not np.array_equal(fits[0].held, fits[1].held)
    assert sx.fit_table(sx.LogisticRegression(), "demo:iris", test_size=0).accuracy is None


@pytest.mark.parametrize("share", [-0.1, 1, np.nan])
def test_what_is_not_a_share_is_refused(share):
    with pytest.raises(ParameterError, match="test_size"):
        sx.fit_table(sx.LogisticRegression(), "demo:iris", test_size=share)
