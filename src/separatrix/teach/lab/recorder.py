"""Pages of the lab without a server: recordings in one file, and widgets in the cells of a notebook.

``sx.lab.record`` asks a page's functions for the answers to all requests that the page can send, and writes them into
one HTML file with the front end. A page declares what is recorded by a function ``recorded(link, options)``, which
returns a ``Plan``. ``sx.lab.widget`` shows pages whose requests the kernel of a notebook answers.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import numpy as np

from separatrix._version import __version__
from separatrix.core.base.arrays import Array
from separatrix.core.base.codec import Plain, plain
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.files import replace_file
from separatrix.core.base.watching import Part, unwatched, watched
from separatrix.output.theme import DARK, LIGHT, Theme
from separatrix.tables.formats.demos import DEMOS
from separatrix.teach.lab.pages import PAGES, Page, PageLink, refused, requests
from separatrix.teach.lab.pages import link as parsed_link
from separatrix.teach.lab.points import PRESETS, of_preset
from separatrix.teach.lab.requests import Call, Payload, answered, encoded
from separatrix.teach.lab.shown_models import offered
from separatrix.teach.lab.uploaded_tables import LARGEST_UPLOAD, TOO_LARGE

if TYPE_CHECKING:
    from separatrix.teach.lab.notebook import LabWidget

# --- Recordings

# How many places there are across and up if nobody has chosen, and the most bytes that the page then has.
PLACES = (43, 28)
LARGEST_PAGE = 1_500_000
# A page that would be larger is recorded again with as many places as would fill this share of it, were it nothing but
# answers. Its script and styles take about 0.1 MB of the rest.
SHARE_OF_ANSWERS = 0.75
# The most places in each direction. With two models, a recording of the page Plane then has about 27 MB.
MOST_PLACES = 200
# Pages that are not recorded, and why.
NEVER = {"data": "what it shows of a table stays on this machine"}


def record(
    link: str,
    path: str | os.PathLike[str],
    *,
    drag: int | None = None,
    places: tuple[int, int] | None = None,
) -> None:
    """Write a page of the lab to one file that needs no server, with recorded answers.

    Parameters
    ----------
    link : str
        A link of the lab, such as "#step?m=perceptron&p=separable", with or without the address before it.
    path : str or path-like
        The HTML file to write or to replace.
    drag : int, optional
        The row of the point that can be dragged on the page; by default the one that the page invites to drag.
    places : tuple of two int, optional
        How many positions the point can be dragged to, across and up; by default 43 and 28, or fewer if the file would
        be larger than 1.5 MB.

    Raises
    ------
    ParameterError
        The link names no page, or has parts that the page does not know; or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import separatrix as sx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sx.lab.record("#step?m=perceptron&p=separable", f"{folder}/step.html")
    ...     Path(f"{folder}/step.html").read_text().startswith("<!doctype html>")
    True
    """
    replace_file(path, recorded_page(link, drag, places).encode())


def recorded_page(link: str, drag: int | None = None, places: tuple[int, int] | None = None) -> str:
    """The HTML of a recording."""
    counts = PLACES if places is None else places
    if not all(isinstance(one, int) and 2 <= one <= MOST_PLACES for one in counts) or len(counts) != 2:
        raise ParameterError("places", f"got {places!r}", f"give two whole numbers from 2 to {MOST_PLACES}")
    asked = parsed_link(link)
    page = _page(asked, Options(drag, counts))
    size = len(page.encode())
    if places is not None or size <= LARGEST_PAGE:
        return page
    kept = math.sqrt(SHARE_OF_ANSWERS * LARGEST_PAGE / size)
    return _page(asked, Options(drag, (int(kept * PLACES[0]), int(kept * PLACES[1]))))


def _page(asked: PageLink, options: Options) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # What a fit has to say is in its certificate, which the page shows.
        plan = _plan(asked, options)
        answers = _answers(asked.page, plan)
    shown = plan.sentence, plan.controls, plan.still, plan.row, plan.grid
    content = plain(Recording(__version__, str(asked), *shown, answers))
    return standalone([page for page in PAGES if page.name == asked.page], "recorded", content)


@dataclass(frozen=True)
class Recording:
    """The data of a recorded page, which ``recorded.js`` reads: parts of its ``Plan``, and the answers by request."""

    version: str
    link: str
    sentence: str
    controls: tuple[str, ...]
    still: tuple[str, ...]
    row: int
    grid: tuple[tuple[float, ...], ...] | None
    answers: Annotated[dict[str, Any], Plain(dict)]


def _plan(asked: PageLink, options: Options) -> Plan:
    """What the page declares to be recorded."""
    if asked.page in NEVER:
        raise refused(f"the page {asked.page} is not recorded: {NEVER[asked.page]}", "give a link to another page")
    declared = getattr(import_module(f"separatrix.teach.lab.page_{asked.page}"), "recorded", None)
    if declared is None:
        raise refused(f"the page {asked.page} cannot be recorded", "give a link to another page")
    try:
        plan: Plan = declared(asked, options)
    except InputError as error:
        if error.argument in ("link", "drag"):
            raise
        raise refused(f"{error.argument}: {error.problem}", error.remedy) from error
    return plan


def _answers(page: str, plan: Plan) -> dict[str, Any]:
    """The recorded answers by the full names of their requests."""
    total, done, found = sum(one.size for one in plan.asked), 0, {}
    for asked in plan.asked:
        frames = _frames(page, asked, plan, done, total)
        if all("error" in frame for frame in frames):
            raise refused("the page has nothing to show", frames[0]["error"].removesuffix("."))
        axes = [{"place": axis.place, "values": axis.values} for axis in asked.axes]
        found[asked.name(page)] = {"axes": axes, "frames": frames}
        done += asked.size
    return found


def _frames(page: str, asked: Asked, plan: Plan, done: int, total: int) -> list[dict[str, Any]]:
    """The answers to all payloads of a request: {"answer": ...} or {"error": ...}."""
    report, frames = watched(), []
    for k, payload in enumerate(asked.payloads(), done + 1):
        if report is not None:
            report(Part("answer", k, total))
        call = Call(0, asked.name(page), payload)
        if asked.size == 1:
            text = answered(call, requests())
        else:
            with unwatched():
                text = answered(call, requests())
        frame = json.loads(text)
        del frame["id"]
        frames.append(_without(frame, plan.dropped))
    return frames


def _without(value: Any, dropped: frozenset[str]) -> Any:
    if isinstance(value, Mapping):
        return {key: _without(one, dropped) for key, one in value.items() if key not in dropped}
    return [_without(one, dropped) for one in value] if isinstance(value, list) else value


# --- Widgets

# The heights that a cell may have, in pixels.
LEAST_HEIGHT, MOST_HEIGHT = 200, 5000


def widget(link: str = "#plane", *, height: int = 900) -> LabWidget:
    """Show the pages of the lab in a cell of a notebook.

    The fits are computed by the kernel of the notebook. It needs the extra ``separatrix[notebook]``.

    Parameters
    ----------
    link : str, default "#plane"
        What to show first: a link of the lab, such as "#step?m=perceptron", with or without the address before it.
    height : int, default 900
        The height of the cell in pixels.

    Returns
    -------
    LabWidget
        The widget. Its ``link`` is the link to what the page shows at present.

    Raises
    ------
    ParameterError
        The link names no page, or anywidget is not installed.

    Examples
    --------
    >>> import separatrix as sx
    >>> widget = sx.lab.widget("#plane?m=lda,logistic&p=overlapping")
    >>> widget.link
    '#plane?m=lda,logistic&p=overlapping'
    """
    asked = parsed_link(link)
    if asked.page in NEVER:
        raise refused(f"the page {asked.page} is not shown in notebooks", "read the table in the notebook itself")
    if not isinstance(height, int) or not LEAST_HEIGHT <= height <= MOST_HEIGHT:
        raise ParameterError("height", f"got {height!r}", f"give a number from {LEAST_HEIGHT} to {MOST_HEIGHT}")
    if find_spec("anywidget") is None:
        raise ParameterError("widget", "it needs anywidget, which is not installed", "install separatrix[notebook]")
    from separatrix.teach.lab.notebook import LabWidget

    return LabWidget(str(asked), height)


# --- Plans

# Keys and indices that lead to a part of a payload: ("X", 20, 0) is x₁ of row 20.
Place: TypeAlias = tuple[str | int, ...]
# The row of a plan in which no point can be moved.
NO_ROW = -1


@dataclass(frozen=True)
class Options:
    """The row that the caller has chosen to be dragged, and the numbers of places across and up."""

    drag: int | None
    places: tuple[int, int]


@dataclass(frozen=True)
class Axis:
    """A part of a payload that changes, and its values."""

    place: Place
    values: tuple[Any, ...]


@dataclass(frozen=True)
class Asked:
    """A request, such as "fit" of the page itself or "plane.start", for all combinations of the values on its axes."""

    request: str
    payload: Payload
    axes: tuple[Axis, ...] = ()

    def name(self, page: str) -> str:
        """The full name of the request.

        >>> Asked("fit", {}).name("plane"), Asked("plane.start", {}).name("basis")
        ('plane.fit', 'plane.start')
        """
        return self.request if "." in self.request else f"{page}.{self.request}"

    @property
    def size(self) -> int:
        """The number of payloads."""
        return int(np.prod([len(axis.values) for axis in self.axes], dtype=np.int64))

    def payloads(self) -> Iterator[Payload]:
        """All payloads; the last axis changes first.

        >>> asked = Asked("show", {"m": 0, "x": [5, 6]}, (Axis(("m",), (1, 2)), Axis(("x", 0), (3,))))
        >>> list(asked.payloads())
        [{'m': 1, 'x': [3, 6]}, {'m': 2, 'x': [3, 6]}]
        """
        for values in product(*(axis.values for axis in self.axes)):
            payload: Any = self.payload
            for axis, value in zip(self.axes, values, strict=True):
                payload = _changed(payload, axis.place, value)
            yield payload


def _changed(value: Any, place: Place, new: Any) -> Any:
    """A copy of nested lists and dictionaries with one part replaced."""
    if not place:
        return new
    copy: Any = dict(value) if isinstance(value, Mapping) else list(value)
    copy[place[0]] = _changed(copy[place[0]], place[1:], new)
    return copy


@dataclass(frozen=True)
class Plan:
    """All requests of a recording, and what a reader of the page can do with it.

    In the recording, a request is answered by the nearest of the recorded ones.

    ``sentence`` says what can be changed. ``controls`` are CSS selectors of the controls that work; all others are
    disabled. ``still`` are parts of the page that react to nothing. Only the point ``row`` can be moved. ``grid``
    are the places that are recorded: the values of x₁ and those of x₂. ``dropped`` are parts of answers that a
    recording does not keep.
    """

    asked: tuple[Asked, ...]
    sentence: str
    controls: tuple[str, ...] = ()
    still: tuple[str, ...] = ()
    row: int = NO_ROW
    grid: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    dropped: frozenset[str] = field(default_factory=frozenset)


def dragged_row(options: Options, default: int, n: int) -> int:
    """The row that can be dragged, checked."""
    row = default if options.drag is None else options.drag
    if n == 0:
        raise ParameterError("link", "it has no points", "give a link to a page with points")
    if not 0 <= row < n:
        raise ParameterError("drag", f"got {row}", f"give the number of a point, from 0 to {n - 1}")
    return row


def grid(
    box: Sequence[float], counts: Sequence[int], including: Sequence[float]
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The places of a grid over a box, of which one must be among them: the values of x₁ and those of x₂.

    >>> grid((0, 4, 0, 2), (5, 3), including=(1, 0.9))
    ((0.0, 1.0, 2.0, 3.0, 4.0), (0.0, 0.9, 2.0))
    """
    left, right, low, high = box
    return spread(left, right, counts[0], including[0]), spread(low, high, counts[1], including[1])


def spread(low: float, high: float, count: int, including: float) -> tuple[float, ...]:
    """Evenly spaced places in hundredths, of which the nearest is replaced by one that must be among them.

    >>> spread(0, 4, 5, including=2.3)
    (0.0, 1.0, 2.3, 3.0, 4.0)
    """
    values: Array = np.round(np.linspace(low, high, count), 2)
    values[np.argmin(np.abs(values - including))] = including
    return tuple(values.tolist())


# --- Pages in one file

# Only this one script and this one style sheet run, and nothing is loaded. Pictures are made in the page. Texts cannot
# become markup, either: where browsers know trusted types, the page may make none.
POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
ICON = "icon.svg"


def standalone(pages: Sequence[Page], module: str, content: Mapping[str, Any]) -> str:
    """The HTML that shows one or more pages and loads nothing.

    ``content`` is what their frame gives to a module of ``embedded/``.
    """
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


# --- The files of the front end

TYPES = {"html": "text/html", "js": "text/javascript", "css": "text/css", "svg": "image/svg+xml"}


@cache
def static_texts() -> Mapping[str, str]:
    """All files of the front end by name, with the style sheet of the themes.

    The server sends them as they are, and pages without a server hold them in one script.

    >>> static_texts()["main.js"].startswith("//"), "theme.css" in static_texts()
    (True, True)
    """
    light, dark = _variables(LIGHT), _variables(DARK)
    style = (
        f":root {{ color-scheme: light dark; {light} }}\n@media (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n"
    )
    return {"theme.css": style, **_texts("static")}


@cache
def embedded_texts() -> Mapping[str, str]:
    """The modules that only pages without a server use.

    >>> sorted(embedded_texts())
    ['framed.js', 'notebook.js', 'recorded.js']
    """
    return _texts("embedded")


def _texts(folder: str) -> dict[str, str]:
    found = files("separatrix.teach.lab").joinpath(folder).iterdir()
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


def _variables(theme: Theme) -> str:
    """The colours of a theme as CSS variables."""
    return " ".join(f"--{role}: {colour};" for role, colour in theme.roles().items())


# --- The front end as one script

_IMPORT = re.compile(r'^import (?:\* as (\w+)|\{ ([\w, ]+) \}) from "\./([\w-]+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)
_OTHER = re.compile(r"^\s*(?:import\b(?!\()|export\b).*", re.MULTILINE)
_DYNAMIC = re.compile(r'\bimport\((?=["`]\./)')
# What would end the script, or change how the browser reads it.
_MARKUP = re.compile(r"</script|<script|<!--", re.IGNORECASE)
_LOAD = 'const $modules = {}, $load = async name => $modules[name.replace("./", "")];'


def bundled(texts: Mapping[str, str], entry: str, also: Iterable[str] = ()) -> str:
    r"""The script that runs the module ``entry``; ``also`` are modules that it imports by a name made at run time.

    A content security policy can allow an inline script by its hash in every browser, but a module that another one
    imports only by its address. So each module becomes a function that returns what the module exports, in an order in
    which imports come first. Forms of import and export that the front end does not use are refused.

    >>> texts = {"a.js": 'import { b } from "./b.js";\nprint(b);', "b.js": "export const b = 1;"}
    >>> print(bundled(texts, "a.js"))
    const $modules = {}, $load = async name => $modules[name.replace("./", "")];
    $modules["b.js"] = await (async () => {
    const b = 1;
    return { b }; })();
    $modules["a.js"] = await (async () => {
    const { b } = $modules["b.js"];
    print(b);
    return {  }; })();
    """
    order: dict[str, None] = {}
    for name in (*also, entry):
        _visit(texts, name, order, ())
    exports = {name: [found[2] for found in _EXPORT.finditer(texts[name])] for name in order}
    for name in order:
        _check(name, texts[name], exports)
    return "\n".join([_LOAD, *(_function(name, texts[name], exports[name]) for name in order)])


def _visit(texts: Mapping[str, str], name: str, order: dict[str, None], above: tuple[str, ...]) -> None:
    """Put a module after those that it imports."""
    if name in above:
        raise ValueError(f"the modules {', '.join(above)} import each other")
    for found in _IMPORT.finditer(texts[name]):
        _visit(texts, found[3], order, (*above, name))
    order[name] = None


def _check(name: str, text: str, exports: Mapping[str, list[str]]) -> None:
    """Refuse what is not understood. These are errors of the front end, not of its user."""
    for found in _OTHER.finditer(_EXPORT.sub("", _IMPORT.sub("", text))):
        raise ValueError(f"{name}: {found[0]!r} is a form of import or export that is not handled")
    if markup := _MARKUP.search(text):
        raise ValueError(f"{name}: {markup[0]!r} cannot stand in an inline script")
    for found in _IMPORT.finditer(text):
        for one in (found[2] or "").replace(" ", "").split(","):
            if one and one not in exports[found[3]]:
                raise ValueError(f"{name}: {found[3]} does not export {one!r}")


def _function(name: str, text: str, exports: list[str]) -> str:
    """A module as a function: ``$modules["dom.js"] = await (async () => { ...; return { h, s }; })();``."""

    def taken(found: re.Match[str]) -> str:
        names = found[1] or f"{{ {found[2]} }}"
        return f'const {names} = $modules["{found[3]}"];'

    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(taken, _DYNAMIC.sub("$load(", text)))
    return f'$modules["{name}"] = await (async () => {{\n{body.rstrip()}\nreturn {{ {", ".join(exports)} }}; }})();'
