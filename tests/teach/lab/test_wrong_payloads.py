"""Payloads with values of wrong types: every request answers them by a sentence, never by an error in the program."""

import json
import math
import warnings

import pytest

pytest.importorskip("starlette")

from separatrix.teach.lab.pages import requests
from separatrix.teach.lab.requests import BROKEN, Call, Job
from separatrix.teach.lab.uploaded_tables import TABLES

LONG, DEEP = "x" * 100_001, json.loads("[" * 500 + "]" * 500)
WRONG = (
    [],
    [[]],
    [{}],
    DEEP,
    {},
    {"name": []},
    True,
    None,
    -1,
    0.5,
    10**400,
    1e308,
    math.nan,
    math.inf,
    "",
    "1e400",
    "\ud800",
    LONG,
)
MODEL = {"name": "logistic", "settings": {"C": "10", "solver": "auto"}, "base": None}
SCHEME = {"name": "one-versus-rest", "settings": {"C": 1}, "base": "logistic"}
X, Y = [[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [3.0, 1.5]], [0, 0, 1, 1]
POINTS = {"X": X, "y": Y, "preset": "outlier", "box": [-5, 5, -3, 3]}
WEIGHTS = {
    **POINTS,
    "losses": ["logistic", "hinge"],
    "axes": [1, 2],
    "on": 0,
    "method": "newton",
    "eta": 0.5,
    "C": 1.0,
    "w": [0.0, 1.0, 2.0],
    "zoom": 2.0,
    "start": None,
}
TABLE = {"table": "the table", "target": "species", "drop": ["petal length (cm)"], "missing": "error"}
FIT = {**TABLE, "model": MODEL, "standardise": True}
GAUSSIAN = {"kind": "gaussian", "place": "rows", "centres": 4, "width": 1.0, "seed": 0}

# A valid payload of every request.
VALID = {
    "plane.start": {"points": "outlier", "drag": 3},
    "plane.fit": {**POINTS, "models": [MODEL, SCHEME], "focus": 0, "row": 1, "losses": True, "probability": True},
    "step.methods": {},
    "step.run": {
        "points": "separable",
        "model": {"name": "logistic", "settings": {"solver": "sgd", "max_iter": 2}},
        "box": [-5, 5, -3, 3],
        "descent": {"eta": 0.5, "batch_size": 2},
    },
    "weights.start": {"points": "separable", "link": {"ax": "0,2", "w": "1,2,3", "b": "0,1,0,1", "k": "3", "C": "1"}},
    "weights.surfaces": WEIGHTS,
    "weights.at": {
        **WEIGHTS,
        "plane": [-5, 5, -3, 3],
        "drag": {"to": [1.0, 2.0], "about": [0.0, 0.5]},
        "start": [0.0, 1.0, 2.0],
        "ran": 1,
        "k": 3,
    },
    "weights.run": WEIGHTS,
    "losses.names": {},
    "losses.show": {"losses": ["logistic", "hinge"], "m": 0.5, "x": [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 8.0]},
    "fisher.start": {"points": "elongated"},
    "fisher.show": {**POINTS, "degrees": 20, "threshold": "midpoint"},
    "classes.start": {"points": "three"},
    "classes.fit": {**POINTS, "models": [SCHEME, MODEL], "at1": 0.5, "at2": 0.5},
    "basis.show": {**POINTS, "model": {"name": "perceptron", "settings": {}}, "basis": GAUSSIAN, "axes": [0, 1]},
    "information.start": {},
    "information.beliefs": {"p": 0.3, "q": 0.8},
    "information.peaks": {"distance": 4.4, "weight": 0.6, "width": 0.85},
    "information.heads": {"z": 1.0},
    "data.demo": {"name": "iris"},
    "data.columns": TABLE,
    "data.check": TABLE,
    "data.fit": FIT,
    "data.plane": {**FIT, "aspect": 1.5, "view": "columns", "first": "sepal width (cm)", "second": "petal width (cm)"},
    "data.compare": TABLE,
    "data.report": FIT,
    "data.model": FIT,
}


def changed(value):
    """All payloads with one part replaced by a wrong value or left out; of a list, its first entry and the whole."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield {name: other for name, other in value.items() if name != key}
            yield from ({**value, key: wrong} for wrong in (*WRONG, *changed(one)))
    elif isinstance(value, list) and value:
        yield from ([wrong, *value[1:]] for wrong in (*WRONG, *changed(value[0])))


@pytest.fixture(scope="module", autouse=True)
def the_table():
    TABLES.add("demo:iris", "demo:iris", number="the table")
    yield
    TABLES.close()


def answer(name, payload):
    """The answer to a payload as the page gets it: JSON that UTF-8 can encode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # as the server does
        return json.loads(Job(Call(1, name, payload), requests(), lambda text: None).run().encode())


def test_there_is_a_payload_of_every_request():
    assert list(VALID) == list(requests())


@pytest.mark.parametrize("name", VALID)
def test_wrong_values_are_answered_by_a_sentence(name, undrawn):
    assert "answer" in answer(name, VALID[name])
    for payload in changed(VALID[name]):
        assert answer(name, payload).get("error") != BROKEN, payload


@pytest.mark.parametrize("name", ["plane.fit", "classes.fit", "basis.show", "fisher.show"])
@pytest.mark.parametrize("kept", [0, 1, 2, 3])
def test_few_points_are_answered_by_a_sentence(name, kept):
    payload = {**VALID[name], "X": X[:kept], "y": Y[:kept]}
    assert answer(name, payload).get("error") != BROKEN
