"""NumPy's warnings are off inside a quiet function, and as they were after it."""

import numpy as np
import pytest

from separatrix.core.base.arrays import quietly


@quietly
def _exponential(x):
    return np.exp(x)


@quietly
def _both(x):
    return _exponential(x), np.exp(x)


@quietly
def _fails():
    raise ValueError("inside")


@pytest.mark.parametrize("function", [_exponential, _both])
def test_a_quiet_function_ignores_overflow_and_leaves_the_setting_as_it_was(function):
    with np.errstate(over="raise", under="raise", invalid="raise"):
        assert np.all(np.isinf(function(np.array([1e3]))))
        with pytest.raises(FloatingPointError):
            np.exp(np.array([1e3]))


def test_the_setting_is_restored_after_an_exception():
    with np.errstate(over="raise"):
        with pytest.raises(ValueError, match="inside"):
            _fails()
        with pytest.raises(FloatingPointError):
            np.exp(np.array([1e3]))
        assert np.isinf(_exponential(np.array([1e3]))).all()
