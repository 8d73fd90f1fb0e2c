"""A fitted model as a formula of the columns of a table. All exports are generated from it.

    columns        how each column of the table becomes columns of X: a number unchanged, a category by a lookup, with
                   the replacement of a missing value and of an unseen level, or None if there is no prediction
    scores         an expression of X: linear, quadratic (one Gaussian per class), or votes
    probabilities  an expression of the scores, or None if the model has no probabilities

For two classes, the second is predicted if the score exceeds ``boundary`` (or equals it, with ``takes_boundary``). For
more classes, the first class with the largest score is predicted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.classifiers import CLASSIFIERS
from separatrix.classifiers.combined import PartsScorer
from separatrix.export.algebra import Abs, Affine, Constant, Inputs, Largest, Vector, Where
from separatrix.export.link_formulas import PROBABILITIES
from separatrix.export.spelling import as_numbers
from separatrix.model_file import ModelFile
from separatrix.model_file.pipelines import taken_apart
from separatrix.moments.gaussians import LARGEST_WHITENED_LENGTH, Gaussians, QuadraticScorer
from separatrix.scorers.schemes import TIE_SHARE, OneVersusOne, pairs
from separatrix.scorers.scorer import Scorer, scores_of
from separatrix.table.cells import truth_levels
from separatrix.table.encoder import Encoded, Encoder
from separatrix.table.scaling import Scaling

Row = tuple[float, ...]


@dataclass(frozen=True)
class Column:
    """A column of the table, and the columns of X that it is encoded as, which begin at column ``start``.

    For a category, ``rows`` has the columns of X for each level, ``numbers`` the levels that are numbers, with their
    values, and ``truths`` the levels that "true" and "false" stand for. Other columns are encoded as v − ``shift``,
    followed by ``tail``. ``absent`` and ``unseen`` are the columns of X for a missing value and for a level that is not
    in ``rows``; None means that there is no prediction.
    """

    name: str
    kind: str
    start: int
    width: int
    shift: float = 0.0
    tail: Row = ()
    rows: tuple[tuple[str, Row], ...] = ()
    numbers: tuple[tuple[float, str], ...] = ()
    truths: tuple[tuple[str, str], ...] = ()
    absent: Row | None = None
    unseen: Row | None = None


@dataclass(frozen=True)
class Formula:
    """A model that does not depend on this package. ``encoder`` is None if the columns are numbers without encoding.

    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> formula = formula_of(scorer, ["age"])
    >>> formula.columns[0].name, formula.classes, formula.scores.width, formula.probabilities.width
    ('age', ['no', 'yes'], 1, 2)
    """

    columns: tuple[Column, ...]
    classes: list[Any]
    scores: Vector
    probabilities: Vector | None
    encoder: Encoder | None
    boundary: float = 0.0
    takes_boundary: bool = True

    @property
    def n_columns(self) -> int:
        """The number of columns of X."""
        return sum(column.width for column in self.columns)


def formula_of(model: Any, columns: Encoder | Sequence[str] | None = None, drawn_in: bool = True) -> Formula:
    """The formula of a fitted classifier, of a model file or of a scorer.

    ``columns`` is the encoder of the table, or the names of the columns of X, if the model does not have them; the
    default names are x0, x1, ... ``drawn_in`` tells whether distances to Gaussians are limited so that their squares do
    not overflow. This requires the largest of all entries that are squared.
    """
    held, encoder, scaling, names, probable = _parts(model)
    if isinstance(columns, Encoder):
        encoder, columns = columns, None
    scorer = scores_of(held)
    x, scores = _scores(scorer, scaling, drawn_in)
    if encoder is None:
        names = columns or names or [f"x{j}" for j in range(x.width)]
        encoded = tuple(Encoded(str(name), "number") for name in names)
    else:
        encoded = encoder.columns
    link = getattr(scorer, "link_name", None) if probable else None
    plain = encoder or Encoder(encoded)
    found = _columns(plain, x.shift)
    width = sum(column.width for column in found)
    if width != x.width:
        raise ParameterError("columns", f"they make {width} columns of X", f"name the {x.width} columns of the fit")
    probabilities = PROBABILITIES[link](scores) if link in PROBABILITIES else None
    classes, rule = _labels(scorer.classes.tolist()), scorer.link
    return Formula(found, classes, scores, probabilities, encoder, rule.boundary, rule.takes_boundary)


def _parts(model: Any) -> tuple[Any, Encoder | None, Scaling | None, Sequence[str] | None, bool]:
    """The object with a scorer, its encoder, scaling and column names, and whether it has probabilities."""
    if isinstance(model, ModelFile):
        kind: Any = CLASSIFIERS[model.classifier]
        return model.scorer, model.encoder, model.scaling, model.features, kind.has_probabilities
    encoder, scaling, features, model = taken_apart(model)
    names = getattr(model, "feature_names_in_", features)
    probable = getattr(model, "has_probabilities", True)
    return model, encoder, scaling, None if names is None else list(names), probable


def _labels(found: list[Any]) -> list[Any]:
    classes = [label.item() if isinstance(label, np.generic) else label for label in found]
    for label in classes:
        if not isinstance(label, str | bool | int | float):
            came = f"the class {label!r} is of type {type(label).__name__}"
            raise ParameterError("model", came, "fit with labels that are text, numbers or truth values")
    return classes


def _columns(encoder: Encoder, center: Array) -> tuple[Column, ...]:
    found: list[Column] = []
    start = 0
    for column in encoder.columns:
        found.append(_column(column, encoder, start, center[start : start + column.width]))
        start += column.width
    return tuple(found)


def _column(column: Encoded, encoder: Encoder, start: int, center: Array) -> Column:
    def less_center(values: Sequence[float]) -> Row:
        return tuple((np.asarray(values) - center).tolist())

    tail, marked = ((0.0,), (1.0,)) if column.indicator else ((), ())
    filled = encoder.missing in ("impute", "indicator")
    absent = less_center((*column.fill, *marked)) if filled else None
    if column.kind != "category":
        ends = less_center((0.0, *tail))[1:]
        shift = float(center[0]) if len(center) else 0.0
        return Column(column.name, column.kind, start, column.width, shift, ends, absent=absent)
    units = np.vstack([np.zeros(column.values), np.eye(column.values)]).tolist()
    levels = [level.strip() for level in column.levels]
    rows = tuple((level, less_center((*unit, *tail))) for level, unit in zip(levels, units, strict=True))
    unseen = less_center((*column.unseen, *tail)) if encoder.unseen == "average" else None
    numbers = tuple(as_numbers(levels).items())
    truths = tuple(truth_levels(levels).items())
    return Column(
        column.name,
        column.kind,
        start,
        column.width,
        rows=rows,
        numbers=numbers,
        truths=truths,
        absent=absent,
        unseen=unseen,
    )


# -------------------------------------------------------------------------------------------------- scores


@dataclass(frozen=True, eq=False)
class Centred:
    """The inputs X − ``shift``, in the table's units: ``scale`` times (the scorer's columns − ``center``).

    ``drawn_in`` tells whether very large distances to Gaussians are limited (``formula_of``).
    """

    node: Inputs
    center: Array
    scale: Array
    shift: Array
    drawn_in: bool

    @property
    def width(self) -> int:
        return self.node.width


def _scores(scorer: Any, scaling: Scaling | None, drawn_in: bool) -> tuple[Centred, Vector]:
    center = _center(scorer)
    units = Scaling(np.zeros(len(center)), np.ones(len(center))) if scaling is None else scaling
    x = Centred(Inputs(len(center)), center, units.scale, units.center + units.scale * center, drawn_in)
    return x, _scores_of(scorer, x)


def _scores_of(scorer: Any, x: Centred) -> Vector:
    rule = SCORES.get(type(scorer))
    if rule is None:
        raise ParameterError("model", f"it decides by a {type(scorer).__name__}", "export a classifier of this package")
    return rule(scorer, x)


def _center(scorer: Any) -> Array:
    """The shift of the columns: zero for linear scores; for Gaussians their centre, which avoids cancellation."""
    if isinstance(scorer, PartsScorer) and scorer.W is None:
        return _center(scores_of(scorer.estimators[0]))
    if isinstance(scorer, QuadraticScorer):
        return np.asarray(scorer.gaussians.frame.center, dtype=np.float64)
    return np.zeros(scorer.W.shape[1] - 1 if hasattr(scorer, "W") else 0)


def _linear(scorer: Scorer, x: Centred) -> Vector:
    """Z = b + w·x."""
    return _affine(scorer.W, x)


def _affine(W: Array, x: Centred) -> Vector:
    return Affine(x.node, W[:, 1:] / x.scale, W[:, 0] + W[:, 1:] @ x.center)


def _quadratic(scorer: QuadraticScorer, x: Centred) -> Vector:
    """Ln p(x|C_k)p(C_k) = a_k + ln π_k − ½ ‖h_k‖², with h_k affine in x; for two classes, the difference."""
    found: Gaussians = scorer.gaussians
    rows, moved, unit = found.whitened(x.center, x.scale)
    ranks = [A.shape[1] for A in found.whiten]
    # A class in which no column varies gets a row of zeros, so that a missing value also makes its score missing.
    lone = [end for end, rank in zip(np.cumsum(ranks), ranks, strict=True) if rank == 0]
    rows, moved = np.insert(rows, lone, 0.0, axis=0), np.insert(moved, lone, 0.0)
    h = Affine(x.node, rows, moved)
    # h is multiplied by ``unit``, or beyond the limit by the factor that brings its largest entry to
    # LARGEST_WHITENED_LENGTH.
    length, limit = Largest(Abs(h)), LARGEST_WHITENED_LENGTH / unit
    h_near = h * (LARGEST_WHITENED_LENGTH / Where(limit - length, Constant(limit), length) if x.drawn_in else unit)
    own = np.repeat(np.arange(len(ranks)), np.maximum(ranks, 1))
    M = np.where(own == np.arange(len(ranks))[:, None], -0.5, 0.0)
    a = found.constant - found.constant.mean() + np.log(found.priors)
    if len(M) == 2:
        M, a = M[1:] - M[:1], a[1:] - a[:1]
    return Affine(h_near * h_near, M, a)


def _parts_scores(scorer: PartsScorer, x: Centred) -> Vector:
    """The combined scores h of the parts. For one versus one: the pairs won, plus a function of s that breaks ties.

    Here s_i = Σ_j h_ij/‖w_ij‖.
    """
    h = (
        _affine(scorer.W, x)
        if scorer.W is not None
        else _stacked([_scores_of(scores_of(part), x) for part in scorer.estimators])
    )
    K = len(scorer.classes)
    if K == 2 or not isinstance(scorer.scheme, OneVersusOne):
        return h
    P = np.zeros((K, h.width))
    for k, (i, j) in enumerate(pairs(K)):
        P[i, k], P[j, k] = 1.0, -1.0
    lengths = np.ones(h.width) if scorer.W is None else np.linalg.norm(scorer.W[:, 1:], axis=1)
    s = Affine(h, P / np.where(lengths > 0, lengths, 1.0), np.zeros(K))
    votes = Where(h, Constant(1.0), Constant(-1.0))
    won = Affine(votes, 0.5 * P, np.full(K, 0.5 * (K - 1)))
    return won + TIE_SHARE * s / (1.0 + Abs(s))


def _stacked(parts: list[Vector]) -> Vector:
    """Vectors of width 1, stacked into one vector."""
    E = np.eye(len(parts))
    return sum(
        (Affine(part, E[:, k : k + 1], np.zeros(len(parts))) for k, part in enumerate(parts[1:], 1)),
        start=Affine(parts[0], E[:, :1], np.zeros(len(parts))),
    )


SCORES: dict[type, Callable[[Any, Centred], Vector]] = {
    Scorer: _linear,
    QuadraticScorer: _quadratic,
    PartsScorer: _parts_scores,
}
