"""The pictures that the lectures discuss, V1 to V17 (docs/tour.md).

Each is a function that returns a matplotlib figure, in a light or a dark theme. Its numbers come from the estimators
and functions of this package. ``FIGURES`` has them by number, and ``separatrix figures`` writes them to files.

>>> from separatrix.teach import figures
>>> figures.FIGURES["V3"].draw is figures.margin_losses
True
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from separatrix.teach.figures.boundaries import (
    basis_spaces,
    many_separators,
    multiclass_schemes,
    outliers,
    perceptron_run,
    perceptron_update,
    plane_and_distances,
)
from separatrix.teach.figures.canvas import save
from separatrix.teach.figures.densities_and_kl import fisher_directions, gaussian_classes, kl_both_ways, normal_density
from separatrix.teach.figures.loss_surfaces import (
    error_surfaces,
    gradient_and_contours,
    margin_losses,
    regression_planes,
    sigmoid_and_heads,
    step_sizes,
)

__all__ = [
    "FIGURES",
    "Picture",
    "basis_spaces",
    "error_surfaces",
    "fisher_directions",
    "gaussian_classes",
    "gradient_and_contours",
    "kl_both_ways",
    "many_separators",
    "margin_losses",
    "multiclass_schemes",
    "normal_density",
    "outliers",
    "perceptron_run",
    "perceptron_update",
    "plane_and_distances",
    "regression_planes",
    "save",
    "sigmoid_and_heads",
    "step_sizes",
]


class Picture(NamedTuple):
    """The function that draws a picture, and one sentence on what it shows.

    Attributes
    ----------
    draw : callable
        It takes ``theme`` and returns a matplotlib figure.
    sentence : str
        What the picture shows.
    """

    draw: Callable[..., Any]
    sentence: str


FIGURES: dict[str, Picture] = {
    "V1": Picture(perceptron_run, "Frames of a perceptron's run show which row turns the line at each update."),
    "V2": Picture(perceptron_update, "One update adds ηtx to w, which turns the line towards the row."),
    "V3": Picture(margin_losses, "Five losses are drawn as functions of the margin."),
    "V4": Picture(error_surfaces, "Four errors over two weights: flat pieces, kinks, a bowl, and several minima."),
    "V5": Picture(step_sizes, "Gradient descent takes steps that are too small, just right and too large."),
    "V6": Picture(outliers, "Far rows move the boundary of least squares, and not those of two other models."),
    "V7": Picture(fisher_directions, "Projections onto the direction of the means and onto Fisher's are compared."),
    "V8": Picture(multiclass_schemes, "Two schemes leave ambiguous regions between three classes; softmax does not."),
    "V9": Picture(basis_spaces, "A boundary that is curved in the plane is straight among basis functions."),
    "V10": Picture(plane_and_distances, "A boundary is drawn with its normal, its offset and the distance of a point."),
    "V11": Picture(gaussian_classes, "Gaussian classes have a linear or a quadratic boundary."),
    "V12": Picture(kl_both_ways, "The two directions of KL choose different normals for a density with two peaks."),
    "V13": Picture(sigmoid_and_heads, "The logistic function is drawn with its slope, and beside two other heads."),
    "V14": Picture(gradient_and_contours, "The gradient of the error is perpendicular to its contours."),
    "V15": Picture(regression_planes, "Regression planes over two columns classify by their heights."),
    "V16": Picture(normal_density, "The normal density is drawn for three pairs of mean and variance."),
    "V17": Picture(many_separators, "Many lines separate the same rows, and one has the widest margin."),
}
