"""What a report is about: a fitted model, its rows, rows it has not seen, and where they come from.

What several sections need is computed once. If a model does not have a part, such as probabilities, the sentence that
says why stands in place of the numbers.
"""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from separatrix.classifiers import lacks_probabilities
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.classifiers.logistic import OffsetPredictions
from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import InputError
from separatrix.core.base.labels import as_label_array
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import RowNumbering
from separatrix.core.certificate import Verification
from separatrix.core.rows.block import is_sparse
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.statistics.coefficients import Coefficients, coefficients, important_columns
from separatrix.statistics.comparison import Comparison
from separatrix.statistics.evaluation import Performance
from separatrix.statistics.explained_row import Contributions, contributions
from separatrix.statistics.influence import Influence, Surprises, influential, most_surprising, surprising
from separatrix.statistics.measures import Answers, answers
from separatrix.statistics.model_decisions import Costs
from separatrix.statistics.reliability import Reliability, reliability_of

# --- Origin


def today() -> datetime.date:
    """The day in UTC, or that of SOURCE_DATE_EPOCH, the convention for builds that give the same bytes again."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    if given.isdigit():
        return datetime.datetime.fromtimestamp(int(given), datetime.UTC).date()
    return datetime.datetime.now(datetime.UTC).date()


def digest(X: Any, y: Any) -> str:
    """SHA-256 of rows and labels as numbers: the same for equal values, whatever type of array holds them.

    >>> digest(np.array([[1.0, 2.0]]), ["a"]) == digest(np.array([[1, 2]]), np.array(["a"]))
    True
    """
    found = hashlib.sha256(repr(tuple(X.shape)).encode())
    if is_sparse(X):
        X = X.tocsr() if hasattr(X, "tocsr") else X
        parts = [X.indptr.astype(np.int64), X.indices.astype(np.int64), np.asarray(X.data, dtype=np.float64)]
    else:
        parts = [np.ascontiguousarray(X, dtype=np.float64)]
    for part in parts:
        found.update(memoryview(part).cast("B") if part.size else b"")
    for label in as_label_array(y).tolist():
        found.update(str(label).encode(errors="surrogatepass") + b"\n")
    return found.hexdigest()


# --- The model and its rows

T = TypeVar("T")
Check = tuple[str, str, str]
# Rows that are shown one by one (three in a line), and columns that are shown together.
TOP, TOP_COLUMNS = 9, 10


@dataclass(frozen=True)
class ReportedModel:
    """A fitted ``model`` on its own rows X, y; ``test``: other rows and labels, or None.

    ``rows``, ``test_rows``: what rows are called, None for their places. ``validated``: by cross-validation, in words;
    ``checks_of``: what was checked; ``scaling``, ``encoder``: how the table became X, if it is known. ``costs``: of
    both mistakes. ``missing``: the number of missing values by column, before they were filled. ``comparison``: of
    classifiers on these rows. ``about``: further facts on the fit. ``sample_weight``, ``offset``: those of the fit, as
    far as they are known.
    """

    model: Any
    X: Any
    y: Any
    names: tuple[str, ...]
    test: tuple[Any, Any] | None = None
    notes: Sequence[str] = ()
    checks: Sequence[Check] | None = None
    level: float = 0.95
    rows: RowNumbering | None = None
    test_rows: RowNumbering | None = None
    validated: str | None = None
    checks_of: str | None = None
    scaling: Any = None
    encoder: Any = None
    costs: Costs | None = None
    missing: Mapping[str, int] | None = None
    comparison: Comparison | None = None
    about: Mapping[str, str] = field(default_factory=dict)
    date: datetime.date = field(default_factory=today)
    sample_weight: Array | None = None
    offset: Any = None

    def called(self, places: Integers, judged: bool = False) -> list[Any]:
        """What rows are called; ``judged``: of those by which the model is judged, else of the fit."""
        names = self.test_rows if judged and self.held_out else self.rows
        return [place if names is None else names[place] for place in places.tolist()]

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
        return answers(self.model, self.X, self.y, self.offset)

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
        given = rows_to_score(self.model, self.X)[0], self.y, self.sample_weight, self.offset
        return self.model.certificate_.verify(*given)  # type: ignore[no-any-return]

    @property
    def weights_or_offset_given(self) -> bool:
        """Whether the weights or the offset of the fit are known."""
        return self.sample_weight is not None or self.offset is not None

    @property
    def fit_had_weights(self) -> bool | None:
        """Whether the fit had sample weights; None if it is not known."""
        if not has_fit_parameter(self.model, "sample_weight"):
            return False
        known: bool | None = getattr(self.model, "has_sample_weight_", None)
        return known

    @cached_property
    def may_lack_weights(self) -> bool:
        """Whether the certificate may not hold only because the weights or the offset of the fit are not known."""
        if self.verification or self.weights_or_offset_given or self.own.n_rows != self.model.certificate_.n_rows:
            return False
        return self.fit_had_weights is not False or isinstance(self.model, OffsetPredictions)

    @cached_property
    def coefficients(self) -> Coefficients | str:
        settings = {"scaling": self.scaling, "encoder": self.encoder, "names": self.names, "level": self.level}
        weights = {"sample_weight": self.sample_weight, "offset": self.offset}
        return _or_reason(lambda: coefficients(self.model, self.X, self.y, **settings, **weights))

    @cached_property
    def important(self) -> Integers:
        """The numbers of the columns that matter most, the most important first."""
        found = None if isinstance(self.coefficients, str) else self.coefficients
        return important_columns(self.scored, self.own.codes, len(self.labels), found, TOP_COLUMNS)

    @cached_property
    def scored(self) -> Any:
        """The rows of the fit as a matrix, dense or sparse."""
        return rows_to_score(self.model, self.X)[0]

    @cached_property
    def mean(self) -> Array:
        """The mean of each column over the rows of the fit."""
        return summarise(memory_rows(self.scored, np.zeros(self.scored.shape[0])), ranges=False).mean

    def explained(self, places: Integers, judged: bool = False) -> Contributions | None:
        """What each column contributed to the scores of some rows, of the fit or of the judged ones."""
        rows = rows_to_score(self.model, self.judged_rows[0])[0] if judged else self.scored
        codes = (self.judged if judged else self.own).codes
        known = self.encoder is not None and self.encoder.names == tuple(self.names)
        together = self.encoder.together() if known else ()
        return contributions(self.model, rows[places], codes[places], self.mean, together)

    @cached_property
    def surprises(self) -> tuple[Surprises, ...]:
        """The most surprising of all rows: of the rows of the fit, and of those held out, if there are any."""
        sets = [self.own, self.judged] if self.held_out else [self.own]
        return most_surprising([surprising(one, TOP) for one in sets], TOP)

    @cached_property
    def influence(self) -> Influence | str:
        if self.weights_or_offset_given or self.fit_had_weights:
            return "the influence of single rows is computed only for fits without sample weights and offset"
        return _or_reason(lambda: influential(self.model, self.X, self.y, TOP))

    @cached_property
    def calibration(self) -> Reliability | str:
        if self.judged.log_P is None:
            return lacks_probabilities(self.kind)
        found = self.judged
        return reliability_of(np.exp(self.judged.log_P), self.judged.log_P, found.codes, found.classes)


def _or_reason(ask: Callable[[], T]) -> T | str:
    """The answer, or the sentence that says why there is none."""
    try:
        return ask()
    except InputError as error:
        return f"{error.problem}"
