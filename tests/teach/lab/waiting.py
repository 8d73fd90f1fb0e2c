"""Waiting for what a page will show."""

import re
import time
from importlib.resources import files

SECONDS = 30.0
# A page writes its state into its address this many milliseconds after its last change. The tests wait less.
BEFORE_WRITING = int(
    re.search(r"BEFORE_WRITING = (\d+)", (files("separatrix.teach.lab") / "static/main.js").read_text())[1]
)
WRITTEN_AFTER = 20
# Pages delay what they draw by at most this many milliseconds. Longer delays, as that of a toast, are not waited for.
LONGEST_DELAY = 250
# Notes which requests have no answer yet, which delays have not passed, and when the last thing happened on the page.
WATCHED = """(() => {
    const open = window.unanswered = new Set(), send = WebSocket.prototype.send;
    const delayed = window.delayed = new Set(), later = window.setTimeout, clear = window.clearTimeout;
    window.setTimeout = (act, wait = 0, ...given) => {
        if (wait > LONGEST_DELAY) return later(act, wait, ...given);
        const timer = later(() => {
            delayed.delete(timer);
            happened();
            act(...given);
        }, wait === BEFORE_WRITING ? WRITTEN_AFTER : wait);
        delayed.add(timer);
        return timer;
    };
    window.clearTimeout = timer => { delayed.delete(timer); clear(timer); };
    const happened = () => { window.last = performance.now(); };
    happened();
    for (const kind of ["pointerdown", "pointermove", "pointerup", "keydown", "click", "input", "change", "hashchange"])
        addEventListener(kind, happened, { capture: true });
    WebSocket.prototype.send = function (text) {
        const { id } = JSON.parse(text);
        if (id !== undefined) open.add(id);
        if (!this.watched) this.addEventListener("message", ({ data }) => {
            const message = JSON.parse(data);
            if (!message.progress) open.delete(message.id);
            happened();
        });
        this.watched = true;
        happened();
        return send.call(this, text);
    };
})()"""
for name in ("LONGEST_DELAY", "BEFORE_WRITING", "WRITTEN_AFTER"):
    WATCHED = WATCHED.replace(name, str(globals()[name]))
# Milliseconds in which a page draws, two frames or more: it asks and draws at the next frame.
QUIET = 60


def until(page, function, arg=None):
    """Wait until a function of the page is true.

    Playwright's ``wait_for_function`` does the same by evaluating text inside the page. Its older releases are stopped
    by the policy of the page, which forbids that.
    """
    end = time.monotonic() + SECONDS
    while not page.evaluate(function, arg):
        assert time.monotonic() < end, f"{function} is still false"
        page.wait_for_timeout(20)


def settled(page):
    """Wait until a page opened by the fixture ``opened`` has drawn all answers and written its state to its address."""
    until(page, f"() => !unanswered.size && !delayed.size && performance.now() - last > {QUIET}")
