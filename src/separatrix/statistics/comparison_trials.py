"""The classifiers that ``compare`` tries, their cross-validation on common folds, and the time it may take.

All of ``OFFERED`` take part with their defaults, so a new classifier takes part as soon as it is there. Its description
lists what it requires of the rows, from which follows why some classifiers cannot be fitted to given rows. A fit to all
folds but one is measured on that one.

Fits run in parallel threads, each with BLAS limited to one thread, so the processor time of the thread is that of the
fit. Threads are used and not processes, because they share the rows, and because NumPy, BLAS and compiled loops release
the interpreter lock.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Event
from typing import Any

import numpy as np

from separatrix.classifiers import CLASSIFIERS, OFFERED, describe
from separatrix.classifiers.base import ScoringClassifier
from separatrix.classifiers.description import Requires
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.core.base.lazy import cached_property
from separatrix.core.base.machine import one_blas_thread, thread_count, threads
from separatrix.core.base.messages import ByAudience, Detail, Message, Remedy, over_rows
from separatrix.core.base.watching import Amount, Stage, watch, watched
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS
from separatrix.core.proofs.separability import separability
from separatrix.core.proofs.verdicts import Separable
from separatrix.statistics.measures import answers, log_frequencies
from separatrix.tables.read_table import RawTable

# --- The budget of processor time

# What to do about a budget that is spent.
RAISE_SECONDS = Remedy(Message("raise ", ByAudience("seconds", shell="--seconds"), " to wait for it"))


class OutOfTime(Exception):
    """The budget is spent."""


class ProcessorTime:
    """The processor time of one block of work."""

    seconds = 0.0


class Budget:
    """At most ``seconds`` of processor time for all blocks of work under ``spending`` together.

    Work stops at the next step that it reports to its watcher. The fits of one classifier share a budget and may run in
    several threads. Each thread counts its own processor time, so neither the number of threads nor other work on the
    machine changes what is spent.

    >>> budget = Budget(0.0)
    >>> with budget.spending():
    ...     pass
    Traceback (most recent call last):
    ...
    separatrix.statistics.comparison_trials.OutOfTime
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        # One for each block, written by its own thread alone: so without a lock.
        self._accounts: list[ProcessorTime] = []

    def _spent(self) -> float:
        return sum(account.seconds for account in self._accounts)

    @contextmanager
    def spending(self, follow: Callable[[Stage], None] | None = None) -> Iterator[None]:
        """Count the processor time of this thread in the ``with`` block, and raise ``OutOfTime`` when none is left.

        ``follow`` receives every stage of the work, and may stop it by an exception of its own.
        """
        if self._spent() >= self.seconds:
            raise OutOfTime
        account, begin = ProcessorTime(), time.thread_time()
        self._accounts.append(account)

        def count() -> float:
            account.seconds = time.thread_time() - begin
            return self._spent()

        def reported(stage: Stage, within: tuple[Stage, ...]) -> None:
            if follow is not None:
                follow(stage)
            if count() >= self.seconds:
                raise OutOfTime

        try:
            with watch(reported):
                yield
        finally:
            count()


def checked_seconds(seconds: float) -> float:
    """The budget as a float; an error if it is not a positive number. It may be infinite.

    >>> checked_seconds(60)
    60.0
    """
    number = isinstance(seconds, int | float | np.integer | np.floating) and not isinstance(seconds, bool)
    if not number or math.isnan(seconds) or seconds <= 0:
        remedy = Message("give a positive number of seconds, or ", ByAudience("math.inf", shell="inf"), " for no limit")
        raise ParameterError("seconds", f"got {seconds!r}", remedy)
    return float(seconds)


# --- The rows, the classifiers, and why some cannot be fitted to given rows

# The most columns for a classifier that factors a matrix of columns by columns, which takes too long for more.
MOST_COLUMNS_OF_MATRIX = 2000
# The beginning of the reason why a classifier has no figures.
NOT_FITTED = Detail("not fitted: ")


@dataclass(frozen=True)
class Contest:
    """The table, the class of each row as a number into ``classes``, and the fold in which each row is held out.

    ``seconds`` is the processor time for each classifier, and for the question whether classes are separable.
    """

    table: RawTable
    codes: Integers
    classes: AnyArray
    fold: Integers
    seed: int = 0
    seconds: float = math.inf

    @property
    def n_folds(self) -> int:
        return int(self.fold.max()) + 1

    @cached_property
    def X(self) -> Any:
        """All rows (n, d), dense or CSR, encoded by all of them: for questions before the fits."""
        return self.table.learned().X

    def split(self, k: int, standardised: bool) -> tuple[Any, Any]:
        """X of all folds but k, and X of fold k. Encoding and scales come from the former."""
        fitted = self.fold != k
        X = self.table.learned(fitted, standardised).X
        return X[fitted], X[~fitted]

    @cached_property
    def fewest(self) -> tuple[Any, int]:
        """The class with the fewest rows in a fit, and their number."""
        held = np.array([np.bincount(self.codes[self.fold == k], minlength=len(self.classes)) for k in self.folds])
        fitted = (np.bincount(self.codes, minlength=len(self.classes)) - held).min(axis=0)
        least = int(np.argmin(fitted))
        return self.classes.tolist()[least], int(fitted[least])

    @property
    def folds(self) -> range:
        return range(self.n_folds)

    @cached_property
    def overlap(self) -> str | None:
        """Why no hyperplane separates a class from the rest, for the first such class; None if all are separable."""
        if self.X.shape[1] + 1 > MOST_EXACT_ROWS:
            return f"not tried: separability is tested for up to {MOST_EXACT_ROWS} columns only"
        try:
            with Budget(self.seconds).spending(watched()):
                return self._first_overlap()
        except OutOfTime:
            took = f"whether the classes are separable was not decided in {self.seconds:g} s of processor time"
            return Message(NOT_FITTED, took, RAISE_SECONDS)

    def _first_overlap(self) -> str | None:
        labels = self.classes.tolist()
        for k in [1] if len(labels) == 2 else range(len(labels)):
            verdict = separability(self.X, self.codes == k)
            if not isinstance(verdict, Separable):
                whom = "the classes are" if len(labels) == 2 else f"{labels[k]!r} is"
                against = "" if len(labels) == 2 else " from the rest"
                proof = getattr(verdict, "rows", None)
                how = "rounding leaves it open" if proof is None else f"{len(proof)} rows prove it"
                return Message(NOT_FITTED, f"{whom} not linearly separable{against} ({how})")
        return None


@dataclass(frozen=True)
class Entrant:
    """A classifier by name, with its defaults; ``standardised``: whether columns are standardised before the fit."""

    name: str
    estimator: ScoringClassifier
    standardised: bool
    linear: bool
    requires: tuple[Requires, ...] = ()

    def refused(self, contest: Contest) -> str | None:
        """Why it cannot be fitted to these rows, in a sentence; None if it can."""
        reasons = (_REASONS[need](contest) for need in self.requires)
        return next((reason for reason in reasons if reason is not None), None)


def _too_wide(contest: Contest) -> str | None:
    d = contest.X.shape[1]
    if d <= MOST_COLUMNS_OF_MATRIX:
        return None
    return Message(NOT_FITTED, f"{d:,} columns, more than {MOST_COLUMNS_OF_MATRIX:,}, need a matrix of d × d")


def _too_few_rows(contest: Contest) -> str | None:
    label, rows = contest.fewest
    d = contest.X.shape[1]
    if rows > d:
        return None
    return Message(NOT_FITTED, f"{label!r} has {rows} rows in a fit, too few for {d} columns")


def _two_classes(contest: Contest) -> str | None:
    if len(contest.classes) != 2:
        return None
    return Message(NOT_FITTED, "with two classes, it is the same as its base model")


def _several_classes(contest: Contest) -> str | None:
    K = len(contest.classes)
    return Message(NOT_FITTED, f"it takes two classes, and there are {K}") if K > 2 else None


# For each requirement, why the rows do not meet it, in a sentence; None if they do.
_REASONS: dict[Requires, Callable[[Contest], str | None]] = {
    Requires.SEPARABLE_CLASSES: lambda contest: contest.overlap,
    Requires.FEW_COLUMNS: _too_wide,
    Requires.MORE_ROWS_THAN_COLUMNS: _too_few_rows,
    Requires.TWO_CLASSES: _several_classes,
    Requires.MORE_THAN_TWO_CLASSES: _two_classes,
}


def entrants(seed: int = 0) -> Iterator[Entrant]:
    """All classifiers of ``OFFERED``; one with a base model occurs once for each of its possible base models.

    >>> [entrant.name for entrant in entrants()][:3]
    ['logistic', 'one-versus-one, logistic', 'one-versus-one, perceptron']
    """
    for name in OFFERED:
        description = describe(name)
        for base in description.parts or (None,):
            inner = None if base is None else _made(base, seed)
            estimator = _made(name, seed) if inner is None else CLASSIFIERS[name](inner)
            scale_free = (estimator if inner is None else inner).traits.scale_free
            full = name if base is None else f"{name}, {base}"
            yield Entrant(full, estimator, not scale_free, not description.curved, description.requires)


def _made(name: str, seed: int) -> Any:
    kind = CLASSIFIERS[name]
    seeded = {"random_state": seed} if "random_state" in kind().get_params(deep=False) else {}
    return kind(**seeded)


# --- A fit to all folds but one, and all such fits of a comparison

# The number of splits that are cached. Fits are in the order of the folds, so at most two folds are in use at a time,
# each with raw and with standardised columns.
MOST_SPLITS = 4


@dataclass(frozen=True)
class Trial:
    """The result of one fold.

    Parameters
    ----------
    right : (m,) array of bool
        Which held-out rows are classified correctly.
    log_P : (m, K) array or None
        ln P(class | x) of the held-out rows; None without probabilities.
    seconds : float
        The processor time of the fit.
    met : bool
        Whether the certificate of the fit is met.
    status : str
        The status of the fit.
    n_parameters : int
        The number of parameters of the model.
    failed : str or None
        Why the fit failed; None if it did not.
    """

    right: AnyArray
    log_P: Array | None = None
    seconds: float = 0.0
    met: bool = True
    status: str = ""
    n_parameters: int = 0
    failed: str | None = None


def tried(
    contest: Contest,
    entrant: Entrant,
    k: int,
    split: Callable[[int, bool], tuple[Any, Any]],
    budget: Budget,
    given_up: Event,
) -> Trial:
    """Fit to all folds but k and measure on fold k; ``split`` returns the rows of both.

    The fit ends at its next stage when the ``budget`` is spent or the comparison is ``given_up``.
    """
    from sklearn.base import clone

    def end_if_given_up(_: Stage) -> None:
        if given_up.is_set():
            raise CancelledError

    held = contest.fold == k
    y = contest.classes[contest.codes]
    try:
        X, test = split(k, entrant.standardised)
        with threads(1):
            start = time.thread_time()
            with budget.spending(end_if_given_up):
                model = clone(entrant.estimator).fit(X, y[~held])
            seconds = time.thread_time() - start
            trial = measured(model, test, y[held], np.flatnonzero(~held))
    except OutOfTime:
        took = f"the fits took more than {budget.seconds:g} s of processor time"
        return Trial(held[:0], failed=Message(NOT_FITTED, took, RAISE_SECONDS))
    except InputError as error:
        return Trial(held[:0], failed=Message("failed: ", error.problem))
    except Exception as error:  # a failed fit is reported in the table and does not end the comparison
        return Trial(held[:0], failed=f"failed: {' '.join(str(error).split()) or type(error).__name__}")
    return replace(trial, seconds=seconds)


def measured(model: Any, X: Any, y: Any, fitted: Integers) -> Trial:
    """The trial of a fitted model on held-out rows X with labels y.

    ``fitted``: the numbers of the fitted rows in the whole table, by which the status names them.
    """
    found, certificate = answers(model, X, y), model.certificate_
    status = over_rows(certificate.status, fitted)
    return Trial(found.right, found.log_P, 0.0, certificate.met, status, model.n_parameters_)


def guessed(codes: Integers, held: AnyArray, n_classes: int) -> Trial:
    """The baseline: the most frequent class of the rows that are not ``held`` out, with the class frequencies there as
    probabilities.

    >>> guessed(np.array([0, 0, 1, 0]), np.array([False, False, True, True]), 2).right.tolist()
    [False, True]
    """
    counts = np.bincount(codes[~held], minlength=n_classes)
    log_P = np.tile(log_frequencies(counts), (int(held.sum()), 1))
    return Trial(codes[held] == np.argmax(counts), log_P, n_parameters=n_classes - 1)


def run(contest: Contest, chosen: Sequence[Entrant]) -> dict[str, list[Trial]]:
    """The trials of each entrant, fold by fold.

    The first fold of all entrants comes first, so failures appear early. Every finished fit is reported to the watcher.
    If the watcher raises, running fits end at their next stage. The fits of one entrant share a budget of processor
    time, ``contest.seconds``; when it is spent, they end in the same way and the other folds are not fitted.
    """
    jobs = [(entrant, k) for k in contest.folds for entrant in chosen]
    found: dict[tuple[str, int], Trial] = {}
    tell, given_up = watched(), Event()
    budgets = {entrant.name: Budget(contest.seconds) for entrant in chosen}
    split = lru_cache(MOST_SPLITS)(contest.split)

    def job(entrant: Entrant, k: int) -> Trial:
        return tried(contest, entrant, k, split, budgets[entrant.name], given_up)

    def report_progress() -> None:
        if tell is not None:
            whole = sum(all((entrant.name, k) in found for k in contest.folds) for entrant in chosen)
            tell(Amount("fits", len(found), len(jobs), f"{whole} of {len(chosen)} classifiers done"))

    with one_blas_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table shows which certificates are not met
        with ThreadPoolExecutor(min(thread_count(), max(1, len(jobs)))) as pool:
            try:
                report_progress()
                futures = {pool.submit(job, entrant, k): (entrant.name, k) for entrant, k in jobs}
                for future in as_completed(futures):
                    found[futures[future]] = future.result()
                    report_progress()
            finally:
                given_up.set()
                pool.shutdown(wait=False, cancel_futures=True)
    return {entrant.name: [found[entrant.name, k] for k in contest.folds] for entrant in chosen}
