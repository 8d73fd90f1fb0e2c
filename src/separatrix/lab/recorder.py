"""Recordings: a page of the lab in one file, with the answers to all requests that it can send."""

from __future__ import annotations

import json
import math
import os
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from separatrix._version import __version__
from separatrix.base.atomic_files import replace_file
from separatrix.base.errors import InputError, ParameterError
from separatrix.base.watching import Part, unwatched, watched
from separatrix.lab.page_links import Link, refused
from separatrix.lab.page_links import link as parsed_link
from separatrix.lab.pages import PAGES, requests
from separatrix.lab.recordings import Asked, Options, Plan
from separatrix.lab.request_registry import Call, answered
from separatrix.lab.standalone import standalone

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


def _page(asked: Link, options: Options) -> str:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # What a fit has to say is in its certificate, which the page shows.
        plan = _plan(asked, options)
        answers = _answers(asked.page, plan)
    content = {
        "version": __version__,
        "link": str(asked),
        "sentence": plan.sentence,
        "controls": plan.controls,
        "still": plan.still,
        "row": plan.row,
        "grid": plan.grid,
        "answers": answers,
    }
    return standalone([page for page in PAGES if page.name == asked.page], "recorded", content)


def _plan(asked: Link, options: Options) -> Plan:
    """What the page declares to be recorded."""
    if asked.page in NEVER:
        raise refused(f"the page {asked.page} is not recorded: {NEVER[asked.page]}", "give a link to another page")
    declared = getattr(import_module(f"separatrix.lab.requests.{asked.page}"), "recorded", None)
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
