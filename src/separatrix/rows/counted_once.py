"""Rows that all have weight 1, for methods that count every row once, whatever its weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from separatrix.base.arrays import AnyArray
from separatrix.rows.block import Block
from separatrix.rows.frame import Frame
from separatrix.rows.protocol import Rows
from separatrix.rows.sampling import Sample
from separatrix.rows.viewed import ViewedRows


def _unweighted(block: Block) -> Block:
    """The block with weights of 1."""
    return replace(block, weight=np.ones(block.n_rows))


@dataclass(frozen=True)
class CountedOnce(ViewedRows):
    """The rows of ``source``, each with weight 1.

    >>> from separatrix.rows import memory_rows
    >>> rows = memory_rows(np.eye(2), np.array([-1.0, 1.0]), np.array([0.0, 3.0]))
    >>> CountedOnce(rows).resident().weight.tolist()
    [1.0, 1.0]
    """

    source: Rows

    @property
    def change(self) -> Callable[[Block], Block]:
        return _unweighted

    @property
    def frame(self) -> Frame:
        return self.source.frame

    def seen_through(self, frame: Frame) -> CountedOnce:
        return CountedOnce(self.source.seen_through(frame))

    def sample(self, size: int, seed: int, targets: AnyArray | None = None) -> Sample:
        """A sample of the rows that have a weight in ``source``."""
        drawn = self.source.sample(size, seed, targets)
        return replace(drawn, block=_unweighted(drawn.block))
