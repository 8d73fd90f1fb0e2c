"""The settings of a classifier as JSON types, by name. A classifier inside another is given by its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from separatrix import classifiers
from separatrix.base.errors import ModelFileError, ParameterError
from separatrix.model_file.plain import from_plain, to_plain


def name_of(model: Any) -> str:
    """The name of a classifier in the registry; other objects are refused."""
    name = classifiers.name_of(type(model))
    if name is None:
        known = ", ".join(classifiers.OFFERED)
        remedy = f"give a fitted classifier of this package, with parts only from this package: {known}"
        raise ParameterError("model", f"a file cannot hold {type(model).__name__}", remedy)
    return name


def plain_settings(model: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The settings, and the names of those that JSON cannot hold, such as solver objects.

    >>> from separatrix import OneVsRestClassifier, Perceptron
    >>> settings, left_out = plain_settings(OneVsRestClassifier(Perceptron(eta0=0.5)))
    >>> settings["estimator"]["classifier"], settings["estimator"]["parameters"]["eta0"], left_out
    ('perceptron', 0.5, ())
    """
    settings: dict[str, Any] = {}
    left_out = list[str]()
    for key, value in model.get_params(deep=False).items():
        if hasattr(value, "get_params"):
            inner, lost = plain_settings(value)
            settings[key] = {"classifier": name_of(value), "parameters": inner}
            left_out += [f"{key}__{name}" for name in lost]
            continue
        try:
            settings[key] = to_plain(value)
        except TypeError:
            left_out.append(key)
    return settings, tuple(left_out)


def unfitted(name: str, parameters: Mapping[str, Any]) -> Any:
    """The classifier of this name with these settings, and defaults for the others."""
    if name not in classifiers.OFFERED:
        raise ModelFileError(f"its classifier {name!r:.60} is not one of {', '.join(classifiers.OFFERED)}")
    kind = classifiers.CLASSIFIERS[name]
    unknown = set(parameters) - set(kind().get_params(deep=False))
    if unknown:
        raise ModelFileError(f"{name} has no parameter {sorted(unknown)[0]!r:.60}")
    return kind(**{key: _setting(value) for key, value in parameters.items()})


def _setting(value: Any) -> Any:
    if isinstance(value, dict) and set(value) == {"classifier", "parameters"}:
        if not isinstance(value["classifier"], str) or not isinstance(value["parameters"], dict):
            raise ModelFileError("a setting has a wrong form")
        return unfitted(value["classifier"], value["parameters"])
    return from_plain(value)
