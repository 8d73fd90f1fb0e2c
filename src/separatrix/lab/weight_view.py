"""Which part of the space of weights the page Weight space shows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import SeparatrixError
from separatrix.lab.drawing import Box, box_of
from separatrix.lab.request_registry import Payload, number
from separatrix.lab.weight_state import Choices
from separatrix.textbook.own_weights import objective
from separatrix.textbook.surface import walk

# The most steps of the search for a minimum. It has ended at one if the gradient is shorter than this.
SEARCH_STEPS, AT_MINIMUM = 30, 1e-6
# Weights farther out than this are left out of the first picture: a run that diverges, or a minimum that is far away.
FAR = 20.0
# The picture reaches at least this far on each side of the origin, and shows nothing in this share at its edges.
SMALLEST_HALF, EDGE = 2.0, 0.15


def visible(X: Array, y: Integers, chosen: Choices, w: Array, payload: Payload) -> Box:
    """The visible box of weights: the given one, zoomed about w, or one that suits if none is given.

    It follows w, but not along a run, which may leave the picture.
    """
    if payload.get("box") is None:
        return box_around(chosen, [w, *_minima(X, y, chosen)])
    zoom = number(payload, "zoom", 0.01, 100) if payload.get("zoom") is not None else 1.0
    edges: list[float] = []
    for axis, (low, high) in zip(chosen.axes, np.reshape(box_of(payload), (2, 2)), strict=True):
        inside = min(max(w[axis], low), high)
        middle = w[axis] if payload.get("start") is None else inside
        edges += [float(f"{middle + zoom * (edge - inside):.6g}") for edge in (low, high)]
    return box_of({"box": edges})


def _minima(X: Array, y: Integers, chosen: Choices) -> list[Array]:
    """Where a search ends at a minimum, for each loss that ``walk`` can minimise."""
    found = []
    for loss in chosen.losses:
        try:
            end = walk(X, y, "auto", loss, steps=SEARCH_STEPS, C=chosen.strength).W[-1]
        except SeparatrixError:
            continue
        if np.linalg.norm(objective(X, y, loss, C=chosen.strength).gradient(end)) < AT_MINIMUM:
            found.append(end)
    return found


def box_around(chosen: Choices, shown: Sequence[Array], least: float = SMALLEST_HALF) -> Box:
    """A square box around the origin that holds these weights, those that are ``FAR`` away left out."""
    sizes = [float(np.abs(one[list(chosen.axes)]).max()) for one in shown]
    reach = max([least, *(size / (1 - EDGE) for size in sizes if size <= FAR)])
    half = float(np.ceil(2 * reach)) / 2
    return -half, half, -half, half
