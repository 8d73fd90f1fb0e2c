"""The site without its generator: the reference has every public name, all pages can be reached, examples run."""

import importlib
import inspect
import re
import runpy
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import separatrix as sx
from docs._ext.links import Page, complaints

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {path.relative_to(DOCS).with_suffix("").as_posix(): path.read_text() for path in DOCS.rglob("*.md")}
BLOCK = re.compile(r"^```\{(\w[\w-]*)\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
GALLERY = sorted((DOCS / "gallery").glob("*.py"))
MODULES = sorted(name for name in sx.__all__ if inspect.ismodule(getattr(sx, name)))


def _blocks(text, kind):
    return [body for name, body in BLOCK.findall(text) if name == kind]


def _listed():
    """The full names of what the pages of the reference list."""
    for text in PAGES.values():
        for body in _blocks(text, "eval-rst"):
            module = re.search(r"currentmodule:: (\S+)", body)[1]
            yield from (f"{module}.{name}" for name in re.findall(r"^   (\w[\w.]*)$", body, re.MULTILINE))


LISTED = sorted(_listed())


def _offered(module):
    """The classes and functions that a public module has, by ``__all__`` or as its own."""
    names = getattr(module, "__all__", None) or [
        name for name, thing in vars(module).items() if getattr(thing, "__module__", None) == module.__name__
    ]
    things = {name: getattr(module, name) for name in names if not name.startswith("_")}
    return {name for name, thing in things.items() if inspect.isclass(thing) or inspect.isroutine(thing)}


def test_every_public_name_is_in_the_reference():
    plain = {f"separatrix.{name}" for name in sx.__all__ if name not in {*MODULES, "__version__"}}
    assert plain - set(LISTED) == set()


@pytest.mark.parametrize("name", MODULES)
def test_every_name_of_a_public_module_is_in_the_reference(name):
    assert {f"separatrix.{name}.{member}" for member in _offered(getattr(sx, name))} - set(LISTED) == set()


def test_what_the_reference_lists_exists_and_is_listed_once():
    assert len(LISTED) == len(set(LISTED))
    for full in LISTED:
        thing, rest = sx, full.split(".")[1:]
        for k, name in enumerate(rest):
            thing = getattr(thing, name, None) or importlib.import_module(".".join(["separatrix", *rest[: k + 1]]))
        assert thing.__doc__, full


def _contents(page):
    """The pages below a page, as its tables of contents name them."""
    for body in _blocks(PAGES[page], "toctree"):
        for line in body.splitlines():
            if line.strip() and not line.startswith(":"):
                entry = re.sub(r".*<(.*)>$", r"\1", line.strip())
                yield Path(page, "..", entry).as_posix()


def test_every_page_is_in_a_table_of_contents():
    found, waiting = set(), ["index"]
    while waiting:
        page = waiting.pop()
        found.add(page)
        below = {(DOCS / entry).resolve().relative_to(DOCS.resolve()).as_posix() for entry in _contents(page)}
        waiting += [entry for entry in below if not entry.startswith("generated/")]
    assert found == set(PAGES)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_links_between_pages_lead_to_files(page):
    for link in re.findall(r"\]\((?!#|https?:)([^)\s#]+)", re.sub(r"`[^`]*`", "", PAGES[page])):
        target = (DOCS / page).parent / link
        generated = re.search(r"generated/gallery/(\w+)", link)
        if generated:
            target = DOCS / "gallery" / (f"{generated[1]}.py" if generated[1] != "index" else "GALLERY_HEADER.rst")
        assert target.is_file(), f"{page} leads to {link}"


def test_the_gallery_has_eight_examples():
    assert len(GALLERY) >= 8


@pytest.mark.parametrize("script", GALLERY, ids=[script.stem for script in GALLERY])
def test_an_example_of_the_gallery_runs_and_draws(script, monkeypatch, capsys):
    monkeypatch.chdir(script.parent)
    with mpl.rc_context({"backend": "agg"}):
        runpy.run_path(str(script))
        drawn = plt.get_fignums()
        plt.close("all")
    assert drawn
    assert capsys.readouterr().out


def test_bad_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">b</a><a href="c.html">c</a>')
    (tmp_path / "b.html").write_text('<a href="a.html#here">a</a><script src="https://example.org/x.js"></script>')
    assert [line.split()[1:3] for line in complaints(tmp_path)] == [
        ["leads", "to"],
        ["leads", "to"],
        ["loads", "https://example.org/x.js"],
    ]
    assert Page('<img srcset="a.png, b.png 2x">').loads == []
    assert Page('<source srcset="a.png, b.png 2x">').loads == ["a.png", "b.png"]
