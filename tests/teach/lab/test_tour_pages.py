"""The chapters of the tour, served by the lab itself."""

import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import urlsplit

import pytest

import separatrix as sx
from separatrix.teach.figures import FIGURES
from separatrix.teach.lab import app
from separatrix.teach.lab.pages import PAGES

from .test_accessibility import axe
from .test_frame import got

ROOT = Path(__file__).parents[3]
CHAPTERS = list(app.chapters())


class Read(HTMLParser):
    """The anchors of a page, the addresses of its links, what it loads, and the names of its elements."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.names = [], [], [], set()
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.names.add(tag)
        if "id" in given:
            self.anchors.append(given["id"])
        if tag == "a":
            self.links.append(given["href"])
        self.loaded += [given[key] for key in ("src", "srcset") if key in given]
        if tag == "link":
            self.loaded.append(given["href"])


def answered(address, path):
    """The page at a path, and the fragment to which the server leads."""
    status, headers, content = got(address, path.partition("#")[0])
    if status == 303:
        return answered(address, headers["location"])
    assert status == 200, path
    return content.decode(), path.partition("#")[2]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_page_of_the_lab_links_to_its_items(opened, address, page):
    shown = opened(f"#{page.name}")
    links = shown.locator(".tour a").evaluate_all("all => all.map(one => [one.pathname, one.target, one.rel])")
    assert links
    for path, target, rel in links:
        assert (target, rel) == ("_blank", "noopener")
        text, fragment = answered(address, path)
        assert fragment == path.removeprefix("/tour/")
        assert fragment in Read(text).anchors


@pytest.mark.parametrize("name", CHAPTERS)
def test_every_link_of_a_chapter_leads_to_an_anchor_or_into_the_lab(name):
    read = Read(app.page(name))
    assert len(set(read.anchors)) == len(read.anchors)
    assert not read.names & {"script", "style", "iframe", "object", "form"}
    for link in read.links:
        path, _, fragment = link.partition("#")
        if path == "/" and fragment:
            assert fragment.partition("?")[0] in {page.name for page in PAGES}
        elif path.startswith("/tour/"):
            other = Read(app.page(path.removeprefix("/tour/")))
            assert not fragment or fragment in other.anchors, link
        else:
            assert link == "/" or fragment in read.anchors, link
    for one in read.loaded:
        assert re.fullmatch(r"/(icon\.svg|(theme|style|tour)\.css|tour/V\d+-(light|dark)\.svg)", one)


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_has_its_items_pictures_and_links_and_no_markup_of_the_site(name):
    source, made = app.chapters()[name], app.rendered(app.chapters()[name])
    assert source.count("{lab}`") == made.count('<a href="/#')
    assert {*re.findall(r"\{lecture-figure\} (V\d+)", source)} == {*re.findall(r'<figure id="(V\d+)"', made)}
    text = re.sub(r"<[^>]*>", "", made)
    assert not re.search(r"\{[a-z-]+\}`|```|:hidden:|\]\(", text)
    for item in re.findall(r"^## (\w\d+) · ", source, re.MULTILINE):
        assert f'<a id="{item}" href="#{item}">{item}</a>' in made


def test_every_picture_of_the_lectures_has_a_place():
    assert {*FIGURES} <= {*app.places()}


def test_the_tour_is_guarded_and_runs_no_script(address):
    status, headers, _ = got(address, "/tour/fisher")
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert "script-src" not in headers["content-security-policy"]
    assert "default-src 'none'" in headers["content-security-policy"]
    assert got(address, "/tour")[1]["location"] == "/tour/tour"
    for path in ("/tour/fisher", "/tour/V7", "/tour/V7-light.svg"):
        assert got(address, path, Cookie="")[0] == 403
    for path in ("/tour/nothing", "/tour/V99", "/tour/V99-light.svg", "/tour/..%2Ffisher"):
        assert got(address, path)[0] == 404


def test_a_chapter_is_read_and_leads_back_into_the_lab(opened):
    page = opened("#fisher")
    asked = []
    page.context.on("request", lambda request: asked.append(request.url))
    with page.context.expect_page() as opening:
        page.click(".tour a")
    chapter = opening.value
    chapter.wait_for_load_state("networkidle")
    assert chapter.url.endswith("/tour/fisher#V7")
    assert chapter.evaluate("[...document.images].every(one => one.complete && one.naturalWidth)")
    assert chapter.evaluate("document.documentElement.scrollWidth <= innerWidth")
    chapter.click("a:text('long classes')")
    chapter.wait_for_selector("html[data-ready]", state="attached")
    assert chapter.evaluate("location.hash").startswith("#fisher?")
    assert {urlsplit(url).hostname for url in asked} == {"127.0.0.1"}


@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_a_chapter_and_nothing_is_wider_than_the_screen(opened, address, width):
    page = opened("#plane", width=width, bypass_csp=True, color_scheme="dark" if width == 390 else "light")
    for name in ("tour", "geometry"):
        page.goto(f"{address.partition('?')[0]}tour/{name}")
        found = axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_recording_names_the_items_without_links(browser, tmp_path):
    """It has no server that could show them."""
    sx.lab.record("#step?m=perceptron&p=separable", tmp_path / "page.html")
    with browser.new_context() as context:
        page = context.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        page.wait_for_selector(".tour")
        assert page.locator(".tour").inner_text() == "V1 and V2 in the tour"
        assert page.locator(".tour a").count() == 0


def test_the_server_starts_without_what_only_the_tour_needs():
    code = "import separatrix.teach.lab.app, sys; print({'markdown_it', 'matplotlib'} & {*sys.modules})"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


def test_a_wheel_has_the_chapters(tmp_path, monkeypatch):
    """Copied as the wheel has them, the chapters are found without the folder docs."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    for source, place in settings["force-include"].items():
        copy = tmp_path / Path(place).relative_to("separatrix/teach/lab")
        copy.parent.mkdir(parents=True, exist_ok=True)
        files = sorted((ROOT / source).glob("*")) if (ROOT / source).is_dir() else [ROOT / source]
        for file in files:
            target = copy / file.name if (ROOT / source).is_dir() else copy
            target.parent.mkdir(exist_ok=True)
            target.write_bytes(file.read_bytes())
    monkeypatch.setattr(app, "files", lambda package: tmp_path)
    assert app.folder() == tmp_path / "documents"
    assert app.chapters.__wrapped__() == app.chapters()
