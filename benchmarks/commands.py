"""Command lines, each time a cold process: saying what it can do, and labelling a small file by a model that is there.

Vowpal Wabbit's wheel is its command line by ``python -m vowpalwabbit``. LIBLINEAR's brings no command, so its own are
looked for on the PATH (they are Debian's liblinear-tools), and are left out where they are not there.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contestant import Contestant, Rung, Task, as_given

# A folder, rows and labels -> the command that labels the rows, and how to read the labels once it has run.
Setup = Callable[[Path, Any, Any], tuple[list[str], Callable[[str], np.ndarray]]]


def quiet(command: list[str]) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def explained(command: list[str]) -> None:
    """A command that says what it can do, with whatever exit code: LIBLINEAR's do so when they are given nothing."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "options" not in (done.stdout + done.stderr).lower():
        raise ValueError(f"{command} explains nothing")


def helping(command: list[str]) -> Callable[..., Callable[[], Any]]:
    """prepare(): a command that only says what it can do; there is nothing to have wrong."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        def run() -> float:
            explained(command)
            return 0.0

        return run

    return prepare


def labelling(setup: Setup) -> Callable[..., Callable[[], Any]]:
    """prepare(): writes rows and a model, off the clock; the run labels the rows, and gives the share it has wrong."""

    def prepare(task: Task, X: Any, y: Any, rung: Rung) -> Callable[[], Any]:
        command, read = setup(Path(tempfile.mkdtemp()), X, y)
        return lambda: float(np.mean(read(quiet(command)) != y))

    return prepare


def contestants(program: list[str], help_: list[str], setup: Setup) -> tuple[Contestant, ...]:
    """Both, where the program is installed; ``help_``: what makes it explain itself."""
    name = Path(program[-1]).name

    def there(task: Task) -> bool:
        return shutil.which(program[0]) is not None

    predicts = Contestant(f"{name}, predicting", "cli-predict", labelling(setup), as_given, where=there)
    asked = " ".join([name, *help_])
    return Contestant(asked, "cli-help", helping([*program, *help_]), as_given, where=there), predicts
