"""Every error and warning of the package, in one tree.

    SeparatrixError
    ├── InputError (a ValueError)        an argument cannot be used
    │   ├── NotFiniteError               NaN or infinity, with row and column
    │   ├── LabelError                   labels, classes
    │   ├── WeightError                  sample and class weights
    │   ├── ParameterError               an estimator's or a solver's setting
    │   └── TableError                   files and their columns
    │       └── CellError                a cell, or a whole column, that is not of its kind
    └── ModelFileError (a ValueError)    a model file that fails a check

    SeparatrixWarning
    ├── CompatibilityWarning             a setting of scikit-learn's that has no meaning here
    └── NotConvergedWarning (scikit-learn's ConvergenceWarning too)
        └── SeparationWarning            maximum likelihood has no optimum: classes are separated

An ``InputError`` says three things: which argument, what came, what to do. The last two may be messages with typed
parts (``base/messages.py``), which the command line renders with the names of its options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.base.messages import Message, Parameter, Part


def printable(text: str) -> str:
    r"""Text with its control characters spelled out, so that no name can move a cursor or break a line.

    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


class SeparatrixError(Exception):
    """Anything that this package raises on purpose."""


class InputError(SeparatrixError, ValueError):
    """An argument cannot be used.

    >>> print(InputError("sample_weight", "row 3 has -1.0", "give weights >= 0"))
    sample_weight: row 3 has -1.0; give weights >= 0.
    """

    def __init__(self, argument: str, came: str, do: str) -> None:
        super().__init__(argument, came, do)
        self.argument, self.came, self.do = argument, came, do

    @property
    def message(self) -> Message:
        """The sentence, with its typed parts."""
        return Message(self._named(), ": ", self.came, "; ", self.do, ".")

    @property
    def remedies(self) -> tuple[Part, ...]:
        """The settings and classifiers that are advised, as typed parts.

        >>> from separatrix.base.messages import Setting
        >>> InputError("t.csv", "a value is missing", Message("fit with ", Setting("missing", "impute"))).remedies
        (Setting(name='missing', values=('impute',)),)
        """
        return Message(self.do).remedies

    def _named(self) -> str | Part:
        return self.argument

    def __str__(self) -> str:
        return str(self.message)


class NotFiniteError(InputError):
    """NaN or infinity in a table; names the first row and column."""


class LabelError(InputError):
    """Labels that do not make a classification problem."""


class WeightError(InputError):
    """Sample or class weights that are negative, not finite, or all zero."""


class ParameterError(InputError):
    """A setting with a value it cannot take."""

    def _named(self) -> str | Part:
        return Parameter(self.argument)


class TableError(InputError):
    """A file or a column that cannot be read as asked."""


class NoRowsError(TableError):
    """A table that has columns but no rows."""


class MissingValuesError(TableError):
    """Values are missing, and nothing was asked to be done about them."""


class CellError(TableError):
    """A cell that does not read as what its column holds; ``cell``: its text, None where a whole column is not."""

    def __init__(self, argument: str, came: str, do: str, cell: str | None = None) -> None:
        super().__init__(argument, came, do)
        self.cell = cell


class ModelFileError(SeparatrixError, ValueError):
    """A model file that fails a check; the message says which."""


class SeparatrixWarning(UserWarning):
    """Anything that this package warns of."""


class CompatibilityWarning(SeparatrixWarning):
    """A setting of scikit-learn's that has no meaning here; the message says what is done instead."""


if TYPE_CHECKING:

    class NotConvergedWarning(SeparatrixWarning):
        """The tolerance was not reached; the certificate's status says why."""

    class SeparationWarning(NotConvergedWarning):
        """The classes are separated, so maximum likelihood has no optimum."""


def __dir__() -> list[str]:
    return sorted({*globals(), "NotConvergedWarning", "SeparationWarning"})


def __getattr__(name: str) -> Any:
    """Make the convergence warnings when first asked for: their base needs scikit-learn, slow to import."""
    if name not in ("NotConvergedWarning", "SeparationWarning"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    def warning(name: str, bases: tuple[type, ...], doc: str) -> type:
        return type(name, bases, {"__doc__": doc, "__module__": __name__})

    not_converged = warning(
        "NotConvergedWarning",
        (SeparatrixWarning, ConvergenceWarning),
        "The tolerance was not reached; the certificate's status says why.",
    )
    separation = warning(
        "SeparationWarning",
        (not_converged,),
        "The classes are separated, so maximum likelihood has no optimum.",
    )
    globals().update(NotConvergedWarning=not_converged, SeparationWarning=separation)
    return globals()[name]
