"""The page Many classes: both schemes of the library on the same points."""

import numpy as np

import separatrix as sx

from .waiting import settled, until


def test_the_hatched_part_and_the_scores_at_the_pointer_are_those_of_the_schemes(opened):
    page = opened("#classes?m=one-versus-rest,lda&p=three")
    page.wait_for_selector("table.votes")
    X, y = sx.lab.points("three")
    scheme, lda = sx.OneVsRestClassifier(sx.LogisticRegression()).fit(X, y), sx.LinearDiscriminantAnalysis().fit(X, y)
    box = page.locator("svg.stage").first.bounding_box()
    page.mouse.move(box["x"] + 0.45 * box["width"], box["y"] + 0.5 * box["height"])
    settled(page)
    at = [
        float(one)
        for one in page.locator("h2", has_text="Scores at")
        .inner_text()
        .replace("−", "-")
        .split("(")[1]
        .rstrip(")")
        .split(",")
    ]
    cells = page.locator("table.votes td").all_inner_texts()
    shown = np.array([float(one.split()[0].replace("−", "-")) for one in cells]).reshape(3, 2)
    np.testing.assert_allclose(shown[:, 0], scheme.decision_function([at])[0], atol=0.05)
    np.testing.assert_allclose(shown[:, 1], lda.decision_function([at])[0], atol=0.2)
    until(page, "() => document.querySelectorAll('path.ambiguous').length >= 3")
    assert f"{np.sum(scheme.predict(X) != y)} of 45 wrong" in page.locator(".pair .verdict").first.inner_text()


def test_keys_move_the_cross_and_the_points(opened):
    page = opened("#classes?p=three")
    X, _ = sx.lab.points("three")
    place = page.locator("h2", has_text="Scores at")
    x, y = (float(one) for one in place.inner_text().replace("−", "-").split("(")[1].rstrip(")").split(","))
    page.focus("#stage")
    page.keyboard.press("Shift+ArrowLeft")
    until(page, "text => document.querySelector('#say').textContent.startsWith(text)", arg="Cross at")
    moved = f"({x - 1:.2f}, {y:.2f})".replace("-", "−")
    until(page, "text => document.body.textContent.includes(text)", arg=moved)
    page.keyboard.press("n")
    page.keyboard.press("Shift+ArrowUp")
    until(page, "text => location.hash.includes(text)", arg=f"d=0:{X[0, 0]:g},{X[0, 1] + 1:g}")
    assert page.locator("circle.selected").count() == 2
    page.keyboard.press("z")
    until(page, "() => !location.hash.includes('d=')")
    page.keyboard.press("c")
    until(page, "() => document.querySelectorAll('circle.selected').length === 0")
