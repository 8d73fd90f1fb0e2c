"""Numbers as people write them: no exponent where a table or a person would have none, and no lost digits."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.core.base.messages import number_text, ratio_text


@given(st.floats(-1e300, 1e300), st.integers(2, 8))
def test_the_text_reads_as_the_number_with_that_many_digits(value, digits):
    read = float(number_text(value, digits).replace(",", ""))
    assert read == pytest.approx(value, rel=0.5001 * 10.0 ** (1 - digits), abs=1e-320)


@given(st.integers(-(10**15) + 1, 10**15 - 1))
def test_whole_numbers_are_written_in_full(value):
    assert number_text(float(value)).replace(",", "") == str(value)
    assert ("," in number_text(float(value))) == (abs(value) >= 10_000)


@given(st.floats(1e-4, 9.9e6))
def test_usual_sizes_have_no_exponent(value):
    assert "e" not in number_text(value)
    assert "e" not in number_text(-value, 3)
    assert number_text(-value) == f"-{number_text(value)}"


@given(st.floats(0.5, 2.0))
def test_a_ratio_is_1_only_if_it_is(ratio):
    assert (ratio_text(ratio) == "1") == (abs(ratio - 1) < 1e-14)


def test_ends():
    assert [number_text(value) for value in (0.0, -0.0, 9999.96, 999.96, math.inf)] == [
        "0",
        "0",
        "10,000",
        "1000",
        "inf",
    ]
