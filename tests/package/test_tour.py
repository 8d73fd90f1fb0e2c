"""Every name in the tour exists: modules and their attributes, test files and their tests."""

import importlib
import re
from pathlib import Path

import pytest

import separatrix as sx

ROOT = Path(__file__).parents[2]
TOUR = (ROOT / "docs" / "tour.md").read_text()
CODE = sorted(set(re.findall(r"`(separatrix\.[\w.]+)`", TOUR)))
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", TOUR)))
ITEMS = [line.split("|")[1].strip() for line in TOUR.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]


# How many items the lectures give under each letter. V are the pictures.
LETTERS = {"D": 6, "G": 6, "B": 4, "S": 7, "F": 8, "P": 16, "R": 14, "L": 3, "M": 6, "I": 7, "E": 3, "V": 17}


def test_every_item_of_the_lectures_is_there_once():
    asked = [f"{letter}{k}" for letter, count in LETTERS.items() for k in range(1, count + 1)]
    assert asked == ITEMS


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


def test_the_index_of_items_has_public_names_only():
    """The first part of each name is public, and if that is a module, the second part is a name of its own."""
    rows = [line for line in TOUR.splitlines() if re.match(r"\| [A-Z]\d+ \|", line)]
    for name in sorted(set(re.findall(r"`separatrix\.([\w.]+)`", "".join(rows)))):
        assert name.split(".")[0] in sx.__all__, name


CHAPTERS = {path.stem: path.read_text() for path in sorted((ROOT / "docs" / "tour").glob("*.md"))}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_has_all_items_of_its_letter_in_order(chapter):
    text = CHAPTERS[chapter]
    letter = re.match(r"# ([A-Z]) · ", text)[1]
    assert re.findall(r"^## (\w+) · ", text, re.MULTILINE) == [f"{letter}{k}" for k in range(1, LETTERS[letter] + 1)]
    for part in text.split("\n## ")[1:]:
        assert "```python" in part
        assert "**Try**" in part


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_uses_public_names_only(chapter):
    assert re.findall(r"(?:from|import) separatrix\.\S+", CHAPTERS[chapter]) == []
    figures = re.findall(r"```\{lecture-figure\} (\w+)", CHAPTERS[chapter])
    assert set(figures) <= set(ITEMS)
