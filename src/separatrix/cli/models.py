"""The classifiers on the command line: their names, and the options that become their settings.

Names are those of ``separatrix.classifiers.CLASSIFIERS``, written down once more, since importing that takes a second
and ``--help`` must not. An option that is not given leaves the classifier's own default.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from separatrix.base.errors import ParameterError

F = TypeVar("F", bound=Callable[..., Any])

MODELS: dict[str, str] = {
    "logistic": "logistic regression; softmax with several classes",
    "one-versus-one": "a model for each pair of classes, which vote",
    "one-versus-rest": "a model for each class against the rest",
    "perceptron": "Rosenblatt's perceptron",
    "kozinec": "Kozinec's algorithm: a separating hyperplane with a margin",
    "max-margin": "the separating hyperplane with the largest margin",
    "least-squares": "least squares on the labels as numbers",
    "fisher": "Fisher's discriminant",
    "lda": "linear discriminant analysis: Gaussians of one covariance",
    "qda": "quadratic discriminant analysis: a Gaussian for each class",
}
# Those with probabilities, unless a loss without any is chosen.
PROBABLE = ("logistic", "lda", "qda")
# Those that are made of models of two classes.
OF_PARTS = ("one-versus-one", "one-versus-rest")
PART = "logistic"


def strength(value: Any) -> float | str:
    """A number, or ``auto``. A function, since ``click.ParamType`` is generic only from click 8.4 on."""
    if isinstance(value, float) or value == "auto":
        return value  # type: ignore[no-any-return]
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise click.BadParameter(f"{value!r} is neither a number nor 'auto'.")
    return number


@dataclass(frozen=True)
class Setting:
    """An option and the parameter that it sets; ``flag``: the value that the option stands for, where it takes none."""

    option: str
    parameter: str
    help: str
    type: Any = None
    flag: Any = None
    metavar: str | None = None

    def decorate(self, command: F) -> F:
        """The command with this option."""
        kind: dict[str, Any] = (
            {"is_flag": True} if self.flag is not None else {"type": self.type, "metavar": self.metavar}
        )
        return click.option(self.option, self.parameter, help=self.help, default=None, **kind)(command)


SETTINGS: tuple[Setting, ...] = (
    Setting(
        "--C",
        "C",
        "Inverse strength of the penalty (1); inf for none, auto for the one that predicts rows left out best.",
        strength,
        metavar="NUMBER",
    ),
    Setting(
        "--l1-ratio",
        "l1_ratio",
        "Share of absolute values in the penalty (0): 0 ridge, 1 lasso, with weights of exactly zero.",
        float,
        metavar="SHARE",
    ),
    Setting(
        "--bias-reduction",
        "bias_reduction",
        "Firth's penalised likelihood in place of a penalty: finite weights where classes are separated.",
        click.Choice(["firth"]),
    ),
    Setting(
        "--solver",
        "solver",
        "auto (the default), newton, chord, sampled-newton, proximal-newton, working-set, gradient-descent, diagonal, "
        "dual, span, kronecker, lbfgs, sgd or minibatch.",
        str,
        metavar="NAME",
    ),
    Setting("--no-intercept", "fit_intercept", "Put the boundary through the origin.", flag=False),
    Setting("--class-weight", "class_weight", "Give every class the same total weight.", click.Choice(["balanced"])),
    Setting(
        "--tol",
        "tol",
        "Stop when proven this near to the optimum, relative to the null model (1e-8).",
        float,
        metavar="NUMBER",
    ),
    Setting("--max-iter", "max_iter", "Stop after so many iterations.", int, metavar="N"),
    Setting("--update", "update", "Of the perceptron: online (the default), batch or worst.", str, metavar="WORD"),
    Setting("--eta0", "eta0", "The perceptron's learning rate (1).", float, metavar="NUMBER"),
    Setting("--pocket", "pocket", "Keep the perceptron's best weights so far, for classes that overlap.", flag=True),
    Setting("--shuffle", "shuffle", "Show the perceptron the rows in another order each epoch.", flag=True),
    Setting("--eps", "eps", "Kozinec's: stop when the margin is within this of the largest.", float, metavar="NUMBER"),
    Setting("--l2", "l2", "Of least squares: the penalty's strength (0).", float, metavar="NUMBER"),
    Setting("--targets", "targets", "Of least squares: one-hot (the default) or signed.", str, metavar="WORD"),
    Setting(
        "--direction", "direction", "Of Fisher's discriminant: fisher (the default) or means.", str, metavar="WORD"
    ),
    Setting(
        "--threshold", "threshold", "Of Fisher's discriminant: gaussian (the default) or midpoint.", str, metavar="WORD"
    ),
)
SPELLED = ("encoding", "delimiter", "decimal", "max_columns", "max_unpacked")
_OF_TABLES = ("target", "drop", "schema", "missing", *SPELLED)
# The options by the arguments and parameters that they set.
OPTIONS = {setting.parameter: setting.option for setting in SETTINGS} | {
    name: f"--{name.replace('_', '-')}" for name in _OF_TABLES
}


def models_listed() -> str:
    """For the end of a help text."""
    lines = "\n".join(f"  {name:<17}{about}" for name, about in MODELS.items())
    return f"\b\nModels:\n{lines}\n\n"


def model_options(command: F) -> F:
    """``--model``, ``--base`` and one option for each setting."""
    for setting in reversed(SETTINGS):
        command = setting.decorate(command)
    parts = click.Choice([name for name in MODELS if name not in OF_PARTS])
    base = "Of which model one-versus-one and one-versus-rest are made (logistic)."
    command = click.option("--base", type=parts, metavar="NAME", help=base)(command)
    kinds = f"One of {', '.join(MODELS)} (logistic): see below."
    return click.option("--model", type=click.Choice(list(MODELS)), default=PART, metavar="NAME", help=kinds)(command)


def unfitted(model: str, base: str | None, seed: int, given: dict[str, Any]) -> Any:
    """The classifier that the options ask for. ``given``: by parameter, None where an option is not there.

    >>> unfitted("perceptron", None, 0, {"max_iter": 50, "C": None})
    Perceptron(max_iter=50, random_state=0)
    """
    from separatrix.classifiers import CLASSIFIERS

    asked = {
        setting.parameter: given[setting.parameter] if setting.flag is None else setting.flag
        for setting in SETTINGS
        if given.get(setting.parameter) is not None
    }
    if model not in OF_PARTS:
        if base is not None:
            came = f"{model} is not made of other models"
            raise ParameterError("--base", came, f"leave it out, or choose --model {' or '.join(OF_PARTS)}")
        return _made(CLASSIFIERS[model], model, asked, seed)
    part = base or PART
    return CLASSIFIERS[model](_made(CLASSIFIERS[part], part, asked, seed))


def model_words(model: str, base: str | None, settings: Mapping[str, Any]) -> list[str]:
    """The options that ask for a classifier with these settings.

    >>> model_words("one-versus-rest", "perceptron", {"pocket": True})
    ['--model', 'one-versus-rest', '--base', 'perceptron', '--pocket']
    """
    words = ["--model", model] + ([] if base is None else ["--base", base])
    for setting in SETTINGS:
        if setting.parameter in settings:
            words += [setting.option] + ([] if setting.flag is not None else [str(settings[setting.parameter])])
    return words


def repeated(context: click.Context, names: Collection[str]) -> list[str]:
    """The options of these names as they were given on the command line, to be given to another command."""
    words: list[str] = []
    for option in context.command.params:
        value: Any = context.params.get(option.name or "")
        given = context.get_parameter_source(option.name or "") is click.core.ParameterSource.COMMANDLINE
        if option.name not in names or not given or not isinstance(option, click.Option):
            continue
        if option.is_flag:
            words.append(option.opts[-1])
        else:
            for one in value if option.multiple else [value]:
                words += [option.opts[-1], str(one)]
    return words


def _made(kind: Any, name: str, asked: dict[str, Any], seed: int) -> Any:
    has = set(kind().get_params(deep=False)) - kind.without_effect
    for parameter in asked:
        if parameter not in has:
            own = [setting.option for setting in SETTINGS if setting.parameter in has]
            do = f"leave it out; it has {', '.join(own)}" if own else "leave it out; it has no options of its own"
            raise ParameterError(OPTIONS[parameter], f"{name} has no such setting", do)
    return kind(**asked, **({"random_state": seed} if "random_state" in has else {}))
