"""Messages in the shell's words. The library speaks Python: an argument is target, a setting missing='impute'.

argument            target                  --target
setting             missing='impute'        --missing impute
a bare setting      name it with target=    name it with --target
"""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import replace
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from separatrix.checks import Checks

# What is said of a table, by the options that say it.
TABLE_OPTIONS = {
    name: f"--{name}" for name in ("target", "drop", "schema", "missing", "encoding", "delimiter", "decimal")
}
_VALUE = r"""('(?:[^'\\]|\\.)*'|"[^"]*")"""
_OTHERS = r"((?:,? (?:\([^()]*\) )?(?:or )?'\w+')*)"
# Not in quotes: "target=Yes" is a column of X there.
_SETTING = re.compile(rf"(?<!['\"\w])({'|'.join(TABLE_OPTIONS)})=(?:{_VALUE}{_OTHERS}|(?=[\s,;.)]|$))")
_PHRASES = {"with unseen='average', which counts": "without --strict, which counts"}


def in_shell(text: str) -> str:
    """The text with options for settings.

    >>> in_shell("leave it out with drop='row id', or fit with missing='impute', 'indicator' or 'drop'")
    "leave it out with --drop 'row id', or fit with --missing impute, indicator or drop"
    """
    for python, shell in _PHRASES.items():
        text = text.replace(python, shell)
    return _SETTING.sub(_option, text)


def checks_in_shell(found: Checks) -> Checks:
    """What a table's findings and notes say, in the shell's words."""
    findings = tuple(replace(one, sentence=in_shell(one.sentence), do=in_shell(one.do)) for one in found.findings)
    return replace(found, findings=findings, notes=tuple(map(in_shell, found.notes)))


def _option(setting: re.Match[str]) -> str:
    name, value, others = setting.groups()
    if value is None:
        return TABLE_OPTIONS[name]
    return f"{TABLE_OPTIONS[name]} {quote(literal_eval(value))}{others.replace(chr(39), '')}"
