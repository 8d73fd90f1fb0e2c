"""The description that each classifier's file holds at its top: ``DESCRIPTION = Description(...)``.

The command line, model files and comparisons know a classifier by its description only, so a new classifier is one file
and one line in ``OFFERED``. They read the description from the source (``base.declarations``) without importing the
classifier. So a description may use only plain values and the names in this module and in ``shared_descriptions``, and
neither of these two imports NumPy or scikit-learn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import Any


@dataclass(frozen=True)
class Setting:
    """An option of the command line and the parameter that it sets.

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

    ``kind``: "number", "array", "record", "choice", or a name in ``model_file.fields_by_classifier.KNOWN``.
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
# Kinds of value that ``model_file`` stores in its own way.
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
    settings : tuple of Setting
        Its options on the command line.
    scorers : tuple of str
        The kinds of scorer that a fit may produce (``model_file.kinds.SCORERS``).
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
    settings: tuple[Setting, ...] = ()
    scorers: tuple[str, ...] = ("linear",)
    fitted: Mapping[str, Field] = field(default_factory=dict)
    traced: bool = False
    probabilities: bool = False
    curved: bool = False
    requires: tuple[Requires, ...] = ()
    parts: tuple[str, ...] = ()
    offers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
