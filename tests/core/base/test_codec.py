"""What is declared on a dataclass is written, read and checked as declared."""

import json
import math
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
import pytest

from separatrix.core.base.codec import (
    Kinds,
    Number,
    Plain,
    Reading,
    RecordForm,
    Several,
    Whole,
    Writing,
    array,
    plain,
    read,
)
from separatrix.core.base.errors import ModelFileError, ParameterError


@dataclass(frozen=True)
class Inner:
    x: Annotated[float, Number(0.0, 1.0)]
    word: Literal["left", "right"] = "left"

    def misfit(self, sizes):
        return "" if self.x < 0.9 else "is nearly 1"


@dataclass(frozen=True)
class Outer:
    name: str
    sure: bool
    count: Annotated[int, Plain(int, 1)]
    loss: float
    means: Annotated[np.ndarray, array("K", "d")]
    long: Annotated[tuple[int, ...], Whole()] | None
    each: Annotated[tuple[Inner, ...], Several("K")]
    note: str | None = None
    words: tuple[str, ...] = ()

    def __post_init__(self):
        if not self.name:
            raise ParameterError("name", "it is empty", "give a name")


MEANS = np.array([[1.0, 2.0, 3.0], [-0.0, 1e-300, 0.1]])
SOUND = Outer("é", True, 3, math.inf, MEANS, (1, 1 << 5000), (Inner(0.1), Inner(0.5, "right")), words=("inf", "nan"))


def test_what_is_written_is_read():
    content = json.loads(json.dumps(plain(SOUND)))
    found = read(Outer, content)
    assert found.means.tobytes() == MEANS.tobytes()
    assert (found.name, found.loss, found.long, found.each, found.words) == (
        SOUND.name,
        SOUND.loss,
        SOUND.long,
        SOUND.each,
        SOUND.words,
    )
    assert plain(found) == content
    assert list(content) == ["name", "sure", "count", "loss", "means", "long", "each", "note", "words"]


def test_a_field_that_a_file_lacks_gets_its_default():
    content = plain(SOUND)
    del content["note"], content["words"], content["each"][1]["word"]
    found = read(Outer, content)
    assert (found.note, found.words, found.each[1].word) == (None, (), "left")


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"name": 1}, "its name is 1, not of type str"),
        ({"name": ""}, "its content is refused: name: it is empty; give a name"),
        ({"sure": 1}, "its sure is 1, not of type bool"),
        ({"count": 0}, "its count is 0, below 1"),
        ({"count": True}, "its count is True, not of type int"),
        ({"loss": "much"}, "its loss is 'much', not of type float"),
        ({"means": [[1.0, 2.0], [1.0]]}, "its means has rows of different lengths"),
        ({"means": [[1.0], [2]]}, "its means does not hold numbers of type float alone"),
        ({"means": [[1.0], ["nan"]]}, "its means does not hold numbers of type float alone"),
        ({"means": [1.0]}, "its means is not an array with 2 axes"),
        ({"long": [1, "0xg"]}, "its long holds '0xg', not an integer"),
        ({"long": [True]}, "its long holds True, not an integer"),
        ({"each": {}}, "its each is not a list"),
        ({"each": [{"x": 2.0}]}, r"its each\.0\.x is 2\.0, not between 0\.0 and 1\.0"),
        ({"each": [{"x": 0.1}, {"x": 0.95}]}, r"its each\.1 is nearly 1"),
        ({"each": [{"x": 0.1, "word": "up"}]}, r"its each\.0\.word is unknown: 'up'"),
        ({"each": [{}]}, r"its each\.0 lacks the key x"),
        ({"each": [{"x": 0.1, "y": 1}]}, r"its each\.0 has an unknown key, y"),
        ({"words": ["a", 1]}, r"its words\.1 is 1, not of type str"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(change, part):
    with pytest.raises(ModelFileError, match=part):
        read(Outer, plain(SOUND) | change)


def test_named_axes_have_one_length():
    at = Reading(sizes={"K": 2, "d": 3})
    assert RecordForm(Outer).read(plain(SOUND), at).count == 3
    with pytest.raises(ModelFileError, match="its means has a length of 3, where d is 4"):
        RecordForm(Outer).read(plain(SOUND), at.within(K=2, d=4))
    with pytest.raises(ModelFileError, match="its each has 2 entries, where there must be 3"):
        RecordForm(Outer).read(plain(SOUND) | {"means": [[1.0]] * 3}, at.within(K=3, d=1))


def test_an_object_in_two_places_stays_one():
    kinds = Kinds({"outer": RecordForm(Outer), "inner": RecordForm(Inner)})
    pair = Several(form=kinds)
    written = Writing().plain(pair, [SOUND, SOUND.each[0], SOUND])
    assert written[1] == {"same": "0.each.0"}
    assert written[2] == {"same": "0"}
    first, inner, again = Reading().read(pair, written)
    assert again is first
    assert inner is first.each[0]


def test_an_annotation_that_says_too_little_is_an_error():
    @dataclass(frozen=True)
    class Vague:
        x: Any

    with pytest.raises(TypeError, match="Any has no form: write Annotated"):
        plain(Vague(1))
