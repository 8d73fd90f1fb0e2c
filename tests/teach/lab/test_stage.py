"""The axes of a picture, whatever it shows."""

import pytest

# The texts of the axes of a picture from ``low`` to ``high`` across, and from 0 to 1 upwards.
TEXTS = """async ([low, high]) => {
    const { Stage } = await import("/stage.js");
    const stage = Object.assign(Object.create(Stage.prototype), { box: [low, high, 0, 1], width: 600, height: 400 });
    return stage.axes(["", ""]).map(one => one.textContent).filter(Boolean);
}"""
UPWARDS = ["0.2", "0.4", "0.6", "0.8"]


@pytest.mark.parametrize(
    ("low", "high", "across"),
    [
        (0, 3, ["0.5", "1.0", "1.5", "2.0", "2.5"]),
        (1e11, 1e11 + 1, ["1.0e+11"] * 4),
        (1e17, 1e17 + 16, []),
        (-1e17 - 16, -1e17, []),
        (1, 1 + 2**-52, []),
    ],
)
def test_axes_have_no_ticks_where_numbers_differ_only_after_many_digits(opened, low, high, across):
    """The loop ends, too, if adding a step does not change a number."""
    assert opened("#losses").evaluate(TEXTS, [low, high]) == across + UPWARDS
