"""The weights of a linear model in the units of the table, per standard deviation, and as odds ratios.

A model of standardised columns has the score b + Σ_j w_j (x_j − c_j)/s_j, so that

    per unit of x_j                  w_j / s_j, with the intercept b − Σ_j w_j c_j / s_j
    per standard deviation s_j       w_j

If the score is a log odds, exp(weight) is an odds ratio: the factor by which the odds of a class against the baseline
are multiplied. With K > 2 classes and a softmax, the scores are compared with that of the first class, the baseline.
The column of a category's level compares it with the reference level of the category; 0/1 columns have no value per
standard deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.core.base.arrays import AnyArray, Array

if TYPE_CHECKING:
    from separatrix.tables.encoder import Encoder, Scaling

# What exp(weight) is, by the link of the scores: an odds ratio or a hazard ratio. For other links it has no meaning.
RATIOS = {"logit": "odds ratio", "softmax": "odds ratio", "cloglog": "hazard ratio"}


@dataclass(frozen=True, eq=False)
class WeightTable:
    """The weights of a linear model. ``weight_table`` returns one.

    Attributes
    ----------
    names : tuple of str
        "intercept", then the d columns of X.
    classes : tuple
        The classes of the q scores; for two classes the second one alone.
    per_unit : array (q, 1 + d)
        The intercepts and the weights per unit of each column.
    per_deviation : array (q, 1 + d) or None
        The weights per standard deviation; NaN for the intercept and for 0/1 columns. None if no deviation is known.
    deviations : array (d,) or None
        The standard deviation of each column, NaN for 0/1 columns.
    ratio : str or None
        What exp(weight) is, such as "odds ratio"; None if the scores are not log odds.
    baseline : label or None
        The class with which odds compare the others; None without odds.
    references : dict
        The reference level of each category, by column of the table.
    compared : tuple of str
        For each column of X the reference level that it is compared with, empty if there is none.
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    per_unit: Array
    per_deviation: Array | None
    deviations: Array | None
    ratio: str | None
    baseline: Any
    references: dict[str, str]
    compared: tuple[str, ...]

    def ratios(self, weights: Array) -> Array:
        """exp of weights (q, 1 + d), of each class against the baseline; NaN for the intercepts."""
        apart = weights if len(weights) == 1 else weights[1:] - weights[:1]
        with np.errstate(over="ignore"):
            found = np.exp(apart)
        found[:, 0] = np.nan
        return np.asarray(found)

    @property
    def ratio_classes(self) -> tuple[Any, ...]:
        """The classes of the rows of ``ratios``."""
        return self.classes if len(self.classes) == 1 else self.classes[1:]


def _known_deviations(
    n_columns: int, scaling: Scaling | None, encoder: Encoder | None, deviations: AnyArray | None
) -> AnyArray | None:
    """The standard deviations of the columns, (d,), NaN for 0/1 columns; None if they are not known."""
    measured = np.ones(n_columns, dtype=bool) if encoder is None else encoder.measured
    if deviations is None and scaling is not None:
        deviations = scaling.scale
        measured = measured | (scaling.scale != 1)  # Older models scaled the 0/1 columns, too.
    return None if deviations is None else np.where(measured, deviations, np.nan)


def weight_table(
    scorer: Any,
    names: Sequence[str],
    scaling: Scaling | None = None,
    encoder: Encoder | None = None,
    deviations: AnyArray | None = None,
) -> WeightTable:
    """The table of a linear scorer's weights.

    Parameters
    ----------
    scorer : Scorer
        Weights ``W`` (q, 1 + d) for columns that were scaled by ``scaling``.
    names : sequence of str
        The d columns of X.
    scaling : Scaling, optional
        How columns were scaled before the fit.
    encoder : Encoder, optional
        How the table became X; it knows which columns are 0 or 1, and the reference levels.
    deviations : array (d,), optional
        The standard deviations of the columns before scaling, if they are known from elsewhere than ``scaling``.

    Examples
    --------
    >>> from separatrix.core.scorer import Scorer
    >>> from separatrix.tables.encoder import Scaling
    >>> scorer = Scorer(np.array([[1.0, 3.0]]), np.array(["no", "yes"]), "logit")
    >>> found = weight_table(scorer, ["age"], Scaling(np.array([40.0]), np.array([10.0])))
    >>> found.per_unit.round(12).tolist(), found.per_deviation.tolist(), found.baseline
    ([[-11.0, 0.3]], [[nan, 3.0]], 'no')
    """
    W = np.asarray(scorer.W, dtype=np.float64)
    per_unit = W if scaling is None else in_units(W, scaling)
    known = _known_deviations(len(names), scaling, encoder, deviations)
    per_deviation = None if known is None else np.column_stack([np.full(len(W), np.nan), per_unit[:, 1:] * known])
    labels = tuple(scorer.classes.tolist())
    ratio = RATIOS.get(scorer.link_name)
    references = {} if encoder is None else {name: levels[0] for name, levels in encoder.levels_of.items()}
    return WeightTable(
        ("intercept", *names),
        labels[1:] if len(W) == 1 else labels,
        per_unit,
        per_deviation,
        known,
        ratio,
        None if ratio is None else labels[0],
        references,
        ("",) * len(names) if encoder is None else compared_with(encoder),
    )


def in_units(W: Array, scaling: Scaling) -> Array:
    """Weights (q, 1 + d) of scaled columns as weights of the columns themselves, infinite if they overflow float64."""
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = W[:, 1:] / scaling.scale
        return np.column_stack([W[:, 0] - slopes @ scaling.center, slopes])


def compared_with(encoder: Encoder) -> tuple[str, ...]:
    """For each column of X the reference level that it is compared with; empty for other columns than levels.

    >>> from separatrix.tables.encoder import Encoded, Encoder
    >>> compared_with(Encoder((Encoded("age", "number"), Encoded("sex", "category", ("f", "m", "x")))))
    ('', 'f', 'f')
    """
    parts = [(column.levels[0] if column.levels else "",) * column.width for column in encoder.columns]
    return tuple(one for part in parts for one in part)
