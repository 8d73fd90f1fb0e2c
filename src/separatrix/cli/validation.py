"""Cross-validation of one classifier: K fits, each on all folds but one, measured on that fold.

The measures, means and standard errors are those of ``compare``. There all fits run at once, one in each thread; here
one fit after the other uses all threads, and its progress is shown.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.errors import ParameterError
from separatrix.base.folds import stratified_folds
from separatrix.base.watching import part
from separatrix.cli import terminal
from separatrix.evaluation.standings import BASELINE, Standing
from separatrix.evaluation.trials import Trial, guessed, measured
from separatrix.table import Table


@dataclass(frozen=True)
class CrossValidation:
    """The figures of a classifier over the folds, and those of always predicting the most frequent class."""

    standing: Standing
    baseline: Standing
    seed: int

    @property
    def n_folds(self) -> int:
        return len(self.standing.trials)

    @property
    def unmet(self) -> int:
        """The number of fits that did not meet their stopping rule."""
        return self.n_folds - self.standing.n_met

    def as_dict(self) -> dict[str, Any]:
        """Means, standard errors, and the figures of each fold."""
        figures: dict[str, Any] = {"folds": self.n_folds, "seed": self.seed, "unmet_fits": self.unmet}
        for name, figure in (("accuracy", self.standing.accuracy), ("log_loss", self.standing.log_loss)):
            if figure is not None:
                figures |= {name: figure.mean, f"{name}_error": figure.error, f"{name}_by_fold": list(figure.by_fold)}
        return figures | {"null_accuracy": self.baseline.accuracy.mean}

    @property
    def sentence(self) -> str:
        """The accuracy and the folds, in one sentence."""
        accuracy = self.standing.accuracy
        always = f"always the majority: {terminal.share(self.baseline.accuracy.mean)}"
        drawn = f"{self.n_folds} folds (stratified by class, seed {self.seed})"
        return f"accuracy {accuracy.mean:.3f} ± {accuracy.error:.3f} ({always}), over {drawn}"

    def show(self) -> None:
        """Print the figures for people."""
        terminal.line("validated", self.sentence)
        if self.standing.log_loss is not None:
            terminal.line("", f"log loss {self.standing.log_loss} nats per row; ± is the standard error")
        if self.unmet:
            terminal.line("", f"{self.unmet} of the {self.n_folds} fits did not meet their stopping rule")


def cross_validate(
    made: Callable[[], Any],
    coded: Callable[[AnyArray], Table],
    codes: Integers,
    classes: Any,
    n_folds: int,
    seed: int,
) -> CrossValidation:
    """Fit a new model of ``made`` for each fold, on all other folds.

    ``coded`` returns the whole table with the encoding learned from a mask of training rows.
    """
    counts = np.bincount(codes)
    if counts.min() < 2:
        problem = f"class {classes.tolist()[int(np.argmin(counts))]!r} has only one row"
        raise ParameterError("--cv", problem, "leave that class out, or leave --cv out")
    if n_folds > len(codes):
        raise ParameterError("--cv", f"got {n_folds} for {len(codes)} rows", "give fewer folds than rows")
    fold, labels = stratified_folds(codes, n_folds, seed), classes[codes]
    trials, guesses = list[Trial](), list[Trial]()
    for k in range(n_folds):
        held = fold == k
        with part("fold", k + 1, n_folds), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Failed fits are counted.
            X = coded(~held).X
            model = made().fit(X[~held], labels[~held])
        trials.append(measured(model, X[held], labels[held], np.flatnonzero(~held)))
        guesses.append(guessed(codes, held, len(classes)))
    by_fold = tuple(codes[fold == k] for k in range(n_folds))
    standing = Standing(type(model).__name__, tuple(trials), by_fold, classes)
    return CrossValidation(standing, Standing(BASELINE, tuple(guesses), by_fold, classes), seed)
