"""Who competes: every classifier in ``OFFERED`` with its own defaults, and why some cannot on given rows.

A new classifier takes part by being in ``OFFERED``; what it needs of the rows, its description says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers
from separatrix.base.cached import cached_property
from separatrix.classifiers import CLASSIFIERS, OFFERED, describe
from separatrix.classifiers.description import Requires
from separatrix.classifiers.linear import ScoringClassifier
from separatrix.proofs.separability import MOST_EXACT_ROWS, separability
from separatrix.proofs.verdicts import Separable
from separatrix.table import RawTable

# Past so many columns a matrix of columns by columns takes too long.
MOST_COLUMNS = 2000


@dataclass(frozen=True)
class Contest:
    """Rows, codes (n,) into classes, and the fold (n,) that each row is held out in."""

    table: RawTable
    codes: Integers
    classes: AnyArray
    fold: Integers
    seed: int = 0

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @cached_property
    def X(self) -> Any:
        """All rows (n, d), dense or CSR, coded by all of them: for what is asked before any fit."""
        return self.table.learned().X

    def split(self, k: int, standardised: bool) -> tuple[Any, Any]:
        """X of all folds but k, and of fold k, both coded and scaled by what the first teach."""
        fitted = self.fold != k
        X = self.table.learned(fitted, standardised).X
        return X[fitted], X[~fitted]

    @cached_property
    def fewest(self) -> tuple[Any, int]:
        """The class with the fewest rows in a fit, and how many those are."""
        held = np.array([np.bincount(self.codes[self.fold == k], minlength=len(self.classes)) for k in self.folds])
        fitted = (np.bincount(self.codes, minlength=len(self.classes)) - held).min(axis=0)
        least = int(np.argmin(fitted))
        return self.classes.tolist()[least], int(fitted[least])

    @property
    def folds(self) -> range:
        return range(self.n_folds)

    @cached_property
    def overlap(self) -> str | None:
        """Why no hyperplane separates a class from the rest, for the first such class; None where one always does."""
        if self.X.shape[1] + 1 > MOST_EXACT_ROWS:
            return f"not asked for: whether classes are separable is decided for up to {MOST_EXACT_ROWS} columns"
        labels = self.classes.tolist()
        for k in [1] if len(labels) == 2 else range(len(labels)):
            verdict = separability(self.X, self.codes == k)
            if not isinstance(verdict, Separable):
                whom = "the classes are" if len(labels) == 2 else f"{labels[k]!r} is"
                against = "" if len(labels) == 2 else " from the rest"
                proof = getattr(verdict, "rows", None)
                how = "rounding leaves it open" if proof is None else f"{len(proof)} rows prove it"
                return f"not fitted: {whom} not linearly separable{against} ({how})"
        return None


@dataclass(frozen=True)
class Entrant:
    """A classifier by name, with its defaults; ``standardised``: whether columns are brought to one scale first."""

    name: str
    estimator: ScoringClassifier
    standardised: bool
    linear: bool
    requires: tuple[Requires, ...] = ()

    def refused(self, contest: Contest) -> str | None:
        """Why it cannot be fitted to these rows, in a sentence; None where it can."""
        reasons = (_REASONS[need](contest) for need in self.requires)
        return next((reason for reason in reasons if reason is not None), None)


def _too_wide(contest: Contest) -> str | None:
    d = contest.X.shape[1]
    return (
        f"not fitted: {d:,} columns, more than {MOST_COLUMNS:,}, need a matrix of d × d" if d > MOST_COLUMNS else None
    )


def _too_few_rows(contest: Contest) -> str | None:
    label, rows = contest.fewest
    d = contest.X.shape[1]
    return f"not fitted: {label!r} has {rows} rows in a fit, too few for {d} columns" if rows <= d else None


def _overlapping(contest: Contest) -> str | None:
    return contest.overlap


def _two_classes(contest: Contest) -> str | None:
    return "not fitted: for two classes it is the model it is built over" if len(contest.classes) == 2 else None


def _several_classes(contest: Contest) -> str | None:
    K = len(contest.classes)
    return f"not fitted: it takes two classes, and there are {K}" if K > 2 else None


# Why a classifier that requires this cannot be fitted to the rows, in a sentence; None where it can.
_REASONS: dict[Requires, Callable[[Contest], str | None]] = {
    Requires.SEPARABLE_CLASSES: _overlapping,
    Requires.FEW_COLUMNS: _too_wide,
    Requires.MORE_ROWS_THAN_COLUMNS: _too_few_rows,
    Requires.TWO_CLASSES: _several_classes,
    Requires.MORE_THAN_TWO_CLASSES: _two_classes,
}


def entrants(seed: int = 0) -> Iterator[Entrant]:
    """All of them.

    >>> [entrant.name for entrant in entrants()][:3]
    ['logistic', 'one-versus-one, logistic', 'one-versus-one, perceptron']
    """
    for name in OFFERED:
        said = describe(name)
        for base in said.parts or (None,):
            inner = None if base is None else _made(base, seed)
            estimator = _made(name, seed) if inner is None else CLASSIFIERS[name](inner)
            scale_free = (estimator if inner is None else inner).traits.scale_free
            full = name if base is None else f"{name}, {base}"
            yield Entrant(full, estimator, not scale_free, not said.curved, said.requires)


def _made(name: str, seed: int) -> Any:
    kind = CLASSIFIERS[name]
    seeded = {"random_state": seed} if "random_state" in kind().get_params(deep=False) else {}
    return kind(**seeded)
