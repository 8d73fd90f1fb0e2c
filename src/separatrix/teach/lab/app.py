"""The server of the lab: the page, its websocket, uploads, the chapters of the tour, and who may talk to it.

Computations run in threads, so a long one holds up neither another page nor the other requests of its own page. The
Markdown of the tour is rendered by markdown-it-py, which is imported when a chapter is asked for.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from http.cookies import CookieError, SimpleCookie
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from separatrix.core.base.errors import SeparatrixError
from separatrix.tables.formats.opening import CalledFile
from separatrix.teach.lab.pages import requests
from separatrix.teach.lab.recorder import TYPES, opening, static_texts
from separatrix.teach.lab.requests import (
    STOPPED,
    Call,
    Job,
    ProtocolError,
    Request,
    Stop,
    encoded,
    error_on_page,
    failed,
    parsed,
)
from separatrix.teach.lab.uploaded_tables import LARGEST_UPLOAD, TABLES, base_name

if TYPE_CHECKING:
    from markdown_it.token import Token

# --- The application

# Bytes of the smallest response that is compressed; a forwarded port may be slow.
SMALLEST_COMPRESSED = 1000


def application(launch: Launch) -> ASGIApp:
    """The guarded application of one launch."""
    content = {name: Response(text, media_type=TYPES[name.rpartition(".")[2]]) for name, text in static_texts().items()}

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
        Route("/tables", upload, methods=["POST"], max_body_size=LARGEST_UPLOAD),
        Route("/made/{number}", made),
        Route("/tour", tour),
        Route("/tour/{name}", tour_part),
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


# --- Who may talk to the lab

# Everything comes from the server itself. Pictures are made in the page, as blobs.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' {socket}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
# Methods that change nothing on the server.
READING = ("GET", "HEAD")
NO_TOKEN = "Open the lab with the whole address that `separatrix lab` has printed: it holds the token of this launch.\n"
WRONG_ORIGIN = "The lab takes files from its own page only.\n"
WRONG_HOST = "The lab answers only to the address that `separatrix lab` has printed.\n"


@dataclass(frozen=True)
class Launch:
    """One launch of the server: its port and its token."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The accepted values of the header Host."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def address(self) -> str:
        """The address to open, with the token."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    @property
    def cookie(self) -> str:
        """The name of the cookie. Cookies are shared by all ports of a host, hence the port in it."""
        return f"separatrix_lab_{self.port}"

    def accepts(self, token: str | None) -> bool:
        """Whether this is the token of the launch, compared in constant time."""
        return token is not None and hmac.compare_digest(token.encode(), self.token.encode())

    def knows(self, headers: Headers) -> bool:
        """Whether a request carries the cookie of this launch."""
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            return False
        return self.accepts(cookies[self.cookie].value if self.cookie in cookies else None)


class Guard:
    """ASGI middleware that refuses foreign requests and adds the security headers to every response.

    - The Host header must be exactly the address that the server has printed. A web page that points a name of its own
      to 127.0.0.1 (DNS rebinding) sends another Host.
    - The token is in the address that the server prints. It is exchanged for a cookie, so that it does not stay in the
      address bar. Other sites can link to the lab, but the cookie is not sent with requests that their pages make
      (SameSite=Lax).
    - A websocket must have the Origin of the lab, since browsers let any page open a websocket to any host. So must a
      request that sends something.
    """

    def __init__(self, app: ASGIApp, launch: Launch) -> None:
        self.app, self.launch = app, launch
        self.policy = POLICY.format(socket=" ".join(f"ws://{host}" for host in launch.hosts))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", self.policy)
            await send(message)

        headers = Headers(scope=scope)
        if headers.getlist("host") not in [[host] for host in self.launch.hosts]:
            await PlainTextResponse(WRONG_HOST, 421)(scope, receive, with_headers)
        elif scope["path"] != "/" and not self.launch.knows(headers):
            await PlainTextResponse(NO_TOKEN, 403)(scope, receive, with_headers)
        elif scope["method"] not in READING and not _own_origin(headers):
            await PlainTextResponse(WRONG_ORIGIN, 403)(scope, receive, with_headers)
        else:
            await self.app(scope, receive, with_headers)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        ours = headers.getlist("host") in [[host] for host in self.launch.hosts] and _own_origin(headers)
        if ours and self.launch.knows(headers):
            await self.app(scope, receive, send)
        else:  # Closing before accepting is answered with the status 403.
            await send({"type": "websocket.close", "code": 1008})


def _own_origin(headers: Headers) -> bool:
    """Whether the page that sends this request comes from the host that it is sent to."""
    return headers.getlist("origin") == [f"http://{headers.get('host')}"]


# --- The connection of a page

_log = logging.getLogger("separatrix.teach.lab")


class Session:
    """The connection of one page.

    One request of each name is computed at a time. Of those that wait, only the latest is.
    """

    def __init__(self, socket: WebSocket, requests: Mapping[str, Request]) -> None:
        self.socket, self.requests = socket, requests
        self._waiting: dict[str, Call] = {}
        self._jobs: dict[str, Job] = {}
        self._workers: dict[str, asyncio.Task[None]] = {}
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Serve the page until it leaves."""
        await self.socket.accept()
        try:
            while True:
                await self._receive(await self.socket.receive_text())
        except (WebSocketDisconnect, KeyError):  # A binary message has no text.
            pass
        finally:
            for worker in self._workers.values():
                worker.cancel()
            for job in self._jobs.values():
                job.stopping.set()

    def tell(self, text: str) -> None:
        """Send a message from a thread."""
        self._loop.call_soon_threadsafe(lambda: asyncio.ensure_future(self._send(text)))

    async def _send(self, text: str) -> None:
        try:
            await self.socket.send_text(text)
        except (WebSocketDisconnect, RuntimeError):
            _log.debug("The page has left before its answer.")

    async def _receive(self, text: str) -> None:
        try:
            message = parsed(text)
        except ProtocolError as error:
            await self._send(encoded({"error": str(error)}))
            return
        if isinstance(message, Stop):
            await self._stop(message.id)
            return
        name = message.request if message.request in self.requests else ""  # unknown names share a worker
        before = self._waiting.pop(name, None)
        if before is not None:
            await self._send(encoded({"id": before.id, "dropped": True}))
        self._waiting[name] = message
        if name not in self._workers:
            self._workers[name] = asyncio.create_task(self._work(name))

    async def _stop(self, number: int) -> None:
        """End a computation, which then says so, or take back a request that waits."""
        for job in self._jobs.values():
            if job.call.id == number:
                job.stopping.set()
        for name, call in [*self._waiting.items()]:
            if call.id == number:
                del self._waiting[name]
                await self._send(failed(call, STOPPED))

    async def _work(self, name: str) -> None:
        """Answer the requests of one name until none waits. After an error, the next request starts a new worker."""
        try:
            while name in self._waiting:
                job = self._jobs[name] = Job(self._waiting.pop(name), self.requests, self.tell)
                text = await run_in_threadpool(job.run)
                del self._jobs[name]
                await self._send(text)
        finally:
            del self._workers[name]


# --- Files

# A file's name is shown on the page. File systems allow 255 bytes.
LONGEST_FILE_NAME = 255


async def upload(request: HttpRequest) -> Response:
    """Store the body as a table. The name is text for people; only its extension says how the file is read."""
    name = request.query_params.get("name", "")[-LONGEST_FILE_NAME:]
    try:
        number, path = TABLES.uploaded(name)
    except SeparatrixError as error:
        return _told({"error": error_on_page(error)})
    try:
        await _stored(request, path)
    except BaseException:  # The upload is too large, or was interrupted.
        path.unlink(missing_ok=True)
        raise
    shown = base_name(name)
    return _told({"id": TABLES.add(shown, CalledFile(str(path), shown), number=number).id})


def _told(answer: dict[str, str]) -> Response:
    return Response(encoded(answer), media_type="application/json")


async def _stored(request: HttpRequest, path: Path) -> None:
    """Write the body to a new file that only this user can read."""
    path.touch(mode=0o600, exist_ok=False)
    with path.open("wb") as file:
        async for piece in request.stream():
            file.write(piece)


async def made(request: HttpRequest) -> Response:
    """A file that was made: a model to download, or a report to open."""
    found = TABLES.made(request.path_params["number"])
    if found is None:
        return PlainTextResponse("The server no longer has this file. Make it again.\n", 404)
    return Response(found.content, media_type=found.type, headers=found.headers)


# --- The tour

# The page with the index of all chapters.
INDEX = "tour"
LAB_ROLE = re.compile(r"\{lab\}`(?P<words>[^<`]+) <(?P<link>#[^>`]*)>`")
_ITEM = re.compile(r"^## (\w\d+) · |^```\{lecture-figure\} (V\d+)", re.MULTILINE)
_CHAPTER = re.compile(r"^(?:\.\./)?(?:tour/)?([\w-]+)\.md(#.*)?$")
_NAMED = re.compile(r"^([A-Z]\d+)(?= · )")


def folder() -> Traversable:
    """The folder with tour.md and the chapters: "documents" in an installed package, "docs" in a clone."""
    package = files("separatrix.teach.lab")
    installed = package.joinpath("documents")
    return installed if installed.is_dir() else Path(str(package)).parents[3] / "docs"


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


@cache
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

    - A directive ``lecture-figure V6`` becomes the picture, which the server draws when a browser asks for it.
    - A role ``lab`` becomes a link into the running lab.
    - A link to another chapter stays a link. Pages of the site that are not part of the tour become text.
    - Every item and every picture has an anchor of its name, such as R3 or V6, beside the anchors of headings.

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
    from separatrix.teach.figures import FIGURES

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


# A page of text: no script runs, and pictures come from the server itself.
TOUR_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PICTURE = re.compile(r"(V\d+)-(light|dark)\.svg")
# The settings of matplotlib belong to the process, so that pictures are drawn one at a time.
_DRAWING = Lock()


def tour(request: HttpRequest) -> Response:
    """The index of all chapters."""
    return RedirectResponse(f"/tour/{INDEX}", 303)


def tour_part(request: HttpRequest) -> Response:
    """A chapter, a picture, or the way to the chapter that has an item. Starlette runs this in a thread."""
    name = request.path_params["name"]
    if name in chapters():
        return HTMLResponse(page(name), headers={"Content-Security-Policy": TOUR_POLICY})
    if name in places():
        return RedirectResponse(f"/tour/{places()[name]}", 303)
    if found := _PICTURE.fullmatch(name):
        with _DRAWING:
            drawn = _drawn(found[1], found[2])
        if drawn is not None:
            return Response(drawn, media_type="image/svg+xml", headers={"Cache-Control": "private, max-age=3600"})
    return PlainTextResponse("The tour does not have this page.\n", 404)


@cache
def _drawn(name: str, theme: str) -> bytes | None:
    """A picture of the lectures as SVG, or None if there is none of this name."""
    from separatrix.teach.figures import FIGURES
    from separatrix.teach.figures.canvas import as_bytes

    if name not in FIGURES:
        return None
    return as_bytes(FIGURES[name].draw(theme=theme), "svg", title=FIGURES[name].sentence)
