"""What a classifier says of itself, at the top of its file: ``DESCRIPTION = Description(...)``.

The command line, model files and comparisons read it and nothing else, so a new classifier is one file and one line in
``OFFERED``. They read it from the source of the file (``base.declarations``), without importing the classifier. So a
description is made of plain values and of what this module and ``shared_descriptions`` define, and both of these import
neither NumPy nor scikit-learn.
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

    ``type``: float, int or str. ``words``: beside numbers, the words that a number option takes; for text, all that it
    takes, where the command line is to refuse others. ``names``: "module:NAME" of a registry whose names the help lists
    behind its own text. ``flag``: the value that the option stands for, where it takes none.
    """

    option: str
    parameter: str
    help: str
    type: type = str
    words: tuple[str, ...] = ()
    names: str = ""
    flag: Any = None
    metavar: str | None = None


@dataclass(frozen=True)
class Field:
    """How one value stands in a model file; made by the functions below.

    ``kind``: "number", "array", "record", "choice", or a form that model files know by that name
    (``model_file.fields_by_classifier.KNOWN``). ``options``: what the kind asks for. ``optional``: it may be None.
    ``each``: one for each entry of this axis, in a ``sequence``. ``of_two``: only models of two classes have it.
    """

    kind: str
    options: Mapping[str, Any] = field(default_factory=dict)
    optional: bool = False
    each: str | None = None
    sequence: type = tuple
    of_two: bool = False

    def maybe(self) -> Field:
        """The same value, or None."""
        return replace(self, optional=True)

    def for_each(self, axis: str, sequence: type = tuple) -> Field:
        """One such value for each entry of an axis: "K" classes, "scores", "models"."""
        return replace(self, each=axis, sequence=sequence)

    def for_two_classes(self) -> Field:
        """The same value, which models of more than two classes do not have."""
        return replace(self, of_two=True)


def number(least: float = -math.inf, most: float = math.inf, above: float | None = None) -> Field:
    """A float64 in this range."""
    return Field("number", {"least": least, "most": most, "above": above})


def array(*axes: str, finite: bool = True, least: float = -math.inf, whole: bool = False) -> Field:
    """An array of float64, or of int64 where it is ``whole``.

    Axes: "K" classes, "scores" (1 for two classes, K for more), "d" columns, "1+d", "models", or "" for any length.
    """
    return Field("array", {"axes": axes, "finite": finite, "least": least, "whole": whole})


def record(kind: str, **fields: Field) -> Field:
    """A dataclass, as "module:class". Fields follow their annotations; named here are those that need more.

    Where the class has a method ``misfit(sizes)``, it says what is wrong with a whole value.
    """
    return Field("record", {"kind": kind, "fields": fields})


def choice(registry: str) -> Field:
    """A name in a registry, given as "module:NAME"."""
    return Field("choice", {"registry": registry})


COUNT = Field("count")
# The numbers of rows.
ROWS = array("", whole=True, least=0)
# Forms that model files know by name.
VERDICT, GAUSSIANS, MOMENTS, FITTED_MODEL = Field("verdict"), Field("gaussians"), Field("moments"), Field("model")
LINEAR_SCORER, ANY_SCORER, SCHEME, ANY_CLAIM = Field("linear scorer"), Field("scorer"), Field("scheme"), Field("claim")


class Requires(Enum):
    """What a classifier needs of the rows, without which it does not take part in a comparison."""

    SEPARABLE_CLASSES = auto()
    FEW_COLUMNS = auto()  # it sums a matrix of columns by columns
    MORE_ROWS_THAN_COLUMNS = auto()  # in each class
    TWO_CLASSES = auto()
    MORE_THAN_TWO_CLASSES = auto()


@dataclass(frozen=True)
class Description:
    """A classifier for the command line, for model files and for comparisons.

    Parameters
    ----------
    about : str
        What it is, for help texts; what follows a semicolon is left out where it is named in a sentence.
    claims : mapping of names to records
        The claims that its certificate can make.
    settings : tuple of Setting
        Its options on the command line.
    scorers : tuple of str
        The kinds of scorer that a fit may leave (``model_file.kinds.SCORERS``).
    fitted : mapping of attributes to Field
        What ``fit`` sets and prediction and certificate do not say already; a model file keeps it.
    traced : bool
        Whether it has a ``trace_``, which no file keeps.
    probabilities : bool
        Whether it has probabilities.
    curved : bool
        Whether its boundaries are curved.
    requires : tuple of Requires
        What it needs of the rows of a comparison.
    parts : tuple of str
        Of a scheme that is made of other classifiers: those that it is compared over, by name.
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
