"""Write the notebooks of the exercises and their index page: ``python -m docs._ext.notebooks``.

The text of a notebook comes from ``separatrix.exercises``. The code of what is given and of the solution is the source
of the functions that compute them, so that a notebook cannot differ from what ``check`` expects.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from docs._ext.lab_links import address
from separatrix.teach.exercises import EXERCISES
from separatrix.teach.exercises.exercise import Exercise

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "exercises"
HIDDEN = {"jupyter": {"source_hidden": True}, "tags": ["hide-cell"]}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
INDEX = """\
# Exercises

Twelve examples of the lectures to compute by hand, or with a few lines of code. Each is a Jupyter notebook that needs
nothing but the package. Write your answer into the cell `answer`, and the next cell says which parts are right, with a
hint for the others. The solution is in a cell that is closed at first. Numbers need three significant digits.

```python
>>> import separatrix as sx
>>> answer = {"slope": 4 / 21, "intercept": -5 / 14, "boundary": 1.875}
>>> print(sx.exercises.check(4, answer))
Exercise 4, Least squares on a line: 2 of 3 right.
  slope: right
  intercept: right
  boundary: not yet. This is where h is 0, which is the threshold for targets −1 and +1. Take h = ½.

```

The notebooks also link to the [lab](../guide/lab.md), where the same points can be dragged.
"""


def code_of(function: Callable[..., Any], last: str) -> str:
    """The body of a function, with ``last`` instead of its last ``return``. Without ``last``, that line is left out."""
    return _body(textwrap.dedent(inspect.getsource(function)), last)


def _body(source: str, last: str) -> str:
    r"""The same for the source of a function.

    >>> print(_body("def double(x):\n    y = 2 * x  # twice\n    return {'y': y}\n", "answer = "))
    y = 2 * x  # twice
    answer = {'y': y}
    """
    definition = ast.parse(source).body[0]
    assert isinstance(definition, ast.FunctionDef)
    statements = definition.body[1:] if ast.get_docstring(definition) else definition.body
    lines = source.splitlines()
    before = lines[statements[0].lineno - 1 : statements[-1].lineno - 1]
    final = lines[statements[-1].lineno - 1 :] if last else []
    text = textwrap.dedent("\n".join([*before, *final]))
    text = re.sub(r"  # type: ignore\S*", "", text)
    return re.sub(r"^return ", last, text, flags=re.MULTILINE)


def notebook(exercise: Exercise) -> str:
    """A notebook as the text of its file."""
    content = {"cells": list(_cells(exercise)), "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def _cells(exercise: Exercise) -> Iterator[dict[str, Any]]:
    given, solution = code_of(exercise.given, ""), code_of(exercise.solution, "answer = ")
    more = "import warnings\n\n" if "warnings." in solution else ""
    asked = "\n".join(f"- `{part.name}`: {part.asks} ({part.comparison.form})" for part in exercise.parts)
    blank = "\n".join(["answer = {", *(f'    "{part.name}": ...,' for part in exercise.parts), "}"])
    yield _text(
        "introduction",
        f"# Exercise {exercise.number} · {exercise.title}\n\n{exercise.introduction}\n\n{_from(exercise)}",
    )
    yield _code("given", f"import numpy as np\n\nimport separatrix as sx\n\n{given}")
    yield _text("question", f"## Your answer\n\n{exercise.question}\n\n{asked}\n\nReplace each `...` by your answer.")
    yield _code("answer", blank)
    yield _code("check", f"feedback = sx.exercises.check({exercise.number}, answer)\nprint(feedback)")
    yield _text("solution-title", "## Solution\n\nTry first. Then open the next cell, run it, and run the check again.")
    yield _code("solution", more + solution, HIDDEN)
    yield _text("lab", f"## What to try in the lab\n\n{_lab(exercise)}")


def _from(exercise: Exercise) -> str:
    items = ", ".join(exercise.items)
    return (
        f"This belongs to {items} of the textbook tour. The notebook needs `pip install separatrix` and nothing else."
    )


def _lab(exercise: Exercise) -> str:
    return (
        f"[Open this page of the lab]({address(exercise.lab)}) while `separatrix lab` is running "
        f'(`pip install "separatrix[lab]"` installs what it needs). {exercise.lab_try}'
    )


def _text(name: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": name, "metadata": {}, "source": source.splitlines(keepends=True)}


def _code(name: str, source: str, metadata: dict[str, Any] | None = None) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    empty = {"execution_count": None, "id": name, "metadata": metadata or {}, "outputs": []}
    return {"cell_type": "code", **empty, "source": lines}


def index() -> str:
    """The page that lists the exercises."""
    chapters = {text[2]: (path, text) for path in (DOCS / "tour").glob("*.md") for text in [path.read_text()]}
    return "\n".join([INDEX, *(_listed(exercise, chapters) for exercise in EXERCISES.values())])


def _listed(exercise: Exercise, chapters: dict[str, tuple[Path, str]]) -> str:
    items = ", ".join(_item(name, *chapters[name[0]]) for name in exercise.items)
    file = f"[Notebook]({file_name(exercise)})"
    lab = f"{{lab}}`Lab <{exercise.lab}>`"
    return f"## {exercise.number} · {exercise.title}\n\n{exercise.question}\n\n{file} · {lab} · Tour: {items}\n"


def _item(name: str, chapter: Path, text: str) -> str:
    """A link to an item of the tour. Anchors are made from headings as the host of the repository does."""
    heading = re.search(rf"^## ({name} · .*)$", text, re.MULTILINE)
    assert heading is not None, name
    anchor = re.sub(r"[^\w\- ]", "", heading[1].lower()).replace(" ", "-")
    return f"[{name}](../tour/{chapter.name}#{anchor})"


def file_name(exercise: Exercise) -> str:
    """The name of an exercise's notebook."""
    return f"{exercise.number:02}-{exercise.name}.ipynb"


def files() -> dict[Path, str]:
    """Everything that this command writes."""
    written = {FOLDER / file_name(exercise): notebook(exercise) for exercise in EXERCISES.values()}
    return {**written, FOLDER / "index.md": index()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in files().items():
        path.write_text(text, encoding="utf-8")
