"""``fit_table``: a fit to some rows of a table, measured on the others.

The rows are held out before anything is learned, so the encoding, the means and the scales come from the fitted rows
alone. ``separatrix fit`` and the lab's page Your data do the same by ``fit_held_out``. The sentences of the certificate
are worded with the row numbers and the column names of the user's table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Integers, with_names
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.labels import RowNames, encode
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.messages import with_columns, with_references
from separatrix.core.certificate import Certificate
from separatrix.core.proofs.naming import column_words
from separatrix.core.rows.hold_out import HeldOut, held_out
from separatrix.statistics.evaluation import Performance
from separatrix.statistics.measures import answers, certificate_on
from separatrix.statistics.split_defaults import TEST_SIZE
from separatrix.tables.formats.demos import DEMO
from separatrix.tables.read_table import RawTable, Table, read_raw
from separatrix.tables.selection import Columns

# The name of the rule for held-out rows and folds in model files: that of the generator whose outputs are the hashes.
SPLIT_RULE = "splitmix64"


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
    rule : HeldOut
        By which rule rows were held out: the ``share`` of each class, the ``seed`` and the ``thresholds``.
    status : str
        The certificate's status as the fit reported it.
    """

    table: Table
    model: Any
    codes: Integers
    held: AnyArray
    rule: HeldOut
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
        facts, found = training_facts(self.table.source, *counts, self.rule), self.performance
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


def fit_table(
    model: Any,
    data: Any,
    target: str | int | None = None,
    *,
    drop: Columns = (),
    missing: str = "error",
    standardise: bool = False,
    test_size: float = TEST_SIZE,
    seed: int = 0,
) -> HeldOutFit:
    """Fit a classifier to most rows of a table, and measure it on the others, as ``separatrix fit`` does.

    A share of each class is held out at random. The encoding of categories, the means that fill missing values and the
    scales of columns are learned from the other rows, to which a copy of the model is fitted.

    Parameters
    ----------
    model : estimator
        A classifier of this package. It stays as it is.
    data : str, path or frame
        A file, a folder, ``"demo:NAME"`` or a frame, as in ``read_table``.
    target : str or int, optional
        The column to predict. Demo tables and libsvm files know theirs.
    drop : str or sequence of str
        Columns to leave out.
    missing : {"error", "impute", "indicator", "drop"}
        What to do with missing values, as in ``read_table``.
    standardise : bool, default False
        Whether numbers and dates are standardised by the fitted rows.
    test_size : float, default 0.25
        The share of each class that is held out, from 0 to less than 1.
    seed : int, default 0
        The seed of the choice of rows.

    Returns
    -------
    HeldOutFit
        The fitted model, the table, which rows were held out, and the measures on them.

    Raises
    ------
    ParameterError
        ``test_size`` is not a share.
    TableError
        The table, a column or a cell cannot be read.
    LabelError
        The target column does not hold classes.

    Examples
    --------
    >>> import separatrix as sx
    >>> fit = sx.fit_table(sx.LogisticRegression(), "demo:iris")
    >>> round(fit.accuracy, 3), fit.model.predict([[5.1, 3.5, 1.4, 0.2]]).tolist()
    (0.949, ['setosa'])
    """
    from sklearn.base import clone

    if not 0 <= test_size < 1:
        raise ParameterError("test_size", f"got {test_size!r}", "give a share from 0 to less than 1, such as 0.25")
    raw = read_raw(data, target, drop, missing=missing)
    return fit_held_out(raw, clone(model), standardise=standardise, test_size=test_size, seed=seed)


def fit_held_out(
    raw: RawTable, model: Any, *, standardise: bool = False, test_size: float = TEST_SIZE, seed: int = 0
) -> HeldOutFit:
    """Hold out ``test_size`` of each class, learn the encoding from the other rows, and fit the model to them.

    ``standardise``: whether numbers and dates are standardised by the fitted rows first.

    >>> from separatrix import LogisticRegression
    >>> from separatrix.tables.read_table import read_raw
    >>> fit = fit_held_out(read_raw("demo:iris"), LogisticRegression())
    >>> int(fit.held.sum()), round(fit.accuracy, 3)
    (39, 0.949)
    """
    classes, codes = encode(raw.y)
    rows = raw.row_names.numbers - 1
    rule = held_out(codes, rows, test_size, seed)
    held = rule.held(codes, rows)
    table = raw.learned(~held, standardise=standardise)
    references = {} if table.encoder is None else table.encoder.references
    told = partial(in_table, rows=table.row_names[~held], names=table.names, references=references)
    try:
        fitted = model.fit(with_names(table.X[~held], table.names), classes[codes[~held]])
    except InputError as error:
        error.problem = told(error.problem)
        raise
    status = fitted.certificate_.status
    fitted.certificate_ = retold(certificate_on(fitted, table.X[~held]), told)
    return HeldOutFit(table, fitted, codes, held, rule, status)


def in_table(status: str, rows: RowNames, names: Sequence[str], references: Mapping[str, str]) -> str:
    """A status with the row numbers and column names of the user's table instead of those of the fit.

    ``references`` has the reference level of each category.

    >>> import numpy as np
    >>> from separatrix.core.base.messages import Message, RowNumber
    >>> from separatrix.core.base.labels import RowNames
    >>> print(in_table(Message("row ", RowNumber(0), " is wrong"), RowNames(np.array([4, 6])), [], {}))
    row 4 is wrong (rows counted from 1, as in the table)
    """
    named = with_columns(status, lambda j: column_words(names[j]))
    return rows.told(with_references(named, references))


def retold(certificate: Certificate, told: Callable[[str], str]) -> Certificate:
    """The certificate with its sentences in other words."""
    sentences = ("status", "bound_reason", "weight_error_reason")
    worded: dict[str, Any] = {name: told(getattr(certificate, name)) for name in sentences}
    return replace(certificate, **worded)


def training_facts(source: str, counts: list[int], fitted: list[int], rule: HeldOut) -> dict[str, Any]:
    """What a model file stores about a fit: plain values, and no path of this machine.

    ``counts`` and ``fitted``: the rows of each class, all and fitted. Thresholds are written in hexadecimal, since
    programs that read numbers in JSON as float64 would round them.

    >>> rule = held_out(np.zeros(20_000, dtype=int), np.arange(20_000), 0.25, seed=0)
    >>> facts = training_facts("/home/ada/people.csv", [20_000], [15_000], rule)
    >>> facts["source"], facts["held_out_thresholds"]
    ('people.csv', ['4000000000000000'])
    """
    return {
        "source": source if source.startswith(DEMO) else Path(source).name,
        "rows": sum(counts),
        "rows_fitted": sum(fitted),
        "rows_held_out": sum(counts) - sum(fitted),
        "class_counts": counts,
        "class_counts_fitted": fitted,
        "test_size": rule.share,
        "seed": rule.seed,
        "held_out_rule": SPLIT_RULE,
        "held_out_thresholds": [f"{threshold:016x}" for threshold in rule.thresholds.tolist()],
    }


def stored_rule(training: Mapping[str, Any], n_classes: int) -> HeldOut | None:
    """The rule by which a fit held rows out, from what a model file stores about it; None if it does not say."""
    try:
        thresholds = np.array([int(text, 16) for text in training["held_out_thresholds"]], dtype=np.uint64)
        rule = HeldOut(float(training["test_size"]), int(training["seed"]), thresholds)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    return rule if training.get("held_out_rule") == SPLIT_RULE and len(thresholds) == n_classes else None
