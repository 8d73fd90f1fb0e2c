"""Print the n-grams of a model with the largest weights. A model of text has too many to print them all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from separatrix.base.errors import printable
from separatrix.base.number_text import number_text
from separatrix.cli import terminal

if TYPE_CHECKING:
    from separatrix.table import Encoded, Encoder

# The number of n-grams printed for each class.
MOST_NGRAMS_SHOWN = 12


def text_places(encoder: Encoder | None) -> Iterator[tuple[Encoded, range]]:
    """The columns of text, each with the columns of X that are its n-grams."""
    start = 0
    for column in () if encoder is None else encoder.columns:
        if column.text is not None:
            yield column, range(start, start + column.values)
        start += column.width


def show_words(column: Encoded, heads: Sequence[str], values: Sequence[Sequence[float]], two_sided: bool) -> None:
    """The n-grams with the largest weights, one line for each head.

    ``values`` has for each n-gram of the column a weight for each head. With ``two_sided`` there are two heads and one
    weight, which is positive for the second.
    """
    assert column.text is not None
    terminal.say()
    if column.text.settings.hashed:
        terminal.line(
            "text", f"{terminal.item(column.name)}: {column.text.about}, so that n-grams have no weights of their own"
        )
        return
    terminal.line("text", f"{terminal.item(column.name)}, the heaviest of {column.text.about}")
    for k, head in enumerate(heads):
        weights = [(1 if k else -1) * row[0] if two_sided else row[k] for row in values]
        order = sorted(range(len(weights)), key=lambda j: -weights[j])[:MOST_NGRAMS_SHOWN]
        shown = [f"{column.text.terms[j]} {number_text(weights[j], 3)}" for j in order if weights[j] > 0]
        terminal.line("", f"{head}: {printable(', '.join(shown)) if shown else 'none'}")
