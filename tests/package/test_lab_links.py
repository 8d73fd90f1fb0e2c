"""Every link into the lab names a page, points, models and settings that the lab has."""

from pathlib import Path

import numpy as np
import pytest

import separatrix as sx
from docs._ext.lab_links import address, complaints, links
from separatrix.teach.lab.pages import PAGES

DOCS = Path(__file__).parents[2] / "docs"
PAGES_OF_DOCS = {path.relative_to(DOCS).as_posix(): path.read_text() for path in sorted(DOCS.rglob("*.md"))}
LINKS = [(page, link) for page, text in PAGES_OF_DOCS.items() for link in links(text)]


@pytest.mark.parametrize(("page", "link"), LINKS, ids=[f"{page}:{link[:60]}" for page, link in LINKS])
def test_a_link_names_what_the_lab_has(page, link):
    assert list(complaints(link)) == []


def test_every_role_is_read_and_every_page_of_the_lab_is_linked_to():
    for page, text in PAGES_OF_DOCS.items():
        assert len(links(text)) == text.count("{lab}`"), page
    assert {link.removeprefix("#").partition("?")[0] for _, link in LINKS} == {page.name for page in PAGES}


@pytest.mark.parametrize(
    ("number", "columns"), [(2, [0, 1]), (3, [0, 1]), (6, [0, 1]), (8, [0]), (9, [0, 1])], ids=lambda value: str(value)
)
def test_the_lab_shows_the_points_of_an_exercise(number, columns):
    exercise = sx.exercises.EXERCISES[number]
    X, y = exercise.given()
    text = dict(part.split("=", 1) for part in exercise.lab.partition("?")[2].split("&"))["p"]
    shown, classes = sx.lab.points(text)
    np.testing.assert_array_equal(shown[:, columns], X)
    assert not np.any(np.delete(shown, columns, axis=1))
    np.testing.assert_array_equal(classes, (y > 0).astype(int))


def test_notebooks_link_to_the_same_places():
    for path in (DOCS / "exercises").glob("*.ipynb"):
        exercise = sx.exercises.EXERCISES[int(path.name[:2])]
        assert f"({address(exercise.lab)})" in path.read_text()
