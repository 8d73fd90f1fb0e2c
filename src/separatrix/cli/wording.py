"""Messages in the shell's words. The library speaks Python: an argument is target, a setting missing='impute'.

argument            target                         --target
setting             missing='impute', C=np.inf     --missing impute, --C inf
a bare setting      name it with target=           name it with --target
a parameter         raise max_iter                 raise --max-iter
a classifier        MaxMarginClassifier            --model max-margin

What is in quotes is a name of the user's and stays as it is. What a shell cannot ask for is left out.
"""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import replace
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING

from separatrix.cli.models import OPTIONS

if TYPE_CHECKING:
    from separatrix.checks import Checks

_VALUE = r"""('(?:[^'\\]|\\.)*'|"[^"]*")"""
_OTHERS = r"((?:,? (?:\([^()]*\) )?(?:or )?'\w+')*)"
_NUMBER = r"(np\.inf|[-+]?(?:inf|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b)"
# Parameters that are no words of English, so that they are meant wherever they stand.
_PLAIN = ("max_iter", "l1_ratio", "bias_reduction", "class_weight", "eta0", "tol")
# Sentences on what only Python can be asked.
_PHRASES = {
    "with unseen='average', which counts": "without --strict, which counts",
    "Standardise, or give penalty_factors.": "Fit with --standardise.",
    "C is infinite, or one of penalty_factors is zero": "--C is infinite",
    "Ask separatrix.separability(X, y), which may take long.": "Leave columns out with --drop, and it is asked.",
    "was not asked: separability(X, y) does": "was not asked",
    "set reg_param > 0, or use": "or use",
    "a finite C": "a finite --C",
    "a small C": "a small --C",
}


@cache
def _words() -> tuple[re.Pattern[str], dict[str, str]]:
    """All that may have to be said otherwise, what is in quotes before all else; classifiers' names in Python."""
    from separatrix.classifiers import OFFERED

    models = {kind: name for name, (_, kind) in OFFERED.items()}
    begin, end = r"(?<![\w=/.-])", r"(?![\w/-]|\.\w)"  # parts of paths are no words
    quoted = r"""(?<![\w=])(?:'.*?'|".*?")(?!\w)"""
    setting = rf"{begin}(?P<name>{'|'.join(OPTIONS)})=(?:{_VALUE}{_OTHERS}|{_NUMBER}|(?=[\s,;.)]|$))"
    model = rf"{begin}(?P<model>{'|'.join(models)}){end}(?:\((?P<given>[^()]*)\))?"
    bare = rf"{begin}(?P<bare>{'|'.join(_PLAIN)}){end}"
    return re.compile(rf"{quoted}|{setting}|{model}|{bare}|(?P<inf>np\.inf)"), models


def in_shell(text: str) -> str:
    """The text with options for settings.

    >>> in_shell("leave it out with drop='row id', or fit with missing='impute', 'indicator' or 'drop'")
    "leave it out with --drop 'row id', or fit with --missing impute, indicator or drop"
    >>> in_shell("raise max_iter, or use FisherDiscriminant(direction='means')")
    'raise --max-iter, or use --model fisher --direction means'
    """
    for python, shell in _PHRASES.items():
        text = text.replace(python, shell)
    return _words()[0].sub(_said, text)


def checks_in_shell(found: Checks) -> Checks:
    """What a table's findings and notes say, in the shell's words."""
    findings = tuple(replace(one, sentence=in_shell(one.sentence), do=in_shell(one.do)) for one in found.findings)
    return replace(found, findings=findings, notes=tuple(map(in_shell, found.notes)))


def _said(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return _option(*found.group("name", 2, 3, 4))
    if found["model"] is not None:
        given = in_shell(found["given"] or "").replace(", ", " ")
        return f"--model {_words()[1][found['model']]} {given}".rstrip()
    if found["bare"] is not None:
        return OPTIONS[found["bare"]]
    return "inf" if found["inf"] is not None else found[0]


def _option(name: str, value: str | None, others: str | None, number: str | None) -> str:
    if value is not None:
        return f"{OPTIONS[name]} {quote(literal_eval(value))}{(others or '').replace(chr(39), '')}"
    return OPTIONS[name] if number is None else f"{OPTIONS[name]} {number.removeprefix('np.')}"
