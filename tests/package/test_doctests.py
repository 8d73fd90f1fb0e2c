"""Every public class and function has a doctest, and none prints a digit that depends on the processor."""

import ast
import doctest
import inspect
import re
from pathlib import Path

import pytest

import separatrix as sx
from separatrix import information, losses, solvers
from separatrix.core.links import LINKS


def _things():
    """What the package, its registries and its modules of functions offer by name."""
    found = {f"sx.{name}": getattr(sx, name) for name in sx.__all__}
    for module in (information, sx.decision):
        of_its_own = inspect.getmembers(module, inspect.isfunction)
        found |= {f"{module.__name__}.{name}": f for name, f in of_its_own if not name.startswith("_")}
    for registry in (solvers.SOLVERS, losses.LOSSES, LINKS):
        found |= {type(thing).__name__: type(thing) for thing in registry.values()}
    found |= {kind.__name__: kind for kind in (solvers.Kozinec, solvers.NearestPoint, solvers.run, solvers.states)}
    mine = {name: thing for name, thing in found.items() if getattr(thing, "__module__", "").startswith("separatrix")}
    return {name: thing for name, thing in mine.items() if inspect.isclass(thing) or inspect.isfunction(thing)}


THINGS = _things()


@pytest.mark.parametrize("name", sorted(THINGS))
def test_has_a_doctest(name):
    thing = THINGS[name]
    assert ">>>" in (thing.__doc__ or ""), f"{name} has no doctest"


ROOT = Path(__file__).parents[2]
# Another processor changes the last two or three of 16 digits of a sum, and more of what a solver leaves.
MOST_DIGITS = 12
# One correctly rounded operation on exact numbers has the same digits everywhere.
EXACT = {
    "0.0008787346221441124": 1 / (2.0 * 569),
    "1.1805916207174113e+21": 2.0**70,
}


def _texts():
    """(file, text) of each document and docstring."""
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        yield path, path.read_text()
    for path in (ROOT / "src").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield path, ast.get_docstring(node) or ""


def _long_numbers(text):
    """Numbers with more than MOST_DIGITS significant digits that the examples of a text print."""
    for example in doctest.DocTestParser().get_examples(text):
        for number in re.findall(r"\d*\.\d+(?:e[-+]?\d+)?", example.want):
            if len(number.split("e")[0].replace(".", "").lstrip("0")) > MOST_DIGITS:
                yield number


def test_examples_print_no_digit_of_one_processor():
    found = [(path.name, number) for path, text in _texts() for number in _long_numbers(text)]
    assert [pair for pair in found if pair[1] not in EXACT] == []
    assert {number for _, number in found} == set(EXACT)
    assert {number: repr(value) for number, value in EXACT.items()} == {number: number for number in EXACT}
    assert list(_long_numbers(">>> 0.1 + 0.2\n0.30000000000000004\n>>> 1e-20\n1.5e-20\n")) == ["0.30000000000000004"]
