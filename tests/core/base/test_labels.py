import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from separatrix.core.base.errors import LabelError
from separatrix.core.base.labels import as_label_array, encode, from_one_hot, known_codes, one_hot, signed, unsigned


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
@example(["\x00", "", "a\x00", "a"])
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
    last = np.array([2**63 - 2, 2**63 - 1, 2**63 - 2])
    assert encode(last)[0].tolist() == [2**63 - 2, 2**63 - 1]
    big = [2**63, 2**63 + 1, -1, -1]
    classes, codes = encode(big)
    assert [classes[k] for k in codes] == big


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint8, np.int16, np.int64, np.uint64, np.float64, np.float32])
@pytest.mark.parametrize("values", [(0, 1), (-100, 100), (3, 3_000_000_000), (0, 2**63 + 2**40)])
def test_numbers_of_any_type_are_coded_as_by_sorting(dtype, values):
    with np.errstate(invalid="ignore"):
        y = np.array(values, dtype=object).astype(np.float64).astype(dtype)[np.random.default_rng(0).integers(0, 2, 50)]
    classes, codes = encode(y)
    expected, positions = np.unique(y, return_inverse=True)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, positions)
    np.testing.assert_array_equal(known_codes(y, classes), codes)


def test_a_label_outside_the_classes_is_named():
    with pytest.raises(LabelError, match="it has the label 2"):
        known_codes(np.array([0, 2, 1]), np.array([0, 1]))


def test_missing_numbers_and_dates_are_found_by_row():
    for y in (np.array([0.0, np.nan]), np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), [0, None]):
        with pytest.raises(LabelError, match="row 1 has no label"):
            as_label_array(y)
