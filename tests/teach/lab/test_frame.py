"""The frame of all pages: caching, the first paint, changing pages, a server that ends and comes back."""

import gzip
import http.client
from urllib.parse import urlsplit

import pytest

from separatrix.teach.lab.pages import PAGES
from separatrix.teach.lab.recorder import static_texts

from .launching import started
from .waiting import settled, until


def got(address, path, **headers):
    parts = urlsplit(address)
    cookie = f"separatrix_lab_{parts.port}={parts.query.removeprefix('token=')}"
    connection = http.client.HTTPConnection("127.0.0.1", parts.port, timeout=60)
    connection.request("GET", path, headers={"Cookie": cookie, **headers})
    response = connection.getresponse()
    found = response.status, response.headers, response.read()
    connection.close()
    return found


def test_a_file_that_the_browser_has_is_not_sent_again(address):
    status, headers, content = got(address, "/main.js")
    assert (status, content.decode()) == (200, static_texts()["main.js"])
    assert "no-cache" in headers["cache-control"]
    status, again, content = got(address, "/main.js", **{"If-None-Match": headers["etag"]})
    assert (status, content, again["etag"]) == (304, b"", headers["etag"])
    assert again["content-security-policy"] == headers["content-security-policy"]
    assert got(address, "/main.js", **{"If-None-Match": 'W/"other"'})[0] == 200


def test_files_are_compressed_and_what_holds_the_state_of_the_launch_is_not_kept(address):
    _, headers, content = got(address, "/style.css", **{"Accept-Encoding": "gzip"})
    assert headers["content-encoding"] == "gzip"
    style = static_texts()["style.css"].encode()
    assert gzip.decompress(content) == style
    assert len(content) < 0.4 * len(style)
    for path in ("/", "/opening.json", "/index.html"):
        assert got(address, path)[1]["cache-control"] == "no-store"


def test_the_last_of_several_quick_changes_of_the_page_wins(opened):
    page = opened("")
    page.evaluate(
        """async names => {
        for (const name of names) { location.hash = name; await new Promise(done => setTimeout(done, 5)); }
    }""",
        [page.name for page in PAGES],
    )
    until(page, "name => location.hash.startsWith(`#${name}?`)", arg=PAGES[-1].name)
    page.wait_for_timeout(500)
    assert page.locator("h1").count() == 1
    assert page.locator("nav.pages a[aria-current=page]").inner_text() == PAGES[-1].title
    assert page.locator("#notice").is_hidden()


def test_a_link_of_the_navigation_keeps_the_focus(opened):
    page = opened("#plane")
    page.focus("nav.pages a:nth-child(2)")
    page.keyboard.press("Enter")
    until(page, "() => location.hash.startsWith('#step?')")
    assert page.evaluate("document.activeElement.textContent") == "Step"
    assert page.evaluate("document.activeElement.getAttribute('aria-current')") == "page"


def test_a_page_that_cannot_be_loaded_says_so(browser, address):
    with browser.new_context() as context:
        page = context.new_page()
        page.route("**/losses.js", lambda route: route.abort())
        page.goto(f"{address}#losses")
        page.wait_for_selector("#notice:not([hidden])")
        assert "cannot be shown" in page.locator("#notice").inner_text()
        page.click("#act-picture")
        page.get_by_role("button", name="SVG", exact=True).click()
        until(page, "() => document.querySelector('#notice').textContent.includes('no picture yet')")
        page.click("#notice button")
        assert page.locator("#notice").is_hidden()


# Links with a fault, and what their page says; an empty list where the page shows the link without a notice.
DAMAGED = {
    "#classes?p=~AA": ["first preset"],
    "#fisher?p=nonsense&colour=red": ["first preset", "used: colour."],
    "#plane?p=nonsense&m=lda,tree&colour=red": ["first preset", "used: tree, colour."],
    "#basis?p=nonsense&colour=red": ["first preset", "used: colour."],
    "#weights?p=nonsense&colour=red": ["nonsense", "used: colour."],
    "#step?p=nonsense&colour=red": ["nonsense", "first preset", "used: colour."],
    "#step?p=three&colour=red": ["3 classes", "used: colour."],
    "#plane?m=lda,qda,logistic,fisher": ["used: fisher."],
    "#plane?f=7": ["used: f=7."],
    "#step?k=-1": ["used: k=-1."],
    "#losses?at=9&l=hinge,square&x=1,2": ["used: square, at=9, x=1,2."],
    "#losses?x=-3.5,-2.5,-1.5,-0.5,0.5,1.5,2.5,3.5,99&colour=red": [",3.5,99", "colour"],
    "#fisher?a=1e9&t=best": ["used: a=1e9, t=best."],
    "#basis?b=cubic&k=99&w=0&s=-1&g=heap&a=0,7": ["used: g=heap, b=cubic, k=99, w=0, s=-1, a=0,7."],
    "#information?p=2&z=nine&colour=red": ["used: colour, p=2, z=nine."],
    "#data?n=guess&w=sideways": ["used: n=guess, w=sideways."],
    "#step?k=2.5": [],
    "#step?k=999": [],
    "#data?x=%25zz": [],
    "#plane?m=,": [],
    "#losses?v=1&l=&at=0.5": [],
}


@pytest.mark.parametrize("link", DAMAGED)
def test_a_damaged_link_shows_its_page_and_says_all_that_is_wrong(opened, link):
    page = opened(link)
    name = link[1:].partition("?")[0]
    until(page, "name => location.hash.startsWith(`#${name}?v=1`)", arg=name)
    assert page.locator("h1").count() == 1
    notice = page.locator("#notice")
    said = notice.inner_text() if notice.is_visible() else ""
    assert [one for one in DAMAGED[link] if one not in said] == []
    assert bool(said) == bool(DAMAGED[link])
    page.evaluate("() => { location.hash = '#information'; }")
    until(page, "() => location.hash.startsWith('#information?')")
    assert notice.is_hidden(), "what was said about one page is not said about the next"


ENDLESS = "#plane?m=logistic&p=overlapping&solver=gradient-descent&tol=1e-300&max_iter=1000000000"


def test_a_fit_that_takes_long_gives_way_to_a_newer_one(opened):
    page = opened("#plane?p=overlapping&m=logistic")
    page.evaluate("link => { location.hash = link; }", ENDLESS)
    page.wait_for_selector("#busy button", timeout=60_000)
    page.select_option(".model select", "lda")
    page.wait_for_selector("#stage path.boundary", state="attached")
    assert page.locator("#busy").is_hidden()
    assert page.locator("#notice").is_hidden()
    until(page, "() => location.hash.startsWith('#plane?v=1&m=lda')")


def test_a_page_that_is_left_stops_its_fit(opened):
    page = opened("#plane?p=overlapping&m=logistic")
    for wait in ("#busy button", "#stage"):  # after the page has said that it computes, and before
        page.evaluate("link => { location.hash = link; }", ENDLESS)
        page.wait_for_selector(wait, timeout=60_000)
        until(page, "() => unanswered.size")
        page.evaluate("() => { location.hash = '#losses'; }")
        until(page, "() => location.hash.startsWith('#losses?v=1')")
        until(page, "() => !unanswered.size")
        assert page.locator("#busy").is_hidden()
        assert page.locator("#notice").is_hidden()
        settled(page)  # The address is written once more.


def test_a_page_that_is_left_at_once_asks_for_nothing_more(opened):
    """What the first page would ask next must not take the place of a request of the second one."""
    page = opened("#losses")
    for wait in (20, 40, 80):
        page.evaluate(
            """async wait => {
                location.hash = '#step?p=overlapping&k=2';
                await new Promise(go => setTimeout(go, wait));
                location.hash = '#step?p=outlier&k=3';
            }""",
            wait,
        )
        until(page, "() => /^#step[?]v=1.*&k=3/.test(location.hash)")
        assert page.get_attribute("#stage", "data-step") == "3"
        page.evaluate("() => { location.hash = '#losses'; }")
        until(page, "() => location.hash.startsWith('#losses?v=1')")
        settled(page)


def test_a_page_is_ready_although_a_newer_request_replaced_its_first_one(opened):
    page = opened("#plane?p=overlapping&m=lda")
    page.evaluate("link => { location.hash = link; }", ENDLESS)
    until(page, "() => unanswered.size")
    page.evaluate("() => { location.hash = '#plane?p=outlier&m=lda'; }")
    until(page, "() => document.querySelectorAll('#stage .point').length === 21")
    page.focus("#stage")
    page.keyboard.press("ArrowLeft")
    until(page, "() => /^#plane[?]v=1&m=lda&p=outlier&d=20:7[.]9/.test(location.hash)")


def test_nothing_is_said_of_places_for_which_there_is_no_fit(opened):
    page = opened(ENDLESS.replace("1000000000", "5"))
    page.evaluate("() => { document.querySelector('.model details').open = true; }")
    page.get_by_label("max_iter").fill("1000000000")
    page.get_by_label("max_iter").dispatch_event("change")
    page.focus("#stage")
    for _ in range(2):
        page.keyboard.press("Shift+ArrowLeft")
        page.wait_for_timeout(2600)  # longer than the page waits before a fit gives way to a newer one
    assert page.locator("#say").inner_text() == ""


def test_a_link_whose_fit_takes_long_can_be_stopped_before_its_first_answer(browser, address):
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(address + ENDLESS)
        page.wait_for_selector("#busy button", timeout=60_000)
        until(page, "() => document.querySelector('#busy').textContent.includes('Computing:')")
        page.click("#busy button")
        until(page, "() => document.querySelector('#notice').textContent.includes('stopped')")
        assert page.locator("#busy").is_hidden()
        page.select_option(".model select", "lda")
        page.wait_for_selector("path.boundary", state="attached")


@pytest.fixture
def servers():
    """A function that starts a server on a port; at the end, all have ended."""
    processes = []

    def starts(port):
        server, printed = started(port)
        processes.append(server)
        return server, printed

    yield starts
    for server in processes:
        with server:
            server.kill()


@pytest.mark.slow
def test_a_page_reports_that_the_server_has_ended_and_goes_on_with_the_next_one(browser, servers):
    server, address = servers(0)
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(f"{address}#plane?p=outlier&m=lda")
        page.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        other = context.new_page()
        other.goto(f"{address}#plane")
        other.wait_for_selector("html[data-ready]", state="attached", timeout=120_000)
        server.kill()
        server.wait()
        other.evaluate("() => { location.hash = '#fisher'; }")  # a page that the browser does not have
        until(other, "() => document.querySelector('#notice').textContent.includes('cannot be shown')")
        until(page, "() => document.querySelector('#notice').textContent.includes('The server has ended')")
        page.focus("#stage")
        page.keyboard.press("Shift+ArrowLeft")  # asked while nobody answers
        _, again = servers(urlsplit(address).port)
        until(page, "() => document.querySelector('#notice').textContent.includes('was started again')")
        context.new_page().goto(again)  # its cookie is for both pages
        until(page, "() => document.querySelector('#notice').hidden")
        until(page, "() => location.hash.includes('d=20:7,-2.5')")
        other.wait_for_selector("h1:text('largest J')")
