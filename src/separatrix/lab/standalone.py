"""Pages of the lab in one file, which loads nothing: for recordings, and for the cells of a notebook."""

from __future__ import annotations

import base64
import gzip
import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from separatrix.lab.bundle import bundled
from separatrix.lab.front_end import embedded_texts, opening, static_texts
from separatrix.lab.pages import Page
from separatrix.lab.request_registry import encoded

# Only this one script and this one style sheet run, and nothing is loaded. Pictures are made in the page. Texts cannot
# become markup, either: where browsers know trusted types, the page may make none.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
ICON = "icon.svg"


def standalone(pages: Sequence[Page], module: str, content: Mapping[str, Any]) -> str:
    """The HTML that shows one or more pages. ``content`` is what their frame gives to a module of ``embedded/``."""
    texts = {**static_texts(), **embedded_texts()}
    known = {**content, "module": module, "opening": {**opening(), "pages": [vars(page) for page in pages]}}
    modules = (*(f"{page.name}.js" for page in pages), f"{module}.js")
    script = f"\n{bundled(texts, 'main.js', modules)}\n"
    style = f"\n{texts['theme.css']}{texts['style.css']}"
    icon = "data:image/svg+xml;base64," + base64.b64encode(texts[ICON].encode()).decode()
    policy = POLICY.format(script=_digest(script), style=_digest(style))
    body = texts["index.html"].partition("<body>")[2].replace(f'src="{ICON}"', f'src="{icon}"')
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">\n<title>separatrix lab</title>',
            f'<link rel="icon" href="{icon}">\n<style>{style}</style>',
            f'<script type="text/plain" id="embedded">{_packed(known)}</script>',
            f'<script type="module">{script}</script>\n</head>\n<body>{body.rstrip()}\n',
        ]
    )


def _packed(value: Any) -> str:
    """JSON compressed by gzip, in base64. ``static/main.js`` reads it. The same value always gives the same text."""
    return base64.b64encode(gzip.compress(encoded(value).encode(), mtime=0)).decode()


def _digest(text: str) -> str:
    """The name of a text in a content security policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
