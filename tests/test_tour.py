"""Every name in the tour exists: modules and their attributes, test files and their tests."""

import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TOUR = (ROOT / "docs" / "tour.md").read_text()
CODE = sorted(set(re.findall(r"`(separatrix\.[\w.]+)`", TOUR)))
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TOUR)))
ITEMS = [line.split("|")[1].strip() for line in TOUR.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]


def test_the_items_of_this_part_are_all_there():
    asked = ["D1", "D3", "D5", "R1", "R2", "R3", "R5", "R6", "R7", "R8", "R9", "R11", "R12", "L1", "E1"]
    assert set(asked) <= set(ITEMS)
    assert len(ITEMS) == len(set(ITEMS))


@pytest.mark.parametrize("name", CODE)
def test_code_exists(name):
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for attribute in parts[cut:]:
            thing = getattr(thing, attribute)
        return
    raise AssertionError(f"{name} does not exist")


@pytest.mark.parametrize(("path", "name"), TESTS, ids=[f"{p}::{n}" for p, n in TESTS])
def test_test_exists(path, name):
    assert re.search(rf"^def {name}\(", (ROOT / path).read_text(), re.MULTILINE)
