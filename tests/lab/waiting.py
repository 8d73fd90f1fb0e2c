"""Waiting for what a page will show."""

import time

SECONDS = 30.0
# Notes which requests have no answer yet, and when the last thing happened on the page.
WATCHED = """(() => {
    const open = window.unanswered = new Set(), send = WebSocket.prototype.send;
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
# A page writes its state into its address 200 milliseconds after its last change.
QUIET = 260


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
    until(page, f"() => !unanswered.size && performance.now() - last > {QUIET}")
