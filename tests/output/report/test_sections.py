"""What the sections of a report say: by size, once, with the numbers of the modules behind them."""

import datetime
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.output.report.lead import LARGEST_CALIBRATION_ERROR, chance_error
from separatrix.output.report.page import signed
from separatrix.output.report.reported_model import digest, today
from separatrix.statistics.explained_row import contributions
from separatrix.statistics.reliability import reliability, reliability_of
from separatrix.tables.encoder import Scaling

from .test_report import checked, drawn
from .test_verdicts import lead_of, section_of


@pytest.fixture(scope="module")
def cancer():
    data = load_breast_cancer(as_frame=True)
    y = np.array(["malignant", "benign"])[data.target]
    X, test = data.data[::2], data.data[1::2]
    model = sx.LogisticRegression("auto").fit(X, y[::2])
    checks = [("warning", "A leak.", "Column 'id' is the target.")]
    page = sx.report(model, X, y[::2], test=(test, y[1::2]), cost={"FP": 1, "FN": 5}, checks=checks)
    return model, (X, y[::2]), (test, y[1::2]), page


@pytest.mark.usefixtures("undrawn")
@pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")
def test_the_verdict_has_at_most_three_sentences(cancer):
    X, y = drawn(2, apart=0.0)
    for page in (
        cancer[3],
        sx.report(sx.LogisticRegression().fit(X, y), X, y),
        sx.report(sx.Perceptron().fit(X, y), X, y),
    ):
        verdict = re.search(r'<p class="verdict">(.*?)</p>', page)[1].replace("&#x27;", "'")
        assert len(re.findall(r"[.!?](?= [A-Z0-9]|$)", verdict)) <= 3


def test_every_figure_has_its_numbers_in_words(cancer):
    labels = re.findall(r'<svg[^>]*aria-label="([^"]*)"', cancer[3])
    assert len(labels) == cancer[3].count("<svg") >= 10
    for label in labels:
        assert len(re.findall(r"\d", label)) >= 4, label


@pytest.mark.usefixtures("undrawn")
def test_a_worry_is_told_once_with_a_link_to_its_details():
    X, y = drawn(2, apart=0.0)
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y, checks=[("error", "A leak.", "Column x0 is the target.")])
    found = checked(page)
    links = re.findall(r'<li class="finding (\w+)"><a href="#(\w+)">([^<]*)</a></li>', page)
    assert ("error", "checks", "A leak.") in links
    assert ("warning", "confusion", "Not tried on new rows.") in links
    for _, section, title in links:
        assert f'<section id="{section}">' in page
        assert found.text.count(title) <= 2  # data checks have their title in their section, too
    assert found.text.count("No rows were held out") == 1
    assert "No rows were held out" in section_of(page, "confusion")
    assert "held out" not in lead_of(page)


def test_the_contents_come_before_the_verdict(cancer):
    page = cancer[3]
    assert page.index("<nav") < page.index('class="verdict"') < page.index("<section")


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize(("shift", "off"), [(0.007, False), (0.12, True)])
def test_probabilities_are_off_by_size_and_not_by_significance(shift, off):
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 60_000)
    y = (rng.uniform(size=len(p)) < p + shift).astype(int)
    X = np.log(p / (1 - p))[:, None]
    train = (rng.uniform(size=len(p)) < p).astype(int)
    model = sx.LogisticRegression(C=np.inf).fit(X, train)
    found = reliability(model, X, y)
    assert (found.expected_error > LARGEST_CALIBRATION_ERROR) == off
    page = sx.report(model, X, train, test=(X, y))
    assert ("Its probabilities are inaccurate." in lead_of(page)) == off
    assert f"Up to {LARGEST_CALIBRATION_ERROR:g} counts as calibrated" in section_of(page, "calibration")


def test_few_rows_are_not_called_off_by_chance():
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(20):
        p = rng.uniform(0.05, 0.95, 60)
        P = np.column_stack([1 - p, p])
        codes = (rng.uniform(size=60) < p).astype(int)
        bins = reliability_of(P, np.log(P), codes, np.array([0, 1]))
        called += bins.expected_error > max(LARGEST_CALIBRATION_ERROR, 2 * chance_error(bins))
    assert called <= 2


def test_rows_that_stand_out_show_their_values_and_contributions(cancer):
    model, (X, _), (test, labels), page = cancer
    P = model.predict_proba(test)
    codes = np.searchsorted(model.classes_, labels)
    of_label = P[np.arange(len(P)), codes]
    worst = int(np.argmin(of_label))
    section = section_of(page, "surprise")
    card = section[section.index(f"Row {worst}:") :].split("Row ")[1]
    assert f"P(true) {of_label[worst]:.2g}, surprise {-np.log2(of_label[worst]):.1f} bits" in card
    parts = contributions(model, test.to_numpy()[[worst]], codes[[worst]], X.to_numpy().mean(axis=0))
    for j in parts.largest(0, 5):
        value = f"{test.iloc[worst, j]:.4g}".replace("-", "−")
        assert f"{X.columns[j]} = {value} {signed(float(parts.parts[0, j]))}" in card
    assert " 0.0 bits" not in section
    assert "Cook's distance" in section_of(page, "influence")
    assert page.split('<section id="influence">')[1].count('<li><span class="name">') >= 9


def test_costs_and_the_best_threshold_are_those_of_evaluate(cancer):
    model, _, (test, labels), page = cancer
    found = sx.evaluate(model, test, labels, cost={"FP": 1, "FN": 5}).cost
    section = section_of(page, "threshold")
    low, high = found.interval
    assert f"cost per row {found.mean:.4g} ({low:.4g} to {high:.4g})" in section
    assert f"{found.best_mean:.4g}" in section
    assert f"from {found.best_threshold:.4g} on" in section
    assert f"{found.null:.4g} per row" in section
    for one in sx.evaluate(model, test, labels, cost={"FP": 1, "FN": 5}).by_class:
        assert f"{one.f1:.2f}" in section
        assert f"{one.lift:.2f}" in section
    assert 'class="now"' in page


@pytest.mark.usefixtures("undrawn")
def test_costs_that_do_not_fit_the_model_are_refused():
    X, y = drawn(3)
    with pytest.raises(ParameterError, match="cost: it is for two classes, and the model has 3"):
        sx.report(sx.LogisticRegression().fit(X, y), X, y, cost={"FP": 1, "FN": 5})
    X, y = drawn(2)
    with pytest.raises(ParameterError, match="cost: LinearSVC has scores but no probabilities"):
        sx.report(sx.LinearSVC().fit(X, y), X, y, cost={"FP": 1, "FN": 5})
    with pytest.raises(ParameterError, match="cost: OneVsRestClassifier combines models"):
        sx.report(sx.OneVsRestClassifier().fit(X, y), X, y, cost={"FP": 1, "FN": 5})
    with pytest.raises(ParameterError, match="cost: got"):
        sx.report(sx.LogisticRegression().fit(X, y), X, y, cost={"FP": 1})
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y)
    assert "No costs of mistakes were given" in section_of(page, "threshold")


@pytest.mark.usefixtures("undrawn")
def test_classes_have_precision_recall_f1_and_lift():
    X, y = drawn(3, apart=0.8)
    model = sx.LogisticRegression().fit(X, y)
    section = section_of(sx.report(model, X, y), "confusion")
    assert "Confusion matrix" in section
    for one in sx.evaluate(model, X, y).by_class:
        low, high = one.recall_interval
        assert f"{100 * one.recall:.0f} % ({100 * low:.0f} to {100 * high:.0f})" in section
        for value, (low, high) in ((one.f1, one.f1_interval), (one.lift, one.lift_interval)):
            assert f"{value:.2f} ({low:.2f} to {high:.2f})" in section


def test_no_number_can_be_broken_across_lines(cancer):
    """A line may break after a hyphen, so negative numbers and exponents have minus signs."""
    shown = re.sub(r"<style>.*?</style>|<svg.*?</svg>|<[^>]*>", " ", cancer[3], flags=re.DOTALL)
    assert not re.search(r"\de-\d|(?<![\w-])-\d", shown)
    assert "1e\N{MINUS SIGN}08" in shown


def test_standard_terms_are_in_the_headings(cancer):
    titles = re.findall(r"<h2>([^<]*)", cancer[3])
    for term in ("Confusion matrix", "Calibration", "ROC and precision-recall", "Decision regions"):
        assert term in titles


@pytest.mark.usefixtures("undrawn")
def test_the_origin_of_the_fit(cancer):
    model, (X, y), _, page = cancer
    section = section_of(page, "settings")
    assert f"C {model.C_:.6g}, chosen by the fit" in section
    assert sx.__version__ in section
    assert digest(X.to_numpy(), y) in section
    assert all(name in section for name in X.columns)
    day = datetime.date(2020, 2, 29)
    page = sx.report(model, X, y, date=day, about={"random seed": "7", "table": "<cancer.csv>"})
    assert "2020-02-29" in section_of(page, "settings")
    assert "random seed 7 table <cancer.csv>" in section_of(page, "settings")


def test_the_day_is_that_of_source_date_epoch(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    assert today() == datetime.date(1970, 1, 2)


def test_a_digest_tells_values_apart_and_not_their_types():
    X = np.arange(12.0).reshape(4, 3)
    y = ["a", "b", "a", "b"]
    same = [digest(X.astype(np.float32), y), digest(np.asfortranarray(X), np.array(y, dtype=object)), digest(X, y)]
    assert len(set(same)) == 1
    other = X.copy()
    other[3, 2] += 1e-9
    assert digest(other, y) != digest(X, y)
    assert digest(X, y[::-1]) != digest(X, y)
    assert digest(X.reshape(3, 4), y[:3]) != digest(X, y)
    assert digest(csr_array(X), y) == digest(csr_array(X), y)


@pytest.mark.usefixtures("undrawn")
def test_missing_values_are_counted_for_a_pipeline_or_as_given():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"age": rng.normal(size=80), "sex": rng.choice(["f", "m"], 80), "pay": rng.normal(size=80)})
    frame.loc[:19, "age"] = np.nan
    y = np.where(rng.normal(size=80) + frame["pay"] > 0, "yes", "no")
    model = make_pipeline(sx.TableEncoder(missing="impute"), sx.LogisticRegression()).fit(frame, y)
    section = section_of(sx.report(model, frame, y), "missing")
    assert "age 20 25 %" in section
    assert "pay" not in section
    X, y = drawn(2)
    model = sx.LogisticRegression().fit(X, y)
    assert '<section id="missing">' not in sx.report(model, X, y)
    assert "No value is missing." in section_of(sx.report(model, X, y, missing={}), "missing")


@pytest.mark.usefixtures("undrawn")
def test_a_comparison_is_shown_with_the_choice_marked():
    X, y = drawn(2, apart=0.6)
    found = sx.compare(X, y, cv=3, only=["logistic", "lda", "max-margin"])
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y, comparison=found)
    section = section_of(page, "comparison")
    assert found.why in section
    assert f"{100 * found['lda'].accuracy.mean:.1f} ± {100 * found['lda'].accuracy.error:.1f} %" in section
    assert "max-margin: not fitted" in section
    marked = page.split('<section id="comparison">')[1].split('<tr class="now">')[1]
    assert found.chosen.name in marked[: marked.index("</tr>")]


def test_digits_stay_below_a_megabyte():
    X, y = load_digits(return_X_y=True)
    model = sx.LogisticRegression(0.1).fit(X[::2], y[::2])
    page = sx.report(model, X[::2], y[::2], test=(X[1::2], y[1::2]))
    assert len(page.encode()) < 1_000_000
    checked(page)


def _several_classes(labels):
    """The iris flowers under other labels, fitted to standardised columns, with the scaling and the page."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    y = np.array(labels)[y]
    scaling = Scaling.of(X.to_numpy())
    model = sx.LogisticRegression(C=1.0).fit(scaling.apply(X.to_numpy()), y)
    page = sx.report(model, scaling.apply(X.to_numpy()), y, names=list(X.columns), scaling=scaling)
    return model, scaling, page


@pytest.mark.usefixtures("undrawn")
def test_several_classes_have_weights_and_odds_ratios_per_unit():
    model, scaling, page = _several_classes(["a", "b & c", "d"])
    section = section_of(page, "columns")
    weights, ratios = section.split("Weights per unit")[1].split("Odds ratios per unit")
    assert "against a, the first class" in ratios
    per_unit = model.coef_ / scaling.scale
    intercept = model.intercept_ - per_unit @ scaling.center
    shown = [" ".join(f"{v:.4g}".replace("-", "−") for v in column) for column in (intercept, *per_unit.T)]
    for line in shown:
        assert line in weights
    for column in per_unit.T:
        assert " ".join(f"{v:.4g}" for v in np.exp(column[1:] - column[0])) in ratios


@pytest.mark.usefixtures("undrawn")
def test_tables_of_many_classes_per_unit_are_folded():
    rng = np.random.default_rng(0)
    y = np.arange(210) % 7
    X = rng.normal(size=(7, 3))[y] + rng.normal(size=(210, 3))
    page = sx.report(sx.LogisticRegression(C=1.0).fit(X, y), X, y)
    assert page.count("<details><summary>Weights per unit of a column, of each class") == 1
    assert page.count("<details><summary>Odds ratios per unit of a column, of each class against") == 1


@pytest.mark.usefixtures("undrawn")
def test_scores_that_are_not_log_odds_have_no_odds_ratios():
    X, y = drawn(3)
    section = section_of(sx.report(sx.LeastSquaresClassifier().fit(X, y), X, y), "columns")
    assert "Weights per unit" in section
    assert "Odds ratio" not in section
