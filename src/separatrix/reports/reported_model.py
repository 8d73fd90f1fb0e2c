"""What a report is about: a fitted model, its rows, rows it has not seen; and what is asked of them once for all parts.

A part that a model does not have is its reason, a sentence, in place of the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from separatrix.base.arrays import Integers
from separatrix.base.cached import cached_property
from separatrix.base.errors import InputError
from separatrix.certificates.certificate import Verification
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics import (
    Answers,
    Coefficients,
    Influence,
    coefficients,
    influential,
)
from separatrix.evaluation.answers import answers
from separatrix.evaluation.calibration import Reliability, reliability
from separatrix.evaluation.performance import Performance

T = TypeVar("T")

Check = tuple[str, str, str]
# Rows named in tables.
TOP = 10


@dataclass(frozen=True)
class ReportedModel:
    """A fitted ``model`` on its own rows X, y; ``test``: other rows and labels, or None.

    ``rows``, ``test_rows``: what rows are called, None for their places. ``validated``: by cross-validation, in words;
    ``checks_of``: what was checked; ``scaling``, ``encoder``: how the table became X, if it is known.
    """

    model: Any
    X: Any
    y: Any
    names: tuple[str, ...]
    test: tuple[Any, Any] | None = None
    notes: Sequence[str] = ()
    checks: Sequence[Check] | None = None
    level: float = 0.95
    rows: Sequence[int] | Integers | None = None
    test_rows: Sequence[int] | Integers | None = None
    validated: str | None = None
    checks_of: str | None = None
    scaling: Any = None
    encoder: Any = None

    def called(self, places: Integers, judged: bool = False) -> list[int]:
        """What rows are called; ``judged``: of those by which the model is judged, else of the fit."""
        names = self.test_rows if judged and self.held_out else self.rows
        return [int(place if names is None else names[place]) for place in places]

    @property
    def kind(self) -> str:
        return type(self.model).__name__

    @property
    def labels(self) -> list[Any]:
        return np.asarray(self.model.classes_).tolist()  # type: ignore[no-any-return]

    @property
    def held_out(self) -> bool:
        """Whether there are rows that the model has not seen."""
        return self.test is not None

    @property
    def judged_rows(self) -> tuple[Any, Any]:
        """The rows by which the model is judged: those it has not seen, where there are any."""
        return (self.X, self.y) if self.test is None else self.test

    @cached_property
    def own(self) -> Answers:
        return answers(self.model, self.X, self.y)

    @cached_property
    def judged(self) -> Answers:
        return self.own if self.test is None else answers(self.model, *self.test)

    @property
    def which(self) -> str:
        """The judged rows in words."""
        n = self.judged.n_rows
        return f"{n:,} rows that it had not seen" if self.held_out else f"the {n:,} rows that it was fitted to"

    @cached_property
    def performance(self) -> Performance:
        """All measures on the judged rows, beside the class frequencies of the fitted ones."""
        return Performance(self.judged, np.bincount(self.own.codes, minlength=len(self.labels)), self.level)

    @cached_property
    def verification(self) -> Verification:
        """The certificate recomputed from the rows."""
        return self.model.certificate_.verify(rows_to_score(self.model, self.X)[0], self.y)  # type: ignore[no-any-return]

    @cached_property
    def coefficients(self) -> Coefficients | str:
        before = {"scaling": self.scaling, "encoder": self.encoder}
        return _or_reason(
            lambda: coefficients(self.model, self.X, self.y, names=self.names, level=self.level, **before)
        )

    @cached_property
    def influence(self) -> Influence | str:
        return _or_reason(lambda: influential(self.model, self.X, self.y, TOP))

    @cached_property
    def calibration(self) -> Reliability | str:
        if self.judged.log_P is None:
            return f"{self.kind} has scores only, no probabilities that could come true or not"
        return _or_reason(lambda: reliability(self.model, *self.judged_rows))


def _or_reason(ask: Callable[[], T]) -> T | str:
    """The answer, or the sentence that says why there is none."""
    try:
        return ask()
    except InputError as error:
        return f"{error.came}"
