"""Who competes: every classifier in ``CLASSIFIERS`` with its own defaults, and why some cannot on given rows.

A new classifier takes part by being in ``CLASSIFIERS``; what it cannot be fitted to is one line in ``REFUSALS``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from separatrix.arrays import AnyArray, Integers
from separatrix.classifiers import CLASSIFIERS, OneVsOneClassifier, OneVsRestClassifier
from separatrix.classifiers.linear import ScoringClassifier
from separatrix.proofs.separability import MOST_EXACT_ROWS, separability
from separatrix.proofs.verdicts import Separable

# Past so many columns a matrix of columns by columns takes too long.
MOST_COLUMNS = 2000
# Whom the schemes for several classes are built over.
BASES = ("logistic", "perceptron")
# Whose boundaries are curved.
CURVED = ("qda",)


@dataclass(frozen=True)
class Contest:
    """The rows X (n, d), dense or CSR, codes (n,) into classes, and the fold (n,) that each row is held out in."""

    X: Any
    codes: Integers
    classes: AnyArray
    fold: Integers
    seed: int = 0

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

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
    refusals: tuple[Callable[[Contest], str | None], ...] = ()

    def refused(self, contest: Contest) -> str | None:
        """Why it cannot be fitted to these rows, in a sentence; None where it can."""
        return next((reason for refuses in self.refusals if (reason := refuses(contest)) is not None), None)


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


REFUSALS: dict[str, tuple[Callable[[Contest], str | None], ...]] = {
    "kozinec": (_overlapping,),
    "max-margin": (_overlapping,),
    "least-squares": (_too_wide,),
    "fisher": (_too_wide,),
    "lda": (_too_wide,),
    "qda": (_too_wide, _too_few_rows),
    "one-versus-one": (_two_classes,),
    "one-versus-rest": (_two_classes,),
}
_SCHEMES = (OneVsOneClassifier, OneVsRestClassifier)


def entrants(seed: int = 0) -> Iterator[Entrant]:
    """All of them.

    >>> [entrant.name for entrant in entrants()][:3]
    ['logistic', 'one-versus-one, logistic', 'one-versus-one, perceptron']
    """
    for name, kind in CLASSIFIERS.items():
        bases = BASES if issubclass(kind, _SCHEMES) else (None,)
        for base in bases:
            inner = None if base is None else _made(CLASSIFIERS[base], seed)
            estimator = _made(kind, seed) if inner is None else kind(inner)
            scale_free = (estimator if inner is None else inner).traits.scale_free
            full = name if base is None else f"{name}, {base}"
            yield Entrant(full, estimator, not scale_free, name not in CURVED, REFUSALS.get(name, ()))


def _made(kind: Any, seed: int) -> Any:
    takes_seed = "random_state" in kind().get_params(deep=False)
    return kind(random_state=seed) if takes_seed else kind()
