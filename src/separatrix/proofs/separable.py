"""The verdict that the classes are separable, with the hyperplane that proves it (docs/tour.md, P7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.cluster.in_place import read_in_place
from separatrix.geometry import Hyperplane
from separatrix.proofs.asked_rows import asked_differences, flattened, signs_of
from separatrix.proofs.asked_tables import AskedTable
from separatrix.proofs.class_differences import Differences
from separatrix.proofs.naming import About
from separatrix.proofs.rational import fractions
from separatrix.proofs.row_claims import Positive
from separatrix.proofs.verifiable import VerifiableVerdict
from separatrix.rows.labelled import OutsideMemory

# Weights are divided by the largest only if the smallest nonzero weight stays above this, so that it does not
# underflow.
SMALLEST_RELATIVE_WEIGHT = 1e-280


@dataclass(frozen=True)
class Separable(VerifiableVerdict):
    """A v > 0 for all rows. ``v`` is (b, w); for K > 2 classes it has one such row per class.

    ``margin`` is the smallest distance of a row to ``hyperplane``. For K > 2 classes it is the smallest distance of a
    row to the hyperplane between its class and another.

    >>> from separatrix import separability
    >>> print(separability([[0.0], [2.0]], [0, 1]).explain())
    separable: the hyperplane has every row on its own side, the nearest at a distance of 1
    """

    v: Array
    margin: float
    about: About

    @classmethod
    def of(cls, D: Differences, v: Array, m: Array, about: About) -> Separable:
        """The verdict for v (width,) with its margins m (count,)."""
        W = D.weights(v)
        margin = smallest_distance(D, W, m)
        shared = W / np.abs(W).max()
        W = shared if np.abs(shared[W != 0]).min() > SMALLEST_RELATIVE_WEIGHT else W
        return cls(W[1] if D.K == 2 else W, margin, about)

    @classmethod
    def by(cls, D: Differences, v: Array, about: About) -> Separable | None:
        """The verdict for a proposed v (width,), or None if some margin is not proven to be positive."""
        if not np.all(np.isfinite(v)) or len(D.not_positive(v)):
            return None
        W = D.weights(v)
        return cls(W[1] if D.K == 2 else W, smallest_distance(D, W, D.margins(v)), about)

    @property
    def hyperplane(self) -> Hyperplane:
        return hyperplane_of(self.v)

    def __bool__(self) -> bool:
        return True

    def verify(self, X: Any, y: Any = None, exact: bool = False) -> bool:
        """Whether v separates these rows: each margin exceeds its rounding error, or is positive exactly.

        X is a table with labels y, or a ``scan``, which is read once. With ``exact``, every margin is computed in
        integers; ``exact_cost(X)`` estimates how long that takes.
        """
        X, y, _ = read_in_place(X, y)
        if isinstance(X, OutsideMemory):
            return self._verify_table(AskedTable.of(X, y, self.about), exact)
        D = asked_differences(X, y, self.about)
        v = flattened(D, self.v)
        if v is None or not np.all(np.isfinite(v)):
            return False
        if exact:
            return signs_of(D, np.arange(D.count), fractions(v)) <= {1}
        return len(D.not_positive(v)) == 0

    def _verify_table(self, table: AskedTable, exact: bool) -> bool:
        v = flattened(table.no_rows, self.v)
        return v is not None and bool(np.all(np.isfinite(v))) and table.satisfies([Positive(v, exact)])

    def explain(self) -> str:
        if self.v.ndim == 1:
            how = "the hyperplane has every row on its own side, the nearest at a distance of"
        else:
            how = "for every row the score of its own class is the largest; the nearest boundary is at a distance of"
        return f"separable: {how} {self.margin:.6g}"


def hyperplane_of(v: Array) -> Hyperplane:
    if v.ndim != 1:
        remedy = "use v: each of its rows is the score of a class, and their differences are hyperplanes"
        raise ParameterError("hyperplane", f"the verdict is about {len(v)} classes", remedy)
    return Hyperplane(v[1:], float(v[0]))


def smallest_distance(D: Differences, W: Array, m: Array) -> float:
    """The smallest distance of a row to its hyperplanes, for weights W of any size with margins m."""
    size = np.abs(W).max()
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        W, m = W / size, m / size
        if D.K == 2:
            return float(m.min() / np.linalg.norm(W[1, 1:]))
        rows, against = D.named(np.arange(D.count))
        lengths = np.linalg.norm(W[:, None, 1:] - W[None, :, 1:], axis=2)
        return float(np.min(m / lengths[D.codes[rows], against]))
