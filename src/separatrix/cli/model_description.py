"""A classifier in one sentence: its name and the settings that differ from the defaults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from separatrix.classifiers import describe, name_of

# Settings that are shown elsewhere, or that are not interesting in a sentence.
_NOT_SHOWN = {"random_state", "warm_start", "estimator", "tol", "max_iter"}


def model_sentence(name: str, model: Any) -> str:
    """The sentence about a fitted classifier.

    >>> from separatrix import Perceptron
    >>> model_sentence("perceptron", Perceptron("batch").fit([[0.0], [1.0]], [0, 1]))
    "Rosenblatt's perceptron, update=batch"
    """
    about = describe(name).about.partition(";")[0]
    part = getattr(model, "estimator", None)
    if part is not None:
        inner = name_of(type(part))
        assert inner is not None  # The command line uses only registered classifiers as parts.
        return f"{about}; each is {model_sentence(inner, part)}"
    own = model.get_params(deep=False)
    return ", ".join([about, *_DESCRIBED_BY.get(name, _changed)(type(model)().get_params(deep=False), own, model)])


def _changed(before: Mapping[str, Any], now: Mapping[str, Any], model: Any) -> list[str]:
    """The settings that differ from the defaults."""
    named = [name for name, value in now.items() if name not in _NOT_SHOWN and str(value) != str(before[name])]
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
    chosen = " (chosen by leave-one-out)" if now["C"] == "auto" else ""
    return [f"C={C:.4g}{chosen}" if isinstance(C, float) else f"C={C}", *rest]


_DESCRIBED_BY: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any], Any], list[str]]] = {"logistic": _logistic}
