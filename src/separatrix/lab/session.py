"""The connection of a page. One request of each name is computed at a time; of those that wait, only the latest.

Computations run in threads, so a long one holds up neither another page nor the other requests of its own page.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from separatrix.lab.jobs import STOPPED, Job
from separatrix.lab.request_registry import Call, ProtocolError, Request, Stop, encoded, failed, parsed

_log = logging.getLogger("separatrix.lab")


class Session:
    """The connection of one page."""

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
