"""A display as SVG for the page. Text stays text, colours become CSS variables, and ids are unique on the page.

matplotlib writes the SVG. It is parsed as XML and rewritten, so that names from the data cannot be mistaken for markup.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

import matplotlib as mpl
from matplotlib.figure import Figure

from separatrix.base.theme import LIGHT
from separatrix.plots import Display, style
from separatrix.plots.display import BROAD
from separatrix.reports.page import FIGURE, text

SETTINGS: dict[Any, Any] = {"svg.fonttype": "none", "svg.hashsalt": "separatrix", "path.simplify": True}
METADATA_LEFT_OUT = ("Date", "Creator", "Format", "Type")
# Coordinates are cut to two decimals: a hundredth of 1/72 inch is invisible.
LONG_DECIMALS = re.compile(r"(\d\.\d\d)\d+")
# The most characters of a text alternative.
LONGEST_ALTERNATIVE = 1500
REFERENCE = re.compile(r"url\(#([^)]+)\)")
VARIABLES = {colour: f"var(--{name})" for name, colour in LIGHT.roles().items()}
COLOUR = re.compile("|".join(VARIABLES), re.IGNORECASE)


def figure(display: Display, name: str, caption: str) -> str:
    """The display as a figure with a caption, and its numbers in words. ``name`` must be unique on the page.

    >>> import numpy as np
    >>> from separatrix.plots import ConfusionDisplay
    >>> html = figure(ConfusionDisplay(np.array([[2, 1], [0, 3]]), np.array(["a & b", "c"])), "f1", "Counts.")
    >>> "a &amp; b" in html, "var(--class-0)" in html, "http" in html
    (True, True, False)
    """
    kind = "broad" if display.size[0] >= BROAD else "narrow"
    return FIGURE.substitute(kind=kind, svg=svg(display, name), caption=text(caption))


def svg(display: Display, name: str) -> str:
    """The display as an SVG element, whose text alternative is made of the numbers of the display."""
    with style("light"), mpl.rc_context(SETTINGS), warnings.catch_warnings():
        # The browser draws the text with its own fonts, so glyphs missing from matplotlib's font do not matter.
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        drawn = Figure(figsize=display.size, layout="constrained")
        display.plot(drawn.subplots())
        out = io.StringIO()
        drawn.savefig(out, format="svg", transparent=True, metadata=dict.fromkeys(METADATA_LEFT_OUT))
    root = ElementTree.fromstring(out.getvalue())
    _rewrite(root, name)
    for key in ("width", "height", "version"):
        root.attrib.pop(key, None)
    root.set("role", "img")
    root.set("aria-label", _printable(display.alternative))
    return ElementTree.tostring(root, encoding="unicode")


def _printable(told: str) -> str:
    """Text that XML allows, and not without end."""
    shown = "".join(c if c.isprintable() else " " for c in told[: LONGEST_ALTERNATIVE + 1])
    return shown if len(shown) <= LONGEST_ALTERNATIVE else shown[:LONGEST_ALTERNATIVE] + "…"


def _rewrite(root: ElementTree.Element, name: str) -> None:
    """Remove metadata, styles, namespaces, unused ids and white space, and make ids unique, in place."""
    for parent in root.iter():
        for child in list(parent):
            if child.tag.rpartition("}")[2] in ("metadata", "style"):
                parent.remove(child)
    used = _referred(root)
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        element.attrib = _attributes(element, name, used)
        if element.tag != "text" and not (element.text or "").strip():
            element.text = None
        element.tail = None


def _attributes(element: ElementTree.Element, name: str, used: set[str]) -> dict[str, str]:
    """The attributes without namespaces and without unused ids."""
    kept = {key: value for key, value in element.attrib.items() if key != "id" or value in used}
    bare = {key.rpartition("}")[2]: value for key, value in kept.items()}
    return {key: _value(key, value, name) for key, value in bare.items()}


def _referred(root: ElementTree.Element) -> set[str]:
    """The ids that some element refers to."""
    ids = set[str]()
    for element in root.iter():
        for key, value in element.attrib.items():
            if key.endswith("href"):
                ids.add(value.removeprefix("#"))
            ids.update(REFERENCE.findall(value))
    return ids


def _value(key: str, value: str, name: str) -> str:
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value.removeprefix('#')}"
    if key in ("d", "x", "y", "points"):
        return " ".join(LONG_DECIMALS.sub(r"\1", value).split())
    value = REFERENCE.sub(rf"url(#{name}-\1)", value)
    if key == "style":
        value = COLOUR.sub(lambda match: VARIABLES[match.group().lower()], value)
        kept = [part.strip() for part in value.split(";") if not part.strip().startswith("font-family")]
        return "; ".join(kept)
    return value
