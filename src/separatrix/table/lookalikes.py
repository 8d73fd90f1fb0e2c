"""Texts that look the same to a person and differ for a computer: Yes and yes, one space or two, é in two encodings.

They are kept apart, since codes may differ by case alone, and a note mentions them.
"""

from __future__ import annotations

from collections.abc import Iterable
from unicodedata import normalize

from separatrix.table.cells import shortened

# A note names this many groups; naming all could make it very long.
_GROUPS_SHOWN = 3


def alike(texts: Iterable[str]) -> list[list[str]]:
    """Groups of texts that differ only in case, in white space or in the encoding of their letters.

    >>> alike(["yes", "no", "Yes", "New  York", "new york"])
    [['yes', 'Yes'], ['New  York', 'new york']]
    """
    groups: dict[str, list[str]] = {}
    for text in texts:
        groups.setdefault(" ".join(normalize("NFKC", text).casefold().split()), []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def perhaps(text: str, known: Iterable[str]) -> str:
    """A suggestion of a known text that looks the same, in brackets; empty if there is none.

    >>> perhaps("yes ", ["no", "Yes"])
    " (perhaps 'Yes')"
    """
    near = [group for group in alike([text, *known]) if text in group]
    return f" (perhaps {_spelled(near[0][1])})" if near else ""


def told(what: str, texts: Iterable[str]) -> str:
    """A clause about the groups of ``alike``; empty if there are none.

    >>> told("levels", ["yes", "Yes"])
    "its levels 'Yes' and 'yes' differ only in case, space or the encoding of letters"
    """
    groups = alike(sorted(texts))
    if not groups:
        return ""
    shown = ", ".join(" and ".join(map(_spelled, group)) for group in groups[:_GROUPS_SHOWN])
    more = f" (and {len(groups) - _GROUPS_SHOWN} more)" if len(groups) > _GROUPS_SHOWN else ""
    return f"its {what} {shown}{more} differ only in case, space or the encoding of letters"


def _spelled(text: str) -> str:
    """The text in quotes. Letters in an unusual encoding are escaped, since they would look like the usual ones."""
    return repr(shortened(text)) if text == normalize("NFC", text) else ascii(shortened(text))
