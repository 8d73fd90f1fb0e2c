"""What every page of the lab keeps to: names, keys, sizes, themes. A page is tested by being in the registry."""

from functools import cache
from itertools import product

import pytest

from separatrix.teach.lab.pages import PAGES

from .conftest import pages_of_the_lab
from .waiting import settled, until

LINKS = [f"#{page.name}" for page in PAGES]
WIDTHS, THEMES = (390, 768, 1280, 1920), ("light", "dark")
# Each time, half of the pages are tested narrow in the dark, the others wide in the light; other views are slow tests.
FAST = {link: ((390, "dark"), (1280, "light"))[k % 2] for k, link in enumerate(LINKS)}
OTHER_VIEWS = [(link, *view) for view in product(WIDTHS, THEMES) for link in LINKS if view != FAST[link]]
# What can be reached by Tab: visible, enabled, and not inside closed details.
REACHABLE = """() => [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")]
    .filter(one => one.checkVisibility() && !one.disabled && one.tabIndex >= 0)"""
# Ends when the page has drawn what it draws at the next frames.
DRAWN = """async () => {
    for (let k = 0; k < 3; k++) await new Promise(requestAnimationFrame);
    await new Promise(done => setTimeout(done));
}"""
# Ends when all answers have been drawn.
ANSWERED = """async () => {
    for (let idle = 0; idle < 4; idle = unanswered.size ? 0 : idle + 1)
        await new Promise(requestAnimationFrame);
}"""
# Tables that are wider than the element around them.
WIDE_TABLES = """() => [...document.querySelectorAll("main table")].filter(one => one.checkVisibility())
    .filter(one => one.getBoundingClientRect().right > one.parentNode.getBoundingClientRect().right + 1)
    .map(one => one.innerText)"""
NAMED = "one => one.getAttribute('aria-label') || (one.closest('label') ?? one).textContent.trim()"


@pytest.fixture
def opened(opened):
    """Pages as people see them: the page Your data is empty until it has a table."""
    return lambda link, **options: with_rows(opened(link, **options), link)


def with_rows(page, link):
    if link == "#data":
        page.get_by_label("Demo table").select_option("iris")
        until(
            page,
            "() => Number(document.querySelector('#stage').dataset.drawn ?? 0) && location.hash.includes('t=')",
        )
        page.wait_for_load_state("networkidle")
        until(page, "() => document.querySelector('.findings').textContent")  # the check comes last
    return page


@pytest.fixture(scope="module", params=LINKS)
def loaded(request, tabs, address):
    """Each page of the lab, loaded once for all tests that only look at it. pytest runs those of a page together."""
    with pages_of_the_lab(tabs, address) as opens:
        page = with_rows(opens(request.param, bypass_csp=True), request.param)
        settled(page)
        page.evaluate("() => { window.openAtFirst = new Set(document.querySelectorAll('details[open]')); }")
        yield request.param, page


@pytest.fixture
def seen(loaded):
    """A function that shows a loaded page in another width or theme, scrolled to the top, with details as at first."""
    link, page = loaded

    def shows(width=1280, **media):
        page.emulate_media(
            **{"color_scheme": "light", "reduced_motion": "no-preference", "forced_colors": "none", **media}
        )
        page.set_viewport_size({"width": width, "height": 860})
        page.mouse.move(0, 0)
        page.evaluate(
            """() => {
            for (const one of document.querySelectorAll("details")) one.open = openAtFirst.has(one);
            // Tab goes on from where the focus was last, even if that element has been removed.
            const top = document.createElement("span");
            top.tabIndex = -1;
            document.body.prepend(top);
            top.focus();
            top.remove();
            scrollTo(0, 0);
        }"""
        )
        page.evaluate(DRAWN)
        settled(page)
        return page

    shows.link = link
    return shows


@cache
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright").Axe()


def violations(page):
    found = axe().run(page).response["violations"]
    return [(one["id"], [node["html"] for node in one["nodes"]]) for one in found]


def test_axe_finds_nothing(seen):
    width, theme = FAST[seen.link]
    assert violations(seen(width, color_scheme=theme)) == []


@pytest.mark.slow
@pytest.mark.parametrize(("link", "width", "theme"), OTHER_VIEWS)
def test_axe_finds_nothing_in_other_views(opened, link, width, theme):
    assert violations(opened(link, width=width, color_scheme=theme, bypass_csp=True)) == []


def test_every_target_is_large_enough_for_a_finger(seen):
    """A label is a part of the target of its checkbox. Links inside sentences are as high as their line."""
    page = seen(390)
    for summary in page.locator("summary").all():
        summary.focus()
        summary.press("Enter")
    small = page.evaluate(
        """() => [...document.querySelectorAll("a[href], button, select, input, summary, label:has(input)")]
        .filter(one => one.checkVisibility() && !one.matches("p a, li a, td a, label input[type=checkbox]"))
        .map(one => [one.outerHTML.slice(0, 90), one.getBoundingClientRect()])
        .filter(([, box]) => box.width < 43.9 || box.height < 43.9)
        .map(([text, box]) => `${text} ${box.width} × ${box.height}`)"""
    )
    assert small == []


def tabbed(page):
    """Press Tab from the top until the focus has left the page: a description of each element that had the focus."""
    number = page.evaluate(f"() => {{ window.reachable = ({REACHABLE})(); return window.reachable.length; }}")
    found = []
    for _ in range(number + 1):
        page.keyboard.press("Tab")
        found.append(
            page.evaluate(
                f"""() => {{
                const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
                const group = ["#skip", "header", ".lead", "#stage", ".rail"].findIndex(query => one.closest(query));
                return {{
                    index: window.reachable.indexOf(one), group, name: ({NAMED})(one), html: one.outerHTML.slice(0, 90),
                    outline: style.outlineStyle === "none" ? 0 : parseFloat(style.outlineWidth),
                    seen: box.width > 7 && box.height > 7 && box.bottom > 0 && box.top < innerHeight && box.right > 0,
                }};
            }}"""
            )
        )
        if found[-1]["index"] < 0:
            break
    return number, found


@pytest.mark.parametrize("width", [1280, pytest.param(390, marks=pytest.mark.slow)])
def test_tab_reaches_everything_in_order(seen, width):
    page = seen(width)
    number, found = tabbed(page)
    assert found.pop()["index"] == -1, "the focus does not leave the page"
    assert [one["index"] for one in found] == list(range(number))
    assert [one["html"] for one in found if not one["name"]] == []
    assert [one["html"] for one in found if one["outline"] < 2] == []
    assert [one["html"] for one in found if not one["seen"]] == []
    groups = [one["group"] for one in found if one["group"] >= 0]
    assert groups == sorted(groups)
    # A picture without keys of its own is reached by the skip link only.
    assert set(groups) >= {0, 1} | ({3} if page.get_attribute("#stage", "tabindex") == "0" else set())
    page.focus("#skip")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "stage"


@pytest.mark.parametrize("link", LINKS)
def test_a_control_keeps_the_focus_when_it_is_used(opened, link):
    """Pages build controls again after a choice; a person at the keyboard must not begin at the top again."""
    page = opened(link)
    page.focus("#act-picture")
    for _ in range(60):
        page.keyboard.press("Tab")
        kind = page.evaluate(
            """() => {
            const one = document.activeElement;
            if (one === document.body) return "end";
            return one.matches("main :is(button, select, [type=checkbox])") ? one.localName : "";
        }"""
        )
        if kind == "end":
            break
        if kind:
            used = page.evaluate("document.activeElement.outerHTML")
            page.keyboard.press({"select": "ArrowDown", "button": "Enter", "input": "Space"}[kind])
            page.evaluate(ANSWERED)
            assert page.evaluate("() => document.activeElement !== document.body"), f"{used} has lost the focus"


def test_every_picture_has_its_numbers_in_words_and_every_curve_as_a_table(seen):
    page = seen()
    until(page, "() => document.querySelector('#stage').getAttribute('aria-label')")
    silent = page.evaluate(
        """() => [...document.querySelectorAll("main svg")]
        .filter(one => one.checkVisibility() && !one.closest("[aria-hidden=true]"))
        .filter(one => !one.role || !/\\d/.test(one.getAttribute("aria-label") + one.getAttribute("aria-valuetext")))
        .map(one => one.outerHTML.slice(0, 200))"""
    )
    assert silent == []
    figures = page.locator("figure:visible:has(path.curve)")
    for k in range(figures.count()):
        table = figures.nth(k).locator("details.as-table")
        table.locator("summary").click()
        table.locator("tbody tr").nth(1).wait_for()
        assert table.locator("thead th").count() > 1


def test_the_picture_says_how_many_points_there_are_and_what_is_wrong(opened):
    words = {
        "#plane": ["Plane with 21 points", "least squares gets 4 wrong", "logistic gets 0 wrong"],
        "#step?k=4": ["Plane with 22 points", "now 2 of 22 wrong"],
        "#fisher?a=20": ["through 60 points", "18 of 60 wrong"],
        "#plane?p=~AAAAAAA": ["Plane with 1 point;"],
        "#basis?p=~AAAAAAA": ["Plane with 1 point."],
        "#classes?p=~AAAAAAA": ["Plane with 1 point."],
        "#classes": ["Plane with 45 points", "One vs rest gets 0 of 45 wrong", "One vs one gets 0 of 45 wrong"],
    }
    page = opened("#plane")
    for link, expected in words.items():
        page.evaluate("link => { location.hash = link; }", link)
        until(page, "link => location.hash.startsWith(`${link.split('?')[0]}?v=1`)", link)  # it has been drawn
        settled(page)
        said = " ".join(page.get_attribute("#stage", name) or "" for name in ("aria-label", "aria-valuetext"))
        assert [one for one in expected if one not in said] == []


def test_a_page_follows_the_settings_of_the_screen(seen):
    page = seen(reduced_motion="reduce")
    assert page.locator("h1").count() == 1
    for width in (320, 390, 640, 768, 1280, 1920):  # 640 pixels are 1280 at a zoom of 200 %, 320 are 1280 at 400 %.
        page.set_viewport_size({"width": width, "height": 860})
        page.evaluate(DRAWN)
        assert page.evaluate("document.scrollingElement.scrollWidth") <= width
        assert page.evaluate(WIDE_TABLES) == []
    moving = page.evaluate(
        """() => document.getAnimations().length + [...document.querySelectorAll("*")].filter(one =>
        getComputedStyle(one).transitionDuration !== "0s" || getComputedStyle(one).animationName !== "none").length"""
    )
    assert moving == 0
    ground = "getComputedStyle(document.body).backgroundColor"
    assert page.evaluate(ground) == "rgb(255, 255, 255)"
    page.emulate_media(color_scheme="dark")
    until(page, f"() => {ground} === 'rgb(20, 23, 26)'")
    page.emulate_media(forced_colors="active")
    assert states_without_colours(page) == []


def states_without_colours(page):
    """Controls whose state cannot be seen, and lines that may not be seen, when the system chooses all colours."""
    return page.evaluate(
        """() => {
        const style = one => getComputedStyle(one);
        const grounds = all => new Set(all.map(one => style(one).backgroundColor));
        const all = query => [...document.querySelectorAll(query)].filter(one => one.checkVisibility());
        const own = all("input[type=range], input[type=checkbox]").filter(one => style(one).appearance !== "auto");
        const alike = all(".segmented").filter(group => grounds([...group.children]).size !== 2);
        const ink = style(document.body).getPropertyValue("--ink").trim() === "CanvasText" ? [] : [document.body];
        return [...own, ...alike, ...ink].map(one => one.outerHTML.slice(0, 90));
    }"""
    )


def test_a_step_is_drawn_at_once_if_less_motion_is_asked_for(opened):
    page, lines = opened("#step?k=1"), []
    for motion in ("reduce", "no-preference"):
        page.emulate_media(reduced_motion=motion)
        seen = page.evaluate(
            """async () => {
            const line = () => document.querySelector("path.boundary").getAttribute("d"), seen = new Set();
            document.querySelector("#step-next").click();
            for (let k = 0; k < 30; k++) { seen.add(line()); await new Promise(requestAnimationFrame); }
            return seen.size;
        }"""
        )
        lines.append(seen)
    assert lines[0] == 1
    assert lines[1] > 2
