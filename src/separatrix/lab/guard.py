"""Who may talk to the lab: requests to this machine's own address, with the token of this launch.

- The Host header must be exactly the address that the server has printed. A web page that points a name of its own to
  127.0.0.1 (DNS rebinding) sends another Host.
- The token is in the address that the server prints. It is exchanged for a cookie, so that it does not stay in the
  address bar. Other sites can link to the lab, but the cookie is not sent with requests that their pages make
  (SameSite=Lax).
- A websocket must have the Origin of the lab, since browsers let any page open a websocket to any host. So must a
  request that sends something.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
    """ASGI middleware that refuses foreign requests and adds the security headers to every response."""

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
