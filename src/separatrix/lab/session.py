"""A page's connection: one computation at a time, and of waiting requests of one name only the latest.

Computations run in threads, so a long fit of one page does not hold up another page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from separatrix.lab.jobs import Job
from separatrix.lab.request_registry import Call, ProtocolError, Request, Stop, encoded, parsed

_log = logging.getLogger("separatrix.lab")


class Session:
    """The connection of one page."""

    def __init__(self, socket: WebSocket, requests: Mapping[str, Request]) -> None:
        self.socket, self.requests = socket, requests
        self._waiting: dict[str, Call] = {}
        self._arrived = asyncio.Event()
        self._job: Job | None = None
        self._loop = asyncio.get_running_loop()

    async def run(self) -> None:
        """Serve the page until it leaves."""
        await self.socket.accept()
        worker = asyncio.create_task(self._work())
        try:
            while True:
                await self._receive(await self.socket.receive_text())
        except (WebSocketDisconnect, KeyError):  # A binary message has no text.
            pass
        finally:
            worker.cancel()
            if self._job is not None:
                self._job.stopping.set()

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
            self._stop(message.id)
            return
        before = self._waiting.pop(message.request, None)
        if before is not None:
            await self._send(encoded({"id": before.id, "dropped": True}))
        self._waiting[message.request] = message
        self._arrived.set()

    def _stop(self, number: int) -> None:
        if self._job is not None and self._job.call.id == number:
            self._job.stopping.set()
        self._waiting = {name: call for name, call in self._waiting.items() if call.id != number}

    async def _work(self) -> None:
        while True:
            await self._arrived.wait()
            while self._waiting:
                call = self._waiting.pop(next(iter(self._waiting)))
                self._job = Job(call, self.requests, self.tell)
                text = await run_in_threadpool(self._job.run)
                self._job = None
                await self._send(text)
            self._arrived.clear()
