"""One server and one browser for all tests of the lab."""

from contextlib import contextmanager

import pytest

from .launching import ARGUMENTS, CHROMIUM, started
from .waiting import WATCHED


@pytest.fixture(scope="package")
def address():
    """The address that ``separatrix lab`` prints, with its token."""
    server, printed = started()
    with server:
        yield printed
        server.terminate()


@pytest.fixture(scope="package")
def browser():
    """Chromium without a window."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed, so the pages cannot be opened")
    sync_playwright = pytest.importorskip("playwright.sync_api").sync_playwright
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))


class Tabs:
    """New pages in contexts that later tests use again.

    The first page of a context costs Chromium 1.5 s of processor time, since it builds a window of its own with all
    controls; another page in this window costs 0.7 s. Every window has an empty page that stays open.
    """

    def __init__(self, browser):
        self.browser, self.idle = browser, {}

    @contextmanager
    def opened(self):
        """A function that opens a page with the options of a context; at the end all its pages are closed.

        Pages that are open at the same time have contexts of their own.
        """
        taken = []

        def opens(**options):
            key = repr(sorted(options.items()))
            context = self.idle[key].pop() if self.idle.get(key) else self._window(**options)
            taken.append((key, context))
            return context.new_page()

        try:
            yield opens
        finally:
            for key, context in taken:
                context.unroute_all()
                for page in context.pages[1:]:
                    page.close()
                self.idle.setdefault(key, []).append(context)

    def _window(self, **options):
        context = self.browser.new_context(**options)
        context.new_page()
        return context


@pytest.fixture(scope="package")
def tabs(browser):
    return Tabs(browser)


@contextmanager
def pages_of_the_lab(tabs, address):
    """A function that opens a page of the lab by its link; at the end, nothing may have gone wrong on the pages."""
    problems = []
    with tabs.opened() as new_page:

        def opens(link="", width=1280, **options):
            page = new_page(viewport={"width": width, "height": 860}, **options)
            page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.add_init_script(WATCHED)
            page.goto(address + link)
            page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
            return page

        yield opens
    assert problems == []


@pytest.fixture
def opened(tabs, address):
    """``pages_of_the_lab`` for one test."""
    with pages_of_the_lab(tabs, address) as opens:
        yield opens
