"""What a person sees: within the terminal's width, coloured only where that is wanted, silent while work is short."""

import os
import pty
import re
import subprocess
import sys
import time

import pytest

from separatrix.cli import terminal

from .running import real, run

COLOUR = "\x1b["


def on_a_terminal(*words, **environment):
    """Everything that a terminal of 80 columns receives."""
    mine, theirs = pty.openpty()
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    told = {**plain, "TERM": "xterm", "COLUMNS": "80", **environment}
    with subprocess.Popen([sys.executable, *words], stdout=theirs, stderr=theirs, stdin=theirs, env=told) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                piece = os.read(mine, 65536)
            except OSError:  # Linux says so at the end
                break
            if not piece:
                break
            found += piece
    os.close(mine)
    return process.returncode, found.decode()


def test_colours_and_their_absence(tmp_path):
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    words = ("-m", "separatrix", "show", "m.json")
    code, coloured = on_a_terminal(*words)
    assert code == 0
    assert f"{COLOUR}32m" in coloured
    code, plain = on_a_terminal(*words, NO_COLOR="1")
    assert (code, COLOUR in plain) == (0, False)
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain
    assert max(map(len, plain.splitlines())) <= 80
    assert COLOUR not in run("show", "m.json").stdout


def test_bytes_are_not_thrown_at_a_terminal():
    run("fit", "rows.csv", "--target", "y", "--out", "m.json")
    code, text = on_a_terminal("-m", "separatrix", "export", "m.json", "--to", "onnx")
    assert code == 2
    assert "no text for a terminal" in text


SLOW = """
from separatrix.cli import terminal
terminal.PATIENCE = {patience}
import time
with terminal.working("fitting") as say:
    while {patience} < 1 and not seen():
        time.sleep(0.01)
    say("fitting fold 2")
    time.sleep(0.3)
print("done")
"""
SEEN = """
import rich.progress
started = []
start = rich.progress.Progress.start
rich.progress.Progress.start = lambda self: (start(self), started.append(1))
def seen():
    return started
"""


def test_work_that_takes_long_is_spoken_of():
    code, text = on_a_terminal("-c", SEEN + SLOW.format(patience=0.01))
    assert code == 0
    assert "fitting" in text
    assert "fold 2" in text
    code, text = on_a_terminal("-c", SEEN + SLOW.format(patience=1e6))
    assert (code, text.replace("\r", "")) == (0, "done\n")


def test_no_spinner_without_a_terminal(capsys, monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with terminal.working("fitting") as say:
        say("more")
        time.sleep(0.05)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_text_fits_the_terminal(monkeypatch, tmp_path, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    path = real(tmp_path, "penguins")
    words = ["fit", path, "--target", "species", "--missing", "impute", "--model"]
    seen = [run(*words, model, "--out", f"{model}.json").stdout for model in ("logistic", "qda")]
    seen += [run("show", "logistic.json").stdout, run("show", "qda.json").stdout]
    seen += [run("evaluate", "logistic.json", path).stdout, run("show", "logistic.json", "qda.json").stdout]
    lines = [
        line for text in seen for line in text.splitlines() if "separatrix" not in line and str(tmp_path) not in line
    ]
    assert max(map(len, lines)) <= columns
