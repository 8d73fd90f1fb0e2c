"""The links of the documents open their pages in the browser, with nothing that the lab does not understand."""

from pathlib import Path

import pytest

from docs._ext.lab_links import links
from tests.teach.lab.waiting import until

DOCS = Path(__file__).parents[3] / "docs"
LINKS = sorted({link for path in DOCS.rglob("*.md") for link in links(path.read_text())})
BETWEEN_WRITES = 250  # milliseconds; a little more than in static/main.js
# The page is there and waits for no answer; its address has been written anew, and keeps points and models.
SHOWN = """link => {
  const parts = text => new URLSearchParams(text.split("?")[1]), asked = parts(link), shown = parts(location.hash);
  return location.hash.split("?")[0] === link.split("?")[0] && !shown.has("asked") && shown.get("v") === "1"
    && ["m", "p"].every(key => !asked.has(key) || shown.get(key) === asked.get(key))
    && document.querySelector("main h1") && !document.documentElement.hasAttribute("data-waiting");
}"""


@pytest.mark.slow
def test_every_link_opens_its_page(opened):
    page = opened()
    for link in LINKS:
        # A key that only this test uses shows whether the page has written its address.
        page.evaluate("link => { location.hash = link; }", f"{link}{'&' if '?' in link else '?'}asked=1")
        until(page, SHOWN, link)
        page.wait_for_timeout(BETWEEN_WRITES)  # A page that changes writes its address once more after this time.
        notice = page.locator("#notice span")
        said = notice.inner_text().removesuffix("asked.") if notice.is_visible() else ""
        known = said in ("", "These parts of the link were not used: ")
        assert known or said.startswith("The run is longer"), f"{link}: {said}"
