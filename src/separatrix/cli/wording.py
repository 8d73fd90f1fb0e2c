"""Messages for the shell: each typed part of a message (``base/messages.py``) becomes an option.

setting             missing='impute', C=np.inf     --missing impute, --C inf
a parameter         raise max_iter                 raise --max-iter
a classifier        MaxMarginClassifier            --model max-margin

Text without typed parts, such as a name or a cell of the user's, stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING

from separatrix.base.messages import ByAudience, Classifier, Message, Parameter, Part, Setting, choices
from separatrix.cli.models import OPTIONS, settings

if TYPE_CHECKING:
    from separatrix.checks import Checks


def in_shell(text: str) -> str:
    """The text with settings written as options.

    >>> in_shell(Message("leave it out with ", Setting("drop", "row id"), ", or raise ", Parameter("max_iter")))
    "leave it out with --drop 'row id', or raise --max-iter"
    >>> in_shell(Message("use ", Classifier("FisherDiscriminant", Setting("direction", "means"))))
    'use --model fisher --direction means'
    """
    return str(text.mapped(_in_shell)) if isinstance(text, Message) else text


def _in_shell(part: Part) -> str | Part:
    if isinstance(part, Setting) and part.name in OPTIONS:
        return _option(part)
    if isinstance(part, Parameter):
        return OPTIONS.get(part.name, part.name)
    if isinstance(part, Classifier) and part.name in _models():
        return " ".join(["--model", _models()[part.name], *map(_option, part.settings)])
    return part.shell if isinstance(part, ByAudience) else part


def _option(setting: Setting) -> str:
    option = OPTIONS[setting.name]
    if not setting.values or setting.name in _flags():
        return option
    if len(setting.values) == 1:
        return " ".join(map(_quoted, option_words(setting)))
    return f"{option} {choices([_quoted(str(value)) for value in setting.values])}"


def _quoted(value: str) -> str:
    """A word as the shell reads it; a single quote alone stands in double quotes.

    >>> print(_quoted("a b"), _quoted("'"))
    'a b' "'"
    """
    return '"\'"' if value == "'" else quote(value)


def option_words(setting: Setting) -> list[str]:
    """The words of a command that give a setting its value. A tuple of values repeats the option.

    >>> option_words(Setting("drop", ("id", "key"))), option_words(Setting("header", False))
    (['--drop', 'id', '--drop', 'key'], ['--no-header'])
    """
    option, (value,) = OPTIONS[setting.name], setting.values
    if setting.name in _flags():
        return [option]
    return [word for single in (value if isinstance(value, tuple) else (value,)) for word in (option, str(single))]


@cache
def _flags() -> frozenset[str]:
    """The settings whose options take no value."""
    return frozenset({"header", *(setting.parameter for setting in settings() if setting.flag is not None)})


@cache
def _models() -> dict[str, str]:
    """The command-line names of the models by their class names."""
    from separatrix.classifiers import OFFERED

    return {kind: name for name, (_, kind) in OFFERED.items()}


def checks_in_shell(checks: Checks) -> Checks:
    """The findings and notes with settings written as options."""
    findings = tuple(
        replace(one, sentence=in_shell(one.sentence), remedy=in_shell(one.remedy)) for one in checks.findings
    )
    return replace(checks, findings=findings, notes=tuple(map(in_shell, checks.notes)))
