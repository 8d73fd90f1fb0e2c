"""A classifier in one sentence: what it is, and the settings that are not as they are by default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from separatrix.classifiers import describe, name_of

# Settings that are said elsewhere, or matter to nobody who reads a sentence.
_UNSAID = {"random_state", "warm_start", "estimator", "tol", "max_iter"}


def model_sentence(name: str, model: Any) -> str:
    """Of a fitted classifier.

    >>> from separatrix import Perceptron
    >>> model_sentence("perceptron", Perceptron("batch").fit([[0.0], [1.0]], [0, 1]))
    "Rosenblatt's perceptron, update=batch"
    """
    about = describe(name).about.partition(";")[0]
    part = getattr(model, "estimator", None)
    if part is not None:
        inner = name_of(type(part))
        assert inner is not None  # the command line makes parts of offered classifiers alone
        return f"{about}; each is {model_sentence(inner, part)}"
    own = model.get_params(deep=False)
    return ", ".join([about, *_SAID.get(name, _changed)(type(model)().get_params(deep=False), own, model)])


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], model: Any) -> list[str]:
    """Those that differ from the defaults."""
    named = [name for name, value in now.items() if name not in _UNSAID and str(value) != str(before[name])]
    return [_said(name, now[name]) for name in named]


def _said(name: str, value: Any) -> str:
    if name == "fit_intercept":
        return "no intercept"
    if name == "class_weight":
        return "classes balanced" if value == "balanced" else "classes weighted"
    return name if value is True else f"{name}={value:g}" if isinstance(value, float) else f"{name}={value}"


def _logistic(before: Mapping[str, Any], now: Mapping[str, Any], model: Any) -> list[str]:
    rest = _changed(before, {**now, "C": before["C"], "bias_reduction": None}, model)
    if now["bias_reduction"]:
        return ["bias reduced by Firth's likelihood", *rest]
    C = getattr(model, "C_", now["C"])
    chosen = " (chosen: the best for rows left out)" if now["C"] == "auto" else ""
    return [f"C={C:.4g}{chosen}" if isinstance(C, float) else f"C={C}", *rest]


_SAID: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], Any], list[str]]] = {"logistic": _logistic}
