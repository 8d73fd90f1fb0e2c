"""A page of the lab in one file, which loads nothing: for recordings, and for the cells of a notebook."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Mapping
from typing import Any

from separatrix.lab.bundle import bundled
from separatrix.lab.compact import packed
from separatrix.lab.front_end import opening, static_texts
from separatrix.lab.pages import PAGES

# Only this one script and this one style sheet run, and nothing is loaded. Pictures are made in the page. Texts cannot
# become markup, either: where browsers know trusted types, the page may make none.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
ICON = "icon.svg"


def standalone(page: str, content: Mapping[str, Any], modules: tuple[str, ...]) -> str:
    """The HTML of one page. ``content`` is what the front end finds in it; ``modules`` are those that read it."""
    texts = static_texts()
    title = next(one.title for one in PAGES if one.name == page)
    known = {**opening(), "pages": [{"name": page, "title": title}]}
    script = f"\n{bundled(texts, 'main.js', (f'{page}.js', *modules))}\n"
    style = f"\n{texts['theme.css']}{texts['style.css']}"
    icon = "data:image/svg+xml;base64," + base64.b64encode(texts[ICON].encode()).decode()
    policy = POLICY.format(script=_digest(script), style=_digest(style))
    body = texts["index.html"].partition("<body>")[2].replace(f'src="{ICON}"', f'src="{icon}"')
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="color-scheme" content="light dark">\n<title>{html.escape(title)} · separatrix lab</title>',
            f'<link rel="icon" href="{icon}">\n<style>{style}</style>',
            f'<script type="text/plain" id="embedded">{packed({**content, "opening": known})}</script>',
            f'<script type="module">{script}</script>\n</head>\n<body>{body.rstrip()}\n',
        ]
    )


def _digest(text: str) -> str:
    """The name of a text in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
