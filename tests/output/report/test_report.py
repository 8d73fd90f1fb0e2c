"""The report: well-formed, escaped, self-contained, the same bytes twice, and right in what it says."""

import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS, lacks_probabilities
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.output.theme import DARK, LIGHT

NASTY = ["<script>alert(1)</script>", "a & b", '"quoted" onload=x', "$y = 1$\x00"]
VOID = {"meta", "br", "link", "img", "hr"}


class Checked(HTMLParser):
    """Every tag closed in its turn; no script, no handler, nothing fetched."""

    def __init__(self):
        super().__init__()
        self.open, self.seen, self.ids, self.words = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self._look(tag, attrs)

    def handle_startendtag(self, tag, attrs):
        self.seen.append(tag)
        self._look(tag, attrs)

    def _look(self, tag, attrs):
        assert tag not in ("script", "img", "link", "iframe", "object", "image")
        for key, value in attrs:
            assert not key.startswith("on")
            assert key not in ("src", "srcset", "action")
            if key == "href":
                assert value.startswith("#")
            if key == "id":
                self.ids.append(value)
            for target in re.findall(r"url\(([^)]*)\)", value or ""):
                assert target.startswith("#")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def checked(page):
    found = Checked()
    found.feed(page)
    found.close()
    assert found.open == []
    assert len(found.ids) == len(set(found.ids))
    linked = re.findall(r'href="#([^"]+)"', page) + re.findall(r"url\(#([^)]+)\)", page)
    assert set(linked) <= set(found.ids)
    style = page[page.index("<style>") : page.index("</style>")]
    assert "url(" not in style
    assert "@import" not in style
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        ElementTree.fromstring(svg)
    found.text = _plain(found.words)
    return found


def words(html):
    """The text of a part of a page."""
    found = Checked()
    found.feed(html)
    found.close()
    assert found.open == []
    return _plain(found.words)


def _plain(words):
    """Words with the spaces and the minus signs of a program's output."""
    text = re.sub(r"\s+", " ", " ".join(words).replace("\N{NO-BREAK SPACE}", " "))
    return text.replace("e\N{MINUS SIGN}", "e-")


def drawn(K=2, d=3, n=90, seed=0, apart=1.5):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    M = apart * np.random.default_rng(7).standard_normal((K, d))
    return M[codes] + rng.standard_normal((n, d)), np.array(["no", "yes", "perhaps", "never"])[codes]


# With two classes, these have all kinds of figures; pages on the others are made without drawings. With three classes,
# every page is drawn.
DRAWN_WITH_TWO_CLASSES = ("logistic", "perceptron", "qda", "one-versus-rest")


@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_has_one(name, K, request):
    if K == 2 and name not in DRAWN_WITH_TWO_CLASSES:
        request.getfixturevalue("undrawn")
    X, y = drawn(K)
    model = CLASSIFIERS[name]().fit(X, y)
    page = sx.report(model, X, y, test=drawn(K, seed=1))
    found = checked(page)
    assert type(model).__name__ in found.text
    assert str(model.certificate_.status)[:30] in found.text
    assert len(page) < 2_000_000
    assert (lacks_probabilities(type(model).__name__) in found.text) == (not model.has_probabilities)


def test_names_classes_titles_notes_and_checks_are_escaped_everywhere():
    X, codes = drawn(3, d=4)
    labels = np.array([NASTY[0], NASTY[1], NASTY[2]], dtype=object)
    y = labels[np.unique(codes, return_inverse=True)[1]]
    model = sx.LogisticRegression("auto").fit(X, y)
    page = sx.report(model, X, y, names=NASTY, title=NASTY[0], notes=NASTY, checks=[(NASTY[0], NASTY[0], NASTY[1])] * 2)
    found = checked(page)
    assert "<script" not in page.lower()
    assert "\x00" not in page
    assert found.text.count("<script>alert(1)</script>") >= 6
    inside = "".join(re.findall(r"<svg.*?</svg>", page, re.DOTALL))
    assert "&lt;script" in inside
    assert "a &amp; b" in inside


@pytest.mark.parametrize("model", [sx.LogisticRegression(C=np.inf), sx.QuadraticDiscriminantAnalysis()])
def test_the_same_bytes_twice(model):
    X, y = drawn(2, apart=0.5)
    model.fit(X, y)
    assert sx.report(model, X, y) == sx.report(model, X, y)


@pytest.mark.usefixtures("undrawn")
def test_the_verdict_is_right():
    X, y = drawn(2, apart=0.7)
    test = drawn(2, n=70, seed=5, apart=0.7)
    model = sx.LogisticRegression(C=np.inf).fit(X, y)
    found = checked(sx.report(model, X, y, test=test))
    right = model.predict(test[0]) == test[1]
    assert "over 3 columns, fitted to 90 rows of 2 classes (no and yes)" in found.text
    assert f"On 70 rows that it had not seen it is right {100 * right.mean():.1f}" in found.text
    assert "always guessing no would be right 50 % of the time" in found.text
    assert "The fit is proven optimal" in found.text
    assert (
        f"Recomputed from the rows, without the solver, as this page was made: it {model.certificate_.verify(X, y)}"
        in (found.text)
    )
    table = sx.summary(model, X, y)
    assert f"{np.exp(table.coef[1] * X[:, 0].std()):.3g}" in found.text
    assert "Not tried on new rows" not in found.text


@pytest.mark.usefixtures("undrawn")
def test_what_to_worry_about():
    X, y = drawn(2, apart=0.0)
    rng = np.random.default_rng(3)
    alone = checked(sx.report(sx.LogisticRegression().fit(X, y), X, y))
    assert "Not tried on new rows." in alone.text
    test = rng.standard_normal((40, 3)), np.array(["no", "yes"])[rng.integers(0, 2, 40)]
    poor = checked(sx.report(sx.LogisticRegression().fit(X, y), X, y, test=test))
    assert "no more often than guessing" in poor.text
    assert "Few rows to judge by." in poor.text
    with pytest.warns(sx.errors.SeparationWarning):
        apart = sx.LogisticRegression(C=np.inf).fit(X[:2], y[:2])
    assert "No best fit exists." in checked(sx.report(apart, X[:2], y[:2])).text
    other = checked(sx.report(sx.LogisticRegression().fit(X, y), X[::-1], y))
    assert "The certificate could not be confirmed." in other.text
    short = checked(sx.report(sx.LogisticRegression().fit(X, y), X[1:], y[1:]))
    assert "The certificate does not hold." in short.text
    wide = np.column_stack([X, X[:, 0]])
    assert "collinear" in checked(sx.report(sx.LogisticRegression().fit(wide, y), wide, y)).text


@pytest.mark.usefixtures("undrawn")
def test_good_fits_give_no_cause_for_worry_and_checks_are_shown():
    X, y = drawn(2, n=400, apart=1.0)
    model = sx.LogisticRegression().fit(X, y)
    test = drawn(2, n=400, seed=9, apart=1.0)
    assert "No check found a reason to worry." in checked(sx.report(model, X, y, test=test)).text
    checks = [("error", "A leak.", "Column x0 is the target."), ("note", "Rows repeat.", "Twelve of them.")]
    found = checked(sx.report(model, X, y, test=test, checks=checks))
    assert "One thing to worry about is listed here. A leak." in found.text
    assert "Twelve of them." in found.text
    assert "Data checks" in found.text
    assert "Nothing was found." in checked(sx.report(model, X, y, test=test, checks=[])).text


def test_light_dark_print_and_phone():
    X, y = drawn()
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y)
    style = page[page.index("<style>") : page.index("</style>")]
    assert f"--ink: {LIGHT.ink}" in style
    assert f"--ink: {DARK.ink}" in style
    assert "prefers-color-scheme: dark" in style
    assert "@media print" in style
    assert 'name="viewport"' in page
    for svg in re.findall(r"<svg.*?</svg>", page, re.DOTALL):
        drawn_in = set(re.findall(r"#[0-9a-f]{6}\b", " ".join(re.findall(r'style="([^"]*)"', svg))))
        assert drawn_in == set()
        assert "var(--ink)" in svg


@pytest.mark.usefixtures("undrawn")
def test_frames_and_sparse_rows_have_their_names():
    X, y = drawn(3)
    frame = pd.DataFrame(X, columns=["age", "height", "weight"])
    page = sx.report(sx.LogisticRegression().fit(frame, y), frame, y, test=(frame[:30], y[:30]))
    assert "height" in checked(page).text
    rows = csr_array(X)
    assert "x2" in checked(sx.report(sx.LogisticRegression().fit(rows, y), rows, y)).text


def test_many_rows_are_sampled_and_said_and_many_columns_fit():
    X, y = drawn(2, n=30_000, apart=0.3)
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y)
    assert "a random sample of 1,200 of 30,000 rows is drawn" in checked(page).text
    assert len(page) < 1_000_000
    X, y = drawn(2, d=2000, n=60)
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y)
    assert "The 25 largest of 2000 columns" in checked(page).text


def test_a_test_set_with_a_missing_class_and_one_column():
    X, y = drawn(3, d=1)
    model = sx.LogisticRegression().fit(X, y)
    kept = y != "perhaps"
    checked(sx.report(model, X, y, test=(X[kept], y[kept])))
    found = checked(sx.report(model, X, y, test=(X[y == "no"], y[y == "no"])))
    assert "all of one class" in found.text


def test_refusals():
    X, y = drawn()
    model = sx.LogisticRegression().fit(X, y)
    with pytest.raises(ParameterError, match="model: got LogisticRegression; give a fitted classifier"):
        sx.report(sx.LogisticRegression(), X, y)
    with pytest.raises(ParameterError, match="test: it has 3 parts"):
        sx.report(model, X, y, test=(X, y, y))
    with pytest.raises(ParameterError, match="names: got 1 for 3"):
        sx.report(model, X, y, names=["a"])
    with pytest.raises(LabelError, match="maybe"):
        sx.report(model, X, y, test=(X[:1], ["maybe"]))
    with pytest.raises(ParameterError, match="level"):
        sx.report(model, X, y, level=95)


@pytest.mark.usefixtures("undrawn")
def test_a_pipeline_is_reported_by_its_last_step():
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.normal(size=60), "sex": rng.choice(["f", "m", "x"], 60)})
    y = np.where(frame["age"] + rng.normal(size=60) > 0, "yes", "no")
    model = make_pipeline(sx.TableEncoder(), sx.LogisticRegression()).fit(frame, y)
    page = sx.report(model, frame, y, test=(frame[:20], y[:20]))
    X, names = model[0].transform(frame), model[0].get_feature_names_out()
    given = {"names": names, "missing": {}, "encoder": model[0].encoder_}
    assert page == sx.report(model[-1], X, y, test=(X[:20], y[:20]), **given)
    assert "sex=m (against f)" in page
    assert all(name in page for name in names)


def test_no_rows_to_judge_by_are_refused():
    X, y = np.arange(8.0)[:, None], [0, 0, 1, 0, 1, 0, 1, 1]
    with pytest.raises(ParameterError, match="test: it has no rows; give rows that the model has not seen"):
        sx.report(sx.LogisticRegression().fit(X, y), X, y, test=(X[:0], []))


def test_how_C_was_chosen_is_shown_if_it_was():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 3))
    y = (X[:, 0] + rng.normal(size=80) > 0).astype(int)
    assert "fig-penalty" in sx.report(sx.LogisticRegression("auto").fit(X, y), X, y)
    assert '<section id="penalty">' not in sx.report(sx.LogisticRegression().fit(X, y), X, y)
