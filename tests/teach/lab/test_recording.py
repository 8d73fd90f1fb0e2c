"""Recordings: they open from a file without a request, and show the numbers of the library."""

import re
from importlib import import_module

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.teach.lab.page_information import SLIDERS
from separatrix.teach.lab.pages import PAGES
from separatrix.teach.lab.recorder import NEVER, recorded_page
from tests.cli.running import run

from .waiting import until

# The most bytes of a recording whose places nobody has chosen.
LARGEST = 1_500_000
# The default numbers of places, 43 × 28, take nine seconds. Fewer rows of them take one.
FEW = (43, 4)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A function that records a link once, and returns the file."""
    folder, known = tmp_path_factory.mktemp("recordings"), {}

    def records(link, **options):
        key = (link, *options.items())
        if key not in known:
            known[key] = folder / f"{len(known)}.html"
            sx.lab.record(link, known[key], **options)
        return known[key]

    return records


@pytest.fixture
def played(tabs):
    """A function that opens a file with all requests blocked; at the end, nothing may have been asked or refused."""
    problems = []
    with tabs.opened() as new_page:

        def opens(path, width=1280):
            page, address = new_page(viewport={"width": width, "height": 860}, offline=True), path.as_uri()
            page.on("request", lambda request: problems.append(request.url) if request.url != address else None)
            page.context.route(lambda url: url != address, lambda route: route.abort())
            page.on("console", lambda message: problems.append(message.text))
            page.on("pageerror", lambda error: problems.append(str(error)))
            page.add_init_script(
                "document.addEventListener('securitypolicyviolation', e => console.error(e.violatedDirective))"
            )
            page.goto(address)
            page.wait_for_selector("html[data-ready]", state="attached", timeout=30_000)
            return page

        yield opens
    assert problems == []


def value(text):
    return float(text.replace("−", "-"))


def shown_line(page):
    """w₁, w₂ and b in the words of the picture."""
    return [value(one) for one in re.findall(r"−?\d+\.\d+", page.get_attribute("#stage", "aria-label"))][-3:]


def test_a_recorded_run_is_stepped_forwards_and_backwards(recorded, played):
    file = recorded("#step?m=perceptron&p=separable&k=0")
    assert file.stat().st_size < LARGEST
    page = played(file)
    taken = list(sx.steps(sx.Perceptron(), *sx.lab.points("separable")))
    last = len(taken) - 1
    for k, key in [*((k, "ArrowRight") for k in range(last)), *((k, "ArrowLeft") for k in range(last, 0, -1))]:
        until(page, "k => document.querySelector('#stage').dataset.step === String(k)", arg=k)
        assert shown_line(page) == pytest.approx([*np.ravel(taken[k].w), float(taken[k].b)], abs=6e-3)
        assert f"now {taken[k].wrong} of 22 wrong" in page.get_attribute("#stage", "aria-label")
        page.keyboard.press(key)
    until(page, "() => document.querySelector('#stage').dataset.step === '0'")
    page.locator("#step-scrub").fill("7")
    until(page, "() => document.querySelector('#stage').dataset.step === '7'")
    page.click("#step-back")
    assert shown_line(page) == pytest.approx([*np.ravel(taken[6].w), float(taken[6].b)], abs=6e-3)
    page.click("#step-play")
    until(page, "() => document.querySelector('#stage').dataset.step === '8'")
    assert "A recording." in page.inner_text(".recorded")
    assert page.locator(".choices select:not([disabled])").count() == 0


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_a_recorded_run_of_stochastic_descent_keeps_its_settings(recorded, played):
    file = recorded("#step?m=logistic&solver=sgd&eta=1&batch_size=4&max_iter=2&p=separable&k=3")
    solver = sx.solvers.StochasticDescent(eta=1.0, batch_size=4)
    taken = sx.steps(sx.LogisticRegression(solver=solver, max_iter=2), *sx.lab.points("separable"))
    page = played(file)
    until(page, "() => document.querySelector('#stage').dataset.step === '3'")
    assert page.locator(".board p").first.inner_text() == str(taken[3]).split("\n")[0]


def middle(page, row):
    box = page.locator("g.marks path").nth(row).bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def dragged_to(page):
    """The place on the card of the point."""
    return [value(one) for one in re.findall(r"−?\d+\.\d+", page.inner_text(".who small"))]


def agrees(page, row=20):
    """The numbers of both models are those of the library for the place that is shown."""
    X, y = sx.lab.points("outlier")
    X[row] = dragged_to(page)
    for k, model in enumerate((sx.LeastSquaresClassifier(), sx.LogisticRegression())):
        model.fit(X, y)
        numbers = page.locator(".model").nth(k)
        assert int(numbers.locator("[data-number=wrong]").inner_text().split()[0]) == np.sum(model.predict(X) != y)
        norm, cost = (value(numbers.locator(f"[data-number={one}]").inner_text()) for one in ("norm", "cost"))
        assert norm == pytest.approx(np.linalg.norm(model.coef_), abs=6e-4)
        assert cost == pytest.approx(model.certificate_.objective, abs=6e-4)
        score = page.locator(".under tbody tr").nth(k).locator("td").first.inner_text()
        assert value(score) == pytest.approx(model.decision_function(X[[row]])[0], abs=6e-3)


def drag(page, row, x, y):
    page.mouse.move(*middle(page, row))
    page.mouse.down()
    page.mouse.move(x, y, steps=5)
    page.mouse.up()
    page.wait_for_timeout(150)  # The numbers follow a drag a few times a second.


def follows(page, across, down):
    """The point goes to the recorded place that is nearest to the pointer, and the models follow."""
    assert dragged_to(page) == [8.0, -2.5]
    agrees(page)
    stage = page.locator("#stage").bounding_box()
    for u, v in ((0.5, 0.3), (0.21, 0.83), (0.97, 0.5), (0.02, 0.02)):
        before = dragged_to(page)
        drag(page, 20, stage["x"] + u * stage["width"], stage["y"] + v * stage["height"])
        assert dragged_to(page) != before
        x, y = middle(page, 20)
        assert abs(x - stage["x"] - u * stage["width"]) < 0.52 * stage["width"] / (across - 1)
        assert abs(y - stage["y"] - v * stage["height"]) < 0.52 * stage["height"] / (down - 1)
        agrees(page)
    assert "20=" in page.inner_text(".rail pre")
    page.locator("button[aria-label=Undo]").first.click()
    agrees(page)


def test_a_recorded_point_is_dragged_and_the_models_follow(recorded, played):
    follows(played(recorded("#plane", places=FEW)), *FEW)


@pytest.mark.slow
def test_a_point_is_dragged_between_the_default_numbers_of_places(recorded, played):
    file = recorded("#plane")
    assert file.stat().st_size < LARGEST
    follows(played(file), 43, 28)


@pytest.mark.slow
def test_there_are_fewer_places_where_the_file_would_be_too_large(recorded, played):
    file = recorded("#plane?m=qda&p=outlier")
    assert 0.6 * LARGEST < file.stat().st_size < LARGEST
    page = played(file)
    place = middle(page, 20)
    page.focus("#stage")
    page.keyboard.press("ArrowLeft")
    until(page, "() => !document.querySelector('.who').textContent.includes('8.00')")
    steps = page.locator("#stage").bounding_box()["width"] / (place[0] - middle(page, 20)[0])
    assert 20 < steps < 42


def test_only_the_recorded_point_moves_and_other_controls_are_disabled(recorded, played):
    page = played(recorded("#plane", places=FEW))
    place = middle(page, 3)
    drag(page, 3, place[0] + 100, place[1] + 100)
    assert middle(page, 3) == place
    assert "Row 20" in page.inner_text(".who")
    page.focus("#stage")
    for key in ("n", "p", "3", "Delete"):
        page.keyboard.press(key)
    assert page.locator("g.marks path").count() == 21
    assert "Row 20" in page.inner_text(".who")
    page.keyboard.press("ArrowLeft")
    until(page, "() => !document.querySelector('.who').textContent.includes('8.00')")
    assert 7.5 < dragged_to(page)[0] < 8
    agrees(page)
    works = page.locator("main :is(button, input, select):not([disabled])")
    names = works.evaluate_all(
        "all => all.map(one => one.dataset.show ?? one.getAttribute('aria-label') ?? one.innerText)"
    )
    assert set(names) == {"Undo", "mistakes", "distance", "normal", "margin", "losses", "probability", "Copy"}
    page.locator("[data-show=margin]").check()
    until(page, "() => document.querySelectorAll('path.margin').length === 2")


def test_a_recording_shows_losses_and_lines_of_equal_probability(recorded, played):
    page = played(recorded("#plane?m=logistic&p=outlier", places=(5, 4)))
    page.locator("[data-show=losses]").check()
    page.locator("[data-show=probability]").check()
    until(page, "() => document.querySelectorAll('circle.loss').length === 21")
    assert page.locator("path.margin").count() == 5
    drag(page, 20, *(one - 150 for one in middle(page, 20)))
    X, y = sx.lab.points(re.search(r'points\("(.*)"\)', page.inner_text(".rail pre"))[1])
    assert X[20].tolist() != [8, -2.5]
    model = sx.LogisticRegression().fit(X, y)
    losses = [min(90.0, 16 * float(np.sqrt(sx.explain_row(model, x, k).loss))) for x, k in zip(X, y, strict=True)]
    shown = page.locator("circle.loss").evaluate_all("all => all.map(one => Number(one.getAttribute('r')))")
    assert shown == pytest.approx(losses, abs=0.06)  # the radii have one decimal


def test_curved_lines_of_equal_probability_are_not_recorded(recorded, played):
    """They would make the file several times larger."""
    page = played(recorded("#plane?m=qda&p=outlier", places=(3, 2)))
    assert page.locator("[data-show=probability]").is_disabled()
    page.locator("[data-show=losses]").check()
    until(page, "() => document.querySelectorAll('circle.loss').length === 21")


@pytest.mark.parametrize("width", [390, 1280])
def test_recorded_lines_reach_the_edges_of_the_picture(recorded, played, width):
    page = played(recorded("#plane", places=FEW), width)
    path = page.locator("path.boundary.line-0").first.get_attribute("d")
    across, down = (float(one) for one in page.get_attribute("#stage", "viewBox").split()[2:])
    for end in re.findall(r"(-?[\d.]+),(-?[\d.]+)", path):
        x, y = map(float, end)
        assert min(x, across - x, y, down - y) == pytest.approx(0, abs=0.01 * across)


def test_the_python_and_the_link_of_a_recording_are_those_of_the_lab(recorded, browser, opened):
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(recorded("#plane", places=FEW).as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    page.focus("#stage")
    page.keyboard.press("ArrowUp")
    page.click("#act-link")
    page.wait_for_selector(".toast")
    link = page.evaluate("navigator.clipboard.readText()")
    page.click("#act-python")
    until(page, "async () => (await navigator.clipboard.readText()).startsWith('import')")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    shown = value(page.locator("[data-number=norm]").nth(1).inner_text())
    assert shown == pytest.approx(np.linalg.norm(names["model_2"].coef_), abs=6e-4)
    context.close()
    assert link.startswith("#plane?v=1&m=least-squares,logistic&p=outlier&d=20:8,")
    live = opened(link)
    until(live, "shown => document.querySelectorAll('[data-number=norm]')[1]?.innerText === shown", arg=f"{shown:.3f}")


def test_recorded_directions_have_the_numbers_of_along(recorded, played):
    page = played(recorded("#fisher", places=(3, 2)))
    X, y = sx.lab.points("elongated")
    fact = "name => parseFloat(document.querySelector(`tr[data-fact='${name}'] td`).innerText)"
    page.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowRight")
    turned = sx.along(X, y, [np.cos(np.radians(29)), np.sin(np.radians(29))])
    until(page, f"J => Math.abs(({fact})('J') - J) < 6e-4", arg=turned.J)
    assert page.evaluate(fact, "wrong by Gaussians") == turned.wrong_by_posterior
    page.get_by_role("button", name="Fisher").click()
    until(page, f"J => Math.abs(({fact})('J') - J) < 6e-4", arg=turned.best_J)
    page.get_by_role("button", name="midpoint").click()
    until(page, "() => document.querySelectorAll('#stage path.boundary').length === 1")


def test_a_recorded_point_is_pulled_along_the_line(recorded, played):
    page = played(recorded("#losses", places=(3, 2)))
    page.focus("svg[role=application]")
    page.keyboard.press("n")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    x = [-3.5, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 3.5, 9.0]
    model = sx.LeastSquaresClassifier().fit(np.array(x)[:, None], [0, 0, 0, 0, 1, 1, 1, 1, 1])
    place = -model.intercept_[0] / model.coef_[0, 0]
    cell = "document.querySelector('tr[data-loss=squared] td:last-child').innerText.replace('−', '-')"
    until(page, f"place => Math.abs(parseFloat({cell}) - place) < 6e-4", arg=place)
    page.get_by_role("button", name="Put the points back").click()
    until(page, f"place => Math.abs(parseFloat({cell}) - place) > 6e-4", arg=place)


def test_recorded_scores_follow_the_pointer(recorded, played):
    page = played(recorded("#classes", places=(15, 10)))
    stage = page.locator("#stage").bounding_box()
    page.mouse.move(stage["x"] + 0.3 * stage["width"], stage["y"] + 0.7 * stage["height"], steps=3)
    page.wait_for_timeout(50)
    place = [value(one) for one in re.findall(r"−?\d+\.\d+", page.locator("h2").first.text_content())]
    model = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(*sx.lab.points("three"))
    shown = [value(one) for one in page.locator(".votes tbody tr td:nth-child(2)").all_inner_texts()]
    assert shown == pytest.approx(model.decision_function([place])[0], abs=6e-3)


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_is_recorded_or_refused_by_its_name(name, recorded, played, monkeypatch):
    # The search for the best normals takes 0.05 s for each of the 81 distances of the page Information; ten will do.
    asked, low, high, step, *rest = SLIDERS["distance"]
    monkeypatch.setitem(SLIDERS, "distance", (asked, low, high, 8 * step, *rest))
    if name in NEVER or not hasattr(import_module(f"separatrix.teach.lab.page_{name}"), "recorded"):
        with pytest.raises(ParameterError, match=f"link: the page {name} "):
            recorded_page(f"#{name}")
        return
    page = played(recorded(f"#{name}", places=(3, 2)), 390)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("h1").count() == 1


def test_the_policy_of_a_recording_runs_no_other_script(recorded, browser, tmp_path):
    changed = tmp_path / "changed.html"
    added = "<script>document.title = 'changed'</script><script src='data:text/javascript,document.title=`x`'></script>"
    changed.write_text(recorded("#step?k=0").read_text().replace("</body>", f"{added}</body>"))
    page = browser.new_page()
    page.goto(changed.as_uri())
    page.wait_for_selector("html[data-ready]", state="attached")
    assert page.title() == "Step · separatrix lab"
    assert "data:" not in re.search(r"script-src [^;]*;", changed.read_text())[0]
    page.close()


def test_the_command_records_another_point_with_another_model(tmp_path, played):
    file, link = tmp_path / "page.html", "http://127.0.0.1:8157/?#plane?m=lda&p=three"
    done = run("lab", "--record", file, "--link", link, "--drag", 4, "--places", 5, 4)
    assert re.fullmatch(r"recording: .*page\.html, \d+ kB\n", done.stdout)
    page = played(file)
    assert "Row 4" in page.inner_text(".who")
    X, y = sx.lab.points("three")
    assert dragged_to(page) == X[4].tolist()
    stage = page.locator("#stage").bounding_box()
    drag(page, 4, stage["x"] + 0.7 * stage["width"], stage["y"] + 0.6 * stage["height"])
    X[4] = dragged_to(page)
    wrong = int(page.inner_text("[data-number=wrong]").split()[0])
    assert wrong == np.sum(sx.LinearDiscriminantAnalysis().fit(X, y).predict(X) != y) > 0
