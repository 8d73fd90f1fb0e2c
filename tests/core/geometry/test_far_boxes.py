"""A box in which areas or products of scores would overflow is refused by one sentence, without warnings."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 2))
SUM = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=200)
LABELS = {2: np.digitize(SUM, [0.7]), 3: np.digitize(SUM, [0.3, 1.5])}
DRAWN = {
    "regions": sx.regions,
    "boundary_curve": lambda model, box: sx.boundary_curve(model, box, i=0, j=1),
    "level_sets": lambda model, box: sx.level_sets(model, box, [0.3, 0.5]),
    "levels of scores": lambda model, box: sx.level_sets(model, box, [0.3, 0.5], of="score"),
    "probability_bands": lambda model, box: sx.probability_bands(model, box, [0.3, 0.6]),
}


def square(reach):
    return -reach, reach, -reach, reach


@pytest.mark.parametrize("drawn", DRAWN)
@pytest.mark.parametrize("K", LABELS)
@pytest.mark.parametrize("kind", [sx.QuadraticDiscriminantAnalysis, sx.LogisticRegression])
def test_a_box_whose_area_overflows(kind, K, drawn):
    model = kind().fit(X, LABELS[K])
    with pytest.raises(ParameterError, match=r"box: got \(-1e\+300, .*; give a box between -1e\+150 and 1e\+150"):
        DRAWN[drawn](model, square(1e300))


@pytest.mark.parametrize("drawn", ["regions", "boundary_curve", "levels of scores"])
@pytest.mark.parametrize("K", LABELS)
def test_a_box_where_products_of_scores_overflow(K, drawn):
    model = sx.QuadraticDiscriminantAnalysis().fit(X, LABELS[K])
    with pytest.raises(ParameterError, match="scores there exceed 1e\\+150; give a smaller box"):
        DRAWN[drawn](model, square(1e149))
    assert DRAWN[drawn](model, square(1e70))


def test_lines_in_a_column_of_small_numbers():
    small = X * [1.0, 1e-80]
    model = sx.FisherDiscriminant().fit(small, LABELS[2])
    with pytest.raises(ParameterError, match="scores there exceed"):
        sx.regions(model, square(1e120))
