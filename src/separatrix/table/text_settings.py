"""How columns of free text become columns of X, as the user asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from separatrix.base.errors import ParameterError

# The most columns of X that one text column may become, and the most words in an n-gram.
MOST_FEATURES, MOST_WORDS = 10_000_000, 10


@dataclass(frozen=True)
class TextSettings:
    """How a column of free text becomes columns of X.

    Parameters
    ----------
    ngrams : int
        The most words in an n-gram: 1 for single words, 2 for single words and pairs of neighbouring words.
    min_df : int
        N-grams in fewer training rows than this are left out.
    max_features : int
        The most columns of X. If there are more n-grams, those with the highest counts are kept, and of equal ones the
        first in alphabetical order. With ``hashed`` it is the number of columns.
    sublinear_tf : bool
        Whether an n-gram that occurs c times in a text counts as 1 + ln c, instead of c.
    hashed : bool
        Whether n-grams are hashed to columns instead of having one each. The model then keeps no vocabulary, and its
        columns cannot be told by n-gram. ``min_df`` and ``sublinear_tf`` do not apply.

    Examples
    --------
    >>> TextSettings(ngrams=1).max_features
    100000
    """

    ngrams: int = 2
    min_df: int = 2
    max_features: int = 100_000
    sublinear_tf: bool = True
    hashed: bool = False

    def __post_init__(self) -> None:
        for name, most in (("ngrams", MOST_WORDS), ("min_df", MOST_FEATURES), ("max_features", MOST_FEATURES)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 1 <= value <= most:
                raise ParameterError(name, f"got {value!r:.60}", f"give a whole number from 1 to {most}")
            object.__setattr__(self, name, int(value))
        for name in ("sublinear_tf", "hashed"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise ParameterError(name, f"got {getattr(self, name)!r:.60}", "give True or False")
            object.__setattr__(self, name, bool(getattr(self, name)))

    @property
    def lengths(self) -> str:
        """The lengths of the n-grams in words.

        >>> TextSettings().lengths
        '1 to 2 words'
        """
        return "1 word" if self.ngrams == 1 else f"1 to {self.ngrams} words"

    def plain(self) -> dict[str, Any]:
        """The settings as JSON types.

        Returns
        -------
        dict
        """
        return asdict(self)

    @classmethod
    def from_plain(cls, content: Any) -> TextSettings:
        """The settings from the result of ``plain``, in which any may be left out.

        Parameters
        ----------
        content : dict
            Values by the names of the settings.

        Returns
        -------
        TextSettings

        Raises
        ------
        ParameterError
            A key or a value is not one of a setting.

        Examples
        --------
        >>> TextSettings.from_plain({"min_df": 1}) == TextSettings(min_df=1)
        True
        """
        known = [one.name for one in fields(cls)]
        if not isinstance(content, dict) or not set(content) <= set(known):
            raise ParameterError("text", f"got {content!r:.60}", f"give an object with the keys {', '.join(known)}")
        return cls(**content)


DEFAULTS = TextSettings()


def asked_for(text: Any) -> dict[str, TextSettings]:
    """The settings by column, from a name, several names, or a mapping of names to settings.

    >>> list(asked_for("review")), asked_for({"title": TextSettings(ngrams=1)})["title"].ngrams
    (['review'], 1)
    """
    if isinstance(text, str):
        return {text: DEFAULTS}
    asked = dict(text) if isinstance(text, Mapping) else dict.fromkeys(text or (), DEFAULTS)
    for name, settings in asked.items():
        if not isinstance(name, str) or not isinstance(settings, TextSettings):
            problem = f"got {name!r:.60}: {settings!r:.60}"
            raise ParameterError("text", problem, "give names of columns, or a dictionary of names and TextSettings")
    return asked
