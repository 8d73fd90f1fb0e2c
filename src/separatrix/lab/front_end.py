"""The files of the front end as text, and what it needs to know before its first request.

The server sends them as they are (``app``), and pages without a server hold them in one script (``standalone``).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from separatrix.base.theme import DARK, LIGHT, Theme
from separatrix.lab.models import offered
from separatrix.lab.pages import PAGES
from separatrix.lab.points import of_preset
from separatrix.lab.presets import PRESETS
from separatrix.lab.tables import LARGEST_UPLOAD, TOO_LARGE
from separatrix.table.formats import DEMOS

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@cache
def static_texts() -> Mapping[str, str]:
    """All files of the front end by name, with the style sheet of the themes.

    >>> static_texts()["main.js"].startswith("//"), "theme.css" in static_texts()
    (True, True)
    """
    return {"theme.css": theme_css(), **_texts("static")}


@cache
def embedded_texts() -> Mapping[str, str]:
    """The modules that only pages without a server use.

    >>> sorted(embedded_texts())
    ['framed.js', 'notebook.js', 'recorded.js']
    """
    return _texts("embedded")


def _texts(folder: str) -> dict[str, str]:
    found = files("separatrix.lab").joinpath(folder).iterdir()
    return {file.name: file.read_text("utf-8") for file in found if file.name.rpartition(".")[2] in TYPES}


def opening() -> Mapping[str, Any]:
    """What the front end needs to know before its first request: pages, classifiers with their settings, presets."""
    return {
        "pages": [vars(page) for page in PAGES],
        "models": offered(),
        "presets": [_preset(name) for name in PRESETS],
        "demos": list(DEMOS),
        "upload": {"most": LARGEST_UPLOAD, "words": TOO_LARGE},
    }


def _preset(name: str) -> dict[str, Any]:
    known, (_, y) = PRESETS[name], of_preset(name)
    return {"name": name, "title": known.title, "drag": known.drag, "classes": len(set(y.tolist()))}


def theme_css() -> str:
    """The colours of both themes as CSS variables, from the one theme of plots, reports and pages."""
    light, dark = _variables(LIGHT), _variables(DARK)
    return (
        f":root {{ color-scheme: light dark; {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )


def _variables(theme: Theme) -> str:
    return " ".join(f"--{role}: {colour};" for role, colour in theme.roles().items())
