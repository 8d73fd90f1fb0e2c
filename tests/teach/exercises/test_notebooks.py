"""The notebooks are those that the generator writes, and run from top to bottom without a kernel."""

import json
import re

import pytest

import separatrix as sx
from docs._ext.notebooks import FOLDER, file_name, files

EXERCISES = sx.exercises.EXERCISES


def notebook(number):
    return json.loads((FOLDER / file_name(EXERCISES[number])).read_text())


def test_the_files_are_those_that_the_generator_writes():
    """If this fails, run ``python -m docs._ext.notebooks``."""
    assert {path: path.read_text() for path in FOLDER.iterdir() if path.suffix in (".ipynb", ".md")} == files()


@pytest.mark.parametrize("number", EXERCISES)
def test_a_notebook_has_the_format(number):
    found = notebook(number)
    assert (found["nbformat"], found["nbformat_minor"]) == (4, 5)
    assert set(found) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    ids = [cell["id"] for cell in found["cells"]]
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one in ids)
    for cell in found["cells"]:
        assert "".join(cell["source"]).strip()
        if cell["cell_type"] == "code":
            assert set(cell) == {"cell_type", "execution_count", "id", "metadata", "outputs", "source"}
            assert cell["outputs"] == []
            assert cell["execution_count"] is None
        else:
            assert set(cell) == {"cell_type", "id", "metadata", "source"}
    hidden = [cell["id"] for cell in found["cells"] if cell["metadata"]]
    assert hidden == ["solution"]


def run(number, names):
    """The variables after the cells with these names, in this order."""
    cells = {cell["id"]: "".join(cell["source"]) for cell in notebook(number)["cells"] if cell["cell_type"] == "code"}
    assert list(cells) == ["given", "answer", "check", "solution"]
    variables = {}
    for name in names:
        exec(compile(cells[name], f"exercise {number}, {name}", "exec"), variables)
    return variables


@pytest.mark.parametrize("number", EXERCISES)
def test_the_solution_passes_the_check(number, capsys):
    assert run(number, ["given", "answer", "solution", "check"])["feedback"]
    assert "all right" in capsys.readouterr().out


@pytest.mark.parametrize("number", EXERCISES)
def test_before_an_answer_the_check_says_what_to_give(number, capsys):
    assert not run(number, ["given", "answer", "check"])["feedback"]
    said = capsys.readouterr().out
    assert said.count("no answer yet") == len(EXERCISES[number].parts)
