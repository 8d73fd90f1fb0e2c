"""The classifiers on the command line: their names, the options for their settings, and a sentence about one.

Names and options come from the classifiers' descriptions (``classifiers/description.py``). Without an option, the
classifier keeps its default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from textwrap import wrap
from typing import Any, TypeVar

import click

from separatrix.classifiers import CLASSIFIERS, OFFERED, describe, name_of
from separatrix.classifiers.description import ModelSetting
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import declared_keys

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
_NAMED_OTHERWISE = {"header": "--no-header"}


def settings() -> tuple[ModelSetting, ...]:
    """The settings of all classifiers in the order of the registry, each option once."""
    return tuple({setting.option: setting for name in OFFERED for setting in describe(name).settings}.values())


class _Options(Mapping[str, str]):
    """The options by the parameters that they set. Descriptions are read at first use."""

    def __getitem__(self, name: str) -> str:
        return _options()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_options())

    def __len__(self) -> int:
        return len(_options())


OPTIONS: Mapping[str, str] = _Options()


def _options() -> dict[str, str]:
    of_models = {setting.parameter: setting.option for setting in settings()}
    return of_models | {name: f"--{name.replace('_', '-')}" for name in _OF_TABLES} | _NAMED_OTHERWISE


def _type_of(setting: ModelSetting) -> Any:
    """The click type that converts the option's text."""
    if not setting.words:
        return setting.type
    if setting.type is str:
        return click.Choice(setting.words)

    def number_or_word(value: Any) -> float | str:  # Not a click.ParamType, which is generic only since click 8.4.
        if isinstance(value, float) or value in setting.words:
            return value  # type: ignore[no-any-return]
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isnan(number):
            raise click.BadParameter(f"{value!r} is neither a number nor {' or '.join(map(repr, setting.words))}.")
        return number

    return number_or_word


def _help_of(setting: ModelSetting) -> str:
    """The help of a setting, followed by all names of its registry if it has one."""
    if not setting.names:
        return setting.help
    module, _, registry = setting.names.partition(":")
    *names, last = declared_keys(module, registry)
    return f"{', '.join([setting.help, *names])} or {last}."


def models_listed() -> str:
    """The list of models for the end of a help text."""
    lines = list[str]()
    for name in OFFERED:
        # click indents the list by two more in a terminal of 80 columns.
        lines += wrap(f"  {name:<17}{describe(name).about}", 78, subsequent_indent=" " * 19)
    return "\b\nModels:\n" + "\n".join(lines) + "\n\n"


def model_options(command: F) -> F:
    """Add ``--model``, ``--base`` and one option for each setting."""
    for setting in reversed(settings()):
        kind: dict[str, Any] = {"type": _type_of(setting), "metavar": setting.metavar}
        kind = kind if setting.flag is None else {"is_flag": True}
        option = click.option(setting.option, setting.parameter, help=_help_of(setting), default=None, **kind)
        command = option(command)
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
        setting.parameter: given[setting.parameter] if setting.flag is None else setting.flag
        for setting in settings()
        if given.get(setting.parameter) is not None
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
    for setting in settings():
        if setting.parameter in given:
            words += [setting.option] + ([] if setting.flag is not None else [str(given[setting.parameter])])
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
    options = {setting.parameter: setting.option for setting in settings() if setting in describe(name).settings}
    for parameter in asked:
        if parameter not in options:
            has = ", ".join(options.values()) or "no options of its own"
            raise ParameterError(OPTIONS[parameter], f"{name} has no such setting", f"leave it out; it has {has}")

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
