"""python -m benchmarks.lab [NAME ...]: how fast the page Plane of the lab follows a dragged point, for each classifier.

A point among 500 is dragged by real mouse events in Chromium without a window. They are sent on time, whether or not
the browser has handled the last one, as a mouse does; a driver that waits for the browser would send one in each frame.
The delay of a move is the time from its event until the frame is painted that shows the model of that move, or of a
later one. On a shared machine the time on the clock says little by itself, so the load and the CPU time of the server
and of the page are printed as well. The row "nothing" has requests that the server answers at once, and a small mark in
place of the page: no classifier can be drawn faster on the machine. The first line is the time until the first paint of
a page.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from urllib.request import urlopen

from benchmarks.drag import ROWS, table

MOVES, SECONDS_BETWEEN_MOVES = 100, 0.008
# Goals: milliseconds of a move in the median and for 95 of 100, and models a second.
MEDIAN, HIGH, RATE = 20.0, 50.0, 40.0
# Goal for the first paint in milliseconds, and how often the page is opened.
FIRST_PAINT, OPENED = 1000.0, 5
WAIT = 60_000
# The circle around the point that is dragged.
POINT = "circle.selected"

# Notes when moves happen, which move a request has seen, and when the answer to it has been painted.
WATCH = """() => {
    const log = window.log = { moves: [], delays: [], answers: 0, begun: 0, ended: 0 };
    const seen = new Map(), ends = [], painted = new MessageChannel();
    let done = 0;
    const move = "onpointerrawupdate" in window ? "pointerrawupdate" : "pointermove";
    addEventListener(move, event => log.moves.push(event.timeStamp), { capture: true });
    painted.port1.onmessage = () => {
        const until = ends.shift();
        while (done < until) log.delays.push(performance.now() - log.moves[done++]);
        log.ended = performance.now();
    };
    const send = WebSocket.prototype.send;
    WebSocket.prototype.send = function (text) {
        if (!this.watched) this.addEventListener("message", ({ data }) => {
            const until = seen.get(/^{"id":(\\d+)/.exec(data)[1]);
            if (until === undefined) return;
            log.answers++;
            requestAnimationFrame(() => { ends.push(until); painted.port2.postMessage(0); });
        });
        this.watched = true;
        seen.set(/^{"id":(\\d+)/.exec(text)[1], log.moves.length);
        log.begun ||= performance.now();
        return send.call(this, text);
    };
}"""
# Asks the server for nothing whenever the mouse moves, and shows each answer by the width of a mark.
NOTHING = """() => new Promise(ready => {
    const mark = document.createElement("i"), socket = new WebSocket(`ws://${location.host}/socket`);
    let id = 0, flying = false, moved = false;
    const ask = () => {
        [flying, moved] = [true, false];
        socket.send(`{"id":${++id},"request":"","payload":{}}`);
    };
    addEventListener("pointerrawupdate", () => (flying ? moved = true : ask()));
    socket.onmessage = () => {
        flying = false;
        mark.style.width = `${20 + id % 5}px`;
        if (moved) ask();
    };
    mark.style.cssText = "position: fixed; inset: 200px auto auto 200px; width: 20px; height: 20px; background: black";
    document.body.replaceChildren(mark);
    socket.onopen = () => ready();
})"""
CLEAR = "() => Object.assign(window.log, { answers: 0, begun: 0 }).delays.length = 0"


class Drag(NamedTuple):
    """What one drag took: milliseconds of each move, models a second, CPU milliseconds a model of server and page."""

    delays: list[float]
    rate: float
    server: float
    page: float


def cpu_seconds(pid: int) -> float:
    import psutil

    spent = psutil.Process(pid).cpu_times()
    return float(spent.user + spent.system)


def page_seconds(session: Any) -> float:
    """The CPU time of the main thread of the page."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["ThreadTime"])


@contextmanager
def closing_process(server: subprocess.Popen[str]) -> Iterator[None]:
    """End the server in any case, also after an error."""
    try:
        yield
    finally:
        server.terminate()


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def mouse_of(page: Any, port: int) -> Any:
    """A connection that sends events to a page and does not wait for answers."""
    from websockets.sync.client import connect

    with urlopen(f"http://127.0.0.1:{port}/json/list", timeout=WAIT) as answer:
        found = next(one for one in json.load(answer) if one["url"] == page.url)
    return connect(found["webSocketDebuggerUrl"], max_size=None, proxy=None)


def moved(k: int, x: float, y: float) -> str:
    """The message that moves the mouse with its button down."""
    place = {"type": "mouseMoved", "x": x, "y": y, "button": "left", "buttons": 1}
    return json.dumps({"id": k, "method": "Input.dispatchMouseEvent", "params": place})


def drag(page: Any, session: Any, mouse: Any, pid: int, moves: int = MOVES, grip: str = POINT) -> Drag:
    """Drag ``grip``, the first point, around a circle, at the pace of a common mouse."""
    page.wait_for_selector(grip, state="attached", timeout=WAIT)
    box = page.locator(grip).first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.wait_for_timeout(300)
    page.evaluate(CLEAR)
    server, own = cpu_seconds(pid), page_seconds(session)
    begun = time.monotonic()
    for k in range(moves):
        angle = 2 * math.pi * k / moves
        mouse.send(moved(k + 1, x + 60 * math.sin(angle), y + 60 * (math.cos(angle) - 1)))
        time.sleep(max(0.0, begun + (k + 1) * SECONDS_BETWEEN_MOVES - time.monotonic()))
    page.wait_for_timeout(400)
    server, own = cpu_seconds(pid) - server, page_seconds(session) - own
    page.mouse.up()
    log = page.evaluate("window.log")
    seconds, answers = 1e-3 * (log["ended"] - log["begun"]), max(1, log["answers"])
    return Drag(log["delays"], answers / seconds, 1e3 * server / answers, 1e3 * own / answers)


def first_paints(browser: Any, address: str) -> list[float]:
    """Milliseconds until the page is painted for the first time, of several new pages."""
    found = []
    for _ in range(OPENED):
        page = browser.new_page()
        page.goto(address)
        page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
        found.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
        page.close()
    return found


def measured(browser: Any, address: str, port: int, pid: int, link: str, nothing: bool = False) -> Drag:
    """The second drag on a page: during the first one, the browser compiles the scripts."""
    page = browser.new_page(viewport={"width": 1280, "height": 860})
    page.goto(address + link)
    page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable")
    page.evaluate(WATCH)
    if nothing:
        page.evaluate(NOTHING)
    with mouse_of(page, port) as mouse:
        drags = [drag(page, session, mouse, pid, grip="i" if nothing else POINT) for _ in range(2)]
    page.close()
    return drags[-1]


def row(name: str, classes: int | str, found: Drag) -> str:
    median, high = statistics.median(found.delays), statistics.quantiles(found.delays, n=20)[-1]
    missed = [
        word for word, miss in (("median", median > MEDIAN), ("95 %", high > HIGH), ("rate", found.rate < RATE)) if miss
    ]
    spent = f"{median:.1f} | {high:.1f} | {found.rate:.0f} | {found.server:.1f} | {found.page:.1f}"
    return f"| {name} | {classes} | {spent} | {os.getloadavg()[0]:.1f} | {', '.join(missed)} |"


def main(given: list[str] | None = None) -> int:
    from playwright.sync_api import sync_playwright

    from separatrix.classifiers import OFFERED
    from separatrix.teach.lab.points import checked, spelled
    from tests.teach.lab.launching import ARGUMENTS, CHROMIUM, started

    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="classifiers; none: all of them")
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 3], help="numbers of classes (%(default)s)")
    asked = parser.parse_args(given)
    if CHROMIUM is None:
        parser.error("Chromium is not installed; install it to measure the page")
    server, address = started()
    with server, closing_process(server), sync_playwright() as playwright:
        port = free_port()
        arguments = [*ARGUMENTS, f"--remote-debugging-port={port}"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        paint = statistics.median(first_paints(browser, address))
        print(f"First paint after {paint:.0f} ms (goal {FIRST_PAINT:g}).")
        print(f"{ROWS} points, {MOVES} moves, one every {1e3 * SECONDS_BETWEEN_MOVES:g} ms.")
        print(f"Goals: median at most {MEDIAN:g} ms, 95 % at most {HIGH:g} ms, at least {RATE:g} models a second.")
        print("CPU times are milliseconds a model.\n")
        print("| classifier | classes | median ms | 95 % ms | models/s | server CPU | page CPU | load | missed |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|---|", flush=True)
        nothing = measured(browser, address, port, server.pid, "#losses", nothing=True)
        print(row("nothing", "", nothing), flush=True)
        for classes in asked.classes:
            points = spelled(*checked(*table(classes, False)), None)
            for name in asked.names or OFFERED:
                found = measured(browser, address, port, server.pid, f"#plane?m={name}&p={points}")
                print(row(name, classes, found), flush=True)
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
