"""What a file keeps of each classifier: its kinds of scorer and claim, and what else ``fit`` has set. One entry each.

Attributes that follow from the scorer are not written; nor is ``trace_``, which is empty on a loaded model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.model_file.forms import Choice, Maybe, Number, Plain, Several, numbers
from separatrix.model_file.kinds import GAUSSIANS, MOMENTS, ROWS, VERDICTS
from separatrix.model_file.nested_models import FittedModel
from separatrix.model_file.places import Form
from separatrix.model_file.records import Record
from separatrix.scorers.schemes import SchemeCost
from separatrix.tuning.penalty_choice import PenaltyChoice

COUNT = Plain(int, 0)


@dataclass(frozen=True)
class FieldsKept:
    """``fitted``: attributes with their forms; ``of_two``: those that are there for two classes alone; ``derived``:
    those that follow from the scorer.
    """

    scorers: tuple[str, ...]
    claims: tuple[str, ...]
    fitted: Mapping[str, Form]
    derived: Mapping[str, Callable[[Any], Any]]
    of_two: frozenset[str] = frozenset()

    def names(self, n_classes: int) -> list[str]:
        """The attributes in ``fitted`` that a model of so many classes has."""
        return [name for name in self.fitted if n_classes == 2 or name not in self.of_two]


# The type of the rows of the fit, which answers to such rows have, too.
_DTYPE: dict[str, Form] = {"_dtype": Choice(("float32", "float64"))}
_TRACED: dict[str, Callable[[Any], Any]] = {"trace_": lambda scorer: ()}

_PENALTY_CHOICE = Record(
    PenaltyChoice,
    Cs=numbers("", finite=False),
    scores=numbers("", finite=False),
    standard_errors=numbers("", finite=False),
    refitted=numbers("", whole=True),
)
_SEARCHED: dict[str, Form] = {
    **_DTYPE,
    "n_iter_": COUNT,
    "n_parameters_": COUNT,
    "verdicts_": Several(Maybe(VERDICTS), "scores"),
}
_GENERATIVE: dict[str, Form] = {
    **_DTYPE,
    "gaussians_": GAUSSIANS,
    "means_": numbers("K", "d"),
    "n_parameters_": COUNT,
    "priors_": numbers("K", least=0),
}
_ONE_VERSUS: dict[str, Form] = {
    **_DTYPE,
    "_W": Maybe(numbers("models", "1+d")),
    "cost_": Record(SchemeCost, imbalance=numbers("models", "", whole=True, least=0)),
    "estimators_": Several(FittedModel(), "models", list),
    "n_parameters_": COUNT,
}

KEPT: dict[str, FieldsKept] = {
    "logistic": FieldsKept(
        ("linear",),
        ("likelihood", "firth"),
        {
            "C_": Number(above=0.0),
            **_DTYPE,
            "n_iter_": numbers("", whole=True, least=0),
            "n_parameters_": COUNT,
            "penalty_choice_": Maybe(_PENALTY_CHOICE),
            "separation_": Maybe(VERDICTS),
        },
        _TRACED,
    ),
    "one-versus-one": FieldsKept(("linear", "parts"), ("parts",), _ONE_VERSUS, {}),
    "one-versus-rest": FieldsKept(("linear", "parts"), ("parts",), _ONE_VERSUS, {}),
    "perceptron": FieldsKept(
        ("linear",),
        ("separation",),
        {**_SEARCHED, "mistakes_": COUNT, "walking_": Maybe(numbers("scores", "1+d"))},
        _TRACED,
    ),
    "kozinec": FieldsKept(("linear",), ("margin", "separation"), {**_SEARCHED, "margin_": Number()}, _TRACED),
    "max-margin": FieldsKept(
        ("linear",), ("margin", "separation"), {**_SEARCHED, "margin_": Number(), "support_": ROWS}, _TRACED
    ),
    "least-squares": FieldsKept(
        ("linear",), ("least-squares",), {**_DTYPE, "n_parameters_": COUNT, "output_weights_": numbers("", "1+d")}, {}
    ),
    "fisher": FieldsKept(
        ("linear", "quadratic"),
        ("projection",),
        {
            **_DTYPE,
            "_n_features_out": COUNT,
            "coef_": numbers("scores", "d"),
            "crossings_": numbers(""),
            "directions_": numbers("d", ""),
            "explained_variance_ratio_": numbers("", finite=False),
            "intercept_": numbers("scores", finite=False),
            "means_": numbers("K", "d"),
            "moments_": MOMENTS,
            "n_parameters_": COUNT,
            "threshold_": Number(),
        },
        {},
        frozenset({"crossings_", "threshold_"}),
    ),
    "lda": FieldsKept(
        ("linear",),
        ("gaussian",),
        {
            **_GENERATIVE,
            "_n_features_out": COUNT,
            "covariance_": numbers("d", "d", finite=False),
            "explained_variance_ratio_": numbers("", finite=False),
            "scalings_": numbers("d", ""),
            "xbar_": numbers("d"),
        },
        {},
    ),
    "qda": FieldsKept(
        ("quadratic",), ("gaussian",), {**_GENERATIVE, "covariance_": numbers("K", "d", "d", finite=False)}, {}
    ),
}


def restore(model: Any, name: str, scorer: Any, fitted: Mapping[str, Any], columns: int, features: Any) -> None:
    """Set on a classifier all that its fit had set, but the certificate."""
    for attribute, value in fitted.items():
        setattr(model, attribute, value)
    for attribute, follow in KEPT[name].derived.items():
        setattr(model, attribute, follow(scorer))
    model.classes_, model.scorer_, model.n_features_in_ = scorer.classes, scorer, columns
    if features is not None:
        model.feature_names_in_ = np.array(features, dtype=object)
