"""Importing the package is cheap: nothing heavy until it is used. Asked of fresh processes."""

import subprocess
import sys

import pytest

import separatrix as sx

HEAVY = ("sklearn", "scipy", "pandas", "pyarrow", "numba", "click", "rich", "threadpoolctl")


def _loaded_after(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*sorted({{name.split('.')[0] for name in sys.modules}}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_the_package_alone_loads_nothing_heavy():
    assert not _loaded_after("import separatrix") & {*HEAVY, "numpy"}


def test_scoring_needs_no_scikit_learn():
    loaded = _loaded_after(
        "import numpy as np, separatrix as sx\n"
        "sx.Scorer(np.ones((1, 3)), np.array([0, 1]), 'logit').predict(np.ones((2, 2)))"
    )
    assert not loaded & {"sklearn", "pandas", "pyarrow", "click"}


@pytest.mark.parametrize("name", sx.__all__)
def test_every_public_name_resolves(name):
    assert getattr(sx, name) is not None
    assert name in dir(sx)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nonsense"):
        sx.nonsense
