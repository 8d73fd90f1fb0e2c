"""Axes of a new figure, which no window shows."""

import matplotlib
import pytest
from matplotlib.figure import Figure

matplotlib.use("Agg")


@pytest.fixture
def ax():
    return Figure(layout="constrained").subplots()
