"""The list of what needs rows in memory, in the architecture, is what solvers and classifiers declare."""

import re
from pathlib import Path

from separatrix.classifiers import CLASSIFIERS
from separatrix.solvers import SOLVERS, StochasticDescent
from separatrix.solvers.separating.kozinec import Kozinec
from separatrix.solvers.separating.max_margin import NearestPoint
from separatrix.solvers.separating.perceptron import UPDATES
from separatrix.solvers.state import NOT_STREAMED

DOCUMENT = Path(__file__).parents[2] / "docs" / "architecture.md"
OTHERS = (StochasticDescent, Kozinec, NearestPoint, *UPDATES.values())


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
