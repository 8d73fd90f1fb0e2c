"""A fit to some rows of a table, measured on the others: what ``separatrix fit`` and the lab's page Your data do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Integers, with_names
from separatrix.base.cached import cached_property
from separatrix.base.errors import InputError
from separatrix.base.labels import encode
from separatrix.evaluation.answers import answers, certificate_on
from separatrix.evaluation.holdout import held_out
from separatrix.evaluation.performance import Performance
from separatrix.evaluation.split_defaults import TEST_SIZE
from separatrix.evaluation.table_words import in_table
from separatrix.table import RawTable, Table
from separatrix.table.formats import DEMO

# The fields of a certificate that are sentences.
SENTENCES = ("status", "bound_reason", "weight_error_reason")


@dataclass(frozen=True, eq=False)
class HeldOutFit:
    """A fitted model and its table.

    Attributes
    ----------
    table : Table
        All rows, encoded as the fitted rows say.
    model : estimator
        The fitted model. Its certificate names rows and columns as the table does.
    codes : (n,) array of int
        The class numbers of the rows.
    held : (n,) array of bool
        Which rows were held out.
    test_size : float
        The share of each class that was asked to be held out.
    seed : int
        The seed of the choice of rows.
    status : str
        The certificate's status as the fit reported it.
    """

    table: Table
    model: Any
    codes: Integers
    held: AnyArray
    test_size: float
    seed: int
    status: str = ""

    @property
    def classes(self) -> AnyArray:
        """The labels, in the order of the class numbers."""
        return np.asarray(self.model.classes_)

    def rows(self, which: AnyArray) -> tuple[Any, AnyArray]:
        """X and the labels of some rows."""
        table = self.table
        X = with_names(table.X[which], table.names, encoding=(table.encoder, table.scaling))
        return X, self.classes[self.codes[which]]

    def counts(self, which: AnyArray) -> list[int]:
        """How many of these rows each class has."""
        return [int(count) for count in np.bincount(self.codes[which], minlength=len(self.classes))]

    @cached_property
    def performance(self) -> Performance | None:
        """The measures on the held-out rows; None if there are none."""
        if not self.held.any():
            return None
        return Performance(answers(self.model, *self.rows(self.held)), self.counts(~self.held))

    @property
    def accuracy(self) -> float | None:
        """The share of the held-out rows that are classified correctly; None if there are none."""
        return None if self.performance is None else self.performance.accuracy

    def training(self) -> dict[str, Any]:
        """What a model file stores about the fit, with the main measures of the held-out rows."""
        counts = self.counts(np.ones_like(self.held)), self.counts(~self.held)
        facts, found = training_facts(self.table.source, *counts, self.test_size, self.seed), self.performance
        if found is None:
            return facts
        figures = {
            "accuracy": found.accuracy,
            "accuracy_interval": list(found.accuracy_interval),
            "mistakes": found.n_rows - found.n_right,
            "null_accuracy": found.null_accuracy,
            "log_loss": found.log_loss,
        }
        return facts | {f"held_out_{name}": value for name, value in figures.items()}


def fit_held_out(
    raw: RawTable, model: Any, *, standardise: bool = False, test_size: float = TEST_SIZE, seed: int = 0
) -> HeldOutFit:
    """Hold out ``test_size`` of each class, learn the encoding from the other rows, and fit the model to them.

    ``standardise``: whether numbers and dates are standardised by the fitted rows first.

    >>> from separatrix import LogisticRegression
    >>> from separatrix.table import read_raw
    >>> fit = fit_held_out(read_raw("demo:iris"), LogisticRegression())
    >>> int(fit.held.sum()), round(fit.accuracy, 3)
    (38, 0.921)
    """
    classes, codes = encode(raw.y)
    held = held_out(codes, test_size, seed)
    table = raw.learned(~held, standardise=standardise)
    references = {} if table.encoder is None else table.encoder.references
    told = partial(in_table, rows=table.row_names[~held], names=table.names, references=references)
    try:
        fitted = model.fit(with_names(table.X[~held], table.names), classes[codes[~held]])
    except InputError as error:
        error.problem = told(error.problem)
        raise
    status = fitted.certificate_.status
    certificate = certificate_on(fitted, table.X[~held])
    worded: dict[str, Any] = {name: told(getattr(certificate, name)) for name in SENTENCES}
    fitted.certificate_ = replace(certificate, **worded)
    return HeldOutFit(table, fitted, codes, held, test_size, seed, status)


def training_facts(source: str, counts: list[int], fitted: list[int], test_size: float, seed: int) -> dict[str, Any]:
    """What a model file stores about a fit: plain values, and no path of this machine.

    ``counts`` and ``fitted``: the rows of each class, all and fitted.

    >>> training_facts("/home/ada/people.csv", [8, 4], [6, 3], 0.25, 0)["source"]
    'people.csv'
    """
    return {
        "source": source if source.startswith(DEMO) else Path(source).name,
        "rows": sum(counts),
        "rows_fitted": sum(fitted),
        "rows_held_out": sum(counts) - sum(fitted),
        "class_counts": counts,
        "class_counts_fitted": fitted,
        "test_size": test_size,
        "seed": seed,
    }
