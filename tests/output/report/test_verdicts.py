"""What a page says where a fit has no optimum, was given other rows, misses many classes, or had holes filled."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.core.base.errors import SeparationWarning
from separatrix.output.report.assemble import data_checks
from separatrix.tables.read_table import read_raw

from .test_report import checked, drawn, words


def lead_of(page):
    start = page[page.index("<header>") : page.index("<section")]
    return words(re.sub(r"<nav.*?</nav>", "", start, flags=re.DOTALL) + "</main>")


def section_of(page, name):
    start = page.index(f'<section id="{name}">')
    return words(page[start : page.index("</section>", start)] + "</section>")


def _fitted(X, y, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return sx.LogisticRegression(**settings).fit(X, y)


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("K", [2, 3, 4])
def test_separated_classes_are_told_in_one_paragraph_and_the_direction_once(K):
    X, y = drawn(K, d=6, apart=9.0)
    X[:, 0] += 40.0 * np.unique(y, return_inverse=True)[1]
    model = _fitted(X, y, C=np.inf)
    assert model.certificate_.code == "separated"
    names = ["bill", "depth", "flipper", "mass", "year", "sex"]
    page = sx.report(model, X, y, names=names)
    lead = lead_of(page)
    assert "No best fit exists, because of complete separation by 'bill'" in lead
    section = section_of(page, "separation")
    assert "Complete separation" in section
    assert "No best fit exists: the classes of the rows fitted can be separated without a single mistake" in section
    assert "Fit with a penalty" in section
    assert "without bound along" not in lead
    assert checked(page).text.count("no optimum exists") == 1


@pytest.mark.usefixtures("undrawn")
def test_quasi_separated_classes_have_their_columns_and_rows():
    x = np.array([0.0, 1.0, 1.0, 2.0, 1.0, 1.0])
    noise = np.array([0.3, 0.1, 0.2, 0.9, -0.4, 0.5])
    y = np.array([0, 0, 1, 1, 1, 0])
    model = _fitted(np.column_stack([noise, x]), y, C=np.inf)
    assert model.certificate_.code == "quasi-separated"
    page = sx.report(model, np.column_stack([noise, x]), y, names=["noise", "dose"], rows=range(101, 107))
    assert "No best fit exists, because of quasi-complete separation by column 'dose'." in lead_of(page)
    assert "The cause is column 'dose', through rows 101 and 104." in section_of(page, "separation")
    assert "<h2>Quasi-complete separation" in page


@pytest.mark.usefixtures("undrawn")
def test_a_fit_that_only_stopped_early_says_so():
    X, y = drawn(2, apart=0.3)
    with pytest.warns(sx.errors.NotConvergedWarning):
        model = sx.Perceptron(max_iter=2).fit(X, y)
    lead = lead_of(sx.report(model, X, y))
    assert "The fit did not meet its stopping rule" in lead
    assert "No best fit exists" not in lead


@pytest.mark.usefixtures("undrawn")
def test_other_rows_than_the_fits_prove_nothing():
    X, y = drawn(2, apart=0.7)
    lead = lead_of(sx.report(sx.LogisticRegression().fit(X, y), X[:40], y[:40], test=(X[40:], y[40:])))
    assert "fitted to 90 rows" in lead
    assert "Its certificate does not hold on the 40 rows given here as those of the fit" in lead
    assert "proven optimal" not in lead


@pytest.mark.usefixtures("undrawn")
def test_missed_classes_are_one_worry():
    X, _ = drawn(2, n=300, apart=0.0)
    y = np.array([f"k{k}" for k in range(15)])[np.arange(300) % 15]
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y)
    assert checked(page).text.count("mostly missed.") == 1
    assert "15 classes are mostly missed." in lead_of(page)
    assert "; and " in section_of(page, "confusion")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("K", "told"), [(2, "at most 1"), (3, "with 3 classes it may exceed 1, up to 2")])
def test_how_large_a_leverage_may_be(K, told):
    X, y = drawn(K)
    assert told in checked(sx.report(sx.LogisticRegression().fit(X, y), X, y)).text
    assert "at most 1" in checked(sx.report(sx.LeastSquaresClassifier().fit(X, y), X, y)).text


def test_many_classes_have_tables_of_areas_and_mistakes():
    X, _ = drawn(2, n=300, d=2, apart=0.0)
    y = np.array([f"k{k}" for k in range(20)])[np.arange(300) % 20]
    model = sx.LinearDiscriminantAnalysis().fit(X, y)
    page = sx.report(model, X, y)
    found = checked(page)
    assert "All areas in a table" in found.text
    assert "All kinds of mistakes in a table" in found.text
    assert 'class="broad"' in page


HOLES = pd.DataFrame(
    {
        "a": [1.0, 2.0, np.nan, 4.0, 1.5, np.nan, 3.0, 2.5, 0.5, 3.5],
        "b": ["u", "v", "u", None, "v", "u", "v", "u", "v", "u"],
        "y": [0, 1, 0, 1, 1, 0, 1, 0, 0, 1],
    }
)


@pytest.mark.parametrize(
    ("missing", "told"),
    [
        (
            "impute",
            "In 'a' 2 (20.0 %), 'b' 1 (10.0 %), of 10 rows. A fit fills them with the means of its rows, "
            "and in categories with the most frequent level.",
        ),
        ("indicator", "marks them in additional columns"),
        ("drop", "3 rows of 10 (30.0 %) lacked a value or a label. They were left out"),
    ],
)
def test_data_checks_say_what_was_missing_and_what_was_done(missing, told):
    raw = read_raw(HOLES, target="y", missing=missing)
    found = data_checks(raw.learned(), raw.holes)
    (finding,) = found.of("missing")
    assert finding.severity == "warning"
    assert told in finding.told
    assert data_checks(raw.learned(), None).of("missing") == ()


def test_data_checks_of_whole_tables_say_that_nothing_is_missing():
    raw = read_raw(HOLES.dropna(), target="y")
    (finding,) = data_checks(raw.learned(), raw.holes).of("missing")
    assert (finding.severity, finding.title) == ("ok", "No value is missing.")


@pytest.mark.usefixtures("undrawn")
def test_checks_are_said_to_be_of_their_rows():
    X, y = drawn(2)
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y, checks=[], checks_of="t.csv")
    assert "Of t.csv. Nothing was found." in section_of(page, "checks")


@pytest.mark.usefixtures("undrawn")
def test_weights_and_offset_of_the_fit_are_given_to_the_report():
    X, y = drawn(2, apart=0.7)
    w, o = np.linspace(0.5, 3.0, len(y)), np.linspace(-2.0, 2.0, len(y))
    model = sx.LogisticRegression(C=np.inf).fit(X, y, sample_weight=w, offset=o)
    page = sx.report(model, X, y, sample_weight=w, offset=o)
    lead = lead_of(page)
    assert "The fit is proven optimal" in lead
    right = np.mean(model.predict(X, o) == y)
    assert right != np.mean(model.predict(X) == y)
    assert f"it is right {100 * right:.1f} % of the time" in lead
    assert "The measures count each row once, whatever its weight." in lead
    assert "verify(X, y, sample_weight=sample_weight, offset=offset)" in section_of(page, "certificate")
    assert "depend on what the sample weights mean" in checked(page).text
    other = lead_of(sx.report(model, X, y, sample_weight=w[::-1], offset=o))
    assert "Its certificate does not hold on the 90 rows given here as those of the fit" in other
    assert "it had other sample weights or another offset" in other


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("model", [sx.LogisticRegression(), sx.LinearSVC(), sx.LinearDiscriminantAnalysis()])
def test_weights_that_the_report_does_not_know_do_not_refute_the_certificate(model):
    X, y = drawn(2, apart=0.7)
    model.fit(X, y, sample_weight=np.linspace(0.5, 3.0, len(y)))
    for known, reason in (
        (True, "the fit had sample weights, which this report was not given"),
        (None, "had sample weights or an offset that are not known to this report"),
    ):
        model.has_sample_weight_ = known
        page = sx.report(model, X, y)
        lead, told = lead_of(page), checked(page).text
        assert "Its certificate could not be confirmed on the 90 rows given here" in lead
        assert reason in lead
        assert "does not hold" not in told
        assert "nothing is proven" not in told


@pytest.mark.usefixtures("undrawn")
def test_a_fit_without_weights_is_refuted_by_other_rows():
    X, y = drawn(2, apart=0.7)
    lead = lead_of(sx.report(sx.LinearSVC().fit(X, y), X[::-1], y))
    assert "Its certificate does not hold on the 90 rows given here as those of the fit" in lead
    assert "so nothing is proven: they are not the rows of the fit." in lead
    lead = lead_of(sx.report(sx.LogisticRegression().fit(X, y), X[::-1], y))
    assert "or it had an offset that is not known to this report" in lead


@pytest.mark.usefixtures("undrawn")
def test_held_out_rows_are_scored_without_an_offset():
    X, y = drawn(2, apart=0.7)
    o = np.linspace(-2.0, 2.0, 60)
    model = sx.LogisticRegression().fit(X[:60], y[:60], offset=o)
    page = sx.report(model, X[:60], y[:60], offset=o, test=(X[60:], y[60:]))
    assert "The held-out rows are scored with an offset of zero." in lead_of(page)


def test_weights_and_offsets_that_do_not_fit_are_refused():
    X, y = drawn(2, apart=0.7)
    with pytest.raises(sx.errors.InputError, match="sample_weight"):
        sx.report(sx.LogisticRegression().fit(X, y), X, y, sample_weight=[1.0, 2.0])
    with pytest.raises(sx.errors.InputError, match="offset"):
        sx.report(sx.LogisticRegression().fit(X, y), X, y, offset=[1.0, 2.0])
    with pytest.raises(sx.errors.InputError, match="offset: LinearSVC takes none"):
        sx.report(sx.LinearSVC().fit(X, y), X, y, offset=np.zeros(len(y)))
