"""What a person sees: within the terminal's width, coloured only where that is wanted."""

import re

import pytest

from .running import on_a_terminal, real, run

COLOUR = "\x1b["


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
    assert "cannot be shown on a terminal" in text


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
