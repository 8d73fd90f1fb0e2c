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
import warnings
from ast import literal_eval
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from shlex import quote
from typing import TYPE_CHECKING

from separatrix.cli.models import OPTIONS

if TYPE_CHECKING:
    from separatrix.checks import Checks

_VALUE = r"""(?P<value>'(?:[^'\\]|\\.)*'|"[^"]*")"""
_OTHERS = r"(?P<others>(?:,? (?:\([^()]*\) )?(?:or )?'\w+')*)"
_NUMBER = r"(?P<number>np\.inf|[-+]?(?:inf|\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b)"
# Parameters that are no words of English, so that they are meant wherever they stand.
_PLAIN = ("max_iter", "l1_ratio", "bias_reduction", "class_weight", "eta0", "tol", "max_columns", "max_unpacked")
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
# Where quotes of either kind close, and where lines end, which close none.
_CLOSING = {"'": re.compile(r"'(?!\w)|\n"), '"': re.compile(r'"(?!\w)|\n')}


@cache
def _words() -> tuple[re.Pattern[str], dict[str, str]]:
    """All that may have to be said otherwise, and quotes that may open; classifiers' names in Python."""
    from separatrix.classifiers import OFFERED

    models = {kind: name for name, (_, kind) in OFFERED.items()}
    begin, end = r"(?<![\w=/.-])", r"(?![\w/-]|\.\w)"  # parts of paths are no words
    opening = r"""(?<![\w=])(?P<quote>['"])"""
    setting = rf"{begin}(?P<name>{'|'.join(OPTIONS)})=(?:{_VALUE}{_OTHERS}|{_NUMBER}|(?=[\s,;.)]|$))"
    model = rf"{begin}(?P<model>{'|'.join(models)}){end}(?:\((?P<given>[^()]*)\))?"
    bare = rf"{begin}(?P<bare>{'|'.join(_PLAIN)}){end}"
    return re.compile(rf"{opening}|{setting}|{model}|{bare}|(?P<inf>np\.inf)"), models


def in_shell(text: str) -> str:
    """The text with options for settings.

    >>> in_shell("leave it out with drop='row id', or fit with missing='impute', 'indicator' or 'drop'")
    "leave it out with --drop 'row id', or fit with --missing impute, indicator or drop"
    >>> in_shell("raise max_iter, or use FisherDiscriminant(direction='means')")
    'raise --max-iter, or use --model fisher --direction means'
    """
    for python, shell in _PHRASES.items():
        text = text.replace(python, shell)
    return "".join(_pieces(text))


def _pieces(text: str) -> Iterator[str]:
    """The text in the shell's words, piece by piece, in time linear in its length: a message may quote a file."""
    closing = {quote: [found.start() for found in pattern.finditer(text)] for quote, pattern in _CLOSING.items()}
    place = 0
    while found := _words()[0].search(text, place):
        yield text[place : found.start()]
        place = found.end()
        if found["quote"] is None:
            yield _said(found)
            continue
        ends = closing[found["quote"]]
        k = bisect_left(ends, place)
        if k < len(ends) and text[ends[k]] != "\n":
            place = ends[k] + 1
        yield text[found.start() : place]
    yield text[place:]


def checks_in_shell(found: Checks) -> Checks:
    """What a table's findings and notes say, in the shell's words."""
    findings = tuple(replace(one, sentence=in_shell(one.sentence), do=in_shell(one.do)) for one in found.findings)
    return replace(found, findings=findings, notes=tuple(map(in_shell, found.notes)))


def _said(found: re.Match[str]) -> str:
    if found["name"] is not None:
        return _option(*found.group("name", "value", "others", "number"))
    if found["model"] is not None:
        given = in_shell(found["given"] or "").replace(", ", " ")
        return f"--model {_words()[1][found['model']]} {given}".rstrip()
    if found["bare"] is not None:
        return OPTIONS[found["bare"]]
    return "inf" if found["inf"] is not None else found[0]


def _option(name: str, value: str | None, others: str | None, number: str | None) -> str:
    if value is not None:
        return f"{OPTIONS[name]} {quote(_unquoted(value))}{(others or '').replace(chr(39), '')}"
    return OPTIONS[name] if number is None else f"{OPTIONS[name]} {number.removeprefix('np.')}"


def _unquoted(value: str) -> str:
    r"""What stands in quotes, as Python writes it; as it is, where Python would not have written it so.

    >>> _unquoted(r"'it\'s'"), _unquoted(r"'\x'")
    ("it's", '\\x')
    """
    if "\\" not in value:
        return value[1:-1]
    with warnings.catch_warnings(action="ignore"):  # of backslashes that escape nothing
        try:
            return str(literal_eval(value))
        except (SyntaxError, ValueError):
            return value[1:-1]
