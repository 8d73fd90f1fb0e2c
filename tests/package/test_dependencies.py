"""pyproject.toml declares what the package imports, each with a lower bound, and nothing besides."""

import ast
import re
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from tests.lowest import lowest, requirements

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = tuple(PROJECT["optional-dependencies"])
# By module; to list the files of all installed distributions takes 0.3 seconds.
DISTRIBUTIONS = cache(packages_distributions)


def _canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def _distribution(module):
    """The distribution that installs a module, e.g. scikit-learn for sklearn."""
    return {_canonical(name) for name in DISTRIBUTIONS().get(module, [module])}


def _imported(tree, guarded=False):
    """(module, whether an ``except ImportError`` catches its absence) for each import of other packages."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name.split(".")[0], guarded) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            yield node.module.split(".")[0], guarded
        else:
            caught = isinstance(node, ast.Try) and any(
                "ImportError" in ast.unparse(h.type or node) for h in node.handlers
            )
            yield from _imported(node, guarded or caught)


# Modules that are imported only where the package of an extra is known to be installed.
OF_AN_EXTRA = {
    "dask": "separatrix/core/cluster",
    "distributed": "separatrix/core/cluster",
    "anywidget": "separatrix/teach/lab",
    "markdown_it": "separatrix/teach/lab",
    "starlette": "separatrix/teach/lab",
    "traitlets": "separatrix/teach/lab",
    "uvicorn": "separatrix/teach/lab",
}


def _pairs(path):
    for module, guarded in _imported(ast.parse(path.read_text())):
        yield module, guarded or OF_AN_EXTRA.get(module, "nowhere") in path.as_posix()


@cache
def _foreign():
    """(module, whether an ``except ImportError`` catches its absence) for each module of another distribution."""
    found = {pair for path in (ROOT / "src").rglob("*.py") for pair in _pairs(path)}
    return {(module, guarded) for module, guarded in found if module not in {*sys.stdlib_module_names, "separatrix"}}


def _declared(*extras):
    return {_canonical(requirement.name) for requirement in requirements(PROJECT, extras)}


def test_what_is_imported_is_declared():
    assert {name for name, guarded in _foreign() if not guarded and not _distribution(name) & _declared()} == set()
    optional = {name for name, guarded in _foreign() if guarded}
    assert optional >= {"onnx", "dask"}
    assert {name for name in optional if not _distribution(name) & _declared(*EXTRAS)} == set()


def test_what_is_declared_is_imported():
    imported = set().union(*(_distribution(name) for name, _ in _foreign()))
    assert _declared() - imported == set()


@pytest.mark.parametrize("requirement", requirements(PROJECT, EXTRAS), ids=str)
def test_every_requirement_has_one_lower_bound(requirement):
    assert lowest(requirement).startswith(f"{requirement.name}==")


def test_an_import_is_found_wherever_it_stands():
    code = "import a.b\ndef f():\n    from c import d\n    from .e import f\n"
    code += "try:\n    import g\nexcept ImportError:\n    g = None"
    assert set(_imported(ast.parse(code))) == {("a", False), ("c", False), ("g", True)}
