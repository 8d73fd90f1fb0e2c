"""What holds for every page of the lab."""

from pathlib import Path

import pytest

import separatrix.lab
from separatrix.lab.pages import PAGES

STATIC = Path(separatrix.lab.__file__).parent / "static"


@pytest.mark.parametrize("link", [f"#{page.name}" for page in PAGES])
def test_no_page_is_wider_than_a_phone(opened, link):
    page = opened(link, width=390, color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    assert page.locator("h1").count() == 1


def test_the_front_end_is_small_and_loads_nothing_from_elsewhere():
    files = list(STATIC.iterdir())
    assert sum(file.stat().st_size for file in files) <= 150_000
    for file in files:
        addresses = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses
        assert "https://" not in addresses
        assert "innerHTML" not in addresses
