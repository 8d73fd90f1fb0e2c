"""The classifiers of a comparison: all of ``OFFERED`` with their defaults, and why some cannot be fitted to given rows.

A new classifier takes part as soon as it is in ``OFFERED``. Its description lists what it requires of the rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.cached import cached_property
from separatrix.base.messages import Detail, Message
from separatrix.base.watching import watched
from separatrix.classifiers import CLASSIFIERS, OFFERED, describe
from separatrix.classifiers.description import Requires
from separatrix.classifiers.linear import ScoringClassifier
from separatrix.evaluation.budget import RAISE_SECONDS, Budget, OutOfTime
from separatrix.proofs.overlap_proof import MOST_EXACT_ROWS
from separatrix.proofs.separability import separability
from separatrix.proofs.verdicts import Separable
from separatrix.table import RawTable

# The most columns for a classifier that factors a matrix of columns by columns, which takes too long for more.
MOST_COLUMNS_OF_MATRIX = 2000
# The beginning of the reason why a classifier has no figures.
NOT_FITTED = Detail("not fitted: ")


@dataclass(frozen=True)
class Contest:
    """The table, the class of each row as a number into ``classes``, and the fold in which each row is held out.

    ``seconds`` is the processor time for each classifier, and for the question whether classes are separable.
    """

    table: RawTable
    codes: Integers
    classes: AnyArray
    fold: Integers
    seed: int = 0
    seconds: float = math.inf

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @cached_property
    def X(self) -> Any:
        """All rows (n, d), dense or CSR, encoded by all of them: for questions before the fits."""
        return self.table.learned().X

    def split(self, k: int, standardised: bool) -> tuple[Any, Any]:
        """X of all folds but k, and X of fold k. Encoding and scales come from the former."""
        fitted = self.fold != k
        X = self.table.learned(fitted, standardised).X
        return X[fitted], X[~fitted]

    @cached_property
    def fewest(self) -> tuple[Any, int]:
        """The class with the fewest rows in a fit, and their number."""
        held = np.array([np.bincount(self.codes[self.fold == k], minlength=len(self.classes)) for k in self.folds])
        fitted = (np.bincount(self.codes, minlength=len(self.classes)) - held).min(axis=0)
        least = int(np.argmin(fitted))
        return self.classes.tolist()[least], int(fitted[least])

    @property
    def folds(self) -> range:
        return range(self.n_folds)

    @cached_property
    def overlap(self) -> str | None:
        """Why no hyperplane separates a class from the rest, for the first such class; None if all are separable."""
        if self.X.shape[1] + 1 > MOST_EXACT_ROWS:
            return f"not tried: separability is tested for up to {MOST_EXACT_ROWS} columns only"
        try:
            with Budget(self.seconds).spending(watched()):
                return self._first_overlap()
        except OutOfTime:
            took = f"whether the classes are separable was not decided in {self.seconds:g} s of processor time"
            return Message(NOT_FITTED, took, RAISE_SECONDS)

    def _first_overlap(self) -> str | None:
        labels = self.classes.tolist()
        for k in [1] if len(labels) == 2 else range(len(labels)):
            verdict = separability(self.X, self.codes == k)
            if not isinstance(verdict, Separable):
                whom = "the classes are" if len(labels) == 2 else f"{labels[k]!r} is"
                against = "" if len(labels) == 2 else " from the rest"
                proof = getattr(verdict, "rows", None)
                how = "rounding leaves it open" if proof is None else f"{len(proof)} rows prove it"
                return Message(NOT_FITTED, f"{whom} not linearly separable{against} ({how})")
        return None


@dataclass(frozen=True)
class Entrant:
    """A classifier by name, with its defaults; ``standardised``: whether columns are standardised before the fit."""

    name: str
    estimator: ScoringClassifier
    standardised: bool
    linear: bool
    requires: tuple[Requires, ...] = ()

    def refused(self, contest: Contest) -> str | None:
        """Why it cannot be fitted to these rows, in a sentence; None if it can."""
        reasons = (_REASONS[need](contest) for need in self.requires)
        return next((reason for reason in reasons if reason is not None), None)


def _too_wide(contest: Contest) -> str | None:
    d = contest.X.shape[1]
    if d <= MOST_COLUMNS_OF_MATRIX:
        return None
    return Message(NOT_FITTED, f"{d:,} columns, more than {MOST_COLUMNS_OF_MATRIX:,}, need a matrix of d × d")


def _too_few_rows(contest: Contest) -> str | None:
    label, rows = contest.fewest
    d = contest.X.shape[1]
    if rows > d:
        return None
    return Message(NOT_FITTED, f"{label!r} has {rows} rows in a fit, too few for {d} columns")


def _overlapping(contest: Contest) -> str | None:
    return contest.overlap


def _two_classes(contest: Contest) -> str | None:
    if len(contest.classes) != 2:
        return None
    return Message(NOT_FITTED, "with two classes, it is the same as its base model")


def _several_classes(contest: Contest) -> str | None:
    K = len(contest.classes)
    return Message(NOT_FITTED, f"it takes two classes, and there are {K}") if K > 2 else None


# For each requirement, why the rows do not meet it, in a sentence; None if they do.
_REASONS: dict[Requires, Callable[[Contest], str | None]] = {
    Requires.SEPARABLE_CLASSES: _overlapping,
    Requires.FEW_COLUMNS: _too_wide,
    Requires.MORE_ROWS_THAN_COLUMNS: _too_few_rows,
    Requires.TWO_CLASSES: _several_classes,
    Requires.MORE_THAN_TWO_CLASSES: _two_classes,
}


def entrants(seed: int = 0) -> Iterator[Entrant]:
    """All classifiers of ``OFFERED``; one with a base model occurs once for each of its possible base models.

    >>> [entrant.name for entrant in entrants()][:3]
    ['logistic', 'one-versus-one, logistic', 'one-versus-one, perceptron']
    """
    for name in OFFERED:
        description = describe(name)
        for base in description.parts or (None,):
            inner = None if base is None else _made(base, seed)
            estimator = _made(name, seed) if inner is None else CLASSIFIERS[name](inner)
            scale_free = (estimator if inner is None else inner).traits.scale_free
            full = name if base is None else f"{name}, {base}"
            yield Entrant(full, estimator, not scale_free, not description.curved, description.requires)


def _made(name: str, seed: int) -> Any:
    kind = CLASSIFIERS[name]
    seeded = {"random_state": seed} if "random_state" in kind().get_params(deep=False) else {}
    return kind(**seeded)
