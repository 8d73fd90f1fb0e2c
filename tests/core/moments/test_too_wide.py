"""Fits that hold matrices of columns × columns refuse wide tables before they allocate one."""

import tracemalloc

import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError
from tests.wide_text import wide_text

BY_MOMENTS = [
    sx.LinearDiscriminantAnalysis(),
    sx.LinearDiscriminantAnalysis(shrinkage=0.5),
    sx.QuadraticDiscriminantAnalysis(),
    sx.FisherDiscriminant(),
    sx.LeastSquaresClassifier(),
]


@pytest.mark.parametrize("model", BY_MOMENTS, ids=str)
def test_a_table_too_wide_is_refused_with_its_size(model, monkeypatch):
    monkeypatch.setattr("separatrix.core.base.machine.available_bytes", lambda: 8e9)
    X, y = wide_text(300, 38_903)
    tracemalloc.start()
    with pytest.raises(
        InputError, match=r"38,903 × 38,903 numbers need about .* GB of memory, and 8 GB are available; use"
    ):
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2e7


def test_a_covariance_for_each_class_needs_more_memory(monkeypatch):
    X, y = wide_text(300, 500)
    monkeypatch.setattr("separatrix.core.base.machine.available_bytes", lambda: 9 * 8 * 500**2)
    sx.LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(InputError, match="12 matrices of 500 × 500 numbers"):
        sx.QuadraticDiscriminantAnalysis().fit(X, y)
