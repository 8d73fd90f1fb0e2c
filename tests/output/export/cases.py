"""Random models over all kinds of columns, a table for each, and what the package itself answers, row by row."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from separatrix.classifiers.model_file import ModelFile
from separatrix.core.base.errors import TableError
from separatrix.core.gaussians import Gaussians, QuadraticScorer
from separatrix.core.rows.frame import Frame
from separatrix.core.schemes import OneVersusOne, PartsScorer
from separatrix.core.scorer import Scorer
from separatrix.tables.encoder import Encoded, Encoder

# Names that a careless export stumbles over: keywords, marks, other alphabets, names that it uses itself.
LEVELS = ("red", "it's", 'a"b', "naïve 💡", "back\\slash", "NULL", "semi;colon -- x", "{brace}", "50%")
COLUMNS = (
    Encoded("select", "number", fill=(1.5,), indicator=True),
    Encoded('a"b', "number", fill=(-0.25,)),
    Encoded("naïve col", "category", LEVELS, (0.1, 0.2, 0.05, 0.1, 0.05, 0.1, 0.1, 0.1), indicator=True),
    Encoded("label", "category", ("0", "1", "17"), (0.0, 1.0), average=(0.5, 0.125)),
    Encoded("z0", "boolean", fill=(0.75,)),
    Encoded("x`y{0}", "boolean", fill=(0.5,), indicator=True),
    Encoded("day", "date", fill=(18000.5,)),
    Encoded("v0", "date", fill=(100.0,), indicator=True),
)
TEXTS = ["no", "yes", "it's", "Größe", 'q"']
KINDS = (
    "logit",
    "probit",
    "cloglog",
    "sign",
    "identity",
    "softmax",
    "gaussian",
    "gaussians",
    "votes",
    "gaussian votes",
)


@dataclass(frozen=True)
class Case:
    """``scores`` (n, S), ``probabilities`` (n, K) and ``slack`` (n, S); NaN and None where there is no answer."""

    model: ModelFile
    table: pa.Table
    scores: np.ndarray
    probabilities: np.ndarray | None
    labels: list
    slack: np.ndarray

    @property
    def encoder(self):
        return self.model.encoder


def draw(kind: str, seed: int, missing: str | None = None, unseen: str | None = None, K: int | None = None) -> Case:
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    missing = missing or str(rng.choice(["error", "impute", "indicator", "drop"]))
    unseen = unseen or str(rng.choice(["average", "error"]))
    columns = [c if missing == "indicator" else replace(c, indicator=False) for c in COLUMNS]
    encoder = Encoder(tuple(columns[j] for j in rng.permutation(len(columns))), missing, unseen)
    model = ModelFile(*of_kind(kind, encoder, rng, K), encoder=encoder)
    return answered(model, _table(rng, 40))


def answered(model: ModelFile, table: pa.Table) -> Case:
    """Each row by itself, so that one that is refused leaves the others their answers."""
    rows = [_one(model, table.slice(i, 1)) for i in range(table.num_rows)]
    width = next(len(row[0]) for row in rows if row is not None)
    K = len(model.scorer.classes)
    none = (np.full(width, np.nan), np.full(K, np.nan), None, np.zeros(width))
    z, p, labels, slack = zip(*(none if row is None else row for row in rows), strict=True)
    # Each kind of test must see rows with an answer; most see some without.
    assert any(label is not None for label in labels)
    probable = model.classifier in ("logistic", "lda", "qda")
    return Case(model, table, np.array(z), np.array(p) if probable else None, list(labels), np.array(slack))


def _one(model, row):
    try:
        x, kept = model.encoder.transform(row, "rows")
    except TableError:
        return None
    if not kept[0]:
        return None
    scorer = model.scorer
    z = np.atleast_1d(scorer.scores(x)[0])
    p = scorer.probabilities(x)[0] if model.classifier in ("logistic", "lda", "qda") else np.empty(len(scorer.classes))
    return z, p, scorer.predict(x).tolist()[0], 1e-12 * _size(scorer, x[0])


def _size(scorer, x):
    """What rounding is relative to: Σ_j |w_j x_j|, of Gaussians the square of the longest such sum."""
    if isinstance(scorer, Scorer):
        return np.abs(scorer.W) @ np.abs(np.concatenate([[1.0], x]))
    if isinstance(scorer, PartsScorer):
        return np.ones(len(scorer.classes))
    g = scorer.gaussians
    far = [np.abs(x / g.frame.scale) @ np.abs(A) + np.abs(m @ A) for m, A in zip(g.means, g.whiten, strict=True)]
    return np.full(1 if len(g.means) == 2 else len(g.means), sum(float(f @ f) for f in far) + 1.0)


# -------------------------------------------------------------------------------------------------- models


def of_kind(kind, encoder, rng, K):
    d = encoder.n_columns
    if kind in ("logit", "probit", "cloglog", "sign"):
        classes = rng.permutation(TEXTS)[:2]
        name = "perceptron" if kind == "sign" else "logistic"
        return name, Scorer(_weights(rng, encoder, 1), classes, kind)
    K = 2 if kind == "gaussian" else K or int(rng.choice([3, 5]))
    classes = [np.array(TEXTS)[:K], np.arange(K) * 3 - 1, np.arange(K) / 4][int(rng.integers(3))]
    if kind in ("softmax", "identity"):
        name = "logistic" if kind == "softmax" else "one-versus-rest"
        return name, Scorer(_weights(rng, encoder, K), classes, kind)
    if kind == "votes":
        W = _weights(rng, encoder, K * (K - 1) // 2)
        return "one-versus-one", PartsScorer(OneVersusOne(), (), W, classes)
    if kind == "gaussian votes":
        parts = tuple(_Part(_gaussians(rng, d, [0, 1])) for _ in range(K * (K - 1) // 2))
        return "one-versus-one", PartsScorer(OneVersusOne(), parts, None, classes)
    return "qda", _gaussians(rng, d, classes)


@dataclass(frozen=True)
class _Part:
    scorer_: QuadraticScorer

    def decision_function(self, X):
        return self.scorer_.scores(X)


def _weights(rng, encoder, rows):
    """Scores of a few units for usual rows, whatever the units of a column; some weights are zero."""
    W = rng.normal(size=(rows, encoder.n_columns + 1)) * np.exp(rng.normal(0, 1))
    W[rng.random(W.shape) < 0.15] = 0.0
    dates = [1 + j for j, name in enumerate(encoder.names) if name in ("day", "v0")]
    W[:, dates] *= 1e-4
    return W


def _gaussians(rng, d, classes):
    K = len(classes)
    frame = Frame(rng.normal(size=d) * 10, 2.0 ** rng.integers(2, 6, d))
    whiten = tuple(rng.normal(size=(d, d)) / d for _ in range(K))
    priors = rng.dirichlet(np.ones(K) * 5)
    found = Gaussians(frame, priors, rng.normal(size=(K, d)), whiten, (), rng.normal(size=K) - 40.0)
    return QuadraticScorer(found, np.asarray(classes))


# -------------------------------------------------------------------------------------------------- tables


def _table(rng, n):
    def some(values, none=0.08):
        return [None if rng.random() < none else value for value in values]

    number = some(rng.normal(size=n) * np.exp(rng.normal(0, 2, n)))
    number[0], number[1] = 0.1, float("nan")
    days = [datetime.date(1970, 1, 1) + datetime.timedelta(int(k)) for k in rng.integers(-9000, 30000, n)]
    moments = [
        datetime.datetime(1970, 1, 1) + datetime.timedelta(milliseconds=int(k))
        for k in rng.integers(-(10**11), 10**12, n)
    ]
    table = pa.table(
        {
            "select": pa.array(some(rng.normal(size=n) * 1e3), pa.float64()),
            'a"b': pa.array(number, pa.float64()),
            "naïve col": pa.array(some(rng.choice([*LEVELS, *LEVELS, "RED", "", "new"], n)), pa.string()),
            "label": pa.array(some(rng.choice([0, 1, 1, 17, 17, 99], n)), pa.int64()),
            "z0": pa.array(some(rng.random(n) < 0.5), pa.bool_()),
            "x`y{0}": pa.array(some(rng.random(n) < 0.5), pa.bool_()),
            "day": pa.array(some(days), pa.date32()),
            "v0": pa.array(some(moments), pa.timestamp("ms")),
        }
    )
    return table.append_column("id", pa.array(range(n)))


def same(case: Case, scores, probabilities, labels):
    """Scores within the slack, probabilities within 1e-12, labels alike, and no answer where there is none."""
    scores = np.array([[np.nan if v is None else v for v in row] for row in scores], dtype=float)
    assert np.array_equal(np.isnan(scores), np.isnan(case.scores))
    held = ~np.isnan(case.scores)
    assert np.all(np.abs(scores - case.scores)[held] <= case.slack[held])
    assert list(labels) == case.labels
    if case.probabilities is None:
        assert probabilities is None
        return
    p = np.array([[np.nan if v is None else v for v in row] for row in probabilities], dtype=float)
    p = np.column_stack([1 - p[:, 0], p[:, 0]]) if p.shape[1] == 1 else p
    assert np.array_equal(np.isnan(p), np.isnan(case.probabilities))
    # A score that is off by its slack moves a probability by no more than that.
    loose = 1e-12 + case.slack.max(axis=1, keepdims=True)
    assert np.all((np.abs(p - case.probabilities) <= loose) | np.isnan(p))
