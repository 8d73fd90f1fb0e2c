"""The page Step: forwards and backwards through a run, with the numbers of ``sx.steps``."""

import pytest

import separatrix as sx

from .waiting import until

FIRST = "#step?m=perceptron&p=separable&k=0"


@pytest.fixture(scope="module")
def run():
    return sx.steps(sx.Perceptron(), *sx.lab.points("separable"))


def shown(page):
    """The rows on the wrong side, the cost and the cosine that stand above the curves."""
    return page.locator(".curves figcaption b").all_inner_texts()


def at(page, k):
    page.wait_for_selector(f"#stage[data-step='{k}']")
    until(page, "k => location.hash.endsWith(`k=${k}`)", arg=k)


def test_stepping_forwards_and_back_shows_the_numbers_of_the_run(opened, run):
    page = opened(FIRST)
    at(page, 0)
    start = shown(page)
    for k in (1, 2, 3):
        page.click("#step-next")
        at(page, k)
        step = run[k]
        assert shown(page)[0] == f"{step.wrong} of {step.n_rows}"
        assert float(shown(page)[1]) == pytest.approx(step.cost, abs=6e-4)
        assert f"Row {step.row}" in page.locator(".card .sum").inner_text()
        assert page.locator("circle.halo").count() == 1
        assert page.locator("circle.ring").count() == step.wrong
    for k in (2, 1, 0):
        page.click("#step-back")
        at(page, k)
    assert shown(page) == start
    assert page.locator("#step-back").is_disabled()


def test_keys_step_play_and_go_to_the_ends(opened, run):
    page = opened(FIRST)
    page.keyboard.press("End")
    at(page, len(run) - 1)
    assert page.locator("[data-number=allowed]").inner_text() == str(int(run.theorem().bound_from_start))
    assert str(run.model.mistakes_) in page.locator(".theorem").inner_text()
    page.keyboard.press("ArrowLeft")
    at(page, len(run) - 2)
    said = f"now {run[len(run) - 2].wrong} of 22 wrong"
    until(page, "said => document.querySelector('#say').textContent.includes(said)", arg=said)
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    until(page, "() => document.querySelector('#stage').dataset.step >= 2")
    page.click("#step-first")
    until(page, "() => document.querySelector('#step-play').innerText === 'Play'")
    at(page, 0)


def test_every_method_has_its_steps_and_its_python_runs(opened):
    page = opened(FIRST, permissions=["clipboard-read", "clipboard-write"])
    page.select_option("select[aria-label=Method]", "logistic")
    page.select_option("select[aria-label=solver]", "newton")
    until(page, "() => location.hash.includes('newton')")
    page.keyboard.press("Tab")
    page.click("#step-last")
    page.click("#act-python")
    page.wait_for_selector(".toast")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()").replace("print(", "last = ("), names)
    assert shown(page)[0] == f"{names['last'].wrong} of 22"
    assert names["run"].model.solver_ == "newton"
