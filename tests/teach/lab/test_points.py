"""Points as text: what is spelled can be read again, and nothing else breaks."""

import numpy as np
import pytest

from separatrix.core.base.errors import InputError
from separatrix.teach.lab.points import LARGEST, PRESETS, checked, of_two_classes, points, spelled


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_spelled_by_its_name(name):
    X, y = points(name)
    assert spelled(X, y, name) == name
    assert len(np.unique(y)) >= 2
    assert np.abs(X).max() < LARGEST


@pytest.mark.parametrize("seed", range(10))
def test_any_points_come_back_from_their_text(seed):
    r = np.random.default_rng(seed)
    X, y = checked(r.integers(-32767, 32768, (40 * seed, 2)) / 100, r.integers(0, 6, 40 * seed))
    again, classes = points(spelled(X, y, None))
    np.testing.assert_allclose(again, X, atol=1e-9)
    assert classes.tolist() == y.tolist()


@pytest.mark.parametrize("seed", range(10))
def test_moved_rows_come_back_from_their_text(seed):
    r = np.random.default_rng(seed)
    X, labels = points("outlier")
    X[r.choice(21, seed, replace=False)] = np.round(r.normal(0, 40, (seed, 2)), 2)
    text = spelled(X, labels, "outlier")
    assert text.startswith("outlier")
    np.testing.assert_allclose(points(text)[0], X, atol=1e-9)


@pytest.mark.parametrize("text", ["nothing", "outlier;99=0,0", "outlier;1=a,b", "outlier;1=9e9,0", "~???", "~AAA", ""])
def test_other_texts_are_refused_in_a_sentence(text):
    with pytest.raises(InputError, match="points"):
        points(text)


def test_500_points_fit_into_a_link():
    X, y = points("many")
    assert len(X) == 500
    assert len(spelled(X, y, None)) < 3400


@pytest.mark.parametrize("X", [[[1, 2, 3]], [["a", "b"]], [[float("nan"), 0]], [[1e9, 0]], None])
def test_places_that_are_no_points_are_refused(X):
    with pytest.raises(InputError):
        checked(X, [0])


def test_presets_have_titles_of_their_own():
    titles = [preset.title for preset in PRESETS.values()]
    assert len(set(titles)) == len(titles)


def test_one_class_is_not_written_as_several():
    with pytest.raises(InputError, match="they have 1 class;"):
        of_two_classes(np.zeros(3, dtype=int))
