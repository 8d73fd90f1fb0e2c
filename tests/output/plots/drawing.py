"""Rows to draw, and the drawing of a display."""

import numpy as np


def labelled_points(K, d=4, n=90, seed=0):
    """X (n, d) and labels of K classes around random centres."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    X = 2 * rng.standard_normal((K, d))[codes] + rng.standard_normal((n, d))
    return X, np.array(["no", "yes", "perhaps"])[codes]


def drawable(display):
    """Draw all of it, as saving would."""
    display.figure_.draw_without_rendering()
    return display
