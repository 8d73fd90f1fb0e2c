"""Messages for the pages: typed parts of a message (``base/messages.py``) become the words of the page's controls.

missing values         missing='impute'     "are filled" for Missing values
columns to leave out   drop='id'            the box 'id' under Columns used

The page Your data has no control for other settings of the reader, such as ``encoding``. An error that advises one of
them says so, and where it can be given. The settings of classifiers have the same names on the pages as in Python.
"""

from __future__ import annotations

from functools import cache
from inspect import signature

from separatrix.base.errors import InputError, SeparatrixError
from separatrix.base.messages import ByAudience, Message, Parameter, Part, Setting, choices
from separatrix.table import read_table

# How the page lists what is done with missing values, as in static/data.js.
MISSING = {
    "error": "are refused",
    "impute": "are filled",
    "indicator": "are filled and marked",
    "drop": "leave their row out",
}
# The settings of the reader that the page has a control for.
OFFERED = frozenset({"data", "target", "drop", "missing"})


def on_page(text: str) -> str:
    """The text with settings named as the page names them.

    >>> print(on_page(Message("choose ", Setting("missing", "impute", "drop"), ", or clear ", Setting("drop", "id"))))
    choose "are filled" or "leave their row out" for Missing values, or clear the box 'id' under Columns used
    """
    return str(text.mapped(_on_page)) if isinstance(text, Message) else text


def error_on_page(error: SeparatrixError) -> str:
    """The message of an error for the page; it says which of the advised settings the page does not have.

    >>> print(error_on_page(InputError("t.csv", "it is UTF-16 text", Message("give ", Setting("encoding", "utf-16")))))
    t.csv: it is UTF-16 text; give encoding='utf-16'. This page does not have the setting encoding: change the file, ...
    """
    if not isinstance(error, InputError):
        return str(error)
    lacking = sorted({one.name for one in error.remedies if isinstance(one, Setting | Parameter)} & _not_offered())
    words = on_page(error.message)
    if not lacking:
        return words
    named = f"setting{'s' * (len(lacking) > 1)} {' and '.join(lacking)}"
    return f"{words} This page does not have the {named}: change the file, or use the command separatrix fit."


@cache
def _not_offered() -> frozenset[str]:
    """The settings of the reader that the page has no control for."""
    return frozenset(signature(read_table).parameters) - OFFERED


def _on_page(part: Part) -> str | Part:
    if isinstance(part, ByAudience) and part.page is not None:
        return part.page
    if isinstance(part, Setting) and part.name == "missing":
        words = [f'"{MISSING[value]}"' for value in part.values]
        return " ".join(filter(None, [choices(words), "for Missing values"]))
    if isinstance(part, Setting) and part.name == "drop":
        return _boxes([one for value in part.values for one in (value if isinstance(value, tuple) else (value,))])
    return part


def _boxes(columns: list[str]) -> str:
    """The boxes of columns in the list of those that are used.

    >>> _boxes(["id"]), _boxes(["id", "key"]), _boxes([])
    ("the box 'id' under Columns used", "the boxes 'id', 'key' under Columns used", 'the boxes under Columns used')
    """
    named = ["the box" if len(columns) == 1 else "the boxes", ", ".join(map(repr, columns)), "under Columns used"]
    return " ".join(filter(None, named))
