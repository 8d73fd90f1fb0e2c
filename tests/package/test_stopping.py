"""The law of stopping: a fit that takes long calls its watcher often enough to be stopped within 100 milliseconds."""

import time
import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.watching import PULSE_SECONDS, Working, pulse, waited, watch
from separatrix.core.solvers.registry import SOLVERS

# The longest time between two calls of the watcher, in CPU seconds of the calling thread, which a busy machine changes
# less than the clock does.
LONGEST_SILENCE = 0.1


class Stop(Exception):
    """What a watcher raises."""


def _table(apart):
    rng = np.random.default_rng(0)
    y = np.arange(4000) % 2
    X = rng.standard_normal((4000, 12))
    X[:, 0] += apart * y
    return X, y


OVERLAPPING, SEPARABLE = _table(1.0), _table(30.0)


def _silence(fit):
    """The longest time in which the watcher is not called."""
    fit()  # kernels are compiled
    times = [time.thread_time()]
    with watch(lambda stage, within: times.append(time.thread_time())):
        fit()
    return max(np.diff([*times, time.thread_time()]))


def _stopped_after(fit, calls):
    """Fit with a watcher that raises at this call; whether it got that far."""
    left = [calls]

    def stop(stage, within):
        left[0] -= 1
        if left[0] == 0:
            raise Stop

    with watch(stop):
        fit()


@pytest.mark.parametrize("table", ["overlapping", "separable"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_can_be_stopped(name, table):
    X, y = OVERLAPPING if table == "overlapping" else SEPARABLE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert _silence(lambda: CLASSIFIERS[name]().fit(X, y)) < LONGEST_SILENCE


@pytest.mark.parametrize("name", SOLVERS)
def test_every_solver_can_be_stopped(name):
    X, y = OVERLAPPING

    def fit():
        return sx.LogisticRegression(solver=name, max_iter=300).fit(X[:1500], y[:1500])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            assert _silence(fit) < LONGEST_SILENCE
        except sx.errors.InputError:
            pytest.skip(f"{name} is for other problems")
        with pytest.raises(Stop):
            _stopped_after(fit, 1)


@pytest.mark.parametrize("kind", [sx.MaxMarginClassifier, sx.KozinecClassifier])
def test_a_long_search_ends_at_once_and_fits_nothing(kind):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((60_000, 2))
    model = kind()
    reports = []

    def stop(stage, within):
        reports.append(stage)
        if len(reports) == 2:  # in the middle of the search
            raise Stop

    with pytest.raises(Stop), watch(stop):
        model.fit(X, (X[:, 0] + rng.standard_normal(60_000) > 0).astype(int))
    assert len(reports) == 2
    assert not hasattr(model, "coef_")


def test_what_cannot_be_interrupted_is_waited_for():
    seen = []
    with watch(lambda stage, within: seen.append(stage)):
        assert waited(lambda: time.sleep(4 * PULSE_SECONDS) or 7, "sleeping") == 7
    assert Working("sleeping") in seen
    with pytest.raises(ZeroDivisionError), watch(lambda stage, within: None):
        waited(lambda: 1 / 0, "dividing")

    def stop(stage, within):
        raise Stop

    begin = time.perf_counter()
    with pytest.raises(Stop), watch(stop):
        waited(lambda: time.sleep(5), "sleeping")
    assert time.perf_counter() - begin < 4
    with watch(stop):
        time.sleep(1.2 * PULSE_SECONDS)
        with pytest.raises(Stop):
            pulse("resting")
