"""The list of what needs rows in memory, in the architecture, is what solvers, classifiers and functions declare."""

import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import separatrix
from separatrix.classifiers import CLASSIFIERS
from separatrix.classifiers.hyperplane_search import compromise
from separatrix.core.base.errors import ParameterError
from separatrix.core.penalty import Penalty
from separatrix.core.penalty_search import Question, choose_penalty
from separatrix.core.rows.labelled_table import InMemory, labelled_rows
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.solvers.convex_hulls import Kozinec, NearestPoint
from separatrix.core.solvers.perceptron_updates import UPDATES
from separatrix.core.solvers.registry import SOLVERS
from separatrix.core.solvers.state import NOT_STREAMED
from separatrix.core.squared_cost import build_squared_cost, most_influential
from tests.streamed import streamed

DOCUMENT = Path(__file__).parents[2] / "docs" / "architecture.md"
OTHERS = (Kozinec, NearestPoint, *UPDATES.values())


def listed(kind):
    """From each name of the kind to its reason."""
    section = DOCUMENT.read_text(encoding="utf-8").split("## What needs rows in memory")[1].split("\n## ")[0]
    return dict(re.findall(rf"^\| {kind} `([^`]+)` \| (.+) \|$", section, re.MULTILINE))


def test_solvers():
    solvers = {**SOLVERS, **{solver.__name__: solver for solver in OTHERS}}
    assert listed("solver").keys() == {name for name, solver in solvers.items() if solver.needs & NOT_STREAMED}


def test_classifiers():
    declared = {name: classifier.traits.in_memory for name, classifier in CLASSIFIERS.items()}
    assert listed("classifier") == {name: reason for name, reason in declared.items() if reason}


def declarations():
    """Every ``InMemory`` of the package."""
    skipped = ("separatrix.__main__", "separatrix.output.python_runtime")
    names = [module.name for module in pkgutil.walk_packages(separatrix.__path__, "separatrix.")]
    modules = [importlib.import_module(name) for name in names if not name.startswith(skipped)]
    return {found for module in modules for found in vars(module).values() if isinstance(found, InMemory)}


def test_functions():
    declared = declarations()
    assert listed("function") == {each.name: each.reason for each in declared}
    assert len({each.name for each in declared}) == len(declared)


@pytest.mark.parametrize("declared", sorted(declarations(), key=lambda each: each.name), ids=lambda each: each.name)
def test_a_function_refuses_a_stream_by_its_name(declared):
    rows = memory_rows(np.eye(3), np.ones(3))
    assert declared.block(rows).n_rows == 3
    with pytest.raises(ParameterError, match=f"'{declared.name}' needs rows in memory: {declared.reason}"):
        declared.block(streamed(rows))


ROWS = streamed(labelled_rows(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1]), 2))
NUMBERED = streamed(memory_rows(np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])))
CALLS = {
    "compromise": lambda: compromise(ROWS, True),
    "choose_penalty": lambda: choose_penalty(Question(ROWS, 2, Penalty(1.0, np.ones(1)))),
    "most_influential": lambda: most_influential(build_squared_cost(NUMBERED, np.eye(2), 0.0, True), np.eye(2), 3),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_call_on_a_stream_is_refused(name):
    with pytest.raises(ParameterError, match=f"'{name}' needs rows in memory"):
        CALLS[name]()
