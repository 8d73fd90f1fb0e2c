"""The registry of solvers is the one list of them: the documents follow it, as the help of ``fit`` does.

``python -m tests.core.solvers.test_registry`` writes the table into docs/internals.md.
"""

import re
from pathlib import Path

from separatrix.core.solvers.registry import SOLVERS

INTERNALS = Path(__file__).parents[3] / "docs" / "internals.md"
HEAD = "| solver | its step |\n|---|---|\n"


def updated(text):
    """The document with every solver and the first line of its class."""
    first = {name: type(solver).__doc__.split("\n")[0].replace("``", "`") for name, solver in SOLVERS.items()}
    rows = "".join(f"| `{name}` | {about} |\n" for name, about in first.items())
    return re.sub(re.escape(HEAD) + r"(?:\|.*\n)*", lambda _: HEAD + rows, text)


def test_the_document_has_every_solver_with_the_first_line_of_its_class():
    text = INTERNALS.read_text()
    assert HEAD in text
    assert text == updated(text), "run python -m tests.core.solvers.test_registry"


if __name__ == "__main__":
    INTERNALS.write_text(updated(INTERNALS.read_text()))
