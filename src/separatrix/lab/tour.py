"""The chapters of the tour (docs/tour.md and docs/tour/) as plain HTML pages of the lab.

Installed packages have the chapters in the folder ``documents``; in a clone of the repository they are in ``docs``.
Their Markdown is rendered by markdown-it-py, which is imported when a page is asked for.

- A directive ``lecture-figure V6`` becomes the picture, which the server draws when a browser asks for it.
- A role ``lab`` becomes a link into the running lab.
- A link to another chapter stays a link. Pages of the site that are not part of the tour become text.
- Every item and every picture has an anchor of its name, such as R3 or V6, beside the anchors of headings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it.token import Token

# The page with the index of all chapters.
INDEX = "tour"
LAB_ROLE = re.compile(r"\{lab\}`(?P<words>[^<`]+) <(?P<link>#[^>`]*)>`")
_ITEM = re.compile(r"^## (\w\d+) · |^```\{lecture-figure\} (V\d+)", re.MULTILINE)
_CHAPTER = re.compile(r"^(?:\.\./)?(?:tour/)?([\w-]+)\.md(#.*)?$")
_NAMED = re.compile(r"^([A-Z]\d+)(?= · )")


def folder() -> Traversable:
    """The folder with tour.md and the folder of chapters."""
    package = files("separatrix.lab")
    installed = package.joinpath("documents")
    return installed if installed.is_dir() else Path(str(package)).parents[2] / "docs"


@cache
def chapters() -> Mapping[str, str]:
    """The Markdown of all chapters by name, in the order of the index, which comes first.

    >>> list(chapters())[:3], chapters()["fisher"].splitlines()[0]
    (['tour', 'deciding', 'geometry'], "# F · Fisher's discriminant")
    """
    place = folder()
    if not (index := place.joinpath(f"{INDEX}.md")).is_file():
        return {}
    text = index.read_text("utf-8")
    names = dict.fromkeys(re.findall(r"\(tour/([\w-]+)\.md\)", text))
    return {INDEX: text} | {name: place.joinpath("tour", f"{name}.md").read_text("utf-8") for name in names}


@cache
def places() -> Mapping[str, str]:
    """The address of each item and each picture below /tour/; a picture is where it is shown first.

    >>> places()["R3"], places()["V6"]
    ('logistic#R3', 'least-squares#V6')
    """
    found: dict[str, str] = {}
    for chapter, text in chapters().items():
        for item in _ITEM.finditer(text):
            name = item[1] or item[2]
            found.setdefault(name, f"{chapter}#{name}")
    return found


def title(name: str) -> str:
    """The heading of a chapter.

    >>> title("fisher")
    "F · Fisher's discriminant"
    """
    return chapters()[name].partition("\n")[0].removeprefix("# ")


def page(name: str) -> str:
    """The HTML page of a chapter."""
    others = "".join(
        f"<li>{escape(title(one))}</li>" if one == name else f'<li><a href="/tour/{one}">{escape(title(one))}</a></li>'
        for one in chapters()
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f"<title>{escape(title(name))} · separatrix lab</title>\n"
        '<link rel="icon" href="/icon.svg">\n<link rel="stylesheet" href="/theme.css">\n'
        '<link rel="stylesheet" href="/style.css">\n<link rel="stylesheet" href="/tour.css">\n</head>\n<body>\n'
        '<a class="skip" href="#text">Skip to the text</a>\n'
        '<header><a class="mark" href="/"><img src="/icon.svg" alt="" width="22" height="22">separatrix '
        "<span>lab</span></a></header>\n"
        f'<main class="tour-page">\n<article id="text">\n{rendered(chapters()[name])}</article>\n'
        f'<nav aria-label="Chapters"><h2>The tour</h2><ul>{others}</ul></nav>\n</main>\n</body>\n</html>\n'
    )


def rendered(text: str) -> str:
    r"""The HTML of a chapter's Markdown.

    >>> print(rendered("## R3 · Costs\n\n**Try** {lab}`XOR <#plane?p=xor&m=lda>` and [3](../exercises/index.md)."))
    <h2 id="r3--costs"><a id="R3" href="#R3">R3</a> · Costs</h2>
    <p><strong>Try</strong> <a href="/#plane?p=xor&amp;m=lda">XOR</a> and 3.</p>
    """
    from markdown_it import MarkdownIt

    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = markdown.parse(LAB_ROLE.sub(r"[\g<words>](</\g<link>>)", text))
    shown: set[str] = set()
    for k, token in enumerate(tokens):
        if token.type == "heading_open":
            token.attrSet("id", anchor(tokens[k + 1].content))
        elif token.type == "fence":
            _fence(token, shown)
        elif token.type == "inline":
            token.children = list(_inline(token.children or [], tokens[k - 1].type == "heading_open"))
    return str(markdown.renderer.render(tokens, markdown.options, {}))


def anchor(heading: str) -> str:
    """The anchor of a heading, as the host of the repository and the site make it.

    >>> anchor("D4 · Other thresholds"), anchor("L3 · `E(w)`, a surface")
    ('d4--other-thresholds', 'l3--ew-a-surface')
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _fence(token: Token, shown: set[str]) -> None:
    """Code stays, without the blank line that ends a doctest. A picture is shown, and other directives are not."""
    name, _, argument = token.info.partition(" ")
    if not name.startswith("{"):
        token.content = token.content.rstrip() + "\n"
        return
    token.type, token.content = "html_block", ""
    if name == "{lecture-figure}":
        token.content = _picture(argument, named=argument not in shown)
        shown.add(argument)


def _picture(name: str, named: bool) -> str:
    from separatrix.plots.figures import FIGURES

    own = f' id="{name}"' if named else ""
    return (
        f'<figure{own}><picture><source srcset="/tour/{name}-dark.svg" media="(prefers-color-scheme: dark)">'
        f'<img src="/tour/{name}-light.svg" alt="{escape(FIGURES[name].sentence)}"></picture></figure>\n'
    )


def _inline(children: Sequence[Token], heading: bool) -> Iterator[Token]:
    """Links to chapters get the address that they have here; of other links only the text stays."""
    kept: list[bool] = []
    for k, token in enumerate(children):
        if token.type == "link_open":
            kept.append(_address(token))
        if token.type in ("link_open", "link_close"):
            stays = kept[-1] if token.type == "link_open" else kept.pop()
            if stays:
                yield token
        elif heading and k == 0 and (item := _NAMED.match(token.content)):
            yield _named(token, item[1])
            token.content = token.content[item.end() :]
            yield token
        else:
            yield token


def _address(link: Token) -> bool:
    """Change the address of a link to the one in the lab. False if there is none."""
    address = str(link.attrGet("href"))
    if address.startswith("/#"):
        return True
    found = _CHAPTER.match(address)
    if found is None or found[1] not in chapters():
        return False
    link.attrSet("href", f"/tour/{found[1]}{found[2] or ''}")
    return True


def _named(token: Token, name: str) -> Token:
    """The number of an item as a link to itself."""
    made = token.copy()
    made.type, made.content = "html_inline", f'<a id="{name}" href="#{name}">{name}</a>'
    return made
