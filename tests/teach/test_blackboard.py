"""Updates as blackboard arithmetic: every line has the formula of its update, and its numbers add up."""

import re

import numpy as np
import pytest

import separatrix as sx

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")

RNG = np.random.default_rng(38)
MIXED = np.vstack([RNG.normal([-1.0, 0.9], 1.1, (20, 2)), RNG.normal([1.2, -0.4], 1.0, (20, 2))]).round(1)
Y = np.repeat([0, 1], 20)


def test_blackboard():  # the exact example in one dimension
    X, y = np.arange(1.0, 9.0)[:, None], np.repeat([0, 1], 4)
    run = sx.steps(sx.Perceptron(), X, y)
    assert (len(run), run[-1].b, run[-1].w.tolist()) == (88, -23.0, [5.0])
    assert str(run[0]).splitlines()[0] == "Start: w = (0), b = 0"
    assert str(run[2]).splitlines() == [
        "Step 2: row 4, x = (5), t = +1",
        "  z = w·x + b = (−1)·5 + (−1) = −6",
        "  m = t z = (+1)·(−6) = −6: wrong",
        "  w ← w + η t x = (−1) + 1·(+1)·(5) = (4)",
        "  b ← b + η t = −1 + 1·(+1) = 0",
        f"  E_p = 40, 4 of 8 rows wrong; at most {int(run[2].bound)} mistakes",
    ]


def _sides(line):
    """The two vectors of a line "… = (1, 2) + 2·(−1)·(3, 4) = (5, 6)", as the left and the right side."""
    line = re.sub(r"−?[\d.]+·10⁻[⁰¹²³⁴-⁹]+", "0", line).replace("−", "-")
    left, right = line.split(" = ")[1:]
    product = np.prod([float(one) for one in re.findall(r"(?<=[ (])[-+]?[\d.]+(?=\)?·)", left)])
    (a, b), (c,) = (re.findall(r"\(([^()]*,[^()]*)\)", side) for side in (left, right))
    before, x, after = (np.array([float(value) for value in one.split(", ")]) for one in (a, b, c))
    return before + product * x, after


@pytest.mark.parametrize("update", ["online", "batch", "worst"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_blackboard_of_class_weights_adds_up(update, fit_intercept):
    weights = {0: 1.0, 1: 2.5}
    model = sx.Perceptron(update, class_weight=weights, fit_intercept=fit_intercept, eta0=0.5, max_iter=6)
    for step in sx.steps(model, MIXED, Y):
        if step.kind != "update":
            continue
        (line,) = (line for line in str(step).splitlines() if line.startswith("  w ←"))
        assert ("s t" in line) == (step.t != -1.0)
        np.testing.assert_allclose(*_sides(line), rtol=2e-3, atol=2e-3)
