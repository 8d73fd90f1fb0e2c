"""Roots inside brackets: of smooth functions, of functions that jump, and how often the functions are called."""

import numpy as np

from separatrix.geometry.bracketed_roots import CONVERGED, bracketed_roots


def _counted(function):
    """The functions t ↦ function(t, k) in the form that ``bracketed_roots`` takes, and a list of their calls."""
    calls = []

    def functions(which):
        def values(t):
            calls.append(t.size)
            return function(t, which)

        return values

    return functions, calls


def _roots(function, m):
    functions, calls = _counted(function)
    every = np.arange(m)
    return bracketed_roots(functions, function(np.zeros(m), every), function(np.ones(m), every)), len(calls)


def test_jumps_are_found_in_half_the_calls_of_bisection():
    places = np.random.default_rng(0).uniform(0.01, 0.99, 40)
    found, calls = _roots(lambda t, k: np.where(t < places[k], 1.0 + t, -0.5 - places[k]), 40)
    assert np.abs(found - places).max() <= CONVERGED
    assert calls <= 24


def test_a_jump_to_nearly_zero_is_found_too():
    places = np.array([0.3, 1 / 3, 0.7])
    found, _ = _roots(lambda t, k: np.where(t < places[k], 1.0, -1e-9), 3)
    assert np.abs(found - places).max() <= CONVERGED


def test_smooth_functions_and_jumps_at_once():
    places = np.random.default_rng(1).uniform(0.05, 0.95, 30)
    bends = np.linspace(0.0, 3.0, 30)

    def function(t, k):
        smooth = np.expm1(bends[k] * (places[k] - t)) + (places[k] - t)
        return np.where(k % 2 == 0, smooth, np.where(t < places[k], 2.0, -1.0))

    found, _ = _roots(function, 30)
    assert np.abs(found - places).max() <= 2 * CONVERGED


def test_quadratic_functions_take_one_step():
    places = np.linspace(0.1, 0.9, 9)
    found, calls = _roots(lambda t, k: places[k] ** 2 - t**2, 9)
    assert np.abs(found - places).max() <= CONVERGED
    assert calls == 2
