"""Swapping one import: scikit-learn's own tests on our classifiers, against the list of those that do not pass.

pytest -s -m slow tests/swapping     prints how many of them pass
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import sklearn

from tests.swapping.listed import Listed, listed
from tests.swapping.swapped import SWAPS

ROOT = Path(__file__).parents[2]


def test_an_entry_covers_what_it_names():
    assert Listed("test_a.py::test_x", "").covers("test_a.py::test_x[1-2]")
    assert not Listed("test_a.py::test_x", "").covers("test_a.py::test_xy")
    assert Listed("test_a.py::test_x[*-lbfgs]", "").covers("test_a.py::test_x[42-lbfgs]")
    assert not Listed("test_a.py::test_x[*-lbfgs]", "").covers("test_a.py::test_x[42-sag]")


def test_every_entry_has_a_reason_and_names_a_test():
    entries = listed()
    assert entries
    sources = {name.rpartition(".")[2] + ".py": importlib.util.find_spec(name).origin for name in SWAPS}
    texts = {file: Path(origin).read_text() for file, origin in sources.items()}
    for entry in entries:
        file, _, function = entry.function.partition("::")
        assert entry.reason
        if f"def {function}(" not in texts[file]:
            print(f"{entry.pattern}: not in scikit-learn {sklearn.__version__}")
        assert function.startswith("test_")
    assert sum(f"def {e.function.partition('::')[2]}(" in texts[e.function.partition("::")[0]] for e in entries)


@pytest.mark.slow
def test_scikit_learns_own_tests_pass_or_are_listed_with_a_reason(tmp_path):
    found = outcomes(tmp_path)
    passed = sum(outcome == "passed" for outcome in found.values())
    print(f"\n{passed} of {len(found)} tests of scikit-learn {sklearn.__version__} pass on our classifiers")
    entries = listed()
    for entry in entries:
        if not any(entry.covers(test) for test in found):
            print(f"{entry.pattern}: skipped, not in scikit-learn {sklearn.__version__}")
    covered = {test: [entry for entry in entries if entry.covers(test)] for test in found}
    unexplained = [test for test, outcome in found.items() if outcome == "failed" and not covered[test]]
    outdated = [test for test, outcome in found.items() if outcome == "passed" and covered[test]]
    assert not unexplained, f"these fail, and docs/from-scikit-learn.md does not say why: {unexplained}"
    assert not outdated, f"these pass, though docs/from-scikit-learn.md lists them: {outdated}"
    assert passed > len(found) / 2


def outcomes(folder: Path) -> dict[str, str]:
    """What became of every test, in a process of its own, with no settings of ours."""
    (folder / "pytest.ini").write_text("[pytest]\n")
    told = folder / "outcomes.json"
    paths = [str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    environment = os.environ | {"OUTCOMES": str(told), "PYTHONPATH": os.pathsep.join(paths)}
    options = ["-q", "-p", "no:cacheprovider", "-p", "tests.swapping.swapped", "-c", str(folder / "pytest.ini")]
    command = [sys.executable, "-m", "pytest", *options, "--tb=no", "--pyargs", *SWAPS]
    ran = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert told.exists(), ran.stdout[-2000:] + ran.stderr[-2000:]
    found: dict[str, str] = json.loads(told.read_text())
    return found
