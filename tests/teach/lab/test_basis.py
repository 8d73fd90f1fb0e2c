"""The page Basis: its numbers are those of the library on φ(X), and its proofs hold."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.base.errors import InputError
from separatrix.teach.lab.page_basis import BASES, chosen_basis, show
from separatrix.teach.lab.requests import encoded

from .waiting import until

GAUSSIANS = {"centres": 4, "width": 1.0, "seed": 0}


def asked(preset, kind, model="least-squares", **others):
    X, y = sx.lab.points(preset)
    basis = {"kind": kind, **GAUSSIANS}
    return {"X": X, "y": y, "preset": preset, "basis": basis, "model": {"name": model}, "box": [-4, 4, -4, 4]} | others


def fact(page, name):
    return page.locator(f".card tr[data-fact='{name}'] td").inner_text()


def until_said(page, word):
    until(page, "word => document.querySelector('.card .sum')?.innerText === word", arg=word)


def state(page, key):
    return page.evaluate("key => new URLSearchParams(location.hash.split('?')[1]).get(key)", key)


def drawn_points(page):
    moved = (state(page, "d") or "").replace(":", "=")
    return sx.lab.points(";".join(one for one in [state(page, "p"), moved] if one))


def dragged(page, mark, right, up):
    box = mark.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for share in (0.25, 0.5, 0.75, 1):
        page.mouse.move(x + share * right, y - share * up)
    page.mouse.up()


def test_xor_comes_apart_when_the_product_is_added(opened):
    page = opened("#basis")
    until_said(page, "Not separable")
    assert fact(page, "λ") == "row 0: 1, row 1: 1, row 2: 1, row 3: 1"
    assert page.locator("#stage circle.ring").count() == 4
    assert page.locator("#stage text", has_text="λ 1").count() == 4
    page.get_by_role("button", name="with x₁x₂").click()
    until_said(page, "Separable")
    assert fact(page, "margin") == "1"
    assert fact(page, "mistakes of the perceptron") == "4"
    assert fact(page, "most that the theorem allows") == "4"
    assert page.locator(".model [data-number=wrong]").inner_text().split()[0] == "0"
    assert page.locator("circle.ring").count() == 0
    axes = [
        page.get_by_label(name).locator("option:checked").inner_text() for name in ("Vertical axis", "Horizontal axis")
    ]
    assert axes == ["x₁x₂", "x₁"]
    assert "x₂ has its mean 0.00" in page.locator(".note").inner_text()


def test_dragging_a_point_changes_the_proof_and_undo_restores_it(opened):
    page = opened("#basis?b=linear&m=perceptron")
    until_said(page, "Not separable")
    dragged(page, page.locator("g.marks path").nth(0), 230, 60)
    until(page, "() => location.hash.includes('d=0:1.')")
    X, y = drawn_points(page)
    verdict = sx.separability(X, y)
    assert verdict
    cell = """document.querySelector(".card tr[data-fact='margin'] td")?.innerText"""
    until(page, f"text => {cell} === text", arg=f"{verdict.margin:.3f}")
    assert int(fact(page, "mistakes of the perceptron")) == sx.Perceptron().fit(X, y).mistakes_
    assert int(fact(page, "most that the theorem allows")) == int(sx.novikoff_bound(X, y).bound + 1e-6)
    page.locator("button[aria-label=Undo]").first.click()
    until_said(page, "Not separable")
    until(page, "() => !location.hash.includes('d=')")


def test_a_link_restores_basis_axes_model_and_points(opened):
    page = opened("#basis?m=logistic&C.1=100&p=moons&b=gaussian&k=8&w=1.5&s=3&a=2,5&colour=red")
    until_said(page, "Separable")
    assert "colour" in page.locator("#notice").inner_text()
    X, y = sx.lab.points("moons")
    phi = sx.gaussian(8, width=1.5, seed=3)
    model = make_pipeline(phi, sx.LogisticRegression(C=100)).fit(X, y)
    wrong = page.locator(".model [data-number=wrong]").inner_text().split()[0]
    assert int(wrong) == np.sum(model.predict(X) != y)
    norm = float(page.locator(".model [data-number=norm]").inner_text())
    assert norm == pytest.approx(np.linalg.norm(model[-1].coef_), rel=1e-3, abs=6e-2)
    assert page.get_by_label("Horizontal axis").input_value() == "2"
    assert page.get_by_label("Vertical axis").input_value() == "5"
    assert page.locator("g.lines path.cross").count() == 8
    page.get_by_label("Vertical axis").select_option("0")
    until(page, "() => location.hash.includes('a=2,0')")


def test_the_copied_python_gives_the_numbers_of_the_page(opened):
    page = opened("#basis?m=perceptron&p=ring&b=quadratic", permissions=["clipboard-read", "clipboard-write"])
    until_said(page, "Separable")
    page.click("#act-python")
    page.wait_for_selector(".toast")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    X, y, proof = names["X"], names["y"], names["proof"]
    assert float(fact(page, "margin")) == pytest.approx(proof.margin, abs=6e-4)
    shown = page.locator(".model [data-number=wrong]").inner_text().split()
    assert int(shown[0]) == np.sum(names["model"].predict(X) != y)
    assert int(shown[2]) == len(y)


@pytest.mark.parametrize("name", ["some rows", "a grid", "Draw others", "Gaussian", "linear"])
def test_a_button_that_is_built_again_keeps_the_focus(opened, name):
    """Other buttons appear and vanish with the choice, so that its place among them may change."""
    page = opened("#basis?b=gaussian")
    page.get_by_role("button", name=name, exact=True).focus()
    page.evaluate("document.activeElement.dataset.old = true")
    page.keyboard.press("Enter")
    until(page, "() => !document.querySelector('main [data-old]')")
    assert page.evaluate("document.activeElement.innerText") == name


def test_everything_can_be_done_with_keys(opened):
    page = opened("#basis")
    until_said(page, "Not separable")
    page.get_by_role("button", name="quadratic").focus()
    page.keyboard.press("Enter")
    until_said(page, "Separable")
    assert page.evaluate("document.activeElement.innerText") == "quadratic"
    until(page, "() => document.querySelector('#say').textContent.includes('Separable: margin 0.')")
    page.get_by_role("button", name="linear").focus()
    page.keyboard.press("Enter")
    until_said(page, "Not separable")
    page.focus("#stage")
    for key in ("Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowUp", "ArrowDown"):
        page.keyboard.press(key)
    until_said(page, "Separable")
    said = "document.querySelector('#say').textContent"
    until(page, f"() => {said}.includes('Row 0, blue, at 1.00, −0.10') && {said}.includes('Separable: margin')")
    until(page, "() => location.hash.includes('d=0:1,-0.1')")
    page.keyboard.press("2")
    until(page, "() => document.querySelectorAll('g.marks path').length === 5")
    page.keyboard.press("Delete")
    until(page, "() => document.querySelectorAll('g.marks path').length === 4")
    for _ in range(6):
        page.keyboard.press("z")
    until_said(page, "Not separable")


def test_on_a_phone_the_pictures_are_tabs_and_targets_are_large(opened):
    page = opened("#basis?b=gaussian&p=moons", width=390, color_scheme="dark", reduced_motion="reduce")
    until_said(page, "Not separable" if not sx.separability(*featured("moons", "gaussian")) else "Separable")
    figures = page.locator(".spaces figure")
    assert [figures.nth(k).is_visible() for k in (0, 1)] == [True, False]
    page.get_by_role("button", name="Feature space").click()
    assert [figures.nth(k).is_visible() for k in (0, 1)] == [False, True]
    until(page, "() => document.querySelectorAll('.spaces svg')[1].getBoundingClientRect().height > 300")
    small = page.evaluate(
        """() => [...document.querySelectorAll("button, select, summary, input")]
        .filter(one => one.checkVisibility() && !one.closest(".point-table") && one.type !== "checkbox")
        .filter(one => one.getBoundingClientRect().height < 44).map(one => one.outerHTML.slice(0, 80))"""
    )
    assert small == []
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_the_saved_picture_holds_both_spaces(opened):
    page = opened("#basis?b=product")
    until_said(page, "Separable")
    page.click("#act-picture")
    with page.expect_download() as download:
        page.locator(".menu button", has_text="SVG").click()
    content = download.value.path().read_text()
    assert content.startswith("<svg")
    assert content.count("<svg") == 3
    assert "x₁x₂" in content


def test_points_of_one_class_are_said_to_have_nothing_to_separate(opened):
    page = opened("#basis?b=product")
    until_said(page, "Separable")
    page.focus("#stage")
    for _ in range(2):
        page.keyboard.press("Delete")
    until_said(page, "Nothing to separate")
    page.wait_for_selector(".model .verdict.bad")


def featured(preset, kind, **settings):
    X, y = sx.lab.points(preset)
    return chosen_basis({"kind": kind, **GAUSSIANS, **settings}, X).transformer.fit_transform(X), y


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("preset", ["xor", "ring", "moons", "overlapping", "three"])
def test_the_answer_has_the_verdict_and_the_mistakes_of_the_library(kind, preset):
    answer, (F, y) = show(asked(preset, kind)), featured(preset, kind)
    verdict, proof = sx.separability(F, y), answer["proof"]
    assert proof["fine"] == bool(verdict)
    assert proof["sentence"].endswith("Checked again from the rows.")
    assert (
        list(answer["model"]["wrong"]) == np.flatnonzero(sx.LeastSquaresClassifier().fit(F, y).predict(F) != y).tolist()
    )
    assert len(answer["names"]) == F.shape[1]
    np.testing.assert_array_equal(answer["features"]["points"], F[:, answer["axes"]])
    if not verdict:
        assert list(proof["rows"]) == verdict.rows.tolist()
    encoded(answer)


def test_multipliers_sum_the_signed_features_to_zero():
    answer, (F, y) = show(asked("overlapping", "quadratic")), featured("overlapping", "quadratic")
    rows, shares = answer["proof"]["rows"], np.array([float(one) for one in answer["proof"]["multipliers"]])
    signed = np.where(y[rows] == 1, 1, -1)[:, None] * np.column_stack([np.ones(len(rows)), F[rows]])
    assert np.abs(shares @ signed).max() < 0.02
    assert shares.sum() == pytest.approx(1, abs=0.01)


def test_the_curved_boundary_lies_where_the_score_is_zero():
    answer = show(asked("ring", "quadratic", "logistic"))
    X, y = sx.lab.points("ring")
    model = make_pipeline(sx.quadratic(), sx.LogisticRegression()).fit(X, y)
    curve = np.vstack(answer["plane"]["lines"])
    assert len(curve) > 20
    assert np.abs(model.decision_function(curve)).max() < 0.02


def test_the_line_among_features_is_the_cut_at_the_means():
    answer, (F, y) = show(asked("overlapping", "quadratic", "logistic")), featured("overlapping", "quadratic")
    model, axes = sx.LogisticRegression().fit(F, y), answer["axes"]
    for place in np.vstack(answer["features"]["lines"]):
        row = F.mean(axis=0)
        row[axes] = place
        assert abs(model.decision_function([row])[0]) < 0.01
    cut = np.tile(F.mean(axis=0), (len(F), 1))
    cut[:, axes] = F[:, axes]
    elsewhere = np.sum(model.predict(cut) != model.predict(F))
    assert elsewhere > 0
    assert answer["features"]["cut"].endswith(f"Rows on another side of the cut than of the boundary: {elsewhere}.")


def test_crossing_boundaries_are_drawn_without_a_gap():
    lines = show(asked("xor", "product"))["plane"]["lines"]
    assert len(lines) == 2
    assert all(np.abs(np.prod(line, axis=1)).max() < 1e-3 for line in map(np.array, lines))


def test_centres_on_a_grid_and_the_expression_that_makes_them():
    X, _ = sx.lab.points("moons")
    basis = chosen_basis({"kind": "gaussian", "place": "grid", "centres": 3, "width": 0.8}, X)
    made = eval(basis.python, {"sx": sx}).fit(X)
    assert made.centres_.shape == (9, 2)
    np.testing.assert_array_equal(made.transform(X), basis.transformer.fit_transform(X))
    assert made.centres_.min() == pytest.approx(X.min(), abs=0.006)


def test_a_perceptron_that_does_not_finish_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        answer = show(
            asked("overlapping", "gaussian", basis={"kind": "gaussian", "centres": 20, "width": 1, "seed": 0})
        )
    facts = dict(answer["proof"]["facts"])
    assert facts["mistakes of the perceptron"].endswith(", not finished")


@pytest.mark.parametrize(
    ("change", "about"),
    [
        ({"basis": {"kind": "cubic"}}, "basis"),
        ({"basis": {"kind": "gaussian", "centres": 99, "width": 1, "seed": 0}}, "centres"),
        ({"basis": {"kind": "gaussian", "centres": 3, "width": 0, "seed": 0}}, "width"),
        ({"X": [], "y": []}, "points"),
    ],
)
def test_other_requests_are_refused_in_a_sentence(change, about):
    with pytest.raises(InputError, match=about):
        show(asked("xor", "linear", **change))


def test_points_of_one_class_are_told_in_one_sentence():
    told = show(asked("xor", "linear") | {"y": [0, 0, 0, 0]})["proof"]["sentence"]
    assert told.endswith("give at least two.")
