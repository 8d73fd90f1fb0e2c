"""The description that each classifier's file holds at its top, ``DESCRIPTION = Description(...)``.

The command line, model files and comparisons know a classifier by its description and its hyperparameters
(``classifiers/signatures.py``), so a new classifier is one file and one line in ``OFFERED``. They read both from the
source (``core/base/lazy.py``) without importing the classifier. So a description may use only plain values and the
names defined here, and this file imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any


@dataclass(frozen=True)
class Field:
    """How one value is stored in a model file. The functions below make fields.

    ``kind``: "number", "array", "record", "choice", or a name in ``KNOWN`` of ``classifiers/model_file.py``.
    ``options``: the arguments of the kind. ``optional``: the value may be None. ``each``: the value is a ``sequence``
    with one item for each entry of this axis. ``of_two``: only models of two classes have the value.
    """

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    each: str | None = None
    sequence: type = tuple
    of_two: bool = False

    def maybe(self) -> Field:
        """The same field, whose value may be None."""
        return replace(self, optional=True)

    def for_each(self, axis: str, sequence: type = tuple) -> Field:
        """A sequence with one such value for each entry of an axis: "K" (classes), "scores" or "models"."""
        return replace(self, each=axis, sequence=sequence)

    def for_two_classes(self) -> Field:
        """The same field, which models of more than two classes do not have."""
        return replace(self, of_two=True)


def number(least: float = -math.inf, most: float = math.inf, above: float | None = None) -> Field:
    """A float64 from ``least`` to ``most``, and larger than ``above`` if that is given."""
    return Field("number", {"least": least, "most": most, "above": above})


def array(*axes: str, finite: bool = True, least: float = -math.inf, whole: bool = False) -> Field:
    """An array of float64, or of int64 if it is ``whole``.

    Axes: "K" (classes), "scores" (1 for two classes, else K), "d" (columns), "1+d", "models", or "" for any length.
    """
    return Field("array", {"axes": axes, "finite": finite, "least": least, "whole": whole})


def record(kind: str, **fields: Field) -> Field:
    """A dataclass, given as "module:class".

    A field of the dataclass is stored as its annotation says, unless ``fields`` says otherwise. If the class has a
    method ``misfit(sizes)``, reading a file calls it to check the whole value.
    """
    return Field("record", {"kind": kind, "fields": fields})


def choice(registry: str) -> Field:
    """A name in a registry, given as "module:NAME"."""
    return Field("choice", {"registry": registry})


COUNT = Field("count")
# Row numbers.
ROWS = array("", whole=True, least=0)
# Kinds of value that ``classifiers/model_file.py`` stores in its own way.
VERDICT, GAUSSIANS, MOMENTS, FITTED_MODEL = Field("verdict"), Field("gaussians"), Field("moments"), Field("model")
LINEAR_SCORER, ANY_SCORER, SCHEME, ANY_CLAIM = Field("linear scorer"), Field("scorer"), Field("scheme"), Field("claim")


class Requires(Enum):
    """A condition on the rows without which a comparison leaves the classifier out."""

    SEPARABLE_CLASSES = auto()
    FEW_COLUMNS = auto()  # it stores a matrix of size columns x columns
    MORE_ROWS_THAN_COLUMNS = auto()  # in each class
    TWO_CLASSES = auto()
    MORE_THAN_TWO_CLASSES = auto()


@dataclass(frozen=True)
class Description:
    """A classifier as the command line, model files and comparisons see it.

    Parameters
    ----------
    about : str
        A short description for help texts. Within a sentence only the part before a semicolon is used.
    claims : mapping of names to records
        The claims that its certificate can make.
    scorers : tuple of str
        The kinds of scorer that a fit may produce: names in ``SCORERS`` of ``classifiers/model_file.py``.
    fitted : mapping of attributes to Field
        The fitted attributes that a model file stores besides the scorer and the certificate.
    traced : bool
        Whether it has a ``trace_``, which model files do not store.
    probabilities : bool
        Whether it has probabilities.
    curved : bool
        Whether its boundaries are curved.
    requires : tuple of Requires
        Conditions on the rows for taking part in a comparison.
    parts : tuple of str
        For a scheme built from other classifiers: the names of those that a comparison puts into it.
    """

    about: str
    claims: Mapping[str, Field]
    scorers: tuple[str, ...] = ("linear",)
    fitted: Mapping[str, Field] = field(default_factory=dict)
    traced: bool = False
    probabilities: bool = False
    curved: bool = False
    requires: tuple[Requires, ...] = ()
    parts: tuple[str, ...] = ()


# --- Fields and claims that several descriptions share

# The fitted attributes of classifiers that search for a separating hyperplane.
SEARCHED: dict[str, Field] = {"n_iter_": COUNT, "verdicts_": VERDICT.maybe().for_each("scores")}
SEPARATION = record("separatrix.core.separation_claims:SeparationClaim", scorer=LINEAR_SCORER)
MARGIN = record(
    "separatrix.core.separation_claims:MarginClaim",
    scorer=LINEAR_SCORER,
    supports=record("separatrix.core.separation_claims:Support", rows=ROWS, weights=array("", least=0)).for_each(
        "scores"
    ),
)

# The fitted attributes of classifiers that fit Gaussians to the classes.
GENERATIVE: dict[str, Field] = {"gaussians_": GAUSSIANS, "means_": array("K", "d"), "priors_": array("K", least=0)}
GAUSSIAN_CLAIM = record("separatrix.core.moments_claims:GaussianClaim", scorer=ANY_SCORER, gaussians=GAUSSIANS)

# The fitted attributes of schemes that combine two-class models.
ONE_VERSUS: dict[str, Field] = {
    "_W": array("models", "1+d").maybe(),
    "cost_": record("separatrix.core.schemes:SchemeCost", imbalance=array("models", "", whole=True, least=0)),
    "estimators_": FITTED_MODEL.for_each("models", list),
}
# Each part's claim is about its own two classes, and the file stores it with the part.
PARTS_CLAIM = record(
    "separatrix.core.likelihood_claims:PartsClaim",
    scorer=ANY_SCORER,
    scheme=SCHEME,
    claims=ANY_CLAIM.maybe().for_each("models"),
)
