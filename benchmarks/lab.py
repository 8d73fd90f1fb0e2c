"""python -m benchmarks.lab [NAME ...]: how fast the page Plane of the lab follows a dragged point, for each classifier.

A point among 500 is dragged by real mouse events in Chromium without a window. They are sent on time, whether or not
the browser has handled the last one, as a mouse does; a driver that waits for the browser would send one in each frame.
The delay of a move is the time from its event until the frame is painted that shows the model of that move, or of a
later one. On a shared machine the time on the clock says little by itself, so the load and the CPU time of the server
and of the page are printed as well. The first line is the time from opening the page until its first paint.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import socket
import statistics
import sys
import time
from typing import Any, NamedTuple
from urllib.request import urlopen

from benchmarks.drag import ROWS, table

MOVES, SECONDS_BETWEEN_MOVES = 100, 0.008
# Goals: milliseconds of a move in the median and for 95 of 100, and models a second.
MEDIAN, HIGH, RATE = 20.0, 50.0, 40.0
# Goal for the first paint in milliseconds, and how often the page is opened.
FIRST_PAINT, OPENED = 1000.0, 5
WAIT = 60_000

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


def drag(page: Any, session: Any, mouse: Any, pid: int, moves: int = MOVES) -> Drag:
    """Drag the first point around a circle, at the pace of a common mouse."""
    box = page.locator("circle.selected").first.bounding_box()
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


def row(name: str, classes: int, found: Drag) -> str:
    median, high = statistics.median(found.delays), statistics.quantiles(found.delays, n=20)[-1]
    missed = [
        word for word, miss in (("median", median > MEDIAN), ("95 %", high > HIGH), ("rate", found.rate < RATE)) if miss
    ]
    spent = f"{median:.1f} | {high:.1f} | {found.rate:.0f} | {found.server:.1f} | {found.page:.1f}"
    return f"| {name} | {classes} | {spent} | {os.getloadavg()[0]:.1f} | {', '.join(missed)} |"


def main(given: list[str] | None = None) -> int:
    from playwright.sync_api import sync_playwright

    from separatrix.classifiers import OFFERED
    from separatrix.lab.points import checked, spelled
    from tests.lab.launching import ARGUMENTS, CHROMIUM, started

    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="classifiers; none: all of them")
    parser.add_argument("--classes", type=int, nargs="+", default=[2, 3], help="numbers of classes (%(default)s)")
    asked = parser.parse_args(given)
    if CHROMIUM is None:
        parser.error("Chromium is not installed; install it to measure the page")
    server, address = started()
    with server, sync_playwright() as playwright:
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
        for classes in asked.classes:
            points = spelled(*checked(*table(classes, False)), None)
            for name in asked.names or OFFERED:
                page = browser.new_page(viewport={"width": 1280, "height": 860})
                page.goto(f"{address}#plane?m={name}&p={points}")
                page.wait_for_selector("html[data-ready]", state="attached", timeout=WAIT)
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable")
                page.evaluate(WATCH)
                with mouse_of(page, port) as mouse:
                    drag(page, session, mouse, server.pid)  # The browser compiles the scripts in the first second.
                    page.wait_for_selector("circle.selected", state="attached", timeout=WAIT)
                    print(row(name, classes, drag(page, session, mouse, server.pid)), flush=True)
                page.close()
        browser.close()
        server.terminate()
    return 0


if __name__ == "__main__":
    sys.exit(main())
