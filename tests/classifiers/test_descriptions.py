"""What classifiers say of themselves: read without importing them, and true."""

import subprocess
import sys
from importlib import import_module

import pytest

from separatrix.classifiers import CLASSIFIERS, OFFERED, describe

READ = """
import sys
from separatrix.classifiers import OFFERED, describe
print(*(repr(describe(name)) for name in OFFERED), sep="\\n")
heavy = ("numpy", "scipy", "sklearn", "separatrix.core.solvers")
print(*(name for name in heavy if name in sys.modules), file=sys.stderr)
"""


def test_a_description_is_read_without_the_classifier():
    """In a process of its own: here the classifiers are imported, and their descriptions are their modules' own."""
    done = subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True)
    assert done.stderr.split() == []
    modules = [import_module(kind.__module__) for kind in CLASSIFIERS.values()]
    assert done.stdout.splitlines() == [repr(module.DESCRIPTION) for module in modules]


@pytest.mark.parametrize("name", OFFERED)
def test_a_description_is_true(name):
    kind, said = CLASSIFIERS[name], describe(name)
    assert said.probabilities == kind.has_probabilities
    assert bool(said.parts) == ("estimator" in kind().get_params(deep=False))
    assert set(said.parts) <= set(OFFERED)
