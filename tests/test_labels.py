import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.errors import LabelError
from separatrix.labels import as_label_array, encode, from_one_hot, one_hot, signed, unsigned


def test_codings_convert_into_each_other():  # D3
    classes, codes = encode(["b", "a", "c", "a"])
    assert classes.tolist() == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 2, 0]
    np.testing.assert_array_equal(from_one_hot(one_hot(codes, 3)), codes)
    np.testing.assert_array_equal(unsigned(signed(np.array([0, 1, 1]))), [0, 1, 1])
    np.testing.assert_array_equal(signed(np.array([0, 1])), [-1.0, 1.0])


labels = st.one_of(
    st.integers(-5, 5), st.text(max_size=3), st.booleans(), st.tuples(st.integers(0, 2), st.text(max_size=1))
)


@given(st.lists(labels, min_size=1, max_size=20))
def test_any_hashable_labels_come_back(y):
    classes, codes = encode(y)
    assert [classes[k] for k in codes] == y
    assert len(set(classes.tolist())) == len(classes)


@pytest.mark.parametrize("y", [[], [[1, 2], [3, 4]], [1.0, np.nan], [None, "a"]])
def test_what_is_no_list_of_labels_is_refused(y):
    with pytest.raises(LabelError):
        encode(y if y and isinstance(y[0], list) is False else np.array(y))


def test_labels_stay_whole():
    assert as_label_array([(1, 2), (3, 4)]).shape == (2,)


def test_labels_without_an_order_and_numbers_past_int64_are_kept_apart():
    one, two = frozenset({1}), frozenset({2})
    classes, codes = encode([one, two, one, one | two])
    assert len(classes) == 3
    assert [classes[k] for k in codes] == [one, two, one, one | two]
    big = [2**63, 2**63 + 1, -1, -1]
    classes, codes = encode(big)
    assert [classes[k] for k in codes] == big
