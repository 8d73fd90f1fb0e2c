"""A fitted model as a formula of the columns of a table. All exports are generated from it.

    columns        how each column of the table becomes columns of X: a number unchanged, a category by a lookup, with
                   the replacement of a missing value and of an unseen level, or None if there is no prediction
    scores         an expression of X: linear, quadratic (one Gaussian per class), or votes
    probabilities  an expression of the scores, or None if the model has no probabilities

For two classes, the second is predicted if the score exceeds ``boundary`` (or equals it, with ``takes_boundary``). For
more classes, the first class with the largest score is predicted. A ``DecisionRule`` moves the boundary;
other class shares also change the probabilities, of which the first largest is then predicted.

The probabilities are stable for scores of any size: no small probability is computed by a subtraction from 1, and no
exponent exceeds the largest that every engine accepts.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from separatrix.classifiers import describe
from separatrix.classifiers.model_file import ModelFile, taken_apart
from separatrix.core.base.arrays import Array
from separatrix.core.base.checksummed_json import refuse_half_pairs
from separatrix.core.base.errors import ParameterError
from separatrix.core.gaussians import LARGEST_WHITENED_LENGTH, Gaussians, QuadraticScorer
from separatrix.core.schemes import TIE_SHARE, OneVersusOne, PartsScorer, pairs
from separatrix.core.scorer import Scorer, scores_of
from separatrix.output.algebra import (
    HIGHEST_EXPONENT,
    LOWEST_EXPONENT,
    Abs,
    Affine,
    Constant,
    Exp,
    Inputs,
    Largest,
    Vector,
    Where,
    beside,
    horner,
    total,
)
from separatrix.statistics.model_decisions import DecisionRule
from separatrix.tables.cells import NO_NUMBER, listed, texts, truth_levels, truth_readings
from separatrix.tables.encoder import Encoded, Encoder, Scaling
from separatrix.tables.text import TextFeatures

# --- The formula of a model

Row = tuple[float, ...]


@dataclass(frozen=True)
class FormulaColumn:
    """A column of the table, and the columns of X that it is encoded as, which begin at column ``start``.

    For a category, ``rows`` has the columns of X for each level, ``numbers`` the levels that are numbers, with their
    values, and ``truths`` the levels that "true" and "false" stand for. Other columns are encoded as v − ``shift``,
    followed by ``tail``. ``absent`` and ``unseen`` are the columns of X for a missing value and for a level that is not
    in ``rows``; None means that there is no prediction. A column of text is encoded as its n-grams of ``text`` less
    ``shifts``, followed by ``tail``, or by ``absent`` if the text is missing.
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
    text: TextFeatures | None = None
    shifts: Row = ()


@dataclass(frozen=True)
class Formula:
    """A model that does not depend on this package. ``encoder`` is None if the columns are numbers without encoding.

    >>> from separatrix import Scorer
    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> formula = formula_of(scorer, ["age"])
    >>> formula.columns[0].name, formula.classes, formula.scores.width, formula.probabilities.width
    ('age', ['no', 'yes'], 1, 2)
    """

    columns: tuple[FormulaColumn, ...]
    classes: list[Any]
    scores: Vector
    probabilities: Vector | None
    encoder: Encoder | None
    boundary: float = 0.0
    takes_boundary: bool = True
    rule: DecisionRule | None = None

    @property
    def ranking(self) -> Vector:
        """For more than two classes, the vector whose first largest entry is at the predicted class."""
        decided = self.rule is not None and self.probabilities is not None
        return self.probabilities if decided else self.scores  # type: ignore[return-value]

    @property
    def n_columns(self) -> int:
        """The number of columns of X."""
        return sum(column.width for column in self.columns)


def formula_of(
    model: Any,
    columns: Encoder | Sequence[str] | None = None,
    drawn_in: bool = True,
    rule: DecisionRule | None = None,
) -> Formula:
    """The formula of a fitted classifier, of a model file or of a scorer.

    ``columns`` is the encoder of the table, or the names of the columns of X, if the model does not have them; the
    default names are x0, x1, ... ``drawn_in`` tells whether distances to Gaussians are limited so that their squares do
    not overflow. This requires the largest of all entries that are squared. ``rule`` decides in place of the model's
    own boundary; the model must then have probabilities (``statistics.model_decisions.rule_for``).
    """
    held, encoder, scaling, names, probable = _parts(model)
    if isinstance(columns, Encoder):
        encoder, columns = columns, None
    scorer = scores_of(held)
    center = _center(scorer)
    units = Scaling(np.zeros(len(center)), np.ones(len(center))) if scaling is None else scaling
    x = Centred(Inputs(len(center)), center, units.scale, units.center + units.scale * center, drawn_in)
    scores = _scores_of(scorer, x)
    names = columns or names or [f"x{j}" for j in range(len(center))]
    link = getattr(scorer, "link_name", None) if probable else None
    found = _columns(encoder or Encoder(tuple(Encoded(str(name), "number") for name in names)), x.shift)
    width = sum(column.width for column in found)
    if width != len(center):
        raise ParameterError("columns", f"they make {width} columns of X", f"name the {len(center)} columns of the fit")
    probabilities = None if link not in PROBABILITIES else _probabilities(link, scores, rule)
    classes = _labels(scorer.classes.tolist())
    refuse_half_pairs(_texts(found, classes))
    return Formula(found, classes, scores, probabilities, encoder, *_boundary(scorer, scores.width, rule), rule)


def _boundary(scorer: Any, n_scores: int, rule: DecisionRule | None) -> tuple[float, bool]:
    """``boundary`` and ``takes_boundary`` of the formula; a rule for two classes moves the boundary."""
    if rule is None or len(scorer.classes) != 2:
        return scorer.link.boundary, scorer.link.takes_boundary
    if n_scores != 1:
        problem = "it has a score for each of its two classes"
        raise ParameterError("model", problem, "give one score, which is positive for the second class")
    return rule.least_score(scorer.link), True


def refuse_words(formula: Formula, language: str) -> None:
    """Refuse a model with a column of free text for a language that cannot split texts into words as the model does."""
    for column in formula.columns:
        if column.text is not None:
            problem = f"its column {column.name!r} is free text, whose words {language} cannot count"
            raise ParameterError("model", problem, "export it to Python, or fit it without that column")


def _parts(model: Any) -> tuple[Any, Encoder | None, Scaling | None, Sequence[str] | None, bool]:
    """The object with a scorer, its encoder, scaling and column names, and whether it has probabilities."""
    if isinstance(model, ModelFile):
        probable = describe(model.classifier).probabilities
        return model.scorer, model.encoder, model.scaling, model.features, probable
    encoder, scaling, features, model = taken_apart(model)
    names = getattr(model, "feature_names_in_", features)
    probable = getattr(model, "has_probabilities", True)
    return model, encoder, scaling, None if names is None else list(names), probable


def _labels(found: list[Any]) -> list[Any]:
    classes = [label.item() if isinstance(label, np.generic) else label for label in found]
    for label in classes:
        if not isinstance(label, str | bool | int | float):
            problem = f"the class {label!r} is of type {type(label).__name__}"
            raise ParameterError("model", problem, "fit with labels that are text, numbers or truth values")
        if isinstance(label, float) and not math.isfinite(label):
            remedy = "fit with labels that are text, finite numbers or truth values"
            raise ParameterError("model", f"the class {label!r} is not finite", remedy)
    return classes


def _texts(columns: tuple[FormulaColumn, ...], classes: list[Any]) -> Iterator[str]:
    """The names of the columns, the levels of categories and the labels that are text."""
    for column in columns:
        yield column.name
        yield from (level for level, _ in column.rows)
    yield from (label for label in classes if isinstance(label, str))


def _columns(encoder: Encoder, center: Array) -> tuple[FormulaColumn, ...]:
    found: list[FormulaColumn] = []
    start = 0
    for column in encoder.columns:
        found.append(_column(column, encoder, start, center[start : start + column.width]))
        start += column.width
    return tuple(found)


def _column(column: Encoded, encoder: Encoder, start: int, center: Array) -> FormulaColumn:
    """A column whose columns of X begin at ``start``; ``center`` is subtracted from them."""
    tail, marked = ((0.0,), (1.0,)) if column.indicator else ((), ())
    filled = encoder.missing in ("impute", "indicator")
    place = FormulaColumn(column.name, column.kind, start, column.width)
    if column.text is not None:
        shifts, end = center[: column.values], center[column.values :]
        return replace(
            place,
            tail=_less(tail, end),
            absent=_less(marked, end) if filled else None,
            text=column.text,
            shifts=tuple(shifts.tolist()) if shifts.any() else (),
        )
    place = replace(place, absent=_less((*column.fill, *marked), center) if filled else None)
    if column.kind == "category":
        return _category(place, column, encoder, tail, center)
    return replace(place, shift=float(center[0]) if len(center) else 0.0, tail=_less((0.0, *tail), center)[1:])


def _category(place: FormulaColumn, column: Encoded, encoder: Encoder, tail: Row, center: Array) -> FormulaColumn:
    units = np.vstack([np.zeros(column.values), np.eye(column.values)]).tolist()
    levels = [level.strip() for level in column.levels]
    return replace(
        place,
        rows=tuple((level, _less((*unit, *tail), center)) for level, unit in zip(levels, units, strict=True)),
        numbers=tuple(as_numbers(levels).items()),
        truths=tuple(truth_levels(levels).items()),
        unseen=_less((*column.unseen, *tail), center) if encoder.unseen == "average" else None,
    )


def _less(values: Sequence[float], center: Array) -> Row:
    """``values`` less ``center``."""
    return tuple((np.asarray(values) - center).tolist())


# --- Sentences on the decision


def decision_notes(formula: Formula) -> list[str]:
    """A sentence on the threshold and one on the class shares, as far as they are set.

    >>> from separatrix import Scorer
    >>> scorer = Scorer(np.array([[-1.0, 2.0]]), np.array(["no", "yes"]), "logit")
    >>> decision_notes(formula_of(scorer, rule=DecisionRule(threshold=0.2)))
    ["The label is 'yes' where P('yes') is at least 0.2, otherwise 'no'."]
    """
    rule, classes = formula.rule, formula.classes
    if rule is None:
        return []
    notes = []
    if rule.shares is not None:
        pairs = zip(classes, rule.shares, strict=True)
        shares = ", ".join(f"{label!r} {share:.6g}" for label, share in pairs)
        notes.append(f"Probabilities are corrected for these class shares: {shares}.")
    if len(classes) == 2:
        first, second = classes
        threshold = 0.5 if rule.threshold is None else rule.threshold
        notes.append(f"The label is {second!r} where P({second!r}) is at least {threshold:.6g}, otherwise {first!r}.")
    else:
        notes.append("The label is the most probable class.")
    return notes


# --- Scores as expressions of the columns


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


def _affine(W: Array, x: Centred) -> Vector:
    """Z = b + w·x, one row of W for each score."""
    return Affine(x.node, W[:, 1:] / x.scale, W[:, 0] + W[:, 1:] @ x.center)


def _quadratic(scorer: QuadraticScorer, x: Centred) -> Vector:
    """Ln p(x|C_k)p(C_k) = a_k + ln π_k − ½ ‖h_k‖², with h_k affine in x; for two classes, the difference."""
    found: Gaussians = scorer.gaussians
    white = found.whitened(x.center, x.scale)
    ranks = [A.shape[1] for A in found.whiten]
    # A class in which no column varies gets a row of zeros, so that a missing value also makes its score missing.
    lone = [end for end, rank in zip(np.cumsum(ranks), ranks, strict=True) if rank == 0]
    rows, faint = (np.insert(M, lone, 0.0, axis=0) for M in (white.M, white.faint))
    h: Vector = Affine(x.node, rows, np.insert(white.a, lone, 0.0))
    if faint.any():
        h = h + Affine(x.node, faint, np.zeros(len(faint))) / white.unit
    # h is multiplied by ``unit``, or beyond the limit by the factor that brings its largest entry to
    # LARGEST_WHITENED_LENGTH.
    length, limit = Largest(Abs(h)), LARGEST_WHITENED_LENGTH / white.unit
    limited = LARGEST_WHITENED_LENGTH / Where(limit - length, Constant(limit), length)
    h_near = h * (limited if x.drawn_in else white.unit)
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
    Scorer: lambda scorer, x: _affine(scorer.W, x),
    QuadraticScorer: _quadratic,
    PartsScorer: _parts_scores,
}


# --- Probabilities as expressions of the scores

# Cody's rational approximations of erf and erfc, highest power first (Mathematics of Computation 23, 1969, 631–637).
ERF_P = (
    1.85777706184603153e-1,
    3.16112374387056560,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
ERF_Q = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
MIDDLE_P = (
    2.15311535474403846e-8,
    5.64188496988670089e-1,
    8.88314979438837594,
    6.61191906371416295e1,
    2.98635138197400131e2,
    8.81952221241769090e2,
    1.71204761263407058e3,
    2.05107837782607147e3,
    1.23033935479799725e3,
)
MIDDLE_Q = (
    1.0,
    1.57449261107098347e1,
    1.17693950891312499e2,
    5.37181101862009858e2,
    1.62138957456669019e3,
    3.29079923573345963e3,
    4.36261909014324716e3,
    3.43936767414372164e3,
    1.23033935480374942e3,
)
FAR_P = (
    1.63153871373020978e-2,
    3.05326634961232344e-1,
    3.60344899949804439e-1,
    1.25781726111229246e-1,
    1.60837851487422766e-2,
    6.58749161529837803e-4,
)
FAR_Q = (
    1.0,
    2.56852019228982242,
    1.87295284992346725,
    5.27905102951428412e-1,
    6.05183413124413191e-2,
    2.33520497626869185e-3,
)
# The boundaries between the three ranges of Cody's approximations.
RANGE_1_END, RANGE_2_END = 0.46875, 4.0
# Largest argument of erfc; larger ones are replaced by it. erfc is 0 there, and a larger argument would overflow in the
# polynomials of the other ranges.
FARTHEST = 40.0
# Below this r, 1 − e^{−r} is computed by its Taylor series, since the difference would lose digits. SERIES
# has the coefficients of the series, highest power first.
SHORT_RATE, SERIES = 0.01, tuple((-1.0) ** (k + 1) / float(np.prod(np.arange(1, k + 1))) for k in range(8, 0, -1))


def both(z: Vector) -> Vector:
    """(−z, z): the score of each of two classes against the other."""
    return Affine(z, np.array([[-1.0], [1.0]]), np.zeros(2))


def logit(z: Vector) -> Vector:
    """σ(∓z), computed from e^{−|z|}, which never overflows."""
    s = both(z)
    e = Exp(-Abs(s))
    return Where(s, 1.0 / (1.0 + e), e / (1.0 + e))


def softmax(z: Vector) -> Vector:
    """e^{z_k − max z}, divided by the sum over k."""
    e = Exp(z - Largest(z))
    return e / total(e)


def probit(z: Vector) -> Vector:
    """Φ(∓z) = ½ erfc(±z/√2)."""
    s = both(z)
    y = Abs(s) * float(np.sqrt(0.5))
    y = Where(FARTHEST - y, y, Constant(FARTHEST))
    square = y * y
    near = y * horner(ERF_P, square) / horner(ERF_Q, square)
    held = Where(RANGE_2_END - y, y, Constant(RANGE_2_END))
    e = Exp(-square)
    middle = e * horner(MIDDLE_P, held) / horner(MIDDLE_Q, held)
    u = 1.0 / Where(y - RANGE_2_END, square, Constant(RANGE_2_END * RANGE_2_END))
    far = (
        e
        / Where(y - RANGE_2_END, y, Constant(RANGE_2_END))
        * (float(1 / np.sqrt(np.pi)) - u * horner(FAR_P, u) / horner(FAR_Q, u))
    )
    tail = 0.5 * Where(y - RANGE_2_END, far, middle)
    return Where(RANGE_1_END - y, 0.5 + Where(s, 0.5 * near, -0.5 * near), Where(s, 1.0 - tail, tail))


def cloglog(z: Vector) -> Vector:
    """(e^{−r}, 1 − e^{−r}) with r = e^z."""
    r = Exp(Where(HIGHEST_EXPONENT - z, z, Constant(HIGHEST_EXPONENT)))
    short = Where(SHORT_RATE - r, r, Constant(SHORT_RATE))
    first = Exp(-r)
    return beside(first, Where(SHORT_RATE - r, short * horner(SERIES, short), 1.0 - first))


# The formulas of probabilities, by the name of the link. Other links have no probabilities.
PROBABILITIES: dict[str, Callable[[Vector], Vector]] = {
    "logit": logit,
    "softmax": softmax,
    "probit": probit,
    "cloglog": cloglog,
}


def _shifted_logit(z: Vector, log_ratio: Array) -> Vector:
    """The log odds change by the difference of the two logarithms."""
    return logit(z + float(log_ratio[1] - log_ratio[0]))


def _shifted_softmax(z: Vector, log_ratio: Array) -> Vector:
    """The largest score is subtracted first, so that large scores do not absorb the logarithms."""
    return softmax(Affine(z - Largest(z), np.eye(len(log_ratio)), log_ratio))


def _rescaled(p: Vector, log_ratio: Array) -> Vector:
    """p_k times its ratio, divided by the sum. The largest ratio is scaled to 1, so that no product overflows."""
    factors = np.exp(np.maximum(log_ratio - log_ratio.max(), LOWEST_EXPONENT))
    weighted = Affine(p, np.diag(factors), np.zeros(len(factors)))
    return weighted / total(weighted)


# Links whose scores take the correction; for others the probabilities are rescaled.
CORRECTIONS: dict[str, Callable[[Vector, Array], Vector]] = {"logit": _shifted_logit, "softmax": _shifted_softmax}


def _probabilities(link: str, z: Vector, rule: DecisionRule | None) -> Vector:
    """The probabilities of all classes; with other class shares, P'(k | x) ∝ P(k | x) new_k/old_k."""
    log_ratio = None if rule is None else rule.log_ratio
    if log_ratio is None:
        return PROBABILITIES[link](z)
    correction = CORRECTIONS.get(link)
    return _rescaled(PROBABILITIES[link](z), log_ratio) if correction is None else correction(z, log_ratio)


# --- The levels of categories as engines spell them

# The end of a date with a time and a zone, as a regular expression that every engine understands.
ZONED = r":[0-9].*(Z|[+-][0-9][0-9](:?[0-9][0-9])?)$"
# The texts of truth values, in lower case. Some engines spell the number 1 as 1.0.
TRUE, FALSE = "('true', '1', '1.0')", "('false', '0', '0.0')"
# The white space that ``str.strip`` and Arrow trim. Engines trim the same characters, so cells read as in ``predict``.
SPACES = tuple(code for code in range(0x3001) if chr(code).isspace())
_INSTANT = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d+)?(Z?)")


@dataclass(frozen=True)
class Respelling:
    """A value that an engine spells in another way than the encoder.

    ``text`` replaces a value for which ``test`` holds. It is written only for levels for which ``applies`` is true.
    """

    applies: Callable[[Sequence[str]], bool]
    test: str
    text: str


def nothing(text: str) -> str:
    """An SQL condition that is true if a text denotes a missing number.

    >>> nothing("x")[:19]
    "x IN ('', 'NA', 'na"
    """
    return f"{text} IN ({', '.join(repr(spelling) for spelling in dict.fromkeys(NO_NUMBER))})"


def as_numbers(levels: Sequence[str]) -> dict[float, str]:
    """The levels that the encoder makes from numbers, as a dictionary from number to level.

    Engines spell floats in different ways ("3.0", "1e+16"), so floats are compared as numbers: a level that the encoder
    makes from a number matches that number and no other.

    >>> as_numbers(["1", "2.5", "007", "1.0", "red"])
    {1.0: '1', 2.5: '2.5'}
    """
    read = [(value, level) for level in levels if math.isfinite(value := _number(level))]
    # From a buffer, since PyArrow imports pandas to convert a list.
    values = pa.Array.from_buffers(pa.float64(), len(read), [None, pa.py_buffer(array("d", [v for v, _ in read]))])
    spelled = texts("the levels", "level", pa.chunked_array([values]))
    return {value: level for (value, level), text in zip(read, spelled.to_pylist(), strict=True) if text == level}


def _number(level: str) -> float:
    try:
        return float(level)
    except ValueError:
        return float("nan")


def are_numbers(levels: Sequence[str]) -> bool:
    """Whether a level can be read as a number, even if the encoder spells that number in another way.

    >>> are_numbers(["red", "1.0"]), are_numbers(["red"])
    (True, False)
    """
    return any(math.isfinite(_number(level)) for level in levels)


def are_instants(levels: Sequence[str]) -> bool:
    """Whether a level is a date with a time.

    >>> are_instants(["2024-12-31 23:59:00", "red"]), are_instants(["2024-12-31"])
    (True, False)
    """
    return any(_INSTANT.fullmatch(level) for level in levels)


def are_zoned(levels: Sequence[str]) -> bool:
    """Whether a level is a date with a time and a zone."""
    return any(level.endswith("Z") and _INSTANT.fullmatch(level) for level in levels)


def notes_on_levels(name: str, levels: Sequence[str]) -> list[str]:
    """What happens to a column of categories if an engine reads it as truth values or numbers; one line each.

    >>> notes_on_levels("smoker", ["No", "Yes"])
    ["'smoker': if the engine holds truth values, true counts as 'Yes', false as 'No'"]
    >>> notes_on_levels("zip", ["007", "12"])
    ["'zip': keep it as text; read as a number, '007' would not be recognised"]
    """
    counts = truth_levels(levels)
    as_levels = ", ".join(f"{word} {'counts ' * (not k)}as {level!r}" for k, (word, level) in enumerate(counts.items()))
    lines = (
        [f"if the engine holds truth values, {as_levels}"]
        if any(word != level for word, level in counts.items())
        else []
    )
    for word, known in truth_readings(levels).items():
        if len(known) > 1:
            meaning = f"would all be {counts[word]!r}" if word in counts else "would not be recognised"
            lines.append(f"keep it as text; read as a truth value, {listed(known)} {meaning}")
    spelled = as_numbers(levels).values()
    other = [level for level in levels if math.isfinite(_number(level)) and level not in spelled]
    lines += [f"keep it as text; read as a number, {listed(other)} would not be recognised"] if other else []
    return [f"{name!r}: {line}" for line in lines]


def unlike(levels: Sequence[str]) -> str:
    """A text that is not a level.

    >>> unlike(["red", "other"])
    'other_'
    """
    text = "other"
    while text in levels:
        text += "_"
    return text
