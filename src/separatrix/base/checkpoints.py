"""Checkpoints: the results of all passes over the rows, kept in a file, so that a fit that was killed can continue.

    with checkpoint("fit.checkpoint", resume=True):
        model.fit(scan("data/*.parquet", target="y"))

A fit reads rows only to compute sums and to draw samples, and everything else follows from these: the column
statistics, the sample, and every step of the solver. So it is enough to keep the result of each pass, under a digest of
the request. A fit that starts again makes the same requests in the same order. Requests whose results are in the file
need no pass, and the first one that is not in the file is where the fit was interrupted. The result is the same to the
last bit as without an interruption, for every method.

Results that cannot be written as bytes, and results larger than ``LARGEST_RECORD``, are computed again.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from separatrix.base.errors import ParameterError
from separatrix.base.forking import held_during_forks
from separatrix.base.object_bytes import DamagedObjectError, NotPlainError, digest, from_bytes, to_bytes
from separatrix.base.record_file import Place, RecordFile

T = TypeVar("T")

FORM, CHECKPOINT_VERSION = "separatrix checkpoint", 1
# A larger result is computed again instead of being kept: such results grow with the number of rows.
LARGEST_RECORD = 1 << 28
# A fact is shown with at most this many characters.
MOST_LETTERS_OF_A_FACT = 120
_ARGUMENT = "checkpoint"
# Several threads may request results.
_lock = threading.RLock()
held_during_forks(_lock, lambda: None)


class Checkpoint:
    """An open checkpoint. ``replayed`` counts the results that came from the file, ``kept`` those written to it."""

    def __init__(self, path: str | os.PathLike[str], resume: bool = False) -> None:
        self._file = RecordFile(path, _ARGUMENT, FORM, CHECKPOINT_VERSION)
        self._places: dict[str, Place] = {}
        self._parts: dict[str, dict[str, str]] = {}
        self._begun: Counter[str] = Counter()
        self.replayed = self.kept = 0
        if not os.path.lexists(path):
            self._file.create()
        elif not resume:
            problem = f"the file {os.fspath(path)!r} exists"
            raise ParameterError(
                _ARGUMENT, problem, "give resume=True to continue from it, or remove it to start again"
            )
        else:
            for place, content in self._file.open():
                self._note(place, content)

    @property
    def path(self) -> str:
        return str(self._file.path)

    def _note(self, place: Place, content: bytes) -> None:
        try:
            what, key = from_bytes(content)[:2]
        except (DamagedObjectError, TypeError, ValueError) as error:
            problem = f"{self.path!r}: a record cannot be read ({error})"
            raise ParameterError(_ARGUMENT, problem, "remove it to start again") from error
        if what == "part":
            self._parts[key] = from_bytes(content)[2]
        else:
            self._places[key] = place

    def begin(self, what: str, facts: Mapping[str, str]) -> str:
        """State what the following results belong to, and return the name of this part of the work, such as "fit 1".

        If the file has this part with other facts, an error names the first that differs.
        """
        self._begun[what] += 1
        part = f"{what} {self._begun[what]}"
        known = self._parts.get(part)
        if known is None:
            self._parts[part] = dict(facts)
            self._file.append(to_bytes(("part", part, dict(facts))))
            return part
        for name in [*known, *facts]:
            if known.get(name) != facts.get(name):
                then, now = (f"{one.get(name, 'none'):.{MOST_LETTERS_OF_A_FACT}}" for one in (known, facts))
                problem = f"{self.path!r} belongs to another {name}: it was {then}, and now it is {now}"
                raise ParameterError(_ARGUMENT, problem, "give another file, or repeat the fit that wrote it")
        return part

    def result(self, question: Any, compute: Callable[[], T]) -> T:
        """The result of a request: from the file, or computed and then kept in the file."""
        key = digest(question)
        if key is None:
            return compute()
        with _lock:
            place = self._places.get(key)
            if place is not None:
                self.replayed += 1
                answer: T = from_bytes(self._file.read(place))[2]
                return answer
        answer = compute()
        try:
            content = to_bytes(("result", key, answer))
        except NotPlainError:
            return answer
        if len(content) <= LARGEST_RECORD:
            with _lock:
                self._places[key] = self._file.append(content)
                self.kept += 1
        return answer

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_open: ContextVar[Checkpoint | None] = ContextVar("separatrix_checkpoint", default=None)


def current_checkpoint() -> Checkpoint | None:
    """The checkpoint of the ``with`` block around this call; None outside of one."""
    return _open.get()


@contextmanager
def checkpoint(path: str | os.PathLike[str], resume: bool = False) -> Iterator[Checkpoint]:
    """Save the results of fits to tables outside memory in a file, after every pass over the rows.

    A fit that was interrupted, even because its process was killed, can then continue where it was, with the same
    result as without the interruption. The file is not removed at the end. Remove it when the model has been saved.

    Parameters
    ----------
    path : str or path
        The file. It holds all sums: for "newton", one matrix of second derivatives for each step.
    resume : bool, default False
        Continue from the file if it exists. If False, an existing file is an error. The file must belong to the same
        table, classifier, settings and version of separatrix.

    Returns
    -------
    context manager

    Raises
    ------
    ParameterError
        If the file exists and ``resume`` is False, if it is damaged, or if it belongs to another fit. The error says
        what differs.

    Examples
    --------
    >>> import tempfile, pyarrow as pa, pyarrow.parquet as pq
    >>> import separatrix as sx
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(pa.table({"x": [0.0, 1.0, 2.0, 3.0], "y": ["a", "b", "a", "b"]}), f"{folder}/1.parquet")
    ...     with sx.checkpoint(f"{folder}/fit.checkpoint", resume=True):
    ...         model = sx.LogisticRegression().fit(sx.scan(f"{folder}/1.parquet", target="y"))
    >>> model.certificate_.code
    'optimal'
    """
    opened = Checkpoint(path, resume)
    token = _open.set(opened)
    try:
        yield opened
    finally:
        _open.reset(token)
        opened.close()


def remembered(question: Any, compute: Callable[[], T]) -> T:
    """The result of ``compute()``, taken from the current checkpoint if that has it.

    >>> remembered("one", lambda: 1)
    1
    """
    held = _open.get()
    return compute() if held is None else held.result(question, compute)
