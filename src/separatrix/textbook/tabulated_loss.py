"""A loss of the margin as polynomials on short intervals, for the millions of margins of an error surface.

ln Φ takes 27 ns for each margin, and a polynomial takes 3 ns. The polynomials agree with the loss and its slope up to a
share of about 1e-12, also in the tails.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from separatrix.base.arrays import Array
from separatrix.losses.traits import MarginLoss

# Intervals in a unit of the margin. The error of their polynomials is largest where the loss falls fastest: −ln Φ(m)
# falls like e^{−m²/2}, and at m = 24 the polynomials are off by a share of 5e-13.
PIECES_PER_UNIT = 64
# A piece takes eight evaluations of the loss, so a table is worth its time if it has this many margins for each piece.
MARGINS_PER_PIECE = 64


@dataclass(frozen=True)
class TabulatedLoss:
    """The coefficients (pieces, degree + 1) of the loss and of its slope, lowest first, from the margin ``low`` on."""

    low: float
    values: Array
    slopes: Array

    def add(
        self, across: Array, second: Array, u: Array, share: Array, value: Array, by_entry: Array, slope: Array | None
    ) -> None:
        """Add Σ share ℓ and, if ``slope`` is given, Σ by_entry ℓ′ at the margins across + second u of a grid."""
        from separatrix.kernels.piecewise import add_pieces

        arguments = across, second, u, share, self.low, float(PIECES_PER_UNIT), self.values, value
        if slope is None:
            add_pieces(*arguments)
        else:
            add_pieces(*arguments, self.slopes, by_entry, slope)


def tabulated(loss: MarginLoss, low: float, high: float, n_margins: int) -> TabulatedLoss | None:
    """The table of a loss for margins between two numbers; None if it would not be worth its time.

    >>> from separatrix.losses import Probit
    >>> table = tabulated(Probit(), -1.0, 1.0, 10**6)
    >>> value = np.zeros((1, 1))
    >>> table.add(np.zeros((1, 1)), np.ones(1), np.full(1, 0.5), np.ones(1), value, np.zeros((2, 1)), None)
    >>> bool(abs(value[0, 0] - Probit().of_margin(0.5)) < 1e-14)
    True
    """
    pieces = (high - low) * PIECES_PER_UNIT + 2  # one more at each end, since margins are rounded
    if not pieces * MARGINS_PER_PIECE <= n_margins:
        return None
    from separatrix.kernels.piecewise import DEGREE

    nodes = np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1))  # those of Chebyshev's polynomial
    to_coefficients = np.linalg.inv(np.vander(nodes, increasing=True)).T
    low -= 1 / PIECES_PER_UNIT
    m = low + (np.arange(int(pieces) + 1)[:, None] + 0.5 + 0.5 * nodes) / PIECES_PER_UNIT
    value, slope = loss.value_slope(m)
    return TabulatedLoss(low, value @ to_coefficients, slope @ to_coefficients)
