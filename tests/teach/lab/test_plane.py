"""The page Plane, used as a person would, with its numbers compared to the library's."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers import OFFERED
from separatrix.teach.lab.points import spelled

from .waiting import settled, until


def text(page, query, k=0):
    return page.locator(query).nth(k).inner_text()


def number(page, name, k):
    """A number on the card of model k, with the real minus sign turned back."""
    return float(text(page, f".model [data-number={name}]", k).split()[0].replace("−", "-"))


def drawn_points(page):
    """The points that the link of the page names."""
    moved = page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('d')")
    preset = page.evaluate("new URLSearchParams(location.hash.split('?')[1]).get('p')")
    return sx.lab.points(";".join([preset, *(one.replace(":", "=") for one in (moved or "").split(";") if one)]))


def agrees(page, models):
    """The numbers on the page are those of the library for the points of the link."""
    X, y = drawn_points(page)
    for k, model in enumerate(models):
        model.fit(X, y)
        assert number(page, "wrong", k) == np.sum(model.predict(X) != y)
        assert number(page, "norm", k) == pytest.approx(np.linalg.norm(model.coef_), abs=6e-4)
        assert number(page, "cost", k) == pytest.approx(model.certificate_.objective, abs=6e-4)


def test_dragging_a_point_refits_both_models(opened):
    page = opened("#plane")
    settled(page)
    agrees(page, [sx.LeastSquaresClassifier(), sx.LogisticRegression()])
    assert "drag me" in page.locator("#stage").inner_html()
    before = drawn_points(page)[0][20]
    mark = page.locator("g.marks path").nth(20).bounding_box()
    x, y = mark["x"] + mark["width"] / 2, mark["y"] + mark["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(1, 9):
        page.mouse.move(x - 15 * step, y - 20 * step)
    mark = page.locator("g.marks path").nth(20).bounding_box()
    assert mark["x"] + mark["width"] / 2 == pytest.approx(x - 120, abs=2)
    assert mark["y"] + mark["height"] / 2 == pytest.approx(y - 160, abs=2)
    page.mouse.up()
    settled(page)
    after = drawn_points(page)[0][20]
    assert after[0] < before[0] - 1
    assert after[1] > before[1] + 1
    agrees(page, [sx.LeastSquaresClassifier(), sx.LogisticRegression()])
    assert "drag me" not in page.locator("#stage").inner_html()
    row = page.locator(".under tbody tr").nth(1).locator("td").all_inner_texts()
    model = sx.LogisticRegression().fit(*drawn_points(page))
    assert float(row[0].replace("−", "-")) == pytest.approx(model.decision_function([after])[0], abs=6e-3)
    assert float(row[2]) == pytest.approx(model.predict_proba([after])[0, 1], abs=6e-4)
    page.locator("button[aria-label=Undo]").first.click()
    settled(page)
    assert drawn_points(page)[0][20].tolist() == before.tolist()


def test_a_link_restores_points_models_and_settings_and_says_what_it_does_not_know(opened):
    page = opened("#plane?v=1&m=logistic,lda,max-margin&C.1=10&p=outlier&d=20:-2,-1&colour=red")
    settled(page)
    assert "colour" in text(page, "#notice")
    X, y = drawn_points(page)
    assert X[20].tolist() == [-2.0, -1.0]
    assert page.locator(".model select").first.input_value() == "logistic"
    assert number(page, "norm", 0) == pytest.approx(
        np.linalg.norm(sx.LogisticRegression(C=10).fit(X, y).coef_), abs=6e-4
    )
    until(page, "() => document.querySelectorAll('path.boundary').length >= 3")


def test_the_copied_python_gives_the_same_weights(opened):
    page = opened("#plane?m=logistic,least-squares&C.1=0.1&d=20:3,1", permissions=["clipboard-read", "clipboard-write"])
    settled(page)
    page.click("#act-python")
    page.wait_for_selector(".toast")
    names = {}
    exec(page.evaluate("navigator.clipboard.readText()"), names)
    assert number(page, "norm", 0) == pytest.approx(np.linalg.norm(names["model_1"].coef_), abs=6e-4)
    assert names["model_1"].C == 0.1
    assert number(page, "norm", 1) == pytest.approx(np.linalg.norm(names["model_2"].coef_), abs=6e-4)


def test_every_act_on_the_plane_has_a_key(opened):
    page = opened("#plane")
    settled(page)
    page.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("ArrowUp")
    settled(page)
    assert drawn_points(page)[0][20].tolist() == [7.0, -2.4]
    until(page, "() => document.querySelector('#say').textContent.includes('Row 20')")
    agrees(page, [sx.LeastSquaresClassifier(), sx.LogisticRegression()])
    page.keyboard.press("3")
    settled(page)
    X, y = drawn_points(page)
    assert (len(X), y[-1]) == (22, 2)
    page.keyboard.press("Delete")
    page.keyboard.press("n")
    page.keyboard.press("z")
    page.keyboard.press("z")
    settled(page)
    assert len(drawn_points(page)[0]) == 21


def test_every_classifier_is_offered_and_a_failed_fit_says_why(opened):
    page = opened("#plane?m=logistic&p=outlier")
    settled(page)
    offered = page.locator(".model select").first.locator("option").evaluate_all("all => all.map(one => one.value)")
    assert offered == list(OFFERED)
    page.select_option("select[aria-label='Points to start from']", "three")
    page.locator(".model select").first.select_option("logistic")
    page.locator(".more summary").first.click()
    page.get_by_label("max_iter").fill("-4")
    page.get_by_label("max_iter").press("Enter")
    page.wait_for_selector(".verdict.bad")
    assert "max_iter" in text(page, ".verdict.bad")


def test_the_table_of_points_moves_them_without_dragging(opened):
    page = opened("#plane", width=390)
    settled(page)
    page.focus(".point-table summary")
    page.keyboard.press("Enter")
    page.get_by_label("x1 of row 20").fill("-1.5")
    page.get_by_label("x1 of row 20").press("Tab")
    settled(page)
    assert drawn_points(page)[0][20].tolist() == [-1.5, -2.5]


def test_the_picture_is_saved_as_svg_and_png(opened):
    page = opened("#plane?p=three&m=qda,logistic")
    settled(page)
    for kind, begins in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        page.click("#act-picture")
        with page.expect_download() as download:
            page.locator(".menu button", has_text=kind).click()
        content = download.value.path().read_bytes()
        assert content.startswith(begins)
        assert len(content) > 2000
    assert download.value.suggested_filename == "separatrix-plane.png"


def test_more_than_500_points_are_painted_on_a_canvas_and_can_be_dragged(opened):
    X = np.random.default_rng(0).normal(0, 2, (900, 2)).round(2)
    y = (X[:, 0] > 0).astype(int)
    page = opened(f"#plane?m=lda&p={spelled(X, y, None)}")
    settled(page)
    assert page.locator("g.marks path").count() == 0
    assert page.evaluate("() => document.querySelector('figure.plane canvas').width") > 800
    agrees(page, [sx.LinearDiscriminantAnalysis()])


def test_points_that_stay_are_one_image_while_another_of_many_is_dragged(opened):
    X = np.random.default_rng(0).normal(0, 2, (150, 2)).round(2)
    X[0] = [0, 0]
    page = opened(f"#plane?m=lda&p={spelled(X, (X[:, 0] > 0).astype(int), None)}")
    settled(page)
    marks = page.locator("g.marks path")
    assert marks.count() == 150
    box = marks.first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.wait_for_selector("g.marks image", state="attached")
    page.mouse.move(x + 90, y - 60)
    assert marks.count() == 1
    box = marks.first.bounding_box()
    assert box["x"] + box["width"] / 2 == pytest.approx(x + 90, abs=2)
    page.mouse.up()
    assert page.locator("g.marks image").count() == 0
    assert marks.count() == 150
    settled(page)
    moved = drawn_points(page)[0]
    assert moved[0, 0] > 0.5
    np.testing.assert_array_equal(moved[1:], X[1:])
    agrees(page, [sx.LinearDiscriminantAnalysis()])


def test_long_lines_of_python_are_shown_in_part_and_copied_in_full(opened):
    X = np.random.default_rng(0).normal(0, 2, (150, 2)).round(2)
    spec = spelled(X, (X[:, 0] > 0).astype(int), None)
    page = opened(f"#plane?m=lda&p={spec}")
    settled(page)
    assert f'"{spec[:60]}…"' in text(page, "aside pre")
    page.evaluate("() => { navigator.clipboard.writeText = async text => { window.copied = text; }; }")
    page.click("#act-python")
    page.wait_for_function("() => window.copied")
    assert f'sx.lab.points("{spec}")' in page.evaluate("window.copied")


def test_a_long_fit_can_be_stopped_and_does_not_hold_up_another_page(opened):
    endless = "&solver.1=gradient-descent&tol.1=1e-300&max_iter.1=5"
    slow, quick = opened(f"#plane?m=logistic&p=overlapping{endless}"), opened("#plane?m=lda&p=outlier")
    slow.get_by_label("max_iter").fill("1000000000")
    slow.get_by_label("max_iter").press("Enter")
    slow.wait_for_selector(".busy button")
    drawn = int(quick.get_attribute("#stage", "data-drawn"))
    quick.focus("#stage")
    quick.keyboard.press("ArrowLeft")
    quick.wait_for_selector(f"#stage[data-drawn='{drawn + 1}']", timeout=10_000)
    slow.click(".busy button")
    slow.wait_for_selector("#notice:not([hidden])")
    assert "stopped" in text(slow, "#notice")
