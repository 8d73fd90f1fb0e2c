"""Sets of points do what their question says, and every setting's range is one that its classifier accepts."""

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import ParameterError
from separatrix.core.proofs.verdicts import Separable
from separatrix.tables.formats.demos import DEMOS

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.SeparatrixWarning")

SCHEMES = ("one-versus-one", "one-versus-rest")
SETTINGS = [(name, found) for name in CLASSIFIERS if name not in SCHEMES for found in sx.presets.setting_ranges(name)]


@pytest.mark.parametrize("name", sx.presets.POINT_SETS)
def test_a_set_of_points(name):
    found = sx.presets.point_set(name)
    assert found.name == name
    assert found.question.endswith("?")
    assert found.hint.endswith(".")
    assert found.X.shape == (len(found.y), len(found.columns))
    assert found.X.shape[1] in (1, 2)
    assert np.all(np.isfinite(found.X))
    assert len(found.classes) >= 2
    again = sx.presets.point_set(name)
    np.testing.assert_array_equal(again.X, found.X)
    if name in DEMOS:
        table = DEMOS[name]()
        np.testing.assert_array_equal(found.X[:, 0], table[found.columns[0]])
        assert found.y.tolist() == table[table.column_names[-1]].to_pylist()


def test_runs_on_several_minima_end_at_different_weights():
    points = sx.presets.point_set("several-minima")
    surface = sx.error_surface(points.X, points.y, "squared-sigmoid", (-6, 6, -6, 6), points=121).value
    inner = surface[1:-1, 1:-1]
    around = [surface[1 + i : 120 + i, 1 + j : 120 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j]
    assert np.sum(np.all([inner < one for one in around], axis=0)) >= 2
    starts = ([0, 3, 3], [0, -3, -3], [0, 3, -3], [0, -3, 3])
    paths = [sx.walk(points.X, points.y, "lbfgs", "squared-sigmoid", start) for start in starts]
    ends = [path.W[-1] for path in paths if path.status.startswith("stationary")]
    assert max(np.linalg.norm(a - b) for a in ends for b in ends) > 1


def test_the_points_do_what_they_are_for():
    points = {name: sx.presets.point_set(name) for name in sx.presets.POINT_SETS}
    two = {name: p for name, p in points.items() if len(p.classes) == 2}
    verdicts = {name: isinstance(sx.separability(p.X, p.y), Separable) for name, p in two.items()}
    assert {name for name, separable in verdicts.items() if separable} >= {"separable", "line", "outlier-2d"}
    assert not {name for name, separable in verdicts.items() if separable} & {"overlapping", "xor", "moons", "ring"}
    long = points["elongated"]
    curve = sx.criterion_curve(long.X, long.y)
    assert curve.means_J < 0.5 * curve.best_J
    ways = (sx.along(long.X, long.y, way).wrong_by_midpoint for way in ("means", "fisher"))
    assert next(ways) > 2 * next(ways)
    ring = points["ring"]
    curved = sx.QuadraticDiscriminantAnalysis().fit(ring.X, ring.y).score(ring.X, ring.y)
    assert curved > 0.9 > sx.LinearDiscriminantAnalysis().fit(ring.X, ring.y).score(ring.X, ring.y)


@pytest.mark.parametrize(("name", "found"), SETTINGS, ids=[f"{name}-{found.parameter}" for name, found in SETTINGS])
def test_every_value_of_a_range_is_accepted(name, found):
    points = sx.presets.point_set("separable")
    make = CLASSIFIERS[name]
    assert found.default == make().get_params()[found.parameter]
    values = [*found.choices] if found.kind in ("choice", "switch") else [found.low, found.high]
    if found.kind == "text":  # the description lists no words
        return
    assert len(values) > 1
    if found.kind == "integer":
        values = [int(value) for value in values]
    for value in values:
        if found.parameter in ("solver", "l1_ratio") or (found.parameter == "tol" and value is None):
            make(**{found.parameter: value})  # some combinations with the other defaults are refused
            continue
        make(**{found.parameter: value}).fit(points.X, points.y)


def test_what_is_unknown_is_refused_by_name():
    with pytest.raises(ParameterError, match="xor"):
        sx.presets.point_set("or")
    with pytest.raises(ParameterError, match="perceptron"):
        sx.presets.setting_ranges("perceptrons")
