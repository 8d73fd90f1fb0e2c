"""Pictures of the lab's pages for the README and the guide.

    python -m docs.pictures.lab_pages     writes lab-plane.png, lab-weights.png and lab-data.png beside this file

It needs the extras `lab` and `test`, and Chromium.
"""

from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.teach.lab.launching import ARGUMENTS, CHROMIUM, started

HERE = Path(__file__).parent
WIDTH, HEIGHT = 1280, 800
# The time until a page has its answers, in milliseconds.
PATIENCE = 3000


def iris(page: Page) -> None:
    """Open the demo table on the page Your data."""
    page.get_by_label("Demo table").select_option("iris")


def main() -> None:
    server, address = started()
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
            for name in ("plane", "weights", "data"):
                page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                page.goto(f"{address}#{name}")
                page.wait_for_selector("html[data-ready]", state="attached")
                if name == "data":
                    iris(page)
                page.wait_for_timeout(PATIENCE)
                page.screenshot(path=HERE / f"lab-{name}.png")
    finally:
        server.terminate()


if __name__ == "__main__":
    main()
