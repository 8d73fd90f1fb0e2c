"""What a file keeps of each classifier, as forms: its kinds of scorer and claim, and what else ``fit`` has set.

Each classifier says it in its description (``classifiers.description``), as plain values; here they become forms.
Attributes that follow from the scorer are not written; nor is ``trace_``, which is empty on a loaded model.
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
# What every classifier has besides: the type of the rows of the fit, which answers to such rows have, too.
_COMMON: dict[str, Form] = {"_dtype": Choice(("float32", "float64")), "n_parameters_": COUNT}


class _EveryClaim(Mapping[str, Record]):
    """The claims of all classifiers by name. Only the claim of a scheme asks for others than its own."""

    def __getitem__(self, name: str) -> Record:
        return _every_claim()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_every_claim())

    def __len__(self) -> int:
        return len(_every_claim())


CLAIMS = Kinds(_EveryClaim())
# Forms that descriptions name; every other form is made by ``form_of_field``.
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
    """The form of a value that a description names.

    >>> from separatrix.classifiers.description import number
    >>> form_of_field(number(above=0.0).maybe())
    Maybe(form=Number(least=-inf, most=inf, above=0.0))
    """
    form = KNOWN[field.kind] if field.kind in KNOWN else _MADE[field.kind](**field.options)
    if field.optional:
        form = Maybe(form)
    return form if field.each is None else Several(form, field.each, field.sequence)


def _record(kind: str, fields: Mapping[str, Field]) -> Record:
    return Record(kind, **{name: form_of_field(field) for name, field in fields.items()})


def _choice(registry: str) -> Choice:
    module, _, name = registry.partition(":")
    return Choice(getattr(import_module(module), name))


_MADE: dict[str, Any] = {"number": Number, "array": Numbers, "record": _record, "choice": _choice}


@dataclass(frozen=True)
class FieldsKept:
    """``fitted``: attributes with their forms; ``of_two``: those that are there for two classes alone."""

    scorers: Kinds
    certificate: Record
    fitted: Mapping[str, Form]
    of_two: frozenset[str]

    def names(self, n_classes: int) -> list[str]:
        """The names in ``fitted`` of the attributes that a model with this number of classes has."""
        return [name for name in self.fitted if n_classes == 2 or name not in self.of_two]


@cache
def kept(classifier: str) -> FieldsKept:
    """What a file keeps of the classifier of this name.

    >>> list(kept("least-squares").fitted)
    ['_dtype', 'n_parameters_', 'output_weights_']
    """
    said = describe(classifier)
    return FieldsKept(
        SCORERS.only(*said.scorers),
        _certificate(Kinds(_claims(said))),
        _COMMON | {name: form_of_field(field) for name, field in said.fitted.items()},
        frozenset(name for name, field in said.fitted.items() if field.of_two),
    )


def _claims(said: Description) -> dict[str, Record]:
    return {name: _record(**field.options) for name, field in said.claims.items()}


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
    """Set on a classifier all that its fit had set, but the certificate."""
    for attribute, value in fitted.items():
        setattr(model, attribute, value)
    if describe(name).traced:
        model.trace_ = ()
    model.classes_, model.scorer_, model.n_features_in_ = scorer.classes, scorer, columns
    if features is not None:
        model.feature_names_in_ = np.array(features, dtype=object)
