"""BLAS is at one thread inside a fit and as it was after; the number of threads changes no bit."""

import threading

import numpy as np
import pytest
from sklearn.datasets import make_classification
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.machine import (
    _set_threads,
    in_order,
    one_blas_thread,
    thread_count,
    threads,
)


def _blas():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.fixture(autouse=True)
def three_blas_threads():
    with one_blas_thread:  # loads SciPy's BLAS as well
        pass
    with threadpool_limits(3, user_api="blas"):
        yield


def test_limited_inside_and_restored_after():
    before = _blas()
    with one_blas_thread:
        assert set(_blas()) == {1}
        with one_blas_thread:
            assert set(_blas()) == {1}
        assert set(_blas()) == {1}
    assert _blas() == before
    assert set(before) == {3}


def test_restored_after_an_exception():
    with pytest.raises(RuntimeError, match="inside"), one_blas_thread:
        raise RuntimeError("inside")
    assert set(_blas()) == {3}


def test_two_fits_at_once_share_the_limit():
    inside, leave = threading.Event(), threading.Event()
    seen = []

    def longer():
        with one_blas_thread:
            inside.set()
            leave.wait(10)
            seen.append(set(_blas()))

    thread = threading.Thread(target=longer)
    thread.start()
    inside.wait(10)
    with one_blas_thread:  # enters second, leaves first
        pass
    assert set(_blas()) == {1}
    leave.set()
    thread.join()
    assert seen == [{1}]
    assert set(_blas()) == {3}


def test_two_real_fits_at_once_give_the_bits_of_one():
    X, y = make_classification(20_000, 30, random_state=0)
    alone = sx.LogisticRegression().fit(X, y).coef_
    together = []
    workers = [
        threading.Thread(target=lambda: together.append(sx.LogisticRegression().fit(X, y).coef_)) for _ in range(3)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(together) == 3
    assert all(np.array_equal(alone, coef) for coef in together)
    assert set(_blas()) == {3}


def test_a_fit_that_fails_restores_blas():
    with pytest.raises(sx.errors.NotFiniteError):
        sx.LogisticRegression().fit([[np.nan], [1.0]], [0, 1])
    assert set(_blas()) == {3}


def test_threads_setting(monkeypatch):
    with threads(3):
        assert thread_count() == 3
        with threads(1):
            assert thread_count() == 1
        assert thread_count() == 3
    monkeypatch.setenv("SEPARATRIX_THREADS", "7")
    assert thread_count() == 7
    monkeypatch.setenv("SEPARATRIX_THREADS", "many")
    with pytest.raises(ParameterError, match="SEPARATRIX_THREADS"):
        thread_count()
    with pytest.raises(ParameterError, match="threads"), threads(0):
        pass


def test_in_order_keeps_the_order_and_raises():
    with threads(4):
        assert list(in_order(lambda k: k * k, range(50))) == [k * k for k in range(50)]
        with pytest.raises(ZeroDivisionError):
            list(in_order(lambda k: 1 // (k - 30), range(50)))


def test_libraries_that_threadpoolctl_must_limit_are_limited_from_any_thread():
    controllers = ThreadpoolController().select(user_api="blas").lib_controllers
    for controller in controllers:
        for count in (2, 1, 3):
            thread = threading.Thread(target=_set_threads, args=(controller, count))
            thread.start()
            thread.join()
            assert controller.get_num_threads() == count
