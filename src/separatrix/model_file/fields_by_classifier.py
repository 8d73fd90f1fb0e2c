"""What a file stores for each classifier, as forms: its kinds of scorer and claim, and the attributes set by ``fit``.

Each classifier declares them in its description (``classifiers.description``) as plain values; here they become forms.
Attributes that follow from the scorer are not stored. Neither is ``trace_``, which is empty on a loaded model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.classifiers import OFFERED, describe
from separatrix.classifiers.description import Description, Field
from separatrix.model_file.forms import Choice, Maybe, Named, Number, Numbers, Pairs, Plain, Sentence, Several
from separatrix.model_file.kinds import GAUSSIANS, MOMENTS, SCHEMES, SCORERS, VERDICTS
from separatrix.model_file.nested_models import FittedModel
from separatrix.model_file.places import Form
from separatrix.model_file.records import Kinds, Record

COUNT = Plain(int, 0)
# What every classifier has in addition. ``_dtype`` is the type of the training rows, which predictions have too.
_COMMON: dict[str, Form] = {
    "_dtype": Choice(("float32", "float64")),
    "has_sample_weight_": Maybe(Plain(bool)),
    "n_parameters_": COUNT,
}


class _EveryClaim(Mapping[str, Record]):
    """The claims of all classifiers by name. They are collected only when a claim contains claims of other models."""

    def __getitem__(self, name: str) -> Record:
        return _every_claim()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_every_claim())

    def __len__(self) -> int:
        return len(_every_claim())


CLAIMS = Kinds(_EveryClaim())
# The forms that descriptions refer to by name. ``form_of_field`` makes all others.
KNOWN: dict[str, Form] = {
    "count": COUNT,
    "verdict": VERDICTS,
    "gaussians": GAUSSIANS,
    "moments": MOMENTS,
    "model": FittedModel(),
    "linear scorer": SCORERS.only("linear"),
    "scorer": SCORERS,
    "scheme": Named(SCHEMES),
    "claim": CLAIMS,
}


def form_of_field(field: Field) -> Form:
    """The form of a field of a description.

    >>> from separatrix.classifiers.description import number
    >>> form_of_field(number(above=0.0).maybe())
    Maybe(form=Number(least=-inf, most=inf, above=0.0))
    """
    form = KNOWN[field.kind] if field.kind in KNOWN else _FORM_MAKERS[field.kind](**field.options)
    if field.optional:
        form = Maybe(form)
    return form if field.each is None else Several(form, field.each, field.sequence)


def _record(kind: str, fields: Mapping[str, Field]) -> Record:
    return Record(kind, **{name: form_of_field(field) for name, field in fields.items()})


def _choice(registry: str) -> Choice:
    module, _, name = registry.partition(":")
    return Choice(getattr(import_module(module), name))


_FORM_MAKERS: dict[str, Any] = {"number": Number, "array": Numbers, "record": _record, "choice": _choice}


@dataclass(frozen=True)
class FieldsKept:
    """``fitted``: the attributes and their forms; ``of_two``: those that only models of two classes have."""

    scorers: Kinds
    certificate: Record
    fitted: Mapping[str, Form]
    of_two: frozenset[str]

    def names(self, n_classes: int) -> list[str]:
        """The names in ``fitted`` of the attributes that a model with this number of classes has."""
        return [name for name in self.fitted if n_classes == 2 or name not in self.of_two]


@cache
def kept(classifier: str) -> FieldsKept:
    """What a file stores for the classifier of this name.

    >>> list(kept("least-squares").fitted)
    ['_dtype', 'has_sample_weight_', 'n_parameters_', 'output_weights_']
    """
    description = describe(classifier)
    return FieldsKept(
        SCORERS.only(*description.scorers),
        _certificate(Kinds(_claims(description))),
        _COMMON | {name: form_of_field(field) for name, field in description.fitted.items()},
        frozenset(name for name, field in description.fitted.items() if field.of_two),
    )


def _claims(description: Description) -> dict[str, Record]:
    return {name: _record(**field.options) for name, field in description.claims.items()}


@cache
def _every_claim() -> dict[str, Record]:
    return {name: record for classifier in OFFERED for name, record in _claims(describe(classifier)).items()}


def _certificate(claims: Kinds) -> Record:
    return Record(
        Certificate,
        claim=claims,
        facts=Pairs(),
        iterations=COUNT,
        n_rows=COUNT,
        status=Sentence(),
        why=Sentence(),
        bound_reason=Sentence(),
    )


def restore(model: Any, name: str, scorer: Any, fitted: Mapping[str, Any], columns: int, features: Any) -> None:
    """Set the attributes of a fitted classifier, except the certificate."""
    for attribute, value in fitted.items():
        setattr(model, attribute, value)
    if describe(name).traced:
        model.trace_ = ()
    model.classes_, model.scorer_, model.n_features_in_ = scorer.classes, scorer, columns
    if features is not None:
        model.feature_names_in_ = np.array(features, dtype=object)
