"""The page Step: forwards and backwards through a run, with the numbers of ``sx.steps``."""

import pytest

import separatrix as sx
from separatrix.teach.lab import page_step as requests_of_step
from separatrix.teach.step_arithmetic import most_mistakes

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


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_stochastic_descent_is_shown_row_by_row_with_its_learning_rate(opened):
    link = "#step?m=logistic&solver=sgd&eta=0.2&p=overlapping&k=3"
    page = opened(link, permissions=["clipboard-read", "clipboard-write"])
    X, y = sx.lab.points("overlapping")
    run = sx.steps(sx.LogisticRegression(solver=sx.solvers.StochasticDescent(eta=0.2)), X, y)
    at(page, 3)
    lines = [line.strip() for line in str(run[3]).split("\n")]
    assert page.locator(".card .board p").all_inner_texts() == lines
    assert [word in " ".join(lines) for word in (f"row {run[3].row},", "∇E_i = ", "η = 0.2:")] == [True] * 3
    assert page.locator("circle.halo").count() == 1
    page.select_option("select[aria-label='Rows per update']", "5")
    until(page, "() => location.hash.includes('batch_size=5')")
    page.get_by_label("Learning rate η").fill("0")
    until(page, "() => location.hash.includes('eta=1&')")
    page.click("#step-next")
    at(page, 1)
    assert page.locator("circle.halo").count() == 5
    page.click("#act-python")
    page.wait_for_selector(".toast")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()").replace("print(", "now = ("), names)
    assert page.locator(".card .board p").first.inner_text() == str(names["now"]).split("\n")[0]
    assert (len(names["now"].rows), names["now"].eta) == (5, 1.0)


def test_the_arithmetic_of_other_methods_is_their_own(opened):
    page = opened("#step?m=kozinec&p=separable&k=2")
    at(page, 2)
    lines = [line.strip() for line in str(sx.steps(sx.KozinecClassifier(), *sx.lab.points("separable"))[2]).split("\n")]
    assert page.locator(".card .board p").all_inner_texts() == lines
    assert page.locator(".card .equations").count() == 0


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_class_weights_are_not_written_as_a_plain_update():
    settings = {"update": "worst", "class_weight": "balanced", "max_iter": 3}
    box = [-3, 3, -3, 3]
    asked = {"points": "separable", "model": {"name": "perceptron", "settings": settings, "base": None}, "box": box}
    assert [one["plain"] for one in requests_of_step.run(asked)["steps"]] == [False] * 4
    asked["model"]["settings"] = {"update": "worst", "max_iter": 3}
    assert [one["plain"] for one in requests_of_step.run(asked)["steps"]] == [False, True, True, True]


def test_the_bound_is_that_of_the_blackboard():
    """Two points for which the run attains its bound, 1, which is computed as 1 − 1e-16 or so."""
    assert most_mistakes(1 - 1e-15) == 1


@pytest.mark.parametrize("points", ["nonsense", "three", "separable;99=0,0"])
def test_a_link_to_points_that_cannot_be_used_shows_the_first_preset(opened, points):
    page = opened(f"#step?p={points.replace('=', ':').replace(';', '&d=')}&k=2")
    at(page, 2)
    assert page.locator("#notice span").inner_text().endswith("The page shows the first preset instead.")
    assert page.locator("select[aria-label=Points]").input_value() == "separable"


def test_without_a_run_no_button_fails(opened):
    """The settings of the link are refused, so that there is nothing to step through; its points stay."""
    page = opened("#step?p=overlapping&eta0=-1")
    assert page.locator("#notice span").inner_text().count("eta0") == 1
    for name in ("next", "last", "play", "back", "first"):
        page.click(f"#step-{name}", force=True)
    page.keyboard.press("End")
    assert page.locator("select[aria-label=Points]").input_value() == "overlapping"


def test_a_link_to_a_model_without_steps_says_so(opened):
    page = opened("#step?m=fisher&p=separable&colour=red")
    at(page, 4)
    assert page.locator("#notice span").inner_text().endswith("were not used: colour, fisher.")


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_the_answer_is_not_counted_as_an_update(opened):
    """The axis of each curve ends at the last update; the answer, the mean of the weights, is none."""
    run = sx.steps(sx.Perceptron(average=True, max_iter=10), *sx.lab.points("overlapping"))
    updates = len(run) - 2
    assert [(run[k].kind, run[k].number) for k in (-2, -1)] == [("update", updates), ("answer", updates)]
    page = opened(f"#step?m=perceptron&average=true&max_iter=10&p=overlapping&k={updates + 1}")
    at(page, updates + 1)
    assert page.locator(".curves svg text.tick:last-child").all_text_contents() == [str(updates)] * 3
    words = page.locator(".curves svg").first.get_attribute("aria-label")
    assert words.endswith(f"at the answer after update {updates}")
    assert "The answer; now" in page.get_attribute("#stage", "aria-label")
    page.locator(".curves summary").first.click()
    page.wait_for_selector(".curves tbody th")
    named = page.locator(".curves details").first.locator("tbody th").all_inner_texts()
    assert named == [*map(str, range(updates + 1)), "answer"]
