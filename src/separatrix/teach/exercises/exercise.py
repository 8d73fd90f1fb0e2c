"""What an exercise consists of, how an answer is compared with the expected one, and the feedback to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, final

import numpy as np

from separatrix.core.base.arrays import Array, Integers
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.lazy import cached_property

# --- Comparisons

# Three significant digits suffice: rounding to them changes a number by at most this share.
TOLERANCE = 0.005


class AnswerComparison(Protocol):
    """How an answer is compared with the expected one; ``form`` says in words what an answer must look like."""

    @property
    def form(self) -> str: ...
    def read(self, answer: Any) -> Any: ...
    def same(self, answer: Any, expected: Any) -> bool: ...


class FormError(ValueError):
    """An answer does not have the form that its exercise asks for."""


def _array(answer: Any, shape: tuple[int, ...] | None) -> Array:
    """The answer as an array of finite numbers; of the given shape, if there is one."""
    try:
        found = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise FormError from None
    if not np.all(np.isfinite(found)) or (shape is not None and found.shape != shape):
        raise FormError
    return found


def _close(a: Array, b: Array) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=TOLERANCE, atol=1e-9))


@final
@dataclass(frozen=True)
class Numbers:
    """Numbers in their order. ``shape`` is () for one number.

    >>> Numbers().same(np.array(4.5), 9 / 2), Numbers((2,)).same(np.array([1.0, 2.0]), [2.0, 1.0])
    (True, False)
    """

    shape: tuple[int, ...] = ()
    form: str = "a number"

    def read(self, answer: Any) -> Array:
        return _array(answer, self.shape)

    def same(self, answer: Any, expected: Any) -> bool:
        return _close(answer, np.asarray(expected, dtype=np.float64))


@final
@dataclass(frozen=True)
class AnyOrder:
    """Numbers or points whose order does not count. ``width`` is the length of a point, or None for numbers.

    >>> AnyOrder().same(np.array([6.0, 5.0]), [5, 6])
    True
    """

    width: int | None = None
    form: str = "a list of numbers"

    def read(self, answer: Any) -> Array:
        found = _array(answer, None)
        if self.width is None:
            found = np.atleast_1d(found)
        points = self.width is None or found.shape[1:] == (self.width,)
        if found.ndim != (1 if self.width is None else 2) or not points:
            raise FormError
        return found

    def same(self, answer: Any, expected: Any) -> bool:
        return _close(_sorted(answer), _sorted(np.asarray(expected, dtype=np.float64)))


def _sorted(found: Array) -> Array:
    return np.sort(found) if found.ndim == 1 else found[np.lexsort(found.T[::-1])]


@final
@dataclass(frozen=True)
class Ray:
    """A vector of which only the direction counts: positive multiples of it are the same answer.

    >>> Ray(2).same(np.array([3.0, 3.0]), [1, 1]), Ray(2).same(np.array([-1.0, -1.0]), [1, 1])
    (True, False)
    """

    length: int
    form: str = "a list of numbers"

    def read(self, answer: Any) -> Array:
        return _array(answer, (self.length,))

    def same(self, answer: Any, expected: Any) -> bool:
        lengths = np.linalg.norm(answer), np.linalg.norm(expected)
        return bool(lengths[0] > 0) and bool(
            np.allclose(answer / lengths[0], np.asarray(expected) / lengths[1], rtol=0.0, atol=TOLERANCE)
        )


# --- Exercises and feedback

Answer = Mapping[str, Any]


@dataclass(frozen=True)
class Slip:
    """A common wrong answer, computed by ``value``, and the hint for it."""

    value: Callable[[], Any]
    hint: str


@dataclass(frozen=True)
class ExercisePart:
    """One question of an exercise.

    Attributes
    ----------
    name : str
        The key of this part in the answer.
    asks : str
        What to give.
    comparison : Comparison
        How the answer is compared.
    hint : str
        A hint for a wrong answer.
    slips : tuple of Slip
        Common wrong answers, with hints of their own.
    """

    name: str
    asks: str
    comparison: AnswerComparison
    hint: str
    slips: tuple[Slip, ...] = ()

    def judged(self, answer: Any, expected: Any) -> PartFeedback:
        """Compare an answer to this part with the expected one."""
        if answer is None or answer is ...:
            return PartFeedback(self.name, "missing", self.comparison.form)
        try:
            found = self.comparison.read(answer)
        except FormError:
            return PartFeedback(self.name, "form", self.comparison.form)
        if self.comparison.same(found, expected):
            return PartFeedback(self.name, "right", "")
        for slip in self.slips:
            if self.comparison.same(found, slip.value()):
                return PartFeedback(self.name, "wrong", slip.hint)
        return PartFeedback(self.name, "wrong", self.hint)


_WORDS = {
    "right": "right",
    "missing": "no answer yet; give {}",
    "form": "cannot be read; give {}",
    "wrong": "not yet. {}",
}


@dataclass(frozen=True)
class PartFeedback:
    """The feedback to one part of an answer.

    Attributes
    ----------
    name : str
        The name of the part.
    code : {"right", "missing", "form", "wrong"}
        "form" if the answer cannot be read.
    hint : str
        The form of the answer if it is missing or cannot be read, a hint if it is wrong, or an empty text.
    """

    name: str
    code: str
    hint: str

    def __str__(self) -> str:
        return f"{self.name}: {_WORDS[self.code].format(self.hint)}"


@dataclass(frozen=True)
class Feedback:
    """The feedback to an answer: it is true if all parts are right, and its text says which parts are wrong.

    Attributes
    ----------
    number : int
        The number of the exercise.
    title : str
        Its title.
    parts : tuple of PartFeedback
        The feedback to each part.
    """

    number: int
    title: str
    parts: tuple[PartFeedback, ...]

    def __bool__(self) -> bool:
        return all(part.code == "right" for part in self.parts)

    def __str__(self) -> str:
        right = sum(part.code == "right" for part in self.parts)
        head = "all right." if self else f"{right} of {len(self.parts)} right."
        return "\n".join([f"Exercise {self.number}, {self.title}: {head}", *(f"  {part}" for part in self.parts)])


@dataclass(frozen=True)
class Exercise:
    """An exercise with its solution. ``EXERCISES`` has all of them.

    Attributes
    ----------
    number : int
        The number, from 1 on.
    name : str
        A short name, from which the name of the notebook is made.
    title : str
        The title.
    items : tuple of str
        The items of the tour that it belongs to.
    introduction : str
        The formulas, in Markdown.
    question : str
        What to compute.
    parts : tuple of Part
        What the answer consists of.
    given : callable
        Returns what the exercise gives, such as the rows.
    solution : callable
        Computes the answer from what is given, with public functions.
    lab : str
        A link to a page of the lab, without the address of the server.
    lab_try : str
        What to try on that page.
    """

    number: int
    name: str
    title: str
    items: tuple[str, ...]
    introduction: str
    question: str
    parts: tuple[ExercisePart, ...]
    given: Callable[[], tuple[Any, ...]]
    solution: Callable[..., Answer]
    lab: str
    lab_try: str

    @cached_property
    def expected(self) -> Answer:
        """The answer that the solution computes."""
        return self.solution(*self.given())

    def check(self, answer: Any) -> Feedback:
        """Compare an answer with the expected one, part by part.

        Parameters
        ----------
        answer : dict
            The answer to each part by its name.

        Returns
        -------
        Feedback
        """
        names = [part.name for part in self.parts]
        if answer is None or answer is ...:
            answer = {}
        if not isinstance(answer, Mapping):
            raise ParameterError("answer", f"got {type(answer).__name__}", f"give a dict with {', '.join(names)}")
        unknown = [name for name in answer if name not in names]
        if unknown:
            raise ParameterError("answer", f"there is no part {unknown[0]!r}", f"give {', '.join(names)}")
        judged = tuple(part.judged(answer.get(part.name), self.expected[part.name]) for part in self.parts)
        return Feedback(self.number, self.title, judged)


# --- Rows that several exercises use


def line() -> tuple[Array, Integers]:
    """The rows 1, …, 4 of class 0 and 5, …, 8 of class 1."""
    X = np.arange(1.0, 9.0)[:, None]  # the rows 1, …, 8
    y = np.repeat([0, 1], 4)
    return X, y
