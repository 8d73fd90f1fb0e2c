"""The application: one page, its modules and styles, and the websocket of the requests."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from starlette.applications import Starlette
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from separatrix.lab.front_end import TYPES, opening, static_texts
from separatrix.lab.guard import NO_TOKEN, Guard, Launch
from separatrix.lab.pages import requests
from separatrix.lab.request_registry import encoded
from separatrix.lab.session import Session
from separatrix.lab.tour_routes import ROUTES as TOUR
from separatrix.lab.uploads import ROUTES as TABLES

# Bytes of the smallest response that is compressed; a forwarded port may be slow.
SMALLEST_COMPRESSED = 1000


def application(launch: Launch) -> ASGIApp:
    """The guarded application of one launch."""
    content = static_files()

    async def index(request: HttpRequest) -> Response:
        if "token" in request.query_params:
            return _admitted(launch, request)
        if not launch.knows(request.headers):
            return PlainTextResponse(NO_TOKEN, 403)
        return _copied(content["index.html"])

    async def static(request: HttpRequest) -> Response:
        name = request.path_params["name"]
        if name not in content:
            return PlainTextResponse("There is no such file.\n", 404)
        return _copied(content[name]) if name == "index.html" else _unless_known(content[name], request)

    async def start(request: HttpRequest) -> Response:
        return Response(encoded(opening()), media_type="application/json")

    async def socket(socket: WebSocket) -> None:
        await Session(socket, requests()).run()

    routes = [
        Route("/", index),
        Route("/opening.json", start),
        *TABLES,
        *TOUR,
        Route("/{name}", static),
        WebSocketRoute("/socket", socket),
    ]
    return Guard(GZipMiddleware(Starlette(routes=routes), minimum_size=SMALLEST_COMPRESSED), launch)


def _unless_known(file: Response, request: HttpRequest) -> Response:
    """A file that the browser may keep, or the status 304 if it has the same content already."""
    # A browser asks for the icon again whenever the address changes, so it is not even asked about for an hour.
    kept = "max-age=3600" if file.media_type == TYPES["svg"] else "no-cache"
    headers = {"ETag": f'W/"{sha256(file.body).hexdigest()[:32]}"', "Cache-Control": f"private, {kept}"}
    if headers["ETag"] in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return _copied(file, headers)


def _copied(file: Response, headers: Mapping[str, str] | None = None) -> Response:
    """A response of its own, since middleware changes the headers of a response in place."""
    return Response(file.body, headers=headers, media_type=file.media_type)


def _admitted(launch: Launch, request: HttpRequest) -> Response:
    """Exchange the token in the address for a cookie. Browsers keep the part after # when they are redirected."""
    if not launch.accepts(request.query_params["token"]):
        return PlainTextResponse(NO_TOKEN, 403)
    response = RedirectResponse("/", 303)
    response.set_cookie(launch.cookie, launch.token, httponly=True, samesite="lax")
    return response


def static_files() -> Mapping[str, Response]:
    """All files of the front end by name."""
    return {name: Response(text, media_type=TYPES[name.rpartition(".")[2]]) for name, text in static_texts().items()}
