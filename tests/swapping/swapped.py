"""A pytest plugin: scikit-learn's own test files, imported with this package's classifiers in place of its own.

Nothing of scikit-learn's text is copied: its test modules are imported from where it is installed, while the names
that they import are ours. ``test_swapping.py`` runs them in a process of their own; ``OUTCOMES`` in its environment
names the file that the outcome of every test is written to.
"""

from __future__ import annotations

import importlib
import json
import os
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import pytest

import separatrix as sx

# The test files, and the classes that are swapped in each.
SWAPS: dict[str, dict[str, type]] = {
    "sklearn.linear_model.tests.test_logistic": {"sklearn.linear_model.LogisticRegression": sx.LogisticRegression},
    "sklearn.linear_model.tests.test_perceptron": {"sklearn.linear_model.Perceptron": sx.Perceptron},
    "sklearn.tests.test_discriminant_analysis": {
        "sklearn.discriminant_analysis.LinearDiscriminantAnalysis": sx.LinearDiscriminantAnalysis,
        "sklearn.discriminant_analysis.QuadraticDiscriminantAnalysis": sx.QuadraticDiscriminantAnalysis,
    },
    "sklearn.tests.test_multiclass": {
        "sklearn.linear_model.LogisticRegression": sx.LogisticRegression,
        "sklearn.linear_model.Perceptron": sx.Perceptron,
        "sklearn.multiclass.OneVsOneClassifier": sx.OneVsOneClassifier,
        "sklearn.multiclass.OneVsRestClassifier": sx.OneVsRestClassifier,
    },
}

_outcomes: dict[str, str] = {}


def pytest_configure(config: pytest.Config) -> None:
    """Import the test files before pytest does, while the names are swapped."""
    if "OUTCOMES" not in os.environ:
        return
    for module, swaps in SWAPS.items():
        with ExitStack() as patches:
            for name, ours in swaps.items():
                patches.enter_context(mock.patch(name, ours))
            importlib.import_module(module)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """The worst of a test's set-up, call and end; a test that was skipped has no outcome."""
    file, _, function = report.location
    name = f"{Path(file).name}::{function}"
    if report.failed:
        _outcomes[name] = "failed"
    elif report.when == "call" and report.passed:
        _outcomes.setdefault(name, "passed")


def pytest_sessionfinish() -> None:
    if "OUTCOMES" in os.environ:
        Path(os.environ["OUTCOMES"]).write_text(json.dumps(_outcomes))
