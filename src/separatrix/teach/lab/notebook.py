"""The pages of the lab in a cell of a notebook, through the package anywidget.

The page is in a frame of its own (``embedded/notebook.js``). Its requests come as messages of the widget and are
answered by the functions that answer the server's pages. The extra ``notebook`` installs anywidget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock, Thread
from typing import Any

import anywidget
import traitlets

from separatrix.teach.lab.pages import PAGES, requests
from separatrix.teach.lab.recorder import NEVER, embedded_texts, standalone
from separatrix.teach.lab.requests import STOPPED, Call, Job, ProtocolError, Request, Stop, encoded, failed, parsed


class Worker:
    """Answers the requests of one view, one at a time, in a thread that ends when nothing is waiting.

    If several requests of one name wait, only the latest is answered. ``tell`` sends a message to the page.
    """

    def __init__(self, known: Mapping[str, Request], tell: Callable[[str], None]) -> None:
        self.known, self.tell = known, tell
        self._waiting: dict[str, Call] = {}
        self._job: Job | None = None
        self._lock, self._running = Lock(), False

    def receive(self, text: str) -> None:
        """Take a message of the page. This returns at once."""
        try:
            message = parsed(text)
        except ProtocolError as error:
            self.tell(encoded({"error": str(error)}))
            return
        with self._lock:
            if isinstance(message, Stop):
                self._stop(message.id)
                return
            before = self._waiting.pop(message.request, None)
            self._waiting[message.request] = message
            begins, self._running = not self._running, True
        if before is not None:
            self.tell(encoded({"id": before.id, "dropped": True}))
        if begins:
            Thread(target=self._work, name="separatrix-lab", daemon=True).start()

    def leave(self) -> None:
        """Drop all requests, since the view is gone."""
        with self._lock:
            self._waiting.clear()
            if self._job is not None:
                self._job.stopping.set()

    def _stop(self, number: int) -> None:
        """End the computation, which then says so, or take back a request that waits."""
        if self._job is not None and self._job.call.id == number:
            self._job.stopping.set()
        for name, call in [*self._waiting.items()]:
            if call.id == number:
                del self._waiting[name]
                self.tell(failed(call, STOPPED))

    def _next(self) -> Job | None:
        with self._lock:
            self._running = bool(self._waiting)
            call = self._waiting.pop(next(iter(self._waiting))) if self._waiting else None
            self._job = None if call is None else Job(call, self.known, self.tell)
            return self._job

    def _work(self) -> None:
        """Answer requests until none waits. After an error, the next request starts a new thread."""
        try:
            while (job := self._next()) is not None:
                self.tell(job.run())
        except BaseException:
            with self._lock:
                self._running = False
            raise


class LabWidget(anywidget.AnyWidget):
    """A page of the lab. ``link`` is the link to what it shows, also after the user has changed it."""

    _esm = embedded_texts()["notebook.js"]
    page = traitlets.Unicode().tag(sync=True)
    link = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    def __init__(self, link: str, height: int) -> None:
        pages = [page for page in PAGES if page.name not in NEVER]
        super().__init__(page=standalone(pages, "framed", {"link": link}), link=link, height=height)
        self._workers: dict[str, Worker] = {}
        self.on_msg(self._receive)

    def _receive(self, _widget: Any, content: Any, _buffers: Any) -> None:
        """A message of one of the views: a request, or null when the view is gone."""
        match content:
            case {"view": str(view), "text": str(text)}:
                if view not in self._workers:
                    self._workers[view] = Worker(requests(), lambda answer: self.send({"view": view, "text": answer}))
                self._workers[view].receive(text)
            case {"view": str(view), "text": None} if view in self._workers:
                self._workers.pop(view).leave()
