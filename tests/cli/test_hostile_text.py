"""Names and cells with control characters: no verb lets them reach the terminal, and none loses them."""

import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest

import separatrix.cli
from separatrix.cli.terminal import command_line
from separatrix.core.base.errors import printable
from tests.cli.running import complaint, on_a_terminal, run

# ESC [ 31 m turns a terminal red, U+009B does the same in one character, BEL ends a title, U+202E turns text round.
RED, C1, BELL, TURN = "\x1b[31m", "\x9b31m", "\x07", "\u202e"
HOSTILE = f"{RED}name{C1}{BELL}{TURN}"
CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]")


@pytest.fixture
def table(tmp_path):
    """A hostile column, a hostile category and a hostile class."""
    path = tmp_path / f"{RED}table.csv"
    rows = [f"{i % 7},{HOSTILE if i % 3 else 'plain'},{HOSTILE if (i * i) % 11 > 2 else 'no'}" for i in range(60)]
    path.write_text("\n".join([f"a{HOSTILE},b,y{HOSTILE}", *rows]) + "\n", encoding="utf-8")
    return str(path)


@pytest.fixture
def model(table, tmp_path):
    out = str(tmp_path / f"{C1}model.json")
    run("fit", table, "--target", f"y{HOSTILE}", "--out", out)
    return out


def verbs(table, model):
    yield ["fit", table, "--target", f"y{HOSTILE}", "--cv", "3", "--out", model]
    yield ["fit", table, "--target", f"y{HOSTILE}", "--json"]
    yield ["fit", table, "--target", f"y{HOSTILE}", "--print-schema"]
    yield ["fit", table, "--target", f"no such{HOSTILE}"]
    yield ["fit", f"{HOSTILE}.csv", "--target", "y"]
    yield ["fit", table, f"--{HOSTILE}"]
    yield [f"{HOSTILE}"]
    yield ["check", table, "--target", f"y{HOSTILE}"]
    yield ["check", table, "--target", f"y{HOSTILE}", "--json"]
    yield ["compare", table, "--target", f"y{HOSTILE}", "--only", "logistic"]
    yield ["compare", table, "--target", f"y{HOSTILE}", "--only", "logistic", "--json"]
    yield ["show", model]
    yield ["show", model, model]
    yield ["show", model, "--json"]
    yield ["show", model, "--as", "sklearn"]
    yield ["show", f"{HOSTILE}.json"]
    yield ["evaluate", model, table]
    yield ["evaluate", model, table, "--json"]
    yield ["predict", model, table, "--json"]


def test_no_control_character_is_printed(table, model):
    from click.testing import CliRunner

    for words in verbs(table, model):
        done = CliRunner().invoke(separatrix.cli.main, words, prog_name="separatrix")
        assert "Traceback" not in done.stderr, words
        found = CONTROLS.search(done.stdout + done.stderr)
        assert found is None, (words, found, (done.stdout + done.stderr)[max(0, found.start() - 80) :][:120])


@pytest.mark.parametrize("words", [["predict", "{model}", "{table}"], ["export", "{model}", "--to", "sql"]])
def test_a_document_is_exact_in_a_pipe_and_neutral_on_a_terminal(table, model, words):
    words = [word.format(model=model, table=table) for word in words]
    assert HOSTILE in run(*words).stdout
    code, seen = on_a_terminal("-m", "separatrix", *words)
    assert code == 0
    assert "\\x1b[31mname" in seen
    assert CONTROLS.search(seen.replace("\r\n", "\n")) is None


def test_json_keeps_what_it_neutralises(table, model):
    found = json.loads(run("show", model, "--json").stdout)
    assert HOSTILE in found["classes"]["values"]
    schema = run("fit", table, "--target", f"y{HOSTILE}", "--print-schema").stdout
    assert json.loads(schema)["target"] == f"y{HOSTILE}"


def test_a_line_to_be_copied_can_be_run(table, model):
    lines = run("fit", table, "--target", f"y{HOSTILE}", "--out", model).stdout.splitlines()
    [line] = [line for line in lines if line.strip().startswith("separatrix predict")]
    echoed = subprocess.run(["bash", "-c", line.replace("separatrix", "printf '%s\\0'", 1)], capture_output=True)
    assert echoed.stdout.decode().split("\0")[:-1] == ["predict", model, table]


def test_command_line_quotes_as_the_shell_reads():
    assert command_line(["separatrix", "a b", "it's"]) == shlex.join(["separatrix", "a b", "it's"])
    assert command_line(["x\x1b'\\é"]) == "$'x\\x1b\\'\\\\é'"


def test_only_one_module_writes_to_the_terminal():
    cli = Path(separatrix.cli.__file__).parent
    writes = re.compile(r"click\.(echo|secho|style)\(|^\s*print\(|sys\.std(out|err)\.write", re.MULTILINE)
    assert [file.name for file in sorted(cli.glob("*.py")) if writes.search(file.read_text())] == ["terminal.py"]


def test_printable_names_every_control_character():
    assert printable(HOSTILE) == "\\x1b[31mname\\x9b31m\\x07\\u202e"
    assert printable("žluťoučký \udcff") == "žluťoučký \\udcff"


def test_a_complaint_is_one_line(tmp_path):
    told = complaint("fit", f"{tmp_path}/no\nsuch\r{RED}.csv", "--target", "y", code=3)
    assert CONTROLS.search(told) is None
