"""Texts that a person takes for one and a computer does not: Yes and yes, two spaces for one, é written in two ways.

They stay apart, since codes may differ by case alone; that they are there is said.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

from separatrix.table.cells import shortened

_SHOWN = 3


def alike(texts: Iterable[str]) -> list[list[str]]:
    """Those that differ only in case, in space between words or in how their letters are encoded, in groups.

    >>> alike(["yes", "no", "Yes", "New  York", "new york"])
    [['yes', 'Yes'], ['New  York', 'new york']]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(" ".join(normalize("NFKC", text).casefold().split()), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def told(what: str, texts: Iterable[str]) -> str:
    """A clause on the groups, or nothing.

    >>> told("levels", ["yes", "Yes"])
    "its levels 'Yes' and 'yes' differ only in case, space or the encoding of letters"
    """
    groups = alike(sorted(texts))
    if not groups:
        return ""
    shown = ", ".join(" and ".join(map(_spelled, group)) for group in groups[:_SHOWN])
    more = f" (and {len(groups) - _SHOWN} more)" if len(groups) > _SHOWN else ""
    return f"its {what} {shown}{more} differ only in case, space or the encoding of letters"


def _spelled(text: str) -> str:
    """In quotes; by the codes of its letters where it is not in the usual form and would look like one that is."""
    return repr(shortened(text)) if text == normalize("NFC", text) else ascii(shortened(text))
