"""The page Weight space, used as a person would, with its numbers compared to the library's."""

import re

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.solvers.gradient_descent import GradientDescent

from .waiting import settled, until

START = "#weights?v=1&w=0,0.5,2&p=separable"
FACTS = ("E", "‖∇E‖", "∂E/∂b", "∂E/∂w₁", "∂E/∂w₂")


def param(page, name):
    """A parameter of the page's link, or None."""
    return page.evaluate("name => new URLSearchParams(location.hash.split('?')[1]).get(name)", name)


def shown(page):
    """The table of numbers: a row for each fact, a column for each surface."""
    cells = page.locator("table.votes tbody td").all_inner_texts()
    return np.array([float(one.replace("−", "-")) for one in cells]).reshape(len(FACTS), 2)


def weights(page):
    """The weights of the link, which are those at the start of a run."""
    return np.array([float(one) for one in param(page, "w").split(",")])


def points(page):
    moved = param(page, "d")
    return sx.lab.points(";".join([param(page, "p"), *([moved.replace(":", "=")] if moved else [])]))


def agrees(page, w, losses=("zero-one", "perceptron"), **settings):
    """The numbers on the page are those of the library at w, for the points of the link."""
    X, y = points(page)
    found = shown(page)
    for k, loss in enumerate(losses):
        E = sx.objective(X, y, loss, **settings)
        gradient = E.gradient(w)
        wanted = [E.value(w), np.linalg.norm(gradient), *gradient]
        np.testing.assert_allclose(found[:, k], wanted, atol=6e-4, rtol=1e-3)


def surface(page, k):
    return page.locator(".surface svg.stage").nth(k)


def drag(page, start, end, steps=5):
    page.mouse.move(*start)
    page.mouse.down()
    for step in range(1, steps + 1):
        page.mouse.move(*(a + step / steps * (b - a) for a, b in zip(start, end, strict=True)))
    page.mouse.up()
    settled(page)


def centre(locator):
    box = locator.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_dragging_w_turns_the_line_and_shows_where_there_is_no_slope(opened):
    page = opened(START)
    settled(page)
    agrees(page, [0, 0.5, 2])
    line = page.locator("aside path.boundary").get_attribute("d")
    flat, steep = page.locator(".surface .verdict").all_inner_texts()
    assert "No slope to follow: ∇E is zero here, although 15 of 22 rows are wrong." in flat
    assert "perpendicular to the contours" in steep
    x, y = centre(surface(page, 0).locator("circle.halo"))
    drag(page, (x, y), (x + 100, y + 150))
    w = weights(page)
    assert w[0] == 0
    assert w[1] > 1
    assert w[2] < 1.5
    agrees(page, w)
    assert page.locator("aside path.boundary").get_attribute("d") != line
    page.click("button[aria-label=Undo]")
    settled(page)
    assert weights(page).tolist() == [0, 0.5, 2]
    agrees(page, [0, 0.5, 2])


def test_the_arrow_is_perpendicular_to_the_contours(opened):
    page = opened(f"{START}&l=logistic,squared")
    settled(page)
    X, y = points(page)
    for k, loss in enumerate(("logistic", "squared")):
        begin, end = page.evaluate(
            "k => document.querySelectorAll('.surface')[k].querySelector('path.vector').getAttribute('d')"
            ".split('M')[1].split('L').map(one => one.split(',').map(Number))",
            k,
        )
        arrow, downhill = np.subtract(end, begin) * [1, -1], -sx.objective(X, y, loss).gradient([0, 0.5, 2])[1:]
        assert arrow @ downhill == pytest.approx(np.linalg.norm(arrow) * np.linalg.norm(downhill), rel=1e-6)


def test_every_act_has_a_key(opened):
    page = opened(START, reduced_motion="reduce")
    settled(page)
    page.focus("#stage")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowDown")
    settled(page)
    assert weights(page).tolist() == [0, 0.6, 1]
    agrees(page, [0, 0.6, 1])
    assert "w₁ 0.60, w₂ 1.00" in page.inner_text("#say")
    page.keyboard.press("+")
    settled(page)
    low, high = (float(one) for one in param(page, "b").split(",")[:2])
    assert high - low == pytest.approx(5 / 1.5, rel=1e-4)
    page.keyboard.press("f")
    settled(page)
    assert param(page, "b") == "-2,2,-2,2"
    page.keyboard.press("r")
    settled(page)
    path = sx.walk(*points(page), GradientDescent(eta=0.5), "perceptron", start=[0, 0.6, 1], steps=100)
    assert int(param(page, "k")) == len(path.W) - 1
    agrees(page, path.W[-1])
    assert f"Step {len(path.W) - 1} of {len(path.W) - 1}" in page.inner_text("#say")
    assert surface(page, 0).locator("circle.step-dot").count() == len(path.W) - 1
    page.keyboard.press("Home")
    settled(page)
    assert param(page, "k") is None
    agrees(page, [0, 0.6, 1])
    page.keyboard.press("z")
    page.keyboard.press("z")
    page.keyboard.press("z")
    settled(page)
    assert weights(page).tolist() == [0, 0.5, 2]


def pressed(page, *keys):
    for key in keys:
        page.keyboard.press(key)
    settled(page)


def test_points_are_moved_added_and_removed_by_keys_as_on_the_plane(opened):
    page = opened(START)
    settled(page)
    X, y = points(page)
    mark = page.locator("aside path.point").nth(3)
    page.mouse.move(*centre(mark))  # the point under the cursor is the one that keys move
    page.focus("aside svg.stage")
    pressed(page, "ArrowRight", "Shift+ArrowUp")
    until(page, "() => location.hash.includes('d=3:')")
    np.testing.assert_allclose(points(page)[0][3], X[3] + [0.1, 1.0])
    agrees(page, [0, 0.5, 2])
    assert "Row 3, " in page.inner_text("#say")
    assert page.evaluate("document.activeElement === document.querySelector('aside svg.stage')")
    assert page.locator("aside circle.selected").count() == 1

    # N chooses the point that is nearest to it, which then moves; Z undoes one key at a time.
    pressed(page, "n")
    near = int(re.match(r"Row (\d+), ", page.inner_text("#say"))[1])
    others = np.delete(np.arange(len(X)), 3)
    assert near == others[np.argmin(np.linalg.norm(X[others] - points(page)[0][3], axis=1))]
    pressed(page, "ArrowLeft")
    until(page, "near => location.hash.includes(`;${near}:`) || location.hash.includes(`d=${near}:`)", arg=near)
    np.testing.assert_allclose(points(page)[0][near], X[near] - [0.1, 0.0])
    pressed(page, "z", "z", "z")
    until(page, "() => !location.hash.includes('d=')")

    # Digits add a point of the first or the second class, and Delete removes it; there is no third class here.
    pressed(page, "2", "3")
    assert page.locator("aside path.point").count() == len(X) + 1
    until(page, "() => location.hash.includes('p=~')")
    assert points(page)[1].tolist() == [*y.tolist(), 1]
    pressed(page, "Delete")
    assert page.locator("aside path.point").count() == len(X)
    pressed(page, "Escape")
    assert page.evaluate("document.activeElement === document.body")


def test_an_answer_about_points_that_were_removed_meanwhile_is_no_error(opened):
    page = opened("#weights?p=xor")
    page.locator(".rail svg[role=application]").focus()
    page.keyboard.press("n")
    page.keyboard.press("Delete")
    until(page, "() => document.querySelector('.rail svg[role=application]').ariaLabel.startsWith('Plane with 3 ')")


def test_keys_on_the_plane_do_nothing_to_a_run_until_a_point_moves(opened):
    page = opened(START, reduced_motion="reduce")
    page.get_by_label("Second loss").focus()
    page.focus(".surface:nth-child(2) svg.stage")
    pressed(page, "r")
    until(page, "() => document.querySelector('.status').textContent.startsWith('Step')")
    page.focus("aside svg.stage")
    pressed(page, "n")
    assert page.inner_text(".status").startswith("Step")
    pressed(page, "ArrowUp")
    until(page, "() => document.querySelector('.status').textContent === ''")


def test_a_run_grows_and_can_be_stopped_and_reset(opened):
    page = opened(f"{START}&eta=0.05")
    settled(page)
    page.click("#weights-run")
    until(page, "() => document.querySelectorAll('.surface.active circle.step-dot').length > 3")
    page.click("#weights-run")
    settled(page)
    k = int(param(page, "k"))
    path = sx.walk(*points(page), GradientDescent(eta=0.05), "perceptron", start=[0, 0.5, 2], steps=100)
    assert 3 < k < len(path.W) - 1
    agrees(page, path.W[k])
    assert f"Step {k} of {len(path.W) - 1}" in page.inner_text(".status")
    page.click("#weights-reset")
    settled(page)
    agrees(page, [0, 0.5, 2])


def test_a_run_on_the_0_1_error_gets_nowhere_and_a_step_that_is_too_long_diverges(opened):
    page = opened(f"{START}&on=0&k=0", reduced_motion="reduce")
    settled(page)
    assert "Step 0 of 0" in page.inner_text(".status")
    page.get_by_label("Second loss").select_option("squared")
    settled(page)
    surface(page, 1).focus()
    page.keyboard.press("r")
    settled(page)
    assert "diverged" in page.inner_text(".status").lower()
    page.get_by_label("Step size η").fill("-1")
    settled(page)
    assert param(page, "eta") == "0.1"
    path = sx.walk(*points(page), GradientDescent(eta=0.1), "squared", start=[0, 0.5, 2], steps=100)
    agrees(page, path.W[-1], ("zero-one", "squared"))


def test_a_link_restores_a_run_and_the_copied_python_gives_its_numbers(opened, capsys):
    link = "#weights?v=1&l=logistic,squared_hinge&ax=0,2&s=newton&C=10&w=1,-1,0.5&b=-4,4,-3,5&k=3&p=overlapping&d=3:1,1"
    page = opened(f"{link}&colour=red", permissions=["clipboard-read", "clipboard-write"])
    settled(page)
    assert "colour" in page.inner_text("#notice")
    for key in ("l", "ax", "s", "C", "w", "b", "k", "p", "d"):
        assert f"{key}={param(page, key)}" in link.replace("#weights?v=1", "").split("&")
    assert page.get_by_label("Axes").input_value() == "0,2"
    assert page.get_by_label("Penalty").input_value() == "10"
    names = page.locator(".surface.active text.name").evaluate_all("all => all.map(one => one.textContent)")
    assert names == ["b", "w₂"]
    page.click("#act-python")
    page.wait_for_selector(".toast")
    text, variables = page.evaluate("navigator.clipboard.readText()"), {}
    exec(text, variables)
    assert variables["surface"].columns == (0, 2)
    assert len(variables["path"].W) > 3
    agrees(page, variables["w"], ("logistic", "squared_hinge"), C=10)
    assert f"squared_hinge {variables['path'].value[3]}" in capsys.readouterr().out


def test_a_run_of_stochastic_descent_shows_every_update(opened):
    link = "#weights?v=1&l=logistic,zero-one&on=0&s=sgd&eta=0.2&w=0,0,0&p=overlapping"
    page = opened(link, reduced_motion="reduce")
    settled(page)
    page.click("#weights-run")
    settled(page)
    solver = sx.solvers.StochasticDescent(eta=0.2)
    path = sx.walk(*points(page), solver, "logistic", steps=300, budget=1)
    assert f"Step 300 of {len(path.W) - 1}" in page.inner_text(".status")
    agrees(page, path.W[-1], ("logistic", "zero-one"))
    assert page.locator(".surface.active circle.step-dot").count() == 300
    values = np.diff(path.value)
    assert np.any(values > 0)
    assert path.value[-1] < path.value[0]


def test_points_of_three_classes_are_refused_in_a_sentence(opened):
    page = opened("#weights?p=three")
    settled(page)
    assert "3 classes" in page.inner_text("#notice")
    assert param(page, "p") == "separable"


def test_dragging_the_line_its_normal_or_a_point_moves_w_and_the_surfaces(opened):
    page = opened(START)
    settled(page)
    plane = page.locator("aside svg.stage")
    painted = "() => document.querySelector('.surface canvas').toDataURL()"
    before = page.evaluate(painted)
    box = plane.bounding_box()
    drag(page, (box["x"] + 40, box["y"] + 200), (box["x"] + 60, box["y"] + 180))
    w = weights(page)
    assert w[1:].tolist() == [0.5, 2]
    assert w[0] != 0
    agrees(page, w)
    assert page.evaluate(painted) != before
    x, y = page.evaluate(
        """() => {
            const arrow = document.querySelector('aside path.vector');
            const at = arrow.getPointAtLength(54), to = arrow.getScreenCTM();
            return [at.x + to.e, at.y + to.f];
        }"""
    )
    drag(page, (x, y), (x + 80, y + 60))
    turned = weights(page)
    assert np.linalg.norm(turned[1:]) == pytest.approx(np.hypot(0.5, 2), abs=2e-3)
    assert turned[2] < 1.9
    agrees(page, turned)
    before = page.evaluate(painted)
    x, y = centre(page.locator("aside path.point").nth(0))
    drag(page, (x, y), (x - 30, y + 30))
    assert param(page, "d").startswith("0:")
    assert weights(page).tolist() == turned.tolist()
    agrees(page, turned)
    assert page.evaluate(painted) != before


def test_a_method_that_a_loss_cannot_take_is_refused_in_a_sentence(opened):
    page = opened(f"{START}&l=logistic,perceptron&s=newton", reduced_motion="reduce")
    settled(page)
    page.click("#weights-run")
    page.wait_for_selector("#notice:not([hidden])")
    assert "smooth" in page.inner_text("#notice")
    page.get_by_label("First loss").select_option("zero-one")
    settled(page)
    offered = (
        page.get_by_label("Method").locator("option:not([hidden])").evaluate_all("all => all.map(one => one.value)")
    )
    assert "newton" not in offered
    assert "gradient-descent" in offered


def test_a_phone_shows_one_surface_with_targets_for_a_finger(opened):
    page = opened(START, width=390)
    settled(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert [surface(page, k).is_visible() for k in (0, 1)] == [False, True]
    page.get_by_role("button", name="zero-one").click()
    assert [surface(page, k).is_visible() for k in (0, 1)] == [True, False]
    until(page, "() => document.querySelector('.surface canvas').width > 300")
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")]
        .filter(one => one.checkVisibility() && !one.closest(".point-table"))
        .filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML.slice(0, 80))"""
    )
    assert small == []


def test_the_picture_has_the_bands_of_the_active_surface(opened):
    page = opened(f"{START}&k=5")
    settled(page)
    page.click("#act-picture")
    with page.expect_download() as download:
        page.locator(".menu button", has_text="SVG").click()
    content = download.value.path().read_text()
    assert content.startswith("<svg")
    assert "data:image/png" in content
    assert "−∇E" in content


def test_the_numbers_at_w_can_be_typed(opened):
    page = opened(START)
    settled(page)
    page.get_by_label("w₁", exact=True).fill("-1.25")
    page.get_by_label("w₁", exact=True).press("Tab")
    settled(page)
    assert weights(page).tolist() == [0, -1.25, 2]
    agrees(page, [0, -1.25, 2])


def test_a_choice_takes_the_run_again_and_keeps_the_focus(opened):
    page = opened(f"{START}&k=9", reduced_motion="reduce")
    settled(page)
    page.focus("input[aria-label='Step size η']")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    settled(page)
    eta = float(param(page, "eta"))
    assert eta == 1.0
    path = sx.walk(*points(page), GradientDescent(eta=eta), "perceptron", start=[0, 0.5, 2], steps=100)
    agrees(page, path.W[-1])
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Step size η"
    page.get_by_label("Penalty").focus()
    page.get_by_label("Penalty").select_option("1")
    settled(page)
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Penalty"
    path = sx.walk(*points(page), GradientDescent(eta=eta), "perceptron", start=[0, 0.5, 2], steps=100, C=1.0)
    agrees(page, path.W[-1], C=1.0)
    for _ in range(2):
        page.focus("#stage")
        page.keyboard.press("ArrowUp")
        settled(page)
    page.focus("button[aria-label=Undo]")
    page.keyboard.press("Enter")
    settled(page)
    assert page.evaluate("() => document.activeElement.ariaLabel") == "Undo"
