"""The options for columns of free text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from separatrix.base.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.table import TextSettings

F = TypeVar("F", bound=Callable[..., Any])

_OPTIONS = (
    click.option(
        "--text",
        metavar="COL",
        multiple=True,
        help="Use this column of free text: each word and each pair of neighbouring words becomes a column, weighted "
        "by TF-IDF as in scikit-learn (lower case, words of two letters or more, 1 + ln count, rows of length 1). "
        "A missing text counts as empty if --missing fills it. May be repeated.",
    ),
    click.option(
        "--text-ngrams",
        type=click.IntRange(1, 10),
        metavar="N",
        help="Maximum number of words in an n-gram of --text; 2 by default, 1 for single words.",
    ),
    click.option(
        "--text-min-df",
        type=click.IntRange(1),
        metavar="N",
        help="Leave out n-grams that occur in fewer than N training rows; 2 by default.",
    ),
    click.option(
        "--text-features",
        type=click.IntRange(1),
        metavar="N",
        help="Keep the N most frequent n-grams of a column; 100000 by default. With --text-hashed, the number of "
        "columns.",
    ),
    click.option(
        "--text-hashed",
        is_flag=True,
        help="Hash n-grams to columns instead of keeping a vocabulary: signed counts without idf, as in "
        "scikit-learn's HashingVectorizer.",
    ),
)
# The settings of the options, by the names of the options' parameters.
_SETTINGS = {"text_ngrams": "ngrams", "text_min_df": "min_df", "text_features": "max_features", "text_hashed": "hashed"}
TEXT_PARAMETERS = ("text", *_SETTINGS)


def text_options(command: F) -> F:
    """Add the options for columns of free text."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def asked_text(given: dict[str, Any]) -> dict[str, TextSettings]:
    """The settings by column, from the values of the options; None or False for options that are not given."""
    from separatrix.table import TextSettings

    asked = {_SETTINGS[name]: given[name] for name in _SETTINGS if given[name]}
    if asked and not given["text"]:
        option = next(f"--{name.replace('_', '-')}" for name in _SETTINGS if given[name])
        raise ParameterError(option, "no column of text is named", "name one with --text COL")
    if "min_df" in asked and "hashed" in asked:
        remedy = "leave one of the two out"
        raise ParameterError("--text-min-df", "hashed n-grams are not counted by row", remedy)
    try:
        settings = TextSettings(**asked)
    except ParameterError as error:
        names = {setting: f"--{name.replace('_', '-')}" for name, setting in _SETTINGS.items()}
        raise ParameterError(names[error.argument], error.problem, error.remedy) from error
    return dict.fromkeys(given["text"], settings)
