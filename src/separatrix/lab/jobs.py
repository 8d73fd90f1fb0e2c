"""Computations for a page, each in a thread.

A computation that takes longer than ``SECONDS_BEFORE_REPORT`` reports its progress, and ends at its next report once
the page has asked to stop.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Event

from separatrix.base.watching import Stage, watch
from separatrix.lab.request_registry import Call, Request, answered, encoded, failed

SECONDS_BEFORE_REPORT, SECONDS_BETWEEN_REPORTS = 0.3, 0.2
STOPPED = "The computation was stopped."
BROKEN = "The computation failed because of an error in the program; its log has the details."

_log = logging.getLogger("separatrix.lab")


class Stopped(Exception):
    """The page has asked to stop the computation."""


class Job:
    """A computation, which sends its progress to the page."""

    def __init__(self, call: Call, requests: Mapping[str, Request], tell: Callable[[str], None]) -> None:
        self.call, self.requests, self.tell = call, requests, tell
        self.stopping = Event()
        self.reported = time.monotonic() + SECONDS_BEFORE_REPORT - SECONDS_BETWEEN_REPORTS

    def run(self) -> str:
        """The answer as JSON. Run it in a thread of its own."""
        try:
            with watch(self._watch):
                return answered(self.call, self.requests)
        except Stopped:
            return failed(self.call, STOPPED)
        except Exception:
            _log.exception("The request %s failed.", self.call.request)
            return failed(self.call, BROKEN)

    def _watch(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        if self.stopping.is_set():
            raise Stopped
        now = time.monotonic()
        if now - self.reported > SECONDS_BETWEEN_REPORTS:
            self.reported = now
            outer = within[0] if within else stage
            progress = {"id": self.call.id, "progress": {"share": outer.share, "text": str(stage)}}
            self.tell(encoded(progress))
