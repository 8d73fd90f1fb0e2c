r"""What a problem knows of its rows: their number, their sums by class, their sizes, and a sample of them.

None of it depends on the penalty. x̄ is a row with a leading 1, in the coordinates of the rows' frame; s is its weight.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.objectives.partials import ClassSums, LargestEntries, SecondMoments
from separatrix.objectives.problem_parts import ProblemParts
from separatrix.objectives.statistic import depends_on
from separatrix.rows import Block, Sample, number_of_rows
from separatrix.rows.block import is_centred_first

# A sample has max(20 p, min(max(SAMPLE_ROWS, n/16), MOST_SAMPLE_ENTRIES/(d + 1))) rows for p parameters.
SAMPLE_ROWS, MOST_SAMPLE_ENTRIES, SAMPLE_SEED = 4000, 9 << 19, 20_231_017


def sample_size(n_rows: int, n_parameters: int, width: int) -> int:
    """The approximate size of a sample of rows with ``width`` = d + 1 entries.

    >>> sample_size(20_000_000, 21, 21), sample_size(1000, 500, 500)
    (224694, 10000)
    """
    return max(20 * n_parameters, min(max(SAMPLE_ROWS, n_rows // 16), MOST_SAMPLE_ENTRIES // width))


class RowStatistics(ProblemParts):
    """The statistics of the rows: counts, sums by class, sizes of columns, and the sample."""

    @depends_on("rows")
    def targets(self) -> AnyArray:
        """The value of t in each class."""
        return np.arange(self.n_classes) if self.loss.traits.multiclass else np.array([-1.0, 1.0])

    @depends_on("rows")
    def n_rows(self) -> int:
        """The number of rows, including those with zero weight."""
        return number_of_rows(self.rows)

    @depends_on("rows", "frame")
    def class_sums(self) -> Array:
        """Σ s x̄ by class, (classes, d + 1)."""
        return self.rows.fold(ClassSums(self.n_classes, self.shape[1], not self.loss.traits.multiclass))

    @property
    def class_weight(self) -> Array:
        """Σ s by class, (classes,)."""
        return self.class_sums[:, 0]

    @depends_on("rows")
    def total_weight(self) -> float:
        """S, the sum of the rows' weights."""
        return float(self.class_sums[:, 0].sum())

    @depends_on("rows", "frame")
    def mean_class_sums(self) -> Array:
        """(1/S) Σ s x̄ by class, (classes, d + 1): column 0 holds the classes' shares."""
        return self.class_sums / self.total_weight

    @depends_on("rows", "frame")
    def mean_row(self) -> Array:
        """(1/S) Σ s x̄, (d + 1)."""
        return np.asarray(self.mean_class_sums.sum(axis=0))

    @depends_on("rows", "frame")
    def sampled(self) -> Sample:
        """A sample of rows for bounds, ranks and preconditioners."""
        return self.sample(self.sample_size)

    @property
    def sample_size(self) -> int:
        """The approximate size of the sample; it is larger if columns have rare entries."""
        return sample_size(self.n_rows, self.size, self.shape[1])

    def sample(self, size: int) -> Sample:
        """A sample of about ``size`` rows, with the same number from each class as far as the class has them."""
        return self.rows.sample(size, SAMPLE_SEED, self.targets)

    @depends_on("rows", "frame")
    def standing_sample(self) -> Block:
        """The sample's rows, weighted to represent all rows."""
        return self.sampled.standing_for(self.targets, self.class_weight)

    @depends_on("rows", "frame")
    def largest_entries(self) -> Array:
        """max |x̄_j| by column, (d + 1)."""
        return self.rows.fold(LargestEntries(self.shape[1]))

    @property
    def zero_columns(self) -> Any:
        """Which columns of W, (d + 1,) booleans, are exactly zero on every row."""
        return self.largest_entries == 0

    @depends_on("rows", "frame")
    def relative_offsets(self) -> Array:
        """The columns' offsets in units of their scales, (d + 1,), zero for the intercept."""
        offsets, frame = np.zeros(self.shape[1]), self.rows.frame
        np.divide(frame.center, frame.scale, out=offsets[1:])
        return np.abs(offsets)

    @depends_on("rows", "frame")
    def rounded_sizes(self) -> Array:
        """The size of the numbers in a column's products, (d + 1,), which determines their rounding error.

        It is the root mean square of the column plus the offset that the products include. In standard coordinates the
        root mean square is below 2.
        """
        centred = is_centred_first(self.rows.frame, self.rows.is_sparse, self.n_rows)
        sizes = np.full(self.shape[1], 2.0) if centred else 2.0 + self.relative_offsets
        sizes[0] = 1.0
        return sizes

    @depends_on("rows", "frame")
    def root_second_moments(self) -> Array:
        """(mean of x̄_j²)^½ by column, (d + 1)."""
        return np.sqrt(self.rows.fold(SecondMoments(self.shape[1])) / self.total_weight)
