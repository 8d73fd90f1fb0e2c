"""Numbers and sentences as reports write them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from separatrix.base.number_text import number_text

# A list in a sentence names at most this many things.
MOST_NAMED = 3


def percent(share: float, digits: int = 1) -> str:
    r"""A share in per cent, with a no-break space.

    >>> percent(0.9793), percent(1.0)
    ('97.9\xa0%', '100\xa0%')
    """
    return f"{100 * share:.{digits}f}".removesuffix("." + "0" * digits) + "\N{NO-BREAK SPACE}%"


def number(value: float, digits: int = 4) -> str:
    """A number as people write it; lines do not break after its minus sign.

    >>> number(-0.5), number(12345.0)
    ('−0.5', '12,345')
    """
    return number_text(value, digits).replace("-", "\N{MINUS SIGN}")


def signed(value: float, spec: str | None = None) -> str:
    """A number with its sign, by default with three significant digits; lines do not break after a minus sign.

    >>> signed(-2.5), signed(2.5), signed(0.0), signed(2.5, ".2f")
    ('−2.5', '+2.5', '0', '+2.50')
    """
    shown = number(value, 3) if spec is None else f"{value:{spec}}".replace("-", "\N{MINUS SIGN}")
    return f"+{shown}" if value > 0 else shown


def interval(shown: str) -> str:
    """Text whose lines may break before an interval but not within it."""
    value, bracket, rest = shown.partition(" (")
    return value.replace(" ", "\N{NO-BREAK SPACE}") + bracket + rest.replace(" ", "\N{NO-BREAK SPACE}")


def some(names: Sequence[Any], most: int = MOST_NAMED) -> str:
    """The names as a list in words; at most a few, then the number of others.

    >>> some(["a"]), some(["a", "b"]), some(["a", "b", "c", "d"])
    ('a', 'a and b', 'a, b, c and 1 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most:,} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def stated(sentence: str) -> str:
    """A status as a sentence: with a capital letter and a full stop.

    >>> stated("it stopped")
    'It stopped.'
    """
    return f"{sentence[:1].upper()}{sentence[1:]}."
