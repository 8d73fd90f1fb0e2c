"""Messages speak the caller's language: options in the shell, arguments in Python."""

import ast
import json
import math
import pickle
import re
from pathlib import Path

import pyarrow as pa
import pytest

import separatrix
from separatrix.cli.classifier_options import options
from separatrix.cli.terminal import in_shell
from separatrix.core.base.errors import ParameterError, TableError
from separatrix.core.base.messages import ByAudience, Classifier, Message, Parameter, Remedy, Setting
from separatrix.tables.read_table import read_table

from .running import complaint, run


@pytest.mark.parametrize(
    ("part", "python", "shell"),
    [
        (Setting("drop", "id"), "drop='id'", "--drop id"),
        (Setting("drop", "it's"), 'drop="it\'s"', "--drop 'it'\"'\"'s'"),
        (Setting("drop", "a\nb"), r"drop='a\nb'", "--drop 'a\nb'"),
        (Setting("decimal", ","), "decimal=','", "--decimal ,"),
        (Setting("missing", "impute", "drop"), "missing='impute' or 'drop'", "--missing impute or drop"),
        (Setting("target"), "target=", "--target"),
        (Setting("C", math.inf), "C=np.inf", "--C inf"),
        (Setting("C", 1, "auto"), "C=1 or 'auto'", "--C 1 or auto"),
        (Setting("fit_intercept", False), "fit_intercept=False", "--no-intercept"),
        (Setting("n_components", 2), "n_components=2", "n_components=2"),
        (Parameter("max_iter"), "max_iter", "--max-iter"),
        (Parameter("--out"), "--out", "--out"),
        (Classifier("MaxMarginClassifier"), "MaxMarginClassifier", "--model max-margin"),
        (
            Classifier("FisherDiscriminant", Setting("direction", "means")),
            "FisherDiscriminant(direction='means')",
            "--model fisher --direction means",
        ),
        (ByAudience("with unseen='average'", shell="without --strict"), "with unseen='average'", "without --strict"),
        (Remedy(Message("raise ", Parameter("tol"))), "; raise tol", "; raise --tol"),
    ],
)
def test_settings_become_options(part, python, shell):
    told = Message("see ", part, ".")
    assert told == f"see {python}."
    assert in_shell(told) == f"see {shell}."
    assert in_shell(pickle.loads(pickle.dumps(told))) == f"see {shell}."


@pytest.mark.parametrize("text", ["column 'target=Yes'", "drop='id'", "data/tol.csv", "raise max_iter", "np.inf"])
def test_plain_text_stays_as_it_is(text):
    """It may be a name of the user's: only typed parts are rendered."""
    assert in_shell(text) == text
    assert in_shell(Message("see ", text)) == f"see {text}"


# Modules whose messages no verb of the command line can bring about.
ONLY_IN_PYTHON = {
    *("classifiers/sklearn_settings.py", "statistics/summary.py", "statistics/summary_request.py"),
    *("tables/file_batches.py", "tables/table_parts.py"),
}


def literals(folder):
    """All text in the package's code that a plain string may bring into a message: no docstring, no words that are for
    Python alone.
    """
    source = Path(separatrix.__file__).parent
    for path in source.joinpath(folder).rglob("*.py"):
        if path.relative_to(source).as_posix() in ONLY_IN_PYTHON:
            continue
        tree = ast.parse(path.read_text())
        own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ByAudience":
                own |= {id(inner) for inner in ast.walk(node)}
        found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in own)
        yield from (node.value for node in found if isinstance(node.value, str) and " " in node.value)


# Settings by name, and classifiers: a message must hold them as typed parts.
PYTHON = re.compile(
    rf"(?<![\w.])(?:{'|'.join(options())})=|\b(?:max_iter|l1_ratio|eta0|bias_reduction|class_weight|max_columns)\b"
    r"|\bnp\.inf|\w(?:Classifier|Regression|Analysis)\b|\bFisherDiscriminant\b|separatrix\.|\(X, y\)"
)
# Messages that no option of the command line can bring about, since it has no such setting or verb.
UNREACHABLE = re.compile(
    r"offset|loss=|decision_function|boundary_curve|OneVsRest|LogisticRegression: |Setting penalty=None|liblinear"
    r"|solves the dual|l1_ratio=|fit Log|covariance|penalty=|fit a Log|a fitted Log|a penalty without absolute values"
    r"|scan\(|dask_table|the fit is penalised \(C="
)


@pytest.mark.parametrize("folder", ["classifiers", "core/firth", "core/proofs", "core/solvers", "statistics", "tables"])
def test_no_message_holds_python_as_plain_text(folder):
    assert [text for text in literals(folder) if PYTHON.search(text) and not UNREACHABLE.search(text)] == []


def test_statuses_warnings_and_findings_speak_shell(tmp_path):
    done = run("fit", "separated.csv", "--target", "y", "--C", "inf", "--test-size", "0", code=1)
    assert "--bias-reduction firth" in done.stdout
    whole = run("fit", "separated.csv", "--target", "y", "--C", "inf", "--test-size", "0", "--json", code=1)
    found = run("check", "separated.csv", "--target", "y", code=1)
    for text in (done.output, whole.output, found.output):
        assert "bias_reduction=" not in text
    assert "or inf for no penalty" in complaint("fit", "rows.csv", "--target", "y", "--C", "-1", code=2)
    text = "".join(f"{i * i % 7},{1e6 * (i % 5)},{int(i % 20 == 3)}\n" for i in range(60))
    (tmp_path / "t.csv").write_text(f"a,b,y\n{text}")
    found = run("check", "t.csv", "--target", "y").stdout
    assert "--class-weight balanced" in found
    assert "--standardise" in found
    assert "penalty_factors" not in found


def test_an_error_carries_its_remedies_as_data():
    with pytest.raises(TableError, match="missing='impute', 'indicator' or 'drop'") as caught:
        read_table(pa.table({"a": [1.0, None, 2.0], "y": [0, 1, 0]}), target="y")
    assert caught.value.remedies == (Setting("missing", "impute", "indicator", "drop"),)
    assert pickle.loads(pickle.dumps(caught.value)).remedies == caught.value.remedies


def test_the_same_refusal_in_both_languages():
    with pytest.raises(ParameterError, match=r"^target: it is not given"):
        read_table("rows.csv")
    assert complaint("fit", "rows.csv", code=2).startswith("separatrix: --target: it is not given")


def test_notes_schemas_and_checks_speak_shell(tmp_path):
    text = "id,a,b,y\n" + "".join(f"{i},{i * i % 7},{'' if i == 3 else i % 5},{i % 2}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(text)
    assert "--drop id" in run("fit", "t.csv", "--target", "y", "--missing", "impute").stdout
    assert "--missing impute, indicator or drop" in complaint("fit", "t.csv", "--target", "y", code=3)
    schema = json.loads(run("fit", "t.csv", "--target", "y", "--print-schema").stdout)
    assert "--drop id" in schema["columns"][0]["note"]
    found = run("check", "t.csv", "--target", "y", "--json", code=1).stdout
    assert "missing=" not in found
    assert "--missing impute" in found
    assert "--drop id" in found


def test_a_european_file_from_fit_to_evaluation(tmp_path):
    rows = "".join(f"{i % 7},5;{i % 3};{'u' if i * i % 5 > 1 else 'v'}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"a;b;y\n{rows}")
    assert "give --decimal ," in complaint("fit", "t.csv", "--target", "y", code=3)
    run("fit", "t.csv", "--target", "y", "--decimal", ",", "--out", "m.json")
    assert "give --decimal ," in complaint("predict", "m.json", "t.csv", code=3)
    assert run("predict", "m.json", "t.csv", "--decimal", ",").stdout.count("\n") == 41
    run("evaluate", "m.json", "t.csv", "--decimal", ",", "--delimiter", ";")
    run("check", "t.csv", "--target", "y", "--decimal", ",")


def test_prediction_names_the_cell_and_no_option_that_is_not_there(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    (tmp_path / "bad.csv").write_text("a,b\n1,2\n3,abc\n")
    text = complaint("predict", "m.json", "bad.csv", code=3)
    assert "row 2, column 'b' is 'abc', not a number" in text
    assert "--" not in text
    (tmp_path / "other.csv").write_text("a,b,label\n1,2,yes\n3,4,no\n")
    text = complaint("evaluate", "m.json", "other.csv", code=3)
    assert "no column 'y' of labels; name theirs with --target, one of 'label'" in text
    assert "accuracy" in run("evaluate", "m.json", "other.csv", "--target", "label").stdout


def test_a_class_called_na_from_fit_to_evaluation(tmp_path):
    rows = "".join(f"{i % 7},{i % 3},{'NA' if i * i % 5 > 1 else 'EU'}\n" for i in range(40))
    (tmp_path / "t.csv").write_text(f"a,b,region\n{rows}")
    assert "list it under 'classes' in the schema" in complaint("fit", "t.csv", "--target", "region", code=3)
    (tmp_path / "schema.json").write_text('{"target": "region", "classes": ["EU", "NA"]}')
    run("fit", "t.csv", "--schema", "schema.json", "--out", "m.json")
    assert json.loads(run("evaluate", "m.json", "t.csv", "--json").stdout)["classes"] == ["EU", "NA"]
    run("check", "t.csv", "--schema", "schema.json")


def test_a_name_that_is_too_long_is_bad_data():
    assert "File name too long" in complaint("fit", "x" * 300 + ".csv", "--target", "y", code=3)


def test_the_command_suggested_for_european_decimals_and_dates_works(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    days = [f"{i % 28 + 1:02}.{i % 12 + 1:02}.2020;{i * 7 % 10},{i % 5};{'no' if i % 3 else 'yes'}" for i in range(60)]
    (tmp_path / "t.csv").write_text("Datum;Betrag;y\n" + "\n".join(days) + "\n")
    suggested = complaint("fit", "t.csv", "--target", "y", code=3).split("Try: separatrix ")[1].split()
    assert {"--decimal", "--date-format", "Datum=%d.%m.%Y"} < {*suggested}
    run(*suggested, "--out", "m.json")
    run("check", *suggested[1:])
    run("predict", "m.json", "t.csv", "--decimal", ",")
