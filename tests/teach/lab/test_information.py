"""The page Information: its numbers are those of ``sx.information`` and of the links."""

import math

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError
from separatrix.teach.lab.page_information import SLIDERS, beliefs, heads, peaks
from separatrix.teach.lab.requests import encoded
from separatrix.teach.lab.shown_models import decimals

from .waiting import until

info = sx.information


def row(page, name):
    """The numbers beside a name, in the tables under the figures."""
    cells = page.locator(f"tr[data-fact='{name}']").first.locator("td").all_inner_texts()
    return [float(one.replace("−", "-").replace("∞", "inf")) for one in cells]


def until_row(page, name, values):
    """Wait until a row shows these values, rounded as on the page."""
    shown = [decimals(one, 4) for one in values]
    read = "[...document.querySelectorAll(`tr[data-fact='${name}']`)].map(one => [...one.querySelectorAll('td')]"
    until(
        page, f"([name, shown]) => {read}.map(cell => cell.innerText).join()).includes(shown.join())", arg=[name, shown]
    )


def slid(page, name, value):
    page.locator(f"input[name={name}]").fill(str(value))


def divergences(p, q):
    P, Q = info.Bernoulli(p), info.Bernoulli(q)
    return [info.kl_divergence(P, Q), info.kl_divergence(P, Q, base=2)]


def test_moving_q_to_p_costs_nothing(opened):
    page = opened("#information")
    until_row(page, "KL(p‖q)", divergences(0.3, 0.8))
    slid(page, "q", 0.5)
    until_row(page, "KL(p‖q)", divergences(0.3, 0.5))
    p, q = info.Bernoulli(0.3), info.Bernoulli(0.5)
    assert row(page, "H(p)") == pytest.approx([info.entropy(p), info.entropy(p, base=2)], abs=6e-5)
    assert row(page, "H(q)") == pytest.approx([math.log(2), 1], abs=6e-5)
    both = [info.cross_entropy(p, q), info.cross_entropy(p, q, base=2)]
    assert row(page, "H(p, q)") == pytest.approx(both, abs=6e-5)
    assert row(page, "KL(q‖p)")[0] == pytest.approx(info.kl_divergence(q, p), abs=6e-5)
    slid(page, "q", 0.3)
    until_row(page, "KL(p‖q)", [0, 0])
    assert "costs nothing" in page.locator(".note").nth(0).inner_text()
    page.locator("button[aria-label=Undo]").click()
    until_row(page, "KL(p‖q)", divergences(0.3, 0.5))


def test_dragging_on_a_curve_moves_its_slider_and_is_one_step_of_undo(opened):
    page = opened("#information")
    until_row(page, "KL(p‖q)", divergences(0.3, 0.8))
    frame = page.locator("#stage").bounding_box()
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    page.mouse.move(x - 100, y)
    page.mouse.down()
    for by in (-60, -20, 0):
        page.mouse.move(x + by, y)
    page.mouse.up()
    until(page, "() => location.hash.includes('p=0.5')")
    assert page.locator("input[name=p]").input_value() == "0.5"
    until_row(page, "KL(p‖q)", divergences(0.5, 0.8))
    page.locator("button[aria-label=Undo]").click()
    until_row(page, "KL(p‖q)", divergences(0.3, 0.8))
    assert page.locator("button[aria-label=Undo]").is_disabled()


def test_the_two_normals_of_two_peaks_follow_the_sliders(opened):
    page = opened("#information?distance=5&weight=0.3")
    mixture = info.Mixture((0.3, 0.7), (info.Normal(-2.5, 0.7225), info.Normal(2.5, 0.7225)))
    for name, direction in (("least KL(p‖q)", "p||q"), ("least KL(q‖p)", "q||p")):
        q = info.best_normal(mixture, direction).q
        until_row(page, name, [q.mu, q.sigma, info.kl_divergence(mixture, q), info.kl_divergence(q, mixture)])
    slid(page, "width", 2)
    wide = info.Mixture((0.3, 0.7), (info.Normal(-2.5, 4), info.Normal(2.5, 4)))
    cover = info.best_normal(wide, "p||q").q
    until_row(
        page, "least KL(p‖q)", [cover.mu, cover.sigma, info.kl_divergence(wide, cover), info.kl_divergence(cover, wide)]
    )
    page.get_by_text("As a table").nth(2).click()
    table = page.locator("details[open] tbody tr")
    table.nth(16).wait_for()
    assert table.count() == 17
    x, p, *_ = table.nth(10).locator("th, td").all_inner_texts()
    assert float(p) == pytest.approx(float(wide.pdf(float(x.replace("−", "-")))), abs=6e-5)


def test_keys_move_a_slider_and_say_what_it_means(opened):
    page = opened("#information?z=0")
    until_row(page, "σ(z)", [0.5])
    assert row(page, "σ′(z)") == [0.25]
    page.focus("input[name=z]")
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    sigma = float(sx.losses.sigmoid(2.0))
    until_row(page, "σ(z)", [sigma])
    assert row(page, "logit σ(z)") == [2.0]
    assert row(page, "sign of z") == [1.0]
    assert row(page, "identity of z") == [2.0]
    for name in ("probit", "cloglog"):
        assert row(page, f"{name} of z")[0] == pytest.approx(
            sx.links.LINKS[name].activation(np.array([2.0]))[0], abs=6e-5
        )
    until(
        page,
        f"() => document.querySelector('#say').textContent === 'At z = 2.0, σ is {sigma:.4f} and its slope 0.1050.'",
    )
    page.keyboard.press("z")
    until_row(page, "σ(z)", [float(sx.losses.sigmoid(1.9))])


def test_the_copied_python_prints_the_numbers_of_the_page(opened, capsys):
    page = opened("#information?p=0.2&q=0.6&z=-1.5", permissions=["clipboard-read", "clipboard-write"])
    until_row(page, "KL(p‖q)", divergences(0.2, 0.6))
    page.click("#act-python")
    page.wait_for_selector(".toast")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    printed = capsys.readouterr().out.split("\n")
    nats, bits = ([float(one) for one in " ".join(lines).split()] for lines in (printed[:2], printed[2:4]))
    shown = np.array([row(page, name) for name in ("H(p)", "H(q)", "H(p, q)", "KL(p‖q)", "KL(q‖p)")])
    np.testing.assert_allclose(shown, np.column_stack([nats, bits]), atol=6e-5)
    best = row(page, "least KL(q‖p)")
    assert best[0] == pytest.approx(names["best"].q.mu, abs=6e-5)
    assert best[3] == pytest.approx(names["best"].divergence, abs=6e-5)
    assert row(page, "σ(z)") == pytest.approx([names["p"]], abs=6e-5)


def test_a_link_says_what_it_does_not_know_and_ignores_numbers_out_of_range(opened):
    page = opened("#information?p=7&q=0.6&colour=red")
    until_row(page, "KL(p‖q)", divergences(0.3, 0.6))
    assert "colour" in page.locator("#notice").inner_text()


def test_the_figures_are_stacked_on_a_phone_and_saved_as_one_picture(opened):
    page = opened("#information", width=390, color_scheme="dark", reduced_motion="reduce")
    until_row(page, "KL(p‖q)", divergences(0.3, 0.8))
    places = page.evaluate(
        "[...document.querySelectorAll('.charts svg.stage')].map(one => one.getBoundingClientRect().x)"
    )
    assert len(places) == 4
    assert len(set(places)) == 1
    small = page.evaluate(
        """() => [...document.querySelectorAll("main button, select, summary, input")]
        .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 44).map(one => one.outerHTML)"""
    )
    assert small == []
    page.click("#act-picture")
    with page.expect_download() as download:
        page.locator(".menu button", has_text="SVG").click()
    assert download.value.path().read_text().count("<svg") == 5


def test_every_curve_has_its_name_and_every_slider_its_first_value():
    first = {name: slider[4] for name, slider in SLIDERS.items()}
    for request in (beliefs, peaks, heads):
        answer = request(first)
        encoded(answer)
        for part in answer["parts"]:
            axis, *curves = part["curves"]
            assert set(part["names"]) == set(curves)
            assert all(len(part["curves"][name]) == len(part["curves"][axis]) for name in curves)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_impossible_outcomes_have_an_infinite_cost(p):
    answer = beliefs({"p": p, "q": 0.5})
    assert {name: cells for name, *cells in answer["parts"][1]["rows"]}["KL(q‖p)"] == ["∞", "∞"]
    assert set(answer["parts"][1]["curves"]) == {"q", "H(p, q)", "KL(p‖q)"}
    assert {name: cells for name, *cells in answer["parts"][0]["rows"]}["H(p)"] == ["0.0000", "0.0000"]


def test_curves_are_those_of_the_library():
    curves = beliefs({"p": 0.3, "q": 0.8})["parts"][1]["curves"]
    for k in (0, 40, 99):
        P, Q = info.Bernoulli(0.3), info.Bernoulli(float(curves["q"][k]))
        assert curves["H(p, q)"][k] == info.cross_entropy(P, Q)
        assert curves["KL(p‖q)"][k] == info.kl_divergence(P, Q)
        assert curves["KL(q‖p)"][k] == info.kl_divergence(Q, P)
    sigma = heads({"z": 0.0})["parts"][0]["curves"]
    np.testing.assert_allclose(np.gradient(sigma["σ"], sigma["z"])[1:-1], sigma["σ′"][1:-1], atol=1e-3)


@pytest.mark.parametrize(("request_", "payload"), [(beliefs, {"p": 2, "q": 0.5}), (heads, {"z": None}), (peaks, {})])
def test_values_outside_their_sliders_are_refused(request_, payload):
    with pytest.raises(InputError):
        request_(payload)
