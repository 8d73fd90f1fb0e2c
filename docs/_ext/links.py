"""Check the links between the pages of the built site: ``python docs/_ext/links.py site``.

Every link and picture must lead to a file of the site, and every fragment to an element there. Scripts, styles and
pictures must not come from another host, so that the site can be read offline.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes by which a page loads a file, or leads to one.
LOADS = {("script", "src"), ("img", "src"), ("link", "href"), ("object", "data"), ("source", "srcset")}
LEADS = {("a", "href")}
# Relations of <link> that a browser does not load.
IDLE = {"canonical", "search", "index", "next", "prev", "up", "top", "author", "help"}


class Page(HTMLParser):
    """The names that fragments may use, and what the page loads and leads to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.loads: list[str] = []
        self.leads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Collect from one element."""
        given = dict(attrs)
        self.names |= {value for key, value in attrs if value and (key == "id" or (tag, key) == ("a", "name"))}
        for key, value in attrs:
            if value and (tag, key) in LEADS:
                self.leads.append(value)
            elif value and (tag, key) in LOADS and given.get("rel") not in IDLE:
                self.loads += [part.split()[0] for part in value.split(", ")] if key == "srcset" else [value]


@cache
def page(path: Path) -> Page:
    """A page, parsed once."""
    return Page(path.read_text(encoding="utf-8"))


def pages(site: Path) -> list[Path]:
    """The pages of a site; ``_static`` holds the theme's own files."""
    return sorted(path for path in site.rglob("*.html") if "_static" not in path.parts)


def complaints(site: Path) -> Iterator[str]:
    """What is wrong with the links of each page."""
    for path in pages(site):
        for link, loaded in [(link, True) for link in page(path).loads] + [(link, False) for link in page(path).leads]:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if loaded:
                    yield f"{path.relative_to(site)} loads {link} from another host"
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                yield f"{path.relative_to(site)} leads to {link}, and there is no such file"
            elif parts.fragment and target.suffix == ".html" and unquote(parts.fragment) not in page(target).names:
                yield f"{path.relative_to(site)} leads to {link}, and there is no such place"


if __name__ == "__main__":
    found = list(complaints(Path(sys.argv[1])))
    print(*found, f"{len(pages(Path(sys.argv[1])))} pages, {len(found)} bad links", sep="\n")
    sys.exit(bool(found))
