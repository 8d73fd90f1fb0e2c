"""The classifiers as the pages offer them: titles and settings for forms, and estimators made of what was chosen.

Everything comes from the classifiers' descriptions, so a newly registered classifier appears without a line here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from separatrix.base.errors import InputError, ParameterError
from separatrix.classifiers import CLASSIFIERS, OFFERED, describe
from separatrix.classifiers.description import Setting
from separatrix.classifiers.setting_ranges import SettingRange, setting_ranges
from separatrix.lab.request_registry import got

# The classifier that a scheme is made of unless another is chosen.
DEFAULT_BASE = "logistic"


@cache
def offered() -> list[dict[str, Any]]:
    """All classifiers with their settings, for the forms of a page.

    >>> next(one["title"] for one in offered() if one["name"] == "lda")
    'Linear discriminant analysis'
    """
    return [_offered(name) for name in OFFERED]


def _offered(name: str) -> dict[str, Any]:
    known = describe(name)
    return {
        "name": name,
        "short": name.replace("-", " "),
        "title": titled(OFFERED[name][1]),
        "about": known.about,
        "probabilities": known.probabilities,
        "curved": known.curved,
        "base": [other for other in OFFERED if not describe(other).parts] if known.parts else [],
        "settings": [_form(found) for found in setting_ranges(name)],
    }


def titled(kind: str) -> str:
    """The name of a class as a title.

    >>> titled("LeastSquaresClassifier"), titled("LinearSVC"), titled("OneVsRestClassifier")
    ('Least squares', 'Linear SVC', 'One vs rest')
    """
    first, *others = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*", kind.removesuffix("Classifier"))
    return " ".join([first, *(word if len(word) > 1 and word.isupper() else word.lower() for word in others)])


def _form(found: SettingRange) -> dict[str, Any]:
    """A setting as a form shows it. A number has a slider if it has a default; others have a field."""
    form = {"parameter": found.parameter, "help": found.about, "default": found.default, "kind": found.kind}
    if found.kind == "choice":
        return form | {"words": found.choices}
    if found.kind == "number" and found.default is not None:
        return form | {"slider": {"low": found.low, "high": found.high, "log": found.logarithmic}}
    return form


@dataclass(frozen=True)
class Chosen:
    """A classifier that a page asks for: its name, the settings that differ from defaults, the base of a scheme."""

    name: str
    settings: Mapping[str, Any]
    base: str | None = None

    def estimator(self, seed: int | None = None) -> Any:
        """The unfitted estimator; ``seed`` is for classifiers that draw random numbers."""
        if not describe(self.name).parts:
            return self._made(self.name, seed)
        return CLASSIFIERS[self.name](self._made(self.base or DEFAULT_BASE, seed))

    def _made(self, name: str, seed: int | None) -> Any:
        known = {setting.parameter for setting in describe(name).settings}
        for parameter in self.settings:
            if parameter not in known:
                raise ParameterError(parameter, f"{name} has no such setting", "leave it out")
        kind = CLASSIFIERS[name]
        random = seed is not None and "random_state" in kind().get_params(deep=False)
        return kind(**self.settings, **({"random_state": seed} if random else {}))

    def python(self, seed: int | None = None) -> str:
        """The expression that makes the estimator.

        >>> print(Chosen("logistic", {"C": 10.0}).python())
        sx.LogisticRegression(C=10.0)
        """
        estimator = self.estimator(seed)
        if not describe(self.name).parts:
            return _expression(estimator, self.name)
        return f"sx.{type(estimator).__name__}({_expression(estimator.estimator, self.base or DEFAULT_BASE)})"


def _expression(estimator: Any, name: str) -> str:
    now = {key: getattr(estimator, key) for key in _defaults(name)}  # get_params would inspect the signature again
    given = {key: value for key, value in now.items() if value != _defaults(name)[key]}
    return f"sx.{type(estimator).__name__}({', '.join(f'{key}={_value(value)}' for key, value in given.items())})"


@cache
def _defaults(name: str) -> Mapping[str, Any]:
    found: Mapping[str, Any] = CLASSIFIERS[name]().get_params(deep=False)
    return found


def _value(value: Any) -> str:
    return 'float("inf")' if isinstance(value, float) and math.isinf(value) else repr(value)


def chosen(value: Any) -> Chosen:
    """A classifier from the payload of a request: {"name": ..., "settings": {...}, "base": ...}.

    >>> chosen({"name": "logistic", "settings": {"C": "10"}})
    Chosen(name='logistic', settings={'C': 10.0}, base=None)
    """
    match value:
        case {"name": str(name)} if name in OFFERED:
            pass
        case _:
            raise InputError("model", "it is not a classifier of this package", f"choose {', '.join(OFFERED)}")
    base = value.get("base") if describe(name).parts else None
    if base is not None and (not isinstance(base, str) or base not in OFFERED or describe(base).parts):
        raise InputError("base", got(base), "choose a classifier that is not made of others")
    forms = {setting.parameter: setting for setting in describe(base or name).settings}
    given = value.get("settings") or {}
    if not isinstance(given, Mapping):
        raise InputError("settings", "they are not names with values", "give a value for each name")
    settings = {key: _read(forms[key], one) for key, one in given.items() if key in forms}
    return Chosen(name, settings, base)


def _read(setting: Setting, value: Any) -> Any:
    """The value of a setting from a form or a link, where all values may be texts."""
    if setting.flag is not None:
        return value in (True, "true", "True", "1")
    if setting.type is str or value in setting.words:
        return None if value in ("", None) else str(value)
    try:
        return setting.type(float(value)) if setting.type is int else setting.type(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(setting.parameter, got(value), "give a number") from None
