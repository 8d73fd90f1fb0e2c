"""The classifiers on the command line: their names, the options for their settings, and a sentence about one.

Names come from the classifiers' descriptions (``classifiers/description.py``), options from their signatures and
docstrings (``classifiers/signatures.py``). Without an option, the classifier keeps its default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from functools import cache
from textwrap import wrap
from typing import Any, TypeVar

import click

from separatrix.classifiers import CLASSIFIERS, OFFERED, describe, hyperparameters, name_of
from separatrix.classifiers.signatures import Hyperparameter
from separatrix.core.base.errors import ParameterError

F = TypeVar("F", bound=Callable[..., Any])

# The default classifier, alone and as the base of others.
DEFAULT_MODEL = "logistic"
# The options that say how a table is written, and those that choose its columns.
SPELLED = ("header", "delimiter", "quote", "decimal", "encoding", "na", "date_format", "max_columns", "max_unpacked")
SELECTED = ("target", "drop", "category", "number", "schema")
# What a model file remembers of them, so that it need not be given again.
REMEMBERED = ("na", "date_format")
_OF_TABLES = (*SELECTED, "missing", "reference", "text", "memory", "cache", *SPELLED)
# Options that are not called like the parameters that they set.
_NAMED_OTHERWISE = {"header": "--no-header", "fit_intercept": "--no-intercept"}
_METAVARS = {"number": "NUMBER", "integer": "N", "choice": "NAME", "text": "NAME"}
# The help for settings that several classifiers have, or whose option turns them off. The others are explained by the
# first sentence of their description in the classifier's docstring.
_HELP = {
    "C": "Inverse regularisation strength; 1 by default. For logistic also inf (no penalty) or auto (chosen by "
    "leave-one-out cross-validation).",
    "l1_ratio": "Elastic-net mixing parameter, from 0 (ridge, the default) to 1 (lasso, which makes some weights "
    "exactly zero).",
    "fit_intercept": "Fit without an intercept.",
    "class_weight": "Give every class the same total weight.",
    "tol": "Tolerance: stop when the proven gap between the objective and its minimum is at most this multiple of the "
    "null model's objective; 1e-8 by default.",
    "max_iter": "Maximum number of iterations.",
    "stop_on_proof": "For perceptron: if the classes are not separable, go on to --max-iter instead of stopping at the "
    "proof.",
}


@cache
def settings() -> Mapping[str, Mapping[str, Hyperparameter]]:
    """The hyperparameters of all classifiers in the order of the registry, each with the classifiers that have it.

    >>> list(settings()["C"])
    ['logistic', 'linear-svc']
    """
    found: dict[str, dict[str, Hyperparameter]] = {}
    for model in OFFERED:
        for name, one in hyperparameters(model).items():
            found.setdefault(name, {})[model] = one
    return found


def switches() -> list[str]:
    """The settings whose options take no value."""
    return [name for name in settings() if _first(name).kind == "switch"]


@cache
def options() -> Mapping[str, str]:
    """The options by the parameters that they set.

    >>> options()["l1_ratio"], options()["average"], options()["stop_on_proof"]
    ('--l1-ratio', '--average', '--no-stop-on-proof')
    """
    off = {name for name in switches() if _first(name).default is True}
    return {
        name: _NAMED_OTHERWISE.get(name, f"--{'no-' * (name in off)}{name.replace('_', '-')}")
        for name in (*settings(), *_OF_TABLES)
    }


def _first(name: str) -> Hyperparameter:
    """The hyperparameter of this name of the first classifier that has it."""
    return next(iter(settings()[name].values()))


def _type_of(name: str) -> Any:
    """The click type that converts the option's text."""
    setting = _first(name)
    if setting.kind == "integer":
        return int
    if setting.kind != "number":
        exclusive = all(one.kind == "choice" and one.exclusive for one in settings()[name].values())
        return click.Choice(_words(name)) if exclusive else str
    words = _words(name)
    if not words:
        return float

    def number_or_word(value: Any) -> float | str:  # Not a click.ParamType, which is generic only since click 8.4.
        if isinstance(value, float) or value in words:
            return value  # type: ignore[no-any-return]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise click.BadParameter(f"{value!r} is neither a number nor {' or '.join(map(repr, words))}.")
        return number

    return number_or_word


def _words(name: str) -> list[str]:
    """The words that any classifier accepts for a setting."""
    return list(dict.fromkeys(word for one in settings()[name].values() for word in one.words))


def _help_of(name: str) -> str:
    """The help of a setting: worded for the shell here, or by the docstring of the classifier that has it."""
    if name in _HELP:
        return _HELP[name]
    owners, setting = settings()[name], _first(name)
    if setting.kind == "choice" and len(owners) > 1:
        listed = {model: _listed(one) for model, one in owners.items()}
        if len(set(listed.values())) == 1:
            return f"{listed.popitem()[1]}."
        return " ".join(f"For {model}: {words}." for model, words in listed.items())
    text = setting.about.rstrip(".")
    if f'"{setting.default}"' in text:
        text = text.replace(f'"{setting.default}"', f"{setting.default}, the default")
    elif setting.kind == "switch":
        text += "; this option turns it off" if setting.default else ""
    elif setting.default is not None:
        text += f"; {_short(setting.default)} by default"
    text = text.replace('"', "").replace("`", "")
    *others, last = owners
    named = f"{', '.join(others)} and {last}" if others else last
    return f"For {named}: {text[:1].lower()}{text[1:]}."


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _listed(setting: Hyperparameter) -> str:
    *words, last = [f"{word} (the default)" if word == setting.default else word for word in setting.words]
    return f"{', '.join(words)} or {last}"


def models_listed() -> str:
    """The list of models for the end of a help text."""
    lines = list[str]()
    for name in OFFERED:
        # click indents the list by two more in a terminal of 80 columns.
        lines += wrap(f"  {name:<17}{describe(name).about}", 78, subsequent_indent=" " * 19)
    return "\b\nModels:\n" + "\n".join(lines) + "\n\n"


def model_options(command: F) -> F:
    """Add ``--model``, ``--base`` and one option for each setting."""
    for name in reversed(list(settings())):
        setting, kind = _first(name), dict[str, Any](is_flag=True)
        if setting.kind != "switch":
            kind = {"type": (type_ := _type_of(name))}
            if not isinstance(type_, click.Choice):
                kind["metavar"] = _METAVARS[setting.kind]
        command = click.option(options()[name], name, help=_help_of(name), default=None, **kind)(command)
    parts = click.Choice([name for name in OFFERED if not describe(name).parts])
    base = f"The base model of {' and '.join(_made_of_parts())}; {DEFAULT_MODEL} by default."
    command = click.option("--base", type=parts, metavar="NAME", help=base)(command)
    kinds = f"One of {', '.join(OFFERED)}; {DEFAULT_MODEL} by default. Described below."
    names = click.Choice(list(OFFERED))
    return click.option("--model", type=names, default=DEFAULT_MODEL, metavar="NAME", help=kinds)(command)


def _made_of_parts() -> list[str]:
    return [name for name in OFFERED if describe(name).parts]


def unfitted(model: str, base: str | None, seed: int, given: dict[str, Any]) -> Any:
    """The classifier that the options ask for. ``given`` holds values by parameter, None for options not given.

    >>> unfitted("perceptron", None, 0, {"max_iter": 50, "C": None})
    Perceptron(max_iter=50, random_state=0)
    """
    asked = {
        name: not _first(name).default if name in switches() else given[name]
        for name in settings()
        if given.get(name) is not None
    }
    if not describe(model).parts:
        if base is not None:
            problem = f"{model} is not made of other models"
            raise ParameterError("--base", problem, f"leave it out, or choose --model {' or '.join(_made_of_parts())}")
        return _made(model, asked, seed)
    return CLASSIFIERS[model](_made(base or DEFAULT_MODEL, asked, seed))


def model_words(model: str, base: str | None, given: Mapping[str, Any]) -> list[str]:
    """The options that ask for a classifier with these settings.

    >>> model_words("one-versus-rest", "perceptron", {"pocket": True})
    ['--model', 'one-versus-rest', '--base', 'perceptron', '--pocket']
    """
    words = ["--model", model] + ([] if base is None else ["--base", base])
    for name in settings():
        if name in given:
            words += [options()[name]] + ([] if name in switches() else [str(given[name])])
    return words


def given_words(name: str | None) -> str:
    """The key under which a context keeps what was given for an option, if its value is made of it."""
    return f"separatrix.given.{name}"


def repeated(context: click.Context, names: Collection[str]) -> list[str]:
    """The options of these names as given on the command line, to repeat them in another command."""
    words: list[str] = []
    for option in context.command.params:
        value: Any = context.meta.get(given_words(option.name), context.params.get(option.name or ""))
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if option.name not in names or not given or not isinstance(option, click.Option):
            continue
        if option.is_flag:
            words.append(option.opts[-1])
        else:
            for single in value if option.multiple else [value]:
                words += [option.opts[-1], str(single)]
    return words


def _made(name: str, asked: dict[str, Any], seed: int) -> Any:
    """The classifier of this name. Settings that it does not have are refused."""
    known = hyperparameters(name)
    for parameter in asked:
        if parameter not in known:
            has = ", ".join(options()[one] for one in known) or "no options of its own"
            raise ParameterError(options()[parameter], f"{name} has no such setting", f"leave it out; it has {has}")

    kind = CLASSIFIERS[name]
    seeded = {"random_state": seed} if "random_state" in kind().get_params(deep=False) else {}
    return kind(**asked, **seeded)


# --- A classifier in one sentence

# Settings that are shown elsewhere, or that are not interesting in a sentence.
_NOT_SHOWN = {"random_state", "warm_start", "estimator", "tol", "max_iter"}


def model_sentence(name: str, model: Any) -> str:
    """A fitted classifier in one sentence: what it is, and the settings that differ from the defaults.

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
