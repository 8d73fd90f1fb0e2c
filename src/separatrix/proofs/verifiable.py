"""The base class of the verdicts that make a claim, which ``verify`` checks without a solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from separatrix.cluster.in_place import shape_in_place
from separatrix.proofs.naming import About

# Measured time of a product of a float and a long integer, used to estimate the cost of exact verification.
SECONDS_PER_EXACT_ENTRY = 5e-7


class VerifiableVerdict(ABC):
    """Base class of the verdicts that make a claim: all except ``Doubtful``."""

    about: About

    def __str__(self) -> str:
        return self.explain()

    @abstractmethod
    def explain(self) -> str:
        """The verdict in words."""

    @property
    def fit_intercept(self) -> bool:
        return self.about.fit_intercept

    def exact_cost(self, X: Any) -> str:
        """A sentence that estimates how long ``verify(X, y, exact=True)`` takes.

        X : array (n, d), a ``scan``, or a Dask collection, whose rows are counted where they are.
        """
        n, d = shape_in_place(X)
        entries = n * (d + self.fit_intercept) * max(1, len(self.about.classes) - 1)
        return f"{entries:,} entries as whole numbers: about {entries * SECONDS_PER_EXACT_ENTRY:.2g} s"
