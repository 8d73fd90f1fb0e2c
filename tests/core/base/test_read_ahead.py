"""Reading ahead gives the same items and the same errors, and ends its thread."""

import threading
import time

import pytest

import separatrix as sx
from separatrix.core.base.machine import read_ahead


@pytest.mark.parametrize("count", [1, 2])
def test_the_items_in_their_order(count):
    with sx.threads(count):
        assert list(read_ahead(iter(range(1000)))) == list(range(1000))
        assert list(read_ahead(iter([]))) == []


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_comes_after_the_items_before_it(count):
    def items():
        yield 1
        yield 2
        raise OSError("the disk is gone")

    found = []
    with sx.threads(count), pytest.raises(OSError, match="the disk is gone"):
        found.extend(read_ahead(items()))
    with sx.threads(count):
        ahead = read_ahead(items())
        assert [next(ahead), next(ahead)] == [1, 2]
        with pytest.raises(OSError, match="the disk is gone"):
            next(ahead)


@pytest.mark.parametrize("waiting", [1, 2])
def test_items_are_read_while_another_is_used(waiting):
    read = []

    def items():
        for k in range(100):
            read.append(k)
            yield k

    with sx.threads(2):
        ahead = read_ahead(items(), waiting)
        assert next(ahead) == 0
        deadline = time.monotonic() + 10
        while len(read) < 2 + waiting and time.monotonic() < deadline:
            time.sleep(0.001)
        time.sleep(0.05)
        assert len(read) == 2 + waiting  # the one in use, those that wait, and the one that waits for its place
        ahead.close()


def test_a_reader_that_is_not_wanted_any_more_ends_and_closes_its_source():
    closed = []

    def items():
        try:
            while True:
                yield 0
        finally:
            closed.append(True)

    before = threading.active_count()
    with sx.threads(2):
        ahead = read_ahead(items())
        next(ahead)
        ahead.close()
    assert closed == [True]
    assert threading.active_count() == before
