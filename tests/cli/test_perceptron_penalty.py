"""fit --model perceptron --penalty: the penalties of the perceptron and their mix."""

import json

import pytest

from separatrix import Perceptron, errors
from separatrix.table import read_table

from .running import complaint, run


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet"])
def test_the_perceptron_has_a_penalty_and_its_mix(penalty):
    words = ["fit", "rows.csv", "--target", "y", "--model", "perceptron", "--test-size", "0", "--json"]
    mix = {"l1_ratio": 0.9} if penalty == "elasticnet" else {}
    asked = ["--penalty", penalty, "--alpha", "0.5", *(["--l1-ratio", "0.9"] if mix else [])]
    found = json.loads(run(*words, *asked, code=1).stdout)
    table = read_table("rows.csv", target="y")
    expected = Perceptron(penalty=penalty, alpha=0.5, random_state=0, **mix)
    with pytest.warns(errors.NotConvergedWarning):
        expected.fit(table.X, table.y)
    assert found["weights"]["coef"] == expected.coef_.tolist()
    assert found["weights"]["coef"] != json.loads(run(*words, code=1).stdout)["weights"]["coef"]


def test_a_mix_without_the_penalty_that_it_mixes_is_refused():
    words = ["fit", "rows.csv", "--target", "y", "--model", "perceptron", "--l1-ratio", "0.5"]
    for more in ([], ["--penalty", "l2"]):
        assert "--penalty elasticnet" in complaint(*words, *more, code=2)
