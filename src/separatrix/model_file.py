"""A model as JSON, in and out: readable, checked, and nothing in it is ever run.

The file is sealed (see ``sealed``): a model that differs by one byte from what was written is refused. Its content:

    classifier, parameters    the registry's name; the settings that JSON can hold
    weights, classes, link    all that prediction needs: a ``Scorer``
    features, target          names of the columns, or null
    certificate               with its claim, so that ``verify(X, y)`` works from the file
    training, separatrix      what it was fitted on; the version that wrote it

Numbers that are not finite, such as C without a penalty, are the strings "inf", "-inf" and "nan". Version 2 of the
format added the claim's l1_ratio; a file of another version is refused.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from separatrix import sealed
from separatrix._version import __version__
from separatrix.arrays import AnyArray, Array
from separatrix.certificate import Certificate
from separatrix.claims import FirthClaim, LikelihoodClaim
from separatrix.errors import ModelFileError, ParameterError
from separatrix.links import LINKS
from separatrix.losses import LOSSES
from separatrix.scorer import Scorer

FORMAT, VERSION = "separatrix-model", 2
_NOT_FINITE = {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}
_WHOLE = tuple(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))
# What labels may be: the name of their array's type, and the type that each must have in JSON.
_LABELS: dict[str, tuple[type, ...]] = {
    "str": (str,),
    "bool": (bool,),
    "object": (str, bool, int, float),
    **dict.fromkeys(_WHOLE, (int,)),
    **dict.fromkeys(("float16", "float32", "float64"), (float,)),
}


@dataclass(frozen=True)
class ModelFile:
    """What a file holds. ``features``: the columns' names, None where rows had none; ``training``: plain values."""

    classifier: str
    scorer: Scorer
    parameters: Mapping[str, Any] = field(default_factory=dict)
    features: tuple[str, ...] | None = None
    target: str | None = None
    certificate: Certificate | None = None
    training: Mapping[str, Any] = field(default_factory=dict)
    made_by: str = __version__

    @classmethod
    def of(
        cls,
        model: Any,
        features: tuple[str, ...] | None = None,
        target: str | None = None,
        training: Mapping[str, Any] | None = None,
    ) -> ModelFile:
        """A fitted estimator as a model file. Settings that JSON cannot hold (solver objects) are left out."""
        from separatrix.classifiers import CLASSIFIERS

        name = next((name for name, kind in CLASSIFIERS.items() if type(model) is kind), None)
        if name is None:
            raise ParameterError("model", f"got {type(model).__name__}", "give a fitted LogisticRegression")
        scorer = model.scorer_of()
        if features is None and hasattr(model, "feature_names_in_"):
            features = tuple(str(column) for column in model.feature_names_in_)
        settings = {}
        for key, value in model.get_params(deep=False).items():
            try:
                settings[key] = _plain(value)
            except TypeError:
                continue
        return cls(name, scorer, settings, features, target, model.certificate_, training or {})

    def estimator(self) -> Any:
        """The fitted scikit-learn estimator."""
        from separatrix.classifiers import CLASSIFIERS

        kind = CLASSIFIERS.get(self.classifier)
        if kind is None:
            raise ModelFileError(f"its classifier {self.classifier!r} is none of {', '.join(CLASSIFIERS)}")
        unknown = set(self.parameters) - set(kind().get_params(deep=False))
        if unknown:
            raise ModelFileError(f"{self.classifier} has no parameter {sorted(unknown)[0]!r}")
        model = kind(**{key: _from_plain(value) for key, value in self.parameters.items()})
        model.scorer_ = self.scorer
        model.classes_ = self.scorer.classes
        model.coef_, model.intercept_ = self.scorer.W[:, 1:].copy(), self.scorer.W[:, 0].copy()
        model.n_features_in_ = self.scorer.n_features
        if self.features is not None:
            model.feature_names_in_ = np.array(self.features, dtype=object)
        if self.certificate is not None:
            model.certificate_, model.n_iter_ = self.certificate, self.certificate.iterations
        model.trace_ = ()
        return model

    def content(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "certificate": None if self.certificate is None else _plain_certificate(self.certificate),
            "classes": _plain_classes(self.scorer.classes),
            "classifier": self.classifier,
            "features": None if self.features is None else list(self.features),
            "link": self.scorer.link_name,
            "parameters": dict(self.parameters),
            "separatrix": self.made_by,
            "target": self.target,
            "training": {key: _plain(value) for key, value in self.training.items()},
            "weights": _finite("weights", self.scorer.W).tolist(),
        }


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted ``LogisticRegression`` to ``path``; the file appears whole or not at all.

    >>> import tempfile
    >>> from separatrix import LogisticRegression, load, save
    >>> model = LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, f"{folder}/model.json")
    ...     load(f"{folder}/model.json").predict([[0.2], [0.9]]).tolist()
    ['no', 'yes']
    """
    write(ModelFile.of(model), path)


def load(path: str | os.PathLike[str]) -> Any:
    """The fitted classifier in ``path``: the same predictions to the bit, and a certificate that verifies.

    >>> import tempfile
    >>> from separatrix import LogisticRegression, save
    >>> rows, labels = [[0.0], [1.0], [2.0]], ["no", "yes", "yes"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(LogisticRegression().fit(rows, labels), f"{folder}/model.json")
    ...     bool(load(f"{folder}/model.json").certificate_.verify(rows, labels))
    True
    """
    found = read(path)
    try:
        return found.estimator()
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)}: {fault}") from None


def write(model_file: ModelFile, path: str | os.PathLike[str]) -> None:
    """Write the file, whole or not at all."""
    sealed.replace_file(path, sealed.seal(FORMAT, VERSION, model_file.content()))


def read(path: str | os.PathLike[str]) -> ModelFile:
    """Read and check; needs no scikit-learn."""
    try:
        return _from_content(sealed.unseal(FORMAT, VERSION, sealed.read_file(path)))
    except ModelFileError as fault:
        raise ModelFileError(f"{os.fspath(path)}: {fault}") from None


def _plain(value: Any) -> Any:
    """A value in JSON's own types. Dictionaries are {"pairs": ...}, since their keys are labels of any type; text
    that would read as a number that is not finite is {"text": ...}.
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return {"text": value} if value in _NOT_FINITE else value
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {"pairs": [[_plain(key), _plain(item)] for key, item in value.items()]}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _from_plain(value: Any) -> Any:
    if isinstance(value, str):
        return _NOT_FINITE.get(value, value)
    if isinstance(value, list):
        return [_from_plain(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"text"} and isinstance(value["text"], str):
            return value["text"]
        pairs = value.get("pairs")
        _require(isinstance(pairs, list) and all(_is_pair(pair) for pair in pairs), "a setting has a wrong form")
        return {_from_plain(key): _from_plain(item) for key, item in value["pairs"]}
    return value


def _is_pair(value: Any) -> bool:
    """Whether these are a key and its value; a key may be text of the form {"text": ...}."""
    if not (isinstance(value, list) and len(value) == 2) or isinstance(value[0], list):
        return False
    return not isinstance(value[0], dict) or set(value[0]) == {"text"}


def _plain_classes(classes: AnyArray) -> dict[str, Any]:
    kind = {"U": "str", "T": "str", "O": "object"}.get(classes.dtype.kind, classes.dtype.name)
    values = [label.item() if isinstance(label, np.generic) else label for label in classes.tolist()]
    for label in values:
        if type(label) not in _LABELS.get(kind, ()) or (isinstance(label, float) and not math.isfinite(label)):
            came = f"the class {label!r} is of type {type(label).__name__}"
            raise ParameterError("model", came, "fit with labels that are text, finite numbers or truth values")
    return {"dtype": kind, "values": values}


def _plain_certificate(certificate: Certificate) -> dict[str, Any]:
    claim = certificate.claim
    if not isinstance(claim, LikelihoodClaim | FirthClaim):
        came = f"its certificate is of {type(claim).__name__}"
        raise ParameterError("model", came, "save a LogisticRegression; other kinds have no file format yet")
    plain = {
        key: value if isinstance(value, str) else _plain(value)  # text has a place of its own: no need to mark it
        for key, value in certificate.to_dict().items()
        if key != "facts"
    }
    plain["facts"] = [[key, _plain(value)] for key, value in certificate.facts.items()]  # in their order
    plain["claim"] = {
        "C": _plain(float(claim.C)),
        "class_weights": _finite("class weights", claim.class_weights).tolist(),
        "fit_intercept": bool(claim.fit_intercept),
        "l1_ratio": float(claim.l1_ratio),
        "loss": claim.loss,
        "penalty_factors": _finite("penalty factors", claim.penalty_factors).tolist(),
    } | ({"bias_reduction": "firth"} if isinstance(claim, FirthClaim) else {})
    return plain


def _finite(what: str, array: Array) -> Array:
    if not np.all(np.isfinite(array)):
        raise ParameterError(
            "model", f"its {what} are not all finite", "fit it again, with a smaller step or a penalty"
        )
    return np.asarray(array, dtype=np.float64)


def _require(holds: bool, check: str) -> None:
    if not holds:
        raise ModelFileError(check)


def _from_content(content: dict[str, Any]) -> ModelFile:
    """The model, once every key, type and shape has been seen to fit."""
    expected = {f.name for f in fields(ModelFile)} - {"scorer", "made_by"} | {
        "classes",
        "link",
        "separatrix",
        "weights",
    }
    _require(set(content) == expected, f"its content has not the keys {', '.join(sorted(expected))}")
    for key in ("classifier", "link", "separatrix"):
        _require(isinstance(content[key], str), f"{key!r} is not text")
    _require(content["target"] is None or isinstance(content["target"], str), "'target' is not text")
    for key in ("parameters", "training"):
        _require(isinstance(content[key], dict), f"{key!r} is not an object")
    scorer = _scorer(content)
    names = content["features"]
    if names is not None:
        of_text = isinstance(names, list) and all(isinstance(name, str) for name in names)
        _require(of_text and len(set(names)) == len(names), "'features' are not distinct names")
        _require(len(names) == scorer.n_features, f"there are {len(names)} names for {scorer.n_features} columns")
    found = content["certificate"]
    return ModelFile(
        content["classifier"],
        scorer,
        content["parameters"],
        None if names is None else tuple(names),
        content["target"],
        None if found is None else _certificate(found, scorer),
        {key: _from_plain(value) for key, value in content["training"].items()},
        content["separatrix"],
    )


def _scorer(content: dict[str, Any]) -> Scorer:
    classes, rows, link = _classes(content["classes"]), content["weights"], content["link"]
    _require(link in LINKS, f"its link {link!r} is unknown")
    _require(isinstance(rows, list), "'weights' is not a matrix")
    scores = 1 if len(classes) == 2 else len(classes)
    _require(len(rows) == scores, f"its weights have {len(rows)} rows, where {len(classes)} classes need {scores}")
    _require((link == "softmax") <= (scores > 1) and (link == "logit") <= (scores == 1), "its link does not fit")
    width = len(rows[0]) if isinstance(rows[0], list) else 0
    _require(width >= 2, "its weights have no columns")
    return Scorer(np.stack([_floats("weights", row, width) for row in rows]), classes, link)


def _classes(found: Any) -> AnyArray:
    _require(isinstance(found, dict) and set(found) == {"dtype", "values"}, "'classes' has a wrong form")
    kind, values = found["dtype"], found["values"]
    _require(isinstance(kind, str) and kind in _LABELS, f"its classes are of an unknown type, {kind!r}")
    _require(isinstance(values, list) and len(values) >= 2, "it has fewer than two classes")
    _require(all(type(label) in _LABELS[kind] for label in values), f"its classes are not all of type {kind}")
    _require(len({(type(label), label) for label in values}) == len(values), "a class is there twice")
    if kind == "object":
        classes = np.empty(len(values), dtype=object)
        classes[:] = values
        return classes
    try:
        return np.array(values, dtype=kind)
    except OverflowError:
        raise ModelFileError(f"a class does not fit into {kind}") from None


def _certificate(found: Any, scorer: Scorer) -> Certificate:
    kinds = {f.name: str(f.type) for f in fields(Certificate) if f.name not in ("claim", "facts")}
    _require(
        isinstance(found, dict) and set(found) == {*kinds, "claim", "facts"},
        "its certificate lacks a key, or has more",
    )
    values = {name: _of_kind(f"certificate's {name}", found[name], kind) for name, kind in kinds.items()}
    claim = found["claim"]
    keys = {"C", "class_weights", "fit_intercept", "l1_ratio", "loss", "penalty_factors"}
    _require(isinstance(claim, dict) and set(claim) - {"bias_reduction"} == keys, "its claim lacks a key, or has more")
    _require(claim.get("bias_reduction", "firth") == "firth", "its claim's bias_reduction is unknown")
    C = _of_kind("claim's C", claim["C"], "float")
    _require(C > 0, "its claim's C is not positive")
    l1_ratio = _of_kind("claim's l1_ratio", claim["l1_ratio"], "float")
    _require(0 <= l1_ratio <= 1, "its claim's l1_ratio is not between 0 and 1")
    _require(claim["loss"] in LOSSES, "its claim's loss is unknown")
    factors = _not_negative("penalty factors", claim["penalty_factors"], scorer.n_features)
    fit_intercept = _of_kind("claim's fit_intercept", claim["fit_intercept"], "bool")
    by_class = _not_negative("class weights", claim["class_weights"], len(scorer.classes))
    held: LikelihoodClaim | FirthClaim
    if "bias_reduction" in claim:
        held = FirthClaim(scorer, fit_intercept, by_class)
    else:
        held = LikelihoodClaim(scorer, C, factors, fit_intercept, by_class, claim["loss"], l1_ratio)
    return Certificate(**values, claim=held, facts=_facts(found["facts"]))


def _facts(found: Any) -> dict[str, str | float | int]:
    pairs = isinstance(found, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in found)
    _require(pairs, "its certificate's facts are not pairs")
    facts = [(name, _from_plain(value)) for name, value in found]
    plain = all(type(name) is str and type(value) in (str, int, float) for name, value in facts)
    _require(plain, "its certificate's facts are not plain values")
    return dict(facts)


def _of_kind(what: str, value: Any, kind: str) -> Any:
    """A value of the annotated kind: one of str, bool, int, float, with or without ``| None``."""
    name, _, optional = kind.partition(" | ")
    if value is None and optional == "None":
        return None
    if name == "float" and isinstance(value, str) and value in _NOT_FINITE:
        return _NOT_FINITE[value]
    _require(type(value).__name__ == name, f"its {what} is {value!r}, not of type {kind}")
    return value


def _floats(what: str, values: Any, length: int) -> Array:
    _require(isinstance(values, list) and len(values) == length, f"its {what} are not {length} numbers a row")
    _require(all(type(value) is float for value in values), f"its {what} are not all decimal numbers")
    return np.array(values, dtype=np.float64)


def _not_negative(what: str, values: Any, length: int) -> Array:
    found = _floats(what, values, length)
    _require(bool(np.all(found >= 0)), f"its {what} are not all positive or zero")
    return found
