"""A model as JSON types, and back. The content is the same for a whole model and for a model inside another.

    classifier, parameters, left_out    the name in the registry; the settings; the names of those that JSON cannot hold
    columns, features, classes          d; the names of the columns or null; the labels
    scorer                              all that prediction needs
    fitted                              the other attributes that ``fit`` sets
    certificate                         with its claim, so that ``verify(X, y)`` works for a loaded model

They are written and read in this order. An object that occurs in several places is written in the first of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.base.errors import ModelFileError
from separatrix.classifiers import OFFERED
from separatrix.model_file.class_forms import Labels
from separatrix.model_file.fields_by_classifier import FieldsKept, kept
from separatrix.model_file.forms import Choice, Maybe, Plain, Several
from separatrix.model_file.kinds import SCHEMES, SCORERS
from separatrix.model_file.places import Reading, Writing
from separatrix.model_file.records import require_keys

if TYPE_CHECKING:
    from separatrix.model_file.model import ModelFile

KEYS = frozenset(
    ("certificate", "classes", "classifier", "columns", "features", "fitted", "left_out", "parameters", "scorer")
)
_NAMES = Several(Plain(str), "d")


def _sizes(classifier: str, n_classes: int, columns: int) -> dict[str, int]:
    """The lengths of the named axes of a model's arrays."""
    sizes = {"K": n_classes, "scores": 1 if n_classes == 2 else n_classes, "d": columns, "1+d": columns + 1}
    parts = {"models": SCHEMES[classifier].n_models(n_classes)} if classifier in SCHEMES else {}
    return sizes | parts


def plain_body(model: ModelFile, at: Writing) -> dict[str, Any]:
    """The model as JSON types."""
    if model.features is not None and len(set(model.features)) < len(model.features):
        raise at.into("features").refuse("are not distinct", "give every column a different name")
    fields, fitted = kept(model.classifier), model.fitted
    names = fields.names(len(model.scorer.classes)) if fitted else []
    return {
        "classifier": model.classifier,
        "parameters": dict(model.parameters),
        "left_out": list(model.left_out),
        "columns": int(model.columns),
        "features": None if model.features is None else list(model.features),
        "classes": at.into("classes").plain(Labels(), model.scorer.classes),
        "scorer": at.into("scorer").plain(SCORERS, model.scorer),
        "fitted": {name: at.into("fitted").into(name).plain(fields.fitted[name], fitted[name]) for name in names},
        "certificate": at.into("certificate").plain(Maybe(fields.certificate), model.certificate),
    }


def read_body(content: Any, at: Reading) -> dict[str, Any]:
    """The fields of a ``ModelFile``, after checking every key, type and length."""
    if not isinstance(content, dict):
        raise ModelFileError(f"its {at.path} is not an object")
    require_keys(content, set(KEYS), at)
    name = at.into("classifier").read(Choice(OFFERED), content["classifier"])
    fields = kept(name)
    at.into("parameters").require(isinstance(content["parameters"], dict), "is not an object")
    columns = at.into("columns").read(Plain(int, 1), content["columns"])
    classes = at.into("classes").read(Labels(), content["classes"])
    at = at.within(**_sizes(name, len(classes), columns))
    features = at.into("features").read(Maybe(_NAMES), content["features"])
    at.into("features").require(features is None or len(set(features)) == len(features), "are not distinct names")
    scorer = at.into("scorer").read(fields.scorers, content["scorer"])
    fitted = _fitted(fields, content["fitted"], len(classes), at.into("fitted"))
    certificate = at.into("certificate").read(Maybe(fields.certificate), content["certificate"])
    return {
        "classifier": name,
        "scorer": scorer,
        "parameters": content["parameters"],
        "features": features,
        "certificate": certificate,
        "fitted": fitted,
        "left_out": at.into("left_out").read(Several(Plain(str)), content["left_out"]),
    }


def _fitted(fields: FieldsKept, content: Any, n_classes: int, at: Reading) -> dict[str, Any]:
    """The attributes of the fit: all of them, or none if the model was built by hand."""
    if not isinstance(content, dict):
        raise ModelFileError(f"its {at.path} is not an object")
    names = fields.names(n_classes) if content else []
    require_keys(content, set(names), at)
    return {name: at.into(name).read(fields.fitted[name], content[name]) for name in names}
