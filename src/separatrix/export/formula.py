"""A fitted model as a formula of the columns of a table. All exports are generated from it.

    columns        how each column of the table becomes columns of X: a number unchanged, a category by a lookup, with
                   the replacement of a missing value and of an unseen level, or None if there is no prediction
    scores         an expression of X: linear, quadratic (one Gaussian per class), or votes
    probabilities  an expression of the scores, or None if the model has no probabilities

For two classes, the second is predicted if the score exceeds ``boundary`` (or equals it, with ``takes_boundary``). For
more classes, the first class with the largest score is predicted. A decision rule (``evaluation.decision_rule``) moves
the boundary; other class shares also change the probabilities, of which the first largest is then predicted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.checksummed_json import refuse_half_pairs
from separatrix.base.errors import ParameterError
from separatrix.classifiers import describe
from separatrix.evaluation.decision_rule import DecisionRule
from separatrix.export.algebra import Vector
from separatrix.export.level_texts import as_numbers
from separatrix.export.link_formulas import PROBABILITIES, corrected
from separatrix.export.score_formulas import scores_from
from separatrix.model_file import ModelFile
from separatrix.model_file.pipelines import taken_apart
from separatrix.scorers.scorer import scores_of
from separatrix.table.cells import truth_levels
from separatrix.table.encoded_column import Encoded
from separatrix.table.encoder import Encoder
from separatrix.table.scaling import Scaling
from separatrix.table.text import TextFeatures

Row = tuple[float, ...]


@dataclass(frozen=True)
class Column:
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

    columns: tuple[Column, ...]
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
    own boundary; the model must then have probabilities (``evaluation.model_rule.rule_for``).
    """
    held, encoder, scaling, names, probable = _parts(model)
    if isinstance(columns, Encoder):
        encoder, columns = columns, None
    scorer = scores_of(held)
    x, scores = scores_from(scorer, scaling, drawn_in)
    names = columns or names or [f"x{j}" for j in range(x.width)]
    link = getattr(scorer, "link_name", None) if probable else None
    found = _columns(encoder or Encoder(tuple(Encoded(str(name), "number") for name in names)), x.shift)
    width = sum(column.width for column in found)
    if width != x.width:
        raise ParameterError("columns", f"they make {width} columns of X", f"name the {x.width} columns of the fit")
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


def _probabilities(link: str, scores: Vector, rule: DecisionRule | None) -> Vector:
    if rule is None or rule.log_ratio is None:
        return PROBABILITIES[link](scores)
    return corrected(link, scores, rule.log_ratio)


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


def _texts(columns: tuple[Column, ...], classes: list[Any]) -> Iterator[str]:
    """The names of the columns, the levels of categories and the labels that are text."""
    for column in columns:
        yield column.name
        yield from (level for level, _ in column.rows)
    yield from (label for label in classes if isinstance(label, str))


def _columns(encoder: Encoder, center: Array) -> tuple[Column, ...]:
    found: list[Column] = []
    start = 0
    for column in encoder.columns:
        found.append(_column(column, encoder, start, center[start : start + column.width]))
        start += column.width
    return tuple(found)


def _column(column: Encoded, encoder: Encoder, start: int, center: Array) -> Column:
    """A column whose columns of X begin at ``start``; ``center`` is subtracted from them."""
    tail, marked = ((0.0,), (1.0,)) if column.indicator else ((), ())
    filled = encoder.missing in ("impute", "indicator")
    place = Column(column.name, column.kind, start, column.width)
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


def _category(place: Column, column: Encoded, encoder: Encoder, tail: Row, center: Array) -> Column:
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
