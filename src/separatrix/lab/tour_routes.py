"""The routes of the tour: a chapter, an item by its number, and a picture, which is drawn when it is asked for."""

from __future__ import annotations

import re
from functools import cache
from threading import Lock

from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from separatrix.lab import tour

# A page of text: no script runs, and pictures come from the server itself.
POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PICTURE = re.compile(r"(V\d+)-(light|dark)\.svg")
# The settings of matplotlib belong to the process, so that pictures are drawn one at a time.
_DRAWING = Lock()


def index(request: HttpRequest) -> Response:
    """The index of all chapters."""
    return RedirectResponse(f"/tour/{tour.INDEX}", 303)


def part(request: HttpRequest) -> Response:
    """A chapter, a picture, or the way to the chapter that has an item. Starlette runs this in a thread."""
    name = request.path_params["name"]
    if name in tour.chapters():
        return HTMLResponse(_page(name), headers={"Content-Security-Policy": POLICY})
    if name in tour.places():
        return RedirectResponse(f"/tour/{tour.places()[name]}", 303)
    if found := _PICTURE.fullmatch(name):
        with _DRAWING:
            drawn = _drawn(found[1], found[2])
        if drawn is not None:
            return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": "private, max-age=3600"})
    return PlainTextResponse("The tour does not have this page.\n", 404)


@cache
def _page(name: str) -> str:
    return tour.page(name)


@cache
def _drawn(name: str, theme: str) -> bytes | None:
    """A picture of the lectures as SVG, or None if there is none of this name."""
    from separatrix.plots.figures import FIGURES
    from separatrix.plots.figures.saving import as_bytes

    if name not in FIGURES:
        return None
    return as_bytes(FIGURES[name].draw(theme=theme), "svg", title=FIGURES[name].sentence)


ROUTES = (Route("/tour", index), Route("/tour/{name}", part))
