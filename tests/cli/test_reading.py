"""Options that say how a table is written: every verb takes them, and a model remembers those that its rows need."""

import json
import random
import shlex

import pytest

from .running import complaint, run

MARKS = ["--quote", "'", "--delimiter", ";"]
READING = [*MARKS, "--na", "-,?", "--date-format", "day=%d.%m.%Y", "--missing", "impute"]


def written(k, size, day, note):
    return f"{day};{size};'{note};{k % 3}';{k % 4}\n"


@pytest.fixture
def table(tmp_path):
    """Sizes with - for a missing one, dates of Europe, texts in single quotes, a code, and labels; 300 rows."""
    draw, rows, labels = random.Random(3), [], []
    for k in range(300):
        size = draw.gauss(0, 1)
        day = f"{draw.randint(1, 28):02d}.{draw.randint(1, 12):02d}.2024"
        rows.append(written(k, "-" if k % 50 == 7 else f"{size:.3f}", day, "ab"[k % 2]))
        labels.append("yes" if size + draw.gauss(0, 1) > 0 else "no")
    both = [row.replace("\n", f";{label}\n") for row, label in zip(rows, labels, strict=True)]
    (tmp_path / "t.csv").write_text("day;size;note;code;y\n" + "".join(both))
    (tmp_path / "new.csv").write_text("day;size;note;code\n" + "".join(rows))
    (tmp_path / "bare.csv").write_text("".join(both))
    return tmp_path


def test_a_model_reads_other_files_of_the_same_form(table):
    run("fit", "t.csv", "--target", "y", *READING, "--category", "code", "--out", "m.json")
    training = json.loads((table / "m.json").read_text())["content"]["training"]
    assert training["na"] == ["-", "?"]
    answers = run("predict", "m.json", "new.csv", "--quote", "'").stdout
    assert answers.count("\n") == 301
    found = json.loads(run("evaluate", "m.json", "t.csv", "--quote", "'", "--json").stdout)
    assert found["rows"] == 300
    named = json.loads(run("fit", "t.csv", "--target", "y", *READING, "--category", "code", "--json").stdout)
    assert named["data"]["columns"][:2] == ["day", "size"]
    assert sum(name.startswith("code=") for name in named["data"]["columns"]) == 3


def test_what_is_given_for_a_prediction_adds_to_what_the_model_remembers(table):
    run("fit", "t.csv", "--target", "y", *READING, "--out", "m.json")
    text = (table / "new.csv").read_text()
    (table / "other.csv").write_text(text.replace("\n", "\n", 1).replace(";-;", ";none given;"))
    assert "'none given', not a number" in complaint("predict", "m.json", "other.csv", "--quote", "'", code=3)
    answers = run("predict", "m.json", "other.csv", "--quote", "'", "--na", "none given").stdout
    assert answers == run("predict", "m.json", "new.csv", "--quote", "'").stdout


@pytest.mark.parametrize("verb", ["fit", "compare", "check"])
def test_every_verb_that_reads_a_training_table_takes_the_options(table, verb):
    more = {"compare": ["--only", "logistic", "--cv", "2"], "check": ["--quiet"], "fit": []}[verb]
    reading = [word for word in READING if verb != "check" or word not in ("--missing", "impute")]
    words = [verb, "bare.csv", "--no-header", "--target", "-1", *reading, "--number", "2", "--drop", "x3,4", *more]
    words[words.index("day=%d.%m.%Y")] = "1=%d.%m.%Y"
    done = run(*words, code=1 if verb == "check" else 0)
    assert "2 columns" in done.stdout
    if verb != "fit":
        command = done.stdout[done.stdout.index("separatrix fit bare.csv") :].splitlines()[0]
        assert "x1" in run(*shlex.split(command)[1:]).stdout  # it can be run as it is


def test_a_file_without_a_header_from_fit_to_predict(table):
    words = ["--no-header", "--quote", "'"]
    dates = ["--na", "-", "--date-format", "%d.%m.%Y", "--missing", "impute", "--out", "m.json"]
    fitted = run("fit", "bare.csv", "--target", "5", *words, *dates).stdout
    assert "predicting 'x5'" in fitted
    assert "separatrix predict m.json bare.csv --no-header --quote" in fitted
    whole = run("predict", "m.json", "bare.csv", *words).stdout
    (table / "new.csv").write_text((table / "new.csv").read_text().split("\n", 1)[1])
    assert run("predict", "m.json", "new.csv", *words).stdout == whole
    assert "rows.csv" not in run("evaluate", "m.json", "bare.csv", *words).stderr
    run("evaluate", "m.json", "bare.csv", *words, "--target", "-1")
    assert "give --no-header" in complaint("predict", "m.json", "bare.csv", "--quote", "'", code=3)


def test_the_target_may_be_the_first_column_without_a_name(table):
    (table / "first.csv").write_text("".join(f"{'uv'[k % 2]},{k % 7},{k % 5}\n" for k in range(40)))
    (table / "rest.csv").write_text("".join(f"{k % 7},{k % 5}\n" for k in range(40)))
    run("fit", "first.csv", "--no-header", "--target", "1", "--out", "m.json")
    dated = "".join(f"{'uv'[k % 2]},{1 + k % 28:02d}.03.2024,{k % 5}\n" for k in range(40))
    (table / "dated.csv").write_text(dated)
    (table / "days.csv").write_text("".join(line[2:] + "\n" for line in dated.splitlines()))
    run("fit", "dated.csv", "--no-header", "--target", "1", "--date-format", "-2=%d.%m.%Y", "--out", "d.json")
    days = run("predict", "d.json", "days.csv", "--no-header", "--proba").stdout
    assert run("predict", "d.json", "dated.csv", "--no-header", "--proba").stdout == days
    whole = run("predict", "m.json", "first.csv", "--no-header", "--proba").stdout
    assert run("predict", "m.json", "rest.csv", "--no-header", "--proba").stdout == whole


def test_a_first_row_of_data_is_doubted_with_the_option(table):
    rows = "".join(f"{k / 7:.2f},{k % 5}.5,{'uv'[k % 2]}\n" for k in range(40))
    (table / "bare.csv").write_text(rows)
    for verb in ("fit", "check"):
        done = run(verb, "bare.csv", "--target", "u", code=0)
        assert "give --no-header" in " ".join((done.stdout + done.stderr).split())


def test_schema_is_printed_as_the_options_have_it(table):
    words = [
        "fit",
        "bare.csv",
        "--no-header",
        "--quote",
        "'",
        "--date-format",
        "%d.%m.%Y",
        "--number",
        "2",
        "--drop",
        "3",
    ]
    kinds = {
        one["name"]: one["kind"] for one in json.loads(run(*words, "--print-schema", "--na", "-").stdout)["columns"]
    }
    assert kinds == {"x1": "date", "x2": "number", "x3": "ignored", "x4": "number", "x5": "category"}


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["--quote", "''"], "--quote: got"),
        (["--date-format", "day"], "--date-format: got 'day'"),
        (["--date-format", "%d/%m/%Y"], "--date-format: no column of t.csv holds dates"),
        (["--category", "y"], "--category: it names the target"),
        (["--category", "code", "--number", "code"], "--number: column 'code' is given as a category, too"),
    ],
)
def test_options_that_cannot_be_followed(table, words, part):
    marks = MARKS if "--quote" not in words else MARKS[2:]
    assert part in complaint("fit", "t.csv", "--target", "y", *marks, *words, code=2)
