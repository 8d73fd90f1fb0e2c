"""The description that each classifier's file holds at its top, ``DESCRIPTION = Description(...)``.

The command line, model files, comparisons and forms know a classifier by its description only, so a new classifier is
one file and one line in ``OFFERED``. They read the description from the source (``core/base/lazy.py``) without
importing the classifier. So a description may use only plain values and the names defined here, and this file imports
neither NumPy nor scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any


@dataclass(frozen=True)
class ModelSetting:
    """A setting of a classifier: a parameter, and the option of the command line that sets it.

    ``type``: float, int or str. ``words``: for a number, the words that are accepted besides numbers; for text, the
    only words accepted (empty: any text). ``names``: a registry, as "module:NAME", whose names the help appends to its
    text. ``flag``: the value that the parameter gets, for an option that takes no value. ``span``: for a number, the
    lowest and the highest value that a slider offers.
    """

    option: str
    parameter: str
    help: str
    type: type = str
    words: tuple[str, ...] = ()
    names: str = ""
    flag: Any = None
    metavar: str | None = None
    span: tuple[float, float] | None = None


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
    settings : tuple of ModelSetting
        Its settings that are options of the command line.
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
    offers : mapping of parameters to tuples of str
        For forms: the values to choose from for a parameter whose setting does not list them.
    """

    about: str
    claims: Mapping[str, Field]
    settings: tuple[ModelSetting, ...] = ()
    scorers: tuple[str, ...] = ("linear",)
    fitted: Mapping[str, Field] = field(default_factory=dict)
    traced: bool = False
    probabilities: bool = False
    curved: bool = False
    requires: tuple[Requires, ...] = ()
    parts: tuple[str, ...] = ()
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


# --- Settings, fields and claims that several descriptions share

C = ModelSetting(
    "--C",
    "C",
    "Inverse regularisation strength; 1 by default. For logistic also inf (no penalty) or auto (chosen by "
    "leave-one-out cross-validation).",
    float,
    words=("auto",),
    metavar="NUMBER",
    span=(0.001, 1000.0),
)
LOSS = ModelSetting(
    "--loss",
    "loss",
    "For logistic: logistic (the default), probit, cloglog or squared-sigmoid. For linear-svc: squared_hinge (the "
    "default) or hinge.",
    metavar="NAME",
)
SOLVER = ModelSetting(
    "--solver", "solver", "auto (the default)", names="separatrix.core.solvers.registry:OFFERED", metavar="NAME"
)
L1_RATIO = ModelSetting(
    "--l1-ratio",
    "l1_ratio",
    "Elastic-net mixing parameter, from 0 (ridge, the default) to 1 (lasso, which makes some weights exactly zero).",
    float,
    metavar="SHARE",
    span=(0.0, 1.0),
)
NO_INTERCEPT = ModelSetting("--no-intercept", "fit_intercept", "Fit without an intercept.", flag=False)
CLASS_WEIGHT = ModelSetting(
    "--class-weight", "class_weight", "Give every class the same total weight.", words=("balanced",)
)
TOL = ModelSetting(
    "--tol",
    "tol",
    "Tolerance: stop when the proven gap between the objective and its minimum is at most this multiple of the null "
    "model's objective; 1e-8 by default.",
    float,
    metavar="NUMBER",
    span=(1e-12, 0.1),
)
MAX_ITER = ModelSetting("--max-iter", "max_iter", "Maximum number of iterations.", int, metavar="N", span=(1, 10_000))

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
