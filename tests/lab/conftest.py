"""One server and one browser for all tests of the lab."""

import pytest

from .launching import ARGUMENTS, CHROMIUM, started


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


@pytest.fixture
def opened(browser, address):
    """A function that opens a page of the lab by its link; at the end, nothing may have gone wrong on the pages."""
    problems, contexts = [], []

    def opens(link="", width=1280, **options):
        context = browser.new_context(viewport={"width": width, "height": 860}, **options)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(address + link)
        page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        return page

    yield opens
    for context in contexts:
        context.close()
    assert problems == []
