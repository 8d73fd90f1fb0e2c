"""Messages speak the caller's language: options in the shell, arguments in Python."""

import ast
import json
import re
from pathlib import Path

import pytest

import separatrix
from separatrix.base.errors import ParameterError
from separatrix.cli.wording import in_shell
from separatrix.table import read_table

from .running import complaint, run


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("leave it out with drop='id'", "leave it out with --drop id"),
        ('leave it out with drop="it\'s"', "leave it out with --drop 'it'\"'\"'s'"),
        ("give decimal=',' if so", "give --decimal , if so"),
        ("fit with missing='impute', 'indicator' or 'drop'.", "fit with --missing impute, indicator or drop."),
        ("name theirs with target=, one of 'a'", "name theirs with --target, one of 'a'"),
        ("or fit with unseen='average', which counts", "or fit without --strict, which counts"),
        ("column 'target=Yes' is constant", "column 'target=Yes' is constant"),
        ("use bias_reduction='firth', a finite C", "use --bias-reduction firth, a finite --C"),
        ("a penalty (C=1, or C='auto')", "a penalty (--C 1, or --C auto)"),
        ("fit with class_weight='balanced'", "fit with --class-weight balanced"),
        ("a number, or np.inf for no penalty", "a number, or inf for no penalty"),
        ("give C=np.inf.", "give --C inf."),
        ("stopped at max_iter=5; raise max_iter or tol.", "stopped at --max-iter 5; raise --max-iter or --tol."),
        ("take MaxMarginClassifier", "take --model max-margin"),
        ("use FisherDiscriminant(direction='means')", "use --model fisher --direction means"),
        ("set reg_param > 0, or use LinearDiscriminantAnalysis", "or use --model lda"),
        ("data/tol.csv: 'Vitamin C=1' and 'raise tol'", "data/tol.csv: 'Vitamin C=1' and 'raise tol'"),
    ],
)
def test_settings_become_options(python, shell):
    assert in_shell(python) == shell


PYTHON = re.compile(
    r"\\bnp\\.|separatrix\\.|penalty_factors|reg_param|\\b[a-z]\\w*_\\w+=|\\w='|\\(X, y\\)|[a-z]Classifier\\b"
)


def literals(folder):
    """All text that stands in the package's code as an argument or a value, docstrings aside."""
    for path in Path(separatrix.__file__).parent.joinpath(folder).rglob("*.py"):
        tree = ast.parse(path.read_text())
        own = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
        found = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in own)
        yield from (node.value for node in found if isinstance(node.value, str) and " " in node.value)


@pytest.mark.parametrize("folder", ["checks", "classifiers", "evaluation", "firth", "proofs", "solvers", "table"])
def test_no_message_speaks_python_in_the_shell(folder):
    """But for those that no option can bring about: settings that the command line has not."""
    unreachable = re.compile(
        "offset|loss|decision_function|boundary_curve|None, |estimator|read_schema|shape ==|fit Log"
    )
    said = [in_shell(text) for text in literals(folder) if not unreachable.search(text)]
    assert [text for text in said if PYTHON.search(text)] == []


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
    found = run("check", "t.csv", "--target", "y", "--json").stdout
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
    assert "must stand under 'classes' in the schema" in complaint("fit", "t.csv", "--target", "region", code=3)
    (tmp_path / "schema.json").write_text('{"target": "region", "classes": ["EU", "NA"]}')
    run("fit", "t.csv", "--schema", "schema.json", "--out", "m.json")
    assert json.loads(run("evaluate", "m.json", "t.csv", "--json").stdout)["classes"] == ["EU", "NA"]
    run("check", "t.csv", "--schema", "schema.json")


def test_a_name_that_is_too_long_is_bad_data():
    assert "File name too long" in complaint("fit", "x" * 300 + ".csv", "--target", "y", code=3)


@pytest.mark.parametrize(
    "unit", [" 'a", ' "a', "'a'a", "C='", "drop='x' (", "Perceptron(", "max_iter ", "a=", "np.inf"]
)
def test_a_message_of_a_million_letters(unit):
    """A message may quote a file. Where every open quote was looked for to the end, this took hours."""
    assert in_shell(unit * (1_000_000 // len(unit)))


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        (r"drop='\x'", r"--drop '\x'"),
        ("drop='a\nb'", "--drop 'a\nb'"),
        (r"drop='it\'s'", """--drop 'it'"'"'s'"""),
        ("5' long, C=1 and 'C=1'", "5' long, --C 1 and 'C=1'"),
        ("'open\nC=1'", "'open\n--C 1'"),
        ("it's C=1", "it's --C 1"),
    ],
)
def test_quotes_of_every_kind(python, shell):
    assert in_shell(python) == shell
