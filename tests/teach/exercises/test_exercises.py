"""Expected answers are the exact examples of the lectures; wrong answers get hints that do not tell the solution."""

import math
import re
from fractions import Fraction

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.schemes import votes

EXERCISES = sx.exercises.EXERCISES
ALL = [(number, part.name) for number, one in EXERCISES.items() for part in one.parts]

# By hand. The examples are those of docs/tour.md, "Exact examples".
BY_HAND = {
    1: {"slope": 2, "share": 3 / 4},
    2: {"multipliers": [1, 1, 1, 1], "weights": [[-1, 1, 1], [-2, 0, 0], [-1, -1, 1], [0, 0, 0]], "output": 1 / 2},
    3: {"mistakes": 4, "weights": [0, 0, 0, -4], "bound": 4, "other_rule": 2, "quadratic": 6},
    4: {"slope": 4 / 21, "intercept": -5 / 14, "boundary": 9 / 2},
    5: {"boundary": 161 / 29, "wrong_30": [5], "wrong_100": [5, 6], "logistic": 4.5},
    6: {"before": 0, "wrong": [[0, 1], [4, 3], [5, 4]], "perceptron": 0},
    7: {"crossings": [-4.32658, 1.65991], "left": 2},
    8: {"mistakes": 87, "weights": [-23, 5], "mistakes_with_30": 87},
    9: {
        "R": 5,
        "gamma": 1,
        "bound": 50,
        "weights": [[3, 2], [0, 6]],
        "cosines": [5 / math.sqrt(26), 1 / math.sqrt(2)],
        "costs": [0, 1, 0],
    },
    10: {"squared": [0, 1, 1], "error": math.log(2), "gradient": [0, -1], "step": [0.5, 2.5]},
    11: {"votes": [-2, 2, 0], "winner": 2, "models": [45, 10]},
    12: {"rows": [7, 14], "ratio": 9},
}


def test_there_are_twelve_in_order():
    assert list(EXERCISES) == list(BY_HAND) == list(range(1, 13))
    assert len({one.name for one in EXERCISES.values()}) == 12
    for one in EXERCISES.values():
        assert one.question.endswith(("?", "."))
        assert one.lab_try.endswith(("?", "."))
        assert len({part.name for part in one.parts}) == len(one.parts)


@pytest.mark.parametrize("number", BY_HAND)
def test_expected_answers_are_those_computed_by_hand(number):
    expected = EXERCISES[number].expected
    assert list(expected) == [part.name for part in EXERCISES[number].parts]
    for name, value in BY_HAND[number].items():
        np.testing.assert_allclose(np.asarray(expected[name], dtype=float), value, rtol=1e-5, atol=1e-9)


def test_what_has_no_round_number():
    """The bound of the widest margin on the line, and the recalls on drawn rows, from their definitions."""
    w = np.array([-9.0, 2.0])  # margins of at least 1 at 4 and 5, and b, w of least length: R² = 1 + 8²
    assert EXERCISES[8].expected["bound"] == pytest.approx(65 * (w @ w))
    X, y = EXERCISES[12].given()
    for name, weight in (("recall", None), ("balanced", "balanced")):
        z = sx.LogisticRegression(class_weight=weight).fit(X, y).decision_function(X[y == 1])
        assert EXERCISES[12].expected[name] == pytest.approx(np.mean(z > 0))
    assert EXERCISES[12].expected["recall"] < 0.1
    assert EXERCISES[12].expected["balanced"] > 0.5


def test_the_scores_of_lecture_003_are_those_of_the_rows():
    X, y = EXERCISES[11].given()
    model = sx.OneVsOneClassifier(sx.LeastSquaresClassifier(targets="signed")).fit(X, y)
    scores = [one.decision_function(X[1:2])[0] for one in model.estimators_]
    np.testing.assert_allclose(scores, [-1.0, -1.0, 1.0])
    assert votes([scores], 3).tolist() == [EXERCISES[11].expected["votes"].tolist()]


@pytest.mark.parametrize("number", BY_HAND)
def test_the_expected_answer_is_right_and_so_is_one_of_three_digits(number):
    expected = EXERCISES[number].expected
    assert sx.exercises.check(number, expected)
    rounded = {name: [float(f"{v:.3g}") for v in np.ravel(value)] for name, value in expected.items()}
    rounded = {name: np.reshape(value, np.shape(expected[name])).tolist() for name, value in rounded.items()}
    found = sx.exercises.check(number, rounded)
    assert found
    assert "all right" in str(found)


@pytest.mark.parametrize(("number", "name"), ALL)
def test_a_wrong_part_alone_is_not_right_and_gets_its_hint(number, name):
    one = EXERCISES[number]
    part = next(part for part in one.parts if part.name == name)
    wrong = {**one.expected, name: (np.asarray(one.expected[name], dtype=float) * 1.7 - 3.3).tolist()}
    found = sx.exercises.check(number, wrong)
    assert not found
    assert {said.name: said.code for said in found.parts if said.code != "right"} == {name: "wrong"}
    assert part.hint in str(found)
    assert f"{len(one.parts) - 1} of {len(one.parts)} right" in str(found)


SLIPS = [
    (number, part.name, k) for number, one in EXERCISES.items() for part in one.parts for k in range(len(part.slips))
]


@pytest.mark.parametrize(("number", "name", "k"), SLIPS)
def test_a_common_mistake_is_wrong_and_has_a_hint_of_its_own(number, name, k):
    one = EXERCISES[number]
    part = next(part for part in one.parts if part.name == name)
    slip = part.slips[k]
    said = next(said for said in sx.exercises.check(number, {name: slip.value()}).parts if said.name == name)
    assert (said.code, said.hint) == ("wrong", slip.hint)
    assert slip.hint != part.hint


def test_order_scale_and_fractions():
    def says(number, name, value):
        return next(said.code for said in sx.exercises.check(number, {name: value}).parts if said.name == name)

    assert says(2, "multipliers", (0.25, 0.25, 0.25, 0.25)) == "right"
    assert says(2, "multipliers", [-1, -1, -1, -1]) == says(2, "multipliers", [0, 0, 0, 0]) == "wrong"
    assert says(4, "slope", Fraction(4, 21)) == "right"
    assert says(5, "wrong_100", {6, 5}) == "form"  # a set has no order to read it in
    assert says(5, "wrong_100", [6, 5]) == says(5, "wrong_30", 5) == "right"
    assert says(5, "wrong_100", [5]) == says(5, "wrong_100", [5, 6, 7]) == "wrong"
    assert says(6, "wrong", [(5, 4), (0, 1), (4, 3)]) == "right"
    assert says(6, "wrong", [(1, 0), (3, 4), (4, 5)]) == "wrong"
    assert says(6, "wrong", [0, 3, 9]) == says(6, "wrong", "three") == "form"
    assert says(7, "crossings", [1.66, -4.33]) == "right"
    assert says(9, "cosines", [0.707, 0.981]) == "wrong"
    assert says(3, "mistakes", 10**400) == "form"  # larger than any float
    assert says(9, "cosines", [float("nan"), 0.707]) == says(9, "cosines", 0.707) == "form"


def test_numbers_of_numpy_name_exercises():
    assert sx.exercises.check(np.int64(1), {"slope": 2.0, "share": 0.75})


@pytest.mark.parametrize("nothing", [None, ..., {}, {"slope": ...}])
def test_without_an_answer_the_form_is_said(nothing):
    found = sx.exercises.check(4, nothing)
    assert not found
    assert {said.code for said in found.parts} == {"missing"}
    assert "slope: no answer yet; give a number" in str(found)


def test_what_cannot_be_checked_is_refused_by_name():
    for number in (13, 0, "3", [3], None):
        with pytest.raises(ParameterError, match=rf"number: got {re.escape(repr(number))}.*from 1 to 12"):
            sx.exercises.check(number, {})
    with pytest.raises(ParameterError, match=r"answer: got float.*slope, intercept, boundary"):
        sx.exercises.check(4, 4.5)
    with pytest.raises(ParameterError, match=r"no part 'boundry'.*slope, intercept, boundary"):
        sx.exercises.check(4, {"boundry": 4.5})
