"""A fit to all folds but one, measured on that one; and all such fits of a comparison, in parallel threads.

A fit runs in one thread, with BLAS limited to one thread, so the processor time of the thread is that of the fit.
Threads are used and not processes, because they share the rows, and because NumPy, BLAS and compiled loops release the
interpreter lock.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Event
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.concurrency import one_blas_thread, thread_count, threads
from separatrix.base.errors import InputError
from separatrix.base.messages import Message
from separatrix.base.renamed_messages import over_rows
from separatrix.base.watching import Amount, watched
from separatrix.evaluation.answers import answers
from separatrix.evaluation.budget import RAISE_SECONDS, Budget, OutOfTime
from separatrix.evaluation.entrants import NOT_FITTED, Contest, Entrant
from separatrix.evaluation.measures import log_frequencies

Split = Callable[[int, bool], tuple[Any, Any]]
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


def tried(contest: Contest, entrant: Entrant, k: int, split: Split, budget: Budget, given_up: Event) -> Trial:
    """Fit to all folds but k and measure on fold k; ``split`` returns the rows of both.

    The fit ends at its next stage when the ``budget`` is spent or the comparison is ``given_up``.
    """
    from sklearn.base import clone

    held = contest.fold == k
    y = contest.classes[contest.codes]
    try:
        X, test = split(k, entrant.standardised)
        with threads(1):
            start = time.thread_time()
            with budget.spending(lambda _: _end_where(given_up)):
                model = clone(entrant.estimator).fit(X, y[~held])
            seconds = time.thread_time() - start
            trial = measured(model, test, y[held], np.flatnonzero(~held))
    except OutOfTime:
        return Trial(held[:0], failed=_out_of_time(budget.seconds))
    except InputError as error:
        return Trial(held[:0], failed=Message("failed: ", error.problem))
    except Exception as error:  # a failed fit is reported in the table and does not end the comparison
        return Trial(held[:0], failed=f"failed: {' '.join(str(error).split()) or type(error).__name__}")
    return replace(trial, seconds=seconds)


def _out_of_time(seconds: float) -> Message:
    return Message(NOT_FITTED, f"the fits took more than {seconds:g} s of processor time", RAISE_SECONDS)


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


def _end_where(given_up: Event) -> None:
    if given_up.is_set():
        raise CancelledError
