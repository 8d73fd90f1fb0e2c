"""Every error and warning of the package, in one tree.

    SeparatrixError
    ├── InputError (a ValueError)        an argument cannot be used
    │   ├── NotFiniteError               NaN or infinity, with row and column
    │   ├── LabelError                   labels, classes
    │   ├── WeightError                  sample and class weights
    │   ├── ParameterError               an estimator's or a solver's setting
    │   └── TableError                   files and their columns
    │       ├── NoRowsError              a table without rows
    │       ├── MissingValuesError       missing values that the user has not said what to do with
    │       └── CellError                a cell or a whole column that does not have the expected type
    ├── ModelFileError (a ValueError)    a model file that fails a check
    └── ClusterError (a RuntimeError)    a cluster without scheduler or workers

    SeparatrixWarning
    ├── CompatibilityWarning             a scikit-learn setting that has no meaning here
    └── NotConvergedWarning (also a scikit-learn ConvergenceWarning)
        └── SeparationWarning            maximum likelihood has no optimum: classes are separated

An ``InputError`` states which argument is wrong, what was given, and what to do instead. The last two may be messages
with typed parts (``core/base/messages.py``), which the command line renders with the names of its options.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.core.base.messages import Message, Parameter, Part, Setting


def printable(text: str) -> str:
    r"""Text with control characters escaped, so that a name in a message cannot move the cursor or break a line.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        The text, if it can be printed as it is; otherwise with escape sequences.

    Examples
    --------
    >>> print(printable("two\nlines"))
    two\nlines
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in text)


class SeparatrixError(Exception):
    """Base class of all errors that this package raises deliberately."""


class InputError(SeparatrixError, ValueError):
    """An argument cannot be used. ``solving`` are settings that, added to the call, solve it.

    >>> print(InputError("sample_weight", "row 3 has -1.0", "give weights >= 0"))
    sample_weight: row 3 has -1.0; give weights >= 0.
    """

    def __init__(self, argument: str, problem: str, remedy: str, solving: tuple[Setting, ...] = ()) -> None:
        super().__init__(argument, problem, remedy)
        self.argument, self.problem, self.remedy, self.solving = argument, problem, remedy, solving

    @property
    def message(self) -> Message:
        """The error message with its typed parts."""
        return Message(self._named(), ": ", self.problem, "; ", self.remedy, ".")

    @property
    def remedies(self) -> tuple[Part, ...]:
        """The settings and classifiers that the message recommends, as typed parts.

        >>> from separatrix.core.base.messages import Setting
        >>> InputError("t.csv", "a value is missing", Message("fit with ", Setting("missing", "impute"))).remedies
        (Setting(name='missing', values=('impute',)),)
        """
        return Message(self.remedy).remedies

    def _named(self) -> str | Part:
        return self.argument

    def __str__(self) -> str:
        return str(self.message)


class NotFiniteError(InputError):
    """NaN or infinity in a table. The message names the first such row and column."""


class LabelError(InputError):
    """Labels that do not define a classification problem."""


class WeightError(InputError):
    """Sample or class weights that are negative, not finite, or all zero."""


class ParameterError(InputError):
    """A parameter of an estimator or a solver with an invalid value."""

    def _named(self) -> str | Part:
        return Parameter(self.argument)


class TableError(InputError):
    """A file or a column that cannot be read as requested."""


class NoRowsError(TableError):
    """A table that has columns but no rows."""


class MissingValuesError(TableError):
    """Values are missing, and the user has not said what to do with them."""


class CellError(TableError):
    """A cell that cannot be read as its column's type. ``cell`` is its text, or None if this is true of a column."""

    def __init__(self, argument: str, problem: str, remedy: str, cell: str | None = None) -> None:
        super().__init__(argument, problem, remedy)
        self.cell = cell


class ModelFileError(SeparatrixError, ValueError):
    """A model file that fails a check; the message says which."""


class ClusterError(SeparatrixError, RuntimeError):
    """A cluster whose scheduler or workers are missing.

    >>> print(ClusterError("there has been no worker for 60 seconds", "start workers"))
    there has been no worker for 60 seconds; start workers.
    """

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(problem, remedy)
        self.problem, self.remedy = problem, remedy

    def __str__(self) -> str:
        return f"{self.problem}; {self.remedy}."


class SeparatrixWarning(UserWarning):
    """Base class of all warnings of this package."""


class CompatibilityWarning(SeparatrixWarning):
    """A scikit-learn setting that has no meaning here; the message says what is done instead."""


if TYPE_CHECKING:

    class NotConvergedWarning(SeparatrixWarning):
        """The tolerance was not reached; the certificate's status says why."""

    class SeparationWarning(NotConvergedWarning):
        """The classes are separated, so maximum likelihood has no optimum."""


def __dir__() -> list[str]:
    return sorted({*globals(), "NotConvergedWarning", "SeparationWarning"})


def __getattr__(name: str) -> Any:
    """Create the convergence warnings on first access: their base class is scikit-learn's, which is slow to import."""
    if name not in ("NotConvergedWarning", "SeparationWarning"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from sklearn.exceptions import ConvergenceWarning

    class NotConvergedWarning(SeparatrixWarning, ConvergenceWarning):  # type: ignore[misc]
        """The tolerance was not reached; the certificate's status says why."""

    class SeparationWarning(NotConvergedWarning):
        """The classes are separated, so maximum likelihood has no optimum."""

    for warning in (NotConvergedWarning, SeparationWarning):
        warning.__qualname__ = warning.__name__
        globals()[warning.__name__] = warning
    return globals()[name]
