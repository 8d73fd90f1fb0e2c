"""The description that each classifier's file holds at its top, ``DESCRIPTION = Description(...)``.

The command line, model files and comparisons know a classifier by its description and its hyperparameters
(``classifiers/signatures.py``), so a new classifier is one file and one line in ``OFFERED``. They read both from the
source (``core/base/lazy.py``) without importing the classifier. So a description may use only plain values, the names
defined here and the forms of ``core/base/codec.py``, which import neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from separatrix.core.base.codec import COUNT, Form, Kinds, Maybe, RecordForm, Several, array

# Forms of what several classifiers store (``core/base/codec.py``). Classes are given as "module:class".
VERDICT = Kinds(
    {
        "separable": RecordForm("separatrix.core.proofs.verdicts:Separable"),
        "quasi-separable": RecordForm("separatrix.core.proofs.verdicts:QuasiSeparable"),
        "inseparable": RecordForm("separatrix.core.proofs.verdicts:Inseparable"),
        "doubtful": RecordForm("separatrix.core.proofs.verdicts:Doubtful"),
    }
)
GAUSSIANS = RecordForm("separatrix.core.gaussians:Gaussians")
MOMENTS = RecordForm("separatrix.core.moments:Moments")


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
    claims : mapping of names to classes
        The claims that its certificate can make, as "module:class".
    scorers : tuple of str
        The kinds of scorer that a fit may produce: names in ``SCORERS`` of ``classifiers/model_file.py``.
    fitted : mapping of attributes to Form
        The fitted attributes that a model file stores besides the scorer and the certificate; text is a form in
        ``KNOWN`` of ``classifiers/model_file.py``.
    fitted_of_two : mapping of attributes to Form
        Those that only models of two classes have.
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
    claims: Mapping[str, str]
    scorers: tuple[str, ...] = ("linear",)
    fitted: Mapping[str, Form | str] = field(default_factory=dict)
    fitted_of_two: Mapping[str, Form] = field(default_factory=dict)
    traced: bool = False
    probabilities: bool = False
    curved: bool = False
    requires: tuple[Requires, ...] = ()
    parts: tuple[str, ...] = ()


# --- Forms and claims that several descriptions share

# The fitted attributes of classifiers that search for a separating hyperplane.
SEARCHED: dict[str, Form] = {"n_iter_": COUNT, "verdicts_": Several("scores", Maybe(VERDICT))}
SEPARATION = "separatrix.core.separation_claims:SeparationClaim"
MARGIN = "separatrix.core.separation_claims:MarginClaim"

# The fitted attributes of classifiers that fit Gaussians to the classes.
GENERATIVE: dict[str, Form] = {"gaussians_": GAUSSIANS, "means_": array("K", "d"), "priors_": array("K", least=0)}
GAUSSIAN_CLAIM = "separatrix.core.moments_claims:GaussianClaim"

# The fitted attributes of schemes that combine two-class models.
ONE_VERSUS: dict[str, Form | str] = {
    "_W": Maybe(array("models", "1+d")),
    "cost_": RecordForm("separatrix.core.schemes:SchemeCost"),
    "estimators_": "models",
}
# Each part's claim is about its own two classes, and the file stores it with the part.
PARTS_CLAIM = "separatrix.core.likelihood_claims:PartsClaim"
