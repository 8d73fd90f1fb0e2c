"""Waiting for what a page will show."""

import time

SECONDS = 30.0


def until(page, function, arg=None):
    """Wait until a function of the page is true.

    Playwright's ``wait_for_function`` does the same by evaluating text inside the page. Its older releases are stopped
    by the policy of the page, which forbids that.
    """
    end = time.monotonic() + SECONDS
    while not page.evaluate(function, arg):
        assert time.monotonic() < end, f"{function} is still false"
        page.wait_for_timeout(20)
