"""Codings of classes as regression targets, and of outputs as probability estimates (docs/tour.md, S1, S6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final

import numpy as np

from separatrix.base.arrays import Array


class Coding(Protocol):
    """A coding of classes as targets, and of outputs as estimates of P(C_k|x)."""

    def n_outputs(self, n_classes: int) -> int: ...
    def table(self, n_classes: int) -> Array: ...
    def estimates(self, outputs: Array) -> Array: ...


@final
@dataclass(frozen=True)
class OneHot:
    """Class k has the target e_k, so there is one output per class.

    >>> OneHot().table(2).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """

    def n_outputs(self, n_classes: int) -> int:
        """The number of columns of ``table``."""
        return n_classes

    def table(self, n_classes: int) -> Array:
        """The targets, one row per class."""
        return np.eye(n_classes)

    def estimates(self, outputs: Array) -> Array:
        """y_k(x), which estimates P(C_k|x), (n, K)."""
        return outputs


@final
@dataclass(frozen=True)
class Signed:
    """Targets −1 and +1: one output for two classes, K outputs for more.

    >>> Signed().table(2).tolist()
    [[-1.0], [1.0]]
    """

    def n_outputs(self, n_classes: int) -> int:
        """The number of columns of ``table``."""
        return 1 if n_classes == 2 else n_classes

    def table(self, n_classes: int) -> Array:
        """The targets, one row per class."""
        return np.array([[-1.0], [1.0]]) if n_classes == 2 else 2 * np.eye(n_classes) - 1

    def estimates(self, outputs: Array) -> Array:
        """(1 + output)/2, which estimates P(C_k|x), (n, K)."""
        signs = np.column_stack([-outputs, outputs]) if outputs.shape[1] == 1 else outputs
        return np.asarray((1 + signs) / 2)


TARGETS: dict[str, Coding] = {"one-hot": OneHot(), "signed": Signed()}


def decision_of(targets: Array) -> Array:
    """D such that the scores are z = D · outputs: the outputs, or for two classes one score, near ±1 at the targets.

    >>> decision_of(OneHot().table(2)).tolist(), decision_of(Signed().table(2)).tolist()
    ([[-1.0, 1.0]], [[1.0]])
    """
    if len(targets) > 2:
        return np.eye(len(targets))
    apart = targets[1] - targets[0]
    return np.asarray(2 * apart / (apart @ apart))[None, :]
