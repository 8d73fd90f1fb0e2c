"""The page Your data: what it says about a table is what the library and ``separatrix fit`` say."""

import json
import re
from urllib.parse import parse_qs

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.statistics.comparison import compare_table
from separatrix.tables.read_table import read_raw
from separatrix.teach.lab.page_data import MOST_DRAWN_POINTS
from separatrix.teach.lab.uploaded_tables import LARGEST_UPLOAD, Tables, base_name
from tests.cli.running import run

from .waiting import until


@pytest.fixture
def people(tmp_path):
    """A table with numbers, a category and a target, as a file."""
    rng, n = np.random.default_rng(5), 240
    frame = pd.DataFrame({"age": rng.normal(45, 12, n).round(1), "weight": rng.normal(70, 9, n).round(1)})
    frame["city"] = rng.choice(["Brno", "Praha", "Ostrava"], n)
    score = 0.08 * (frame.age - 45) + 0.05 * (frame.weight - 70) + 0.7 * (frame.city == "Brno") + rng.logistic(size=n)
    frame["smoker"] = np.where(score > 0, "yes", "no")
    path = tmp_path / "people.csv"
    frame.to_csv(path, index=False)
    return path


def text_file(name, text):
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode() if isinstance(text, str) else text}


def _is_document(response):
    return response.request.resource_type == "document"


def give(page, file, target=None):
    """Give the page a file, as a person does, and choose the target."""
    page.set_input_files("#file", file)
    if target is not None:
        page.get_by_label("Column to predict").select_option(target)


def drawn(page, times=1):
    until(page, "n => Number(document.querySelector('#stage').dataset.drawn ?? 0) >= n", arg=times)


def number(page, name):
    return page.locator(f"dd[data-number='{name}']").inner_text()


def shown(held_out):
    """The numbers of the page, made of the JSON of ``separatrix fit``."""
    low, high = held_out["accuracy_interval"]
    return {
        "held-out accuracy": f"{100 * held_out['accuracy']:.1f} %",
        "95 % interval": f"{100 * low:.1f}–{100 * high:.1f} %",
        "wrong": f"{held_out['mistakes']} of {held_out['rows']}",
    }


def told_by_fit(path, *words, code=0):
    return json.loads(run("fit", path, "--target", "smoker", *words, "--json", code=code).stdout)


def test_the_numbers_are_those_of_separatrix_fit_for_any_model_and_setting(opened, people, monkeypatch, capsys):
    page = opened("#data")
    give(page, people, "smoker")
    drawn(page)
    known = told_by_fit(people)
    assert {name: number(page, name) for name in shown(known["held_out"])} == shown(known["held_out"])
    assert page.locator("#size").inner_text() == "240 rows, 3 columns to learn from, 4 after encoding"
    page.get_by_label("First model").select_option("perceptron")
    drawn(page, 2)
    page.get_by_label("Standardise columns").check()
    drawn(page, 3)
    known = told_by_fit(people, "--model", "perceptron", "--standardise", code=1)  # the classes overlap
    assert {name: number(page, name) for name in shown(known["held_out"])} == shown(known["held_out"])
    assert page.locator(".model .verdict").inner_text().startswith("Not separable: 6 rows prove it")

    # The copied lines use public names, run where the file is, and give the same accuracy and weights.
    assert re.findall("(?:from|import) .*", page.locator("pre").inner_text()) == ["import separatrix as sx"]
    monkeypatch.chdir(people.parent)
    found = {}
    with pytest.warns(sx.errors.NotConvergedWarning, match="not separable"):
        exec(page.locator("pre").inner_text(), found)
    assert found["fit"].accuracy == known["held_out"]["accuracy"]
    np.testing.assert_array_equal(found["fit"].model.coef_, known["weights"]["coef"])
    assert str(known["held_out"]["accuracy"]) in capsys.readouterr().out


def test_a_file_can_be_dropped_on_the_page(opened, people):
    page = opened("#data?y=smoker")
    drop = """text => {
        const dropped = new DataTransfer();
        dropped.items.add(new File([text], "dropped.csv"));
        document.querySelector(".zone").dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true }));
    }"""
    page.evaluate(drop, people.read_text())
    drawn(page)
    assert page.locator(".file").inner_text() == "dropped.csv"
    assert number(page, "held-out accuracy") == shown(told_by_fit(people)["held_out"])["held-out accuracy"]


def test_columns_can_be_left_out_and_missing_values_filled(opened, people):
    text = people.read_text().replace("Brno", "", 3)
    page = opened("#data")
    give(page, text_file("holes.csv", text), "smoker")
    until(page, "() => !document.querySelector('main > div > .verdict').hidden")
    assert "holes.csv: 3 values are missing" in page.locator("main > div > .verdict").inner_text()
    page.get_by_label("Missing values").select_option("impute")
    drawn(page)
    page.get_by_text("Columns used: 3 of 3").click()
    page.get_by_label("weight", exact=True).uncheck()
    drawn(page, 2)
    people.write_text(text)
    known = told_by_fit(people, "--missing", "impute", "--drop", "weight")
    assert number(page, "held-out accuracy") == shown(known["held_out"])["held-out accuracy"]
    assert page.locator("main > div > .verdict").is_hidden()
    until(page, "() => location.hash.includes('&x=weight') && location.hash.includes('&n=impute')")


def test_the_findings_are_those_of_the_check(opened, people):
    page = opened("#data")
    give(page, people, "smoker")
    page.wait_for_selector(".findings li", state="attached")
    expected = {f"{one.severity}: {one.title}" for one in sx.check(people, target="smoker")}
    shown_findings = page.locator(".findings li b").all_text_contents()
    assert expected <= {*shown_findings}


def test_text_of_the_table_is_never_markup(opened):
    evil = "<img src=x onerror=document.title='hacked'>"
    rows = "".join(f"{i % 7},{evil if i % 2 else 'plain'},{evil if (i * i) % 11 > 4 else 'no'}\n" for i in range(60))
    page = opened("#data")
    give(page, text_file(f"{evil.replace('/', '')}.csv", f"a,{evil},y{evil}\n{rows}"), f"y{evil}")
    drawn(page)
    page.wait_for_selector(".findings li", state="attached")
    page.get_by_label("Plane").select_option("columns")
    page.get_by_label("Upwards").select_option(index=1)
    drawn(page, 2)
    assert page.locator("img:not([alt])").count() == 0
    assert "hacked" not in page.title()
    assert evil in page.locator(".file").inner_text()
    assert evil in page.locator(".legend").inner_text()
    assert evil in page.get_by_label("Column to predict").inner_text()


def test_a_file_name_is_never_a_path(opened, tmp_path, monkeypatch):
    page = opened("#data")
    give(page, text_file("../../x.csv", "a,y\n1,u\n2,v\n3,u\n4,v\n"))
    page.get_by_label("Column to predict").wait_for()
    assert page.locator(".file").inner_text() == "x.csv"
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    tables = Tables()
    for name in ("../../x.csv", "/etc/x.csv", "..\\..\\x.CSV", "a/../../x.csv.gz", "C:x.csv"):
        number, path = tables.uploaded(name)
        assert path.parent.parent == tmp_path
        assert path.name in (f"{number}.csv", f"{number}.csv.gz")
        assert base_name(name) in ("x.csv", "x.CSV", "x.csv.gz", "C:x.csv")
    folder = path.parent
    assert folder.stat().st_mode & 0o077 == 0
    tables.close()
    assert not folder.exists()


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(opened, tmp_path):
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(LARGEST_UPLOAD + 1)
    page = opened("#data")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    give(page, large)
    page.wait_for_selector("main > div > .verdict:not([hidden])")
    assert "more than 256 MB" in page.locator("main > div > .verdict").inner_text()
    assert "separatrix lab FILE" in page.locator("main > div > .verdict").inner_text()
    assert sent == []


@pytest.mark.parametrize(
    ("name", "content", "target", "words"),
    [
        ("sheet.xlsx", "PK", None, "sheet.xlsx: it is a spreadsheet"),
        ("noise.csv", bytes(range(256)) * 20, None, "noise.csv: "),
        ("empty.csv", "", None, "empty.csv: it is empty"),
        ("one.csv", "a,y\n1,u\n2,u\n3,u\n", "y", "one.csv, target column 'y': every row has the same label, 'u'"),
        ("few.csv", "a,y\n1,u\n", "y", "few.csv: no column is left to learn from"),
    ],
)
def test_what_is_no_table_for_a_fit_is_told(opened, name, content, target, words):
    page = opened("#data")
    page.set_input_files("#file", text_file(name, content))
    if target is not None:
        page.get_by_label("Column to predict").select_option(target)
    page.wait_for_selector("main > div > .verdict:not([hidden])")
    assert words in page.locator("main > div > .verdict").inner_text()
    assert "separatrix-lab-" not in page.locator("main").inner_text()


def test_the_model_file_can_be_loaded_and_the_report_opens_without_scripts(opened, people, tmp_path):
    page = opened("#data")
    give(page, people, "smoker")
    drawn(page)
    with page.expect_download() as download:
        page.click("#data-model")
    assert download.value.suggested_filename == "people-model.json"
    download.value.save_as(tmp_path / "model.json")
    loaded = sx.load(tmp_path / "model.json")
    known = told_by_fit(people)
    np.testing.assert_array_equal(loaded[-1].coef_, known["weights"]["coef"])
    frame = pd.read_csv(people)
    assert (loaded.predict(frame.drop(columns="smoker")) == frame.smoker).mean() > 0.6
    assert "people.csv" in run("show", tmp_path / "model.json").stdout
    page.click("#data-report")
    page.wait_for_selector(".made a")
    with page.context.expect_page() as new, page.context.expect_event("response", _is_document) as answer:
        page.get_by_text("Open the report").click()
    new.value.wait_for_load_state()
    assert "smoker" in new.value.title()
    policy = answer.value.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none'")
    assert "script" not in policy
    assert shown(known["held_out"])["held-out accuracy"].split(".")[0] in new.value.locator("body").inner_text()


def test_of_many_rows_a_sample_is_drawn(opened):
    rng, n = np.random.default_rng(0), 6000
    assert n > MOST_DRAWN_POINTS
    X = rng.normal(size=(n, 3)).round(3)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=np.where(X[:, 0] + rng.normal(size=n) > 0, "u", "v"))
    page = opened("#data")
    give(page, text_file("many.csv", frame.to_csv(index=False)), "y")
    drawn(page)
    assert page.locator("canvas").evaluate("canvas => canvas.width") > 0
    said = page.locator("#stage").get_attribute("aria-label")
    assert "of all 6,000 rows wrong" in said
    assert "A random sample of 5,000 rows is drawn." in said
    give(page, text_file("fewer.csv", frame[:900].to_csv(index=False)))
    drawn(page, 2)
    assert "sample" not in page.locator("#stage").get_attribute("aria-label")


def test_a_link_restores_the_page_and_a_lost_table_is_asked_for_again(opened, people):
    page = opened("#data?t=forgotten&y=smoker&m=lda&w=columns&a=weight&b=age")
    assert (
        "the server does not have it, or no longer; give the file again"
        in page.locator("main > div > .verdict").inner_text()
    )
    give(page, people)
    drawn(page)
    told = page.locator("#stage").get_attribute("aria-label")
    assert "all other columns at their means" in told
    assert page.get_by_label("First model").input_value() == "lda"
    until(page, "() => location.hash.includes('t=') && !location.hash.includes('t=forgotten')")
    assert {*parse_qs(page.url.partition("?")[2])} == {"v", "m", "t", "y", "w", "a", "b"}  # settings, and no cell
    accuracy = number(page, "held-out accuracy")
    page.reload()
    page.wait_for_selector("html[data-ready]", state="attached")
    drawn(page)
    assert number(page, "held-out accuracy") == accuracy
    assert page.get_by_label("To the right").input_value() == "weight"


def test_two_tabs_with_two_tables_do_not_mix(opened, people):
    first, second = opened("#data"), opened("#data")
    give(first, people, "smoker")
    second.get_by_label("Demo table").select_option("iris")
    drawn(first)
    drawn(second)
    assert second.locator("#size").inner_text().startswith("150 rows")
    for page, name in ((first, "people.csv"), (second, "demo:iris")):
        until(page, "() => location.hash.includes('t=')")
        page.reload()
        page.wait_for_selector("html[data-ready]", state="attached")
        drawn(page)
        assert page.locator(".file").inner_text() == name


def test_the_comparison_is_that_of_the_library_and_can_be_stopped(opened, people):
    page = opened("#data")
    give(page, people, "smoker")
    drawn(page)
    page.wait_for_selector(".findings li", state="attached")
    page.click("#data-compare")
    page.wait_for_selector("tr.chosen", timeout=120_000)
    known = compare_table(read_raw(people, "smoker"))
    assert page.locator("tr.chosen").get_attribute("data-name") == known.chosen.name
    for one in known.standings:
        if one.fitted:
            cells = page.locator(f"tr[data-name='{one.name}'] td").all_inner_texts()
            assert cells[0] == f"{one.accuracy.mean:.4f} ± {one.accuracy.error:.4f}"


def test_a_long_computation_tells_its_progress_and_can_be_stopped(opened):
    page = opened("#data")
    page.get_by_label("Demo table").select_option("digits")
    drawn(page)
    page.click("#data-compare")
    page.wait_for_selector("#busy button", timeout=60_000)
    until(page, "() => document.querySelector('#busy span').textContent.startsWith('Comparing:')")
    page.locator("#busy button").click()
    page.wait_for_selector("main > div > .verdict:not([hidden])", timeout=60_000)
    assert "stopped" in page.locator("main > div > .verdict").inner_text()
    assert page.locator("tr.chosen").count() == 0


def test_on_a_phone_the_page_is_one_column_with_large_targets(opened, people):
    page = opened("#data", width=390, color_scheme="dark")
    give(page, people, "smoker")
    drawn(page)
    page.wait_for_selector(".findings li", state="attached")
    assert page.evaluate("() => document.documentElement.scrollWidth") == 390
    small = """() => [...document.querySelectorAll("main button, main select, main summary, .checks label")]
        .filter(one => one.checkVisibility() && one.getBoundingClientRect().height < 44).map(one => one.outerHTML)"""
    assert page.evaluate(small) == []


def test_the_picture_of_a_table_is_saved(opened, people):
    page = opened("#data")
    give(page, people, "smoker")
    drawn(page)
    page.click("#act-picture")
    with page.expect_download() as download:
        page.get_by_role("button", name="SVG", exact=True).click()
    content = download.value.path().read_text()
    assert content.count("<path") > 240
    assert "normal of the boundary" in content


@pytest.mark.parametrize("units", [(1e300, 1e-300), (1e12, 1e-12), (None, 1.0)])
def test_a_table_in_any_units_is_drawn(opened, units):
    """The last one has numbers of 19 digits, of which only the last three differ, as times in nanoseconds have."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((60, 2)).round(3)
    first, second = units
    a = 10**18 + 128 * (X[:, 0] > 0) if first is None else X[:, 0] * first
    frame = pd.DataFrame({"a": a, "b": X[:, 1] * second, "y": np.where(X.sum(axis=1) > 0, "yes", "no")})
    page = opened("#data?w=columns")
    give(page, text_file("units.csv", frame.to_csv(index=False)), "y")
    drawn(page)
    ticks = page.locator("#stage text.tick").all_text_contents()
    assert all(len(tick) <= 11 for tick in ticks), ticks
    if first is None:
        assert ticks == ["−2", "0", "2"], "only the other axis has ticks"
    else:
        assert ticks
