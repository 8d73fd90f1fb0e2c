"""The page Losses: its numbers are those of the losses, and boundaries those of the classifiers."""

from itertools import pairwise

import pytest

import separatrix as sx
from separatrix.teach.lab.page_losses import CLASSES, PLACES

from .waiting import until


def row(page, name):
    cells = page.locator(f"tr[data-loss={name}] td").all_inner_texts()
    return [None if cell == "none" else float(cell.replace("−", "-")) for cell in cells]


def test_pulling_a_point_away_moves_the_boundary_of_least_squares_only(opened):
    page = opened("#losses?l=logistic,squared,hinge&at=0.5")
    page.wait_for_selector("tr[data-loss=hinge]")
    assert row(page, "hinge")[:3] == [0.5, -1.0, None]
    before = {name: row(page, name)[3] for name in ("logistic", "squared")}
    strip = page.locator(".strip svg").bounding_box()
    mark = page.locator(".strip path.point").nth(8).bounding_box()
    x, y = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 7):
        page.mouse.move(x + step * (strip["x"] + 0.95 * strip["width"] - x) / 6, y)
    page.mouse.up()
    until(page, "() => new URLSearchParams(location.hash.split('?')[1]).get('x')?.split(',').at(-1) > 29")
    places = [
        float(one) for one in page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('x')").split(",")
    ]
    assert places[:8] == list(PLACES[:8])
    model = sx.LeastSquaresClassifier().fit([[one] for one in places], CLASSES)
    boundary = -model.intercept_[0] / model.coef_[0, 0]
    cell = "document.querySelector('tr[data-loss=squared] td:last-child')"
    until(page, f"text => {cell}.innerText === text", arg=f"{boundary:.3f}")
    assert boundary > before["squared"] + 0.5
    assert row(page, "logistic")[3] == pytest.approx(before["logistic"], abs=1e-3)


def test_keys_move_the_margin_and_the_points(opened):
    page = opened("#losses?l=hinge&at=0.5")
    page.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowRight")
    until(page, "() => document.querySelector('tr[data-loss=hinge] td')?.innerText === '0.950'")
    assert page.get_attribute("#stage", "aria-valuetext") == "0.05: hinge 0.950"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Shift+ArrowRight")
    until(page, "() => location.hash.endsWith('3.5,9')")
    assert "hinge divides at" in page.get_attribute(".strip svg", "aria-label")


def corners(path):
    """The places of a line that is drawn, in pixels."""
    return [tuple(map(float, place.split(","))) for place in path.get_attribute("d").lstrip("M").split("L")]


@pytest.mark.parametrize(
    ("link", "curve"),
    [("#losses?l=zero-one", "#stage path.boundary"), ("#information", "section:last-of-type .line-2")],
)
def test_a_jump_is_vertical(opened, link, curve):
    """The 0-1 loss, and the sign among the heads of a score: each line is level or upright, and upright at 0."""
    page = opened(link)
    line = corners(page.locator(curve))
    parts = [(a, b) for a, b in pairwise(line) if a != b]
    assert [part for part in parts if part[0][0] != part[1][0] and part[0][1] != part[1][1]] == []
    (upright,) = [part for part in parts if part[0][0] == part[1][0]]
    axis = page.locator(curve).evaluate("line => line.closest('svg').querySelector('path.axis').getAttribute('d')")
    assert upright[0][0] == pytest.approx(float(axis.lstrip("M").split(",")[0]), abs=0.06)
