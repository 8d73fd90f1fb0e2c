"""Saved pictures hold what the page compares."""

import pytest

from .waiting import settled

# The pictures of a page, and a text or a part that only the last of them has.
PICTURES = {
    "#classes": (2, 'id="hatch-1"'),
    "#losses": (2, ">25</text>"),
    "#fisher": (3, ">180°</text>"),
}


@pytest.mark.parametrize("link", PICTURES)
def test_the_saved_picture_holds_all_pictures_of_the_page(opened, link):
    page = opened(link)
    settled(page)
    page.click("#act-picture")
    with page.expect_download() as download:
        page.locator(".menu button", has_text="SVG").click()
    content, (number, last) = download.value.path().read_text(), PICTURES[link]
    assert content.count("<svg") == 1 + number
    assert last in content


def test_a_page_without_a_picture_saves_none(opened):
    page = opened("#data")
    page.click("#act-picture")
    page.locator(".menu button", has_text="PNG").click()
    assert page.locator("#notice span").inner_text() == "There is no picture yet that could be saved."


def test_the_names_of_the_axes_hide_no_row(opened):
    """Marks of rows are drawn after the names of the axes."""
    page = opened("#data")
    page.get_by_label("Demo table").select_option("iris")
    page.wait_for_selector("#stage[data-drawn]")
    order = page.evaluate(
        "() => [...document.querySelectorAll('#stage text.label, #stage path.point')].map(one => one.localName)"
    )
    assert order == ["text"] * 2 + ["path"] * 150
