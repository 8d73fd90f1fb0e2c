"""How the columns of a table became those of X, from which ``summary`` knows the levels of factors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import ParameterError
from separatrix.rows.csr import is_sparse
from separatrix.table.encoder import Encoder
from separatrix.table.factors import Factor, factors, with_indicators
from separatrix.table.scaling import Scaling


@dataclass(frozen=True, eq=False)
class Encoding:
    """How the columns of a table became those of X: an encoder, a scaling and further steps of a pipeline, if any.

    ``rows`` (n, p) are what these steps receive; None without steps.
    """

    encoder: Encoder | None = None
    scaling: Scaling | None = None
    steps: Any = None
    rows: Any = None

    @classmethod
    def of(cls, model: Any, X: Any, encoder: Encoder | None, scaling: Scaling | None) -> Encoding:
        """The encoding by the encoder given, or else by that in a pipeline, or else by that which made X."""
        steps = [step for _, step in getattr(model, "steps", ())[:-1]]
        at = next((k for k, step in enumerate(steps, 1) if isinstance(getattr(step, "encoder_", None), Encoder)), 0)
        if at and encoder is None:
            encoder, scaling = steps[at - 1].encoder_, steps[at - 1].scaling_
        elif encoder is None:
            encoder, scaling = getattr(X, "encoding", (None, None))
        if encoder is None or all(step in (None, "passthrough") for step in steps[at:]):
            return cls(encoder, scaling)
        rows = model[:at].transform(X) if at else X
        return cls(
            encoder, scaling, model[at:-1], rows if is_sparse(rows) or hasattr(rows, "iloc") else np.asarray(rows)
        )

    def refuse_other_columns(self, width: int) -> None:
        """Raise an error if the encoder makes another number of columns than X or the first of the steps has."""
        width = width if self.steps is None else self.rows.shape[1]
        if self.encoder is not None and self.encoder.n_columns != width:
            problem = f"it makes {self.encoder.n_columns} columns, and there are {width}"
            raise ParameterError("encoder", problem, "give the encoder that made X")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns that the encoder makes."""
        return () if self.encoder is None else self.encoder.names

    def factors(self) -> list[Factor]:
        """The factors among the columns that the encoder makes; before further steps also its columns of 0 and 1."""
        if self.encoder is None:
            return []
        found = factors(self.encoder, self.scaling)
        if self.steps is None:
            return found
        ones, others = (np.asarray(mask.sum(axis=0)).ravel() for mask in (self.rows == 1, self.rows != 0))
        return with_indicators(found, (ones == others) & (ones > 0) & (ones < self.rows.shape[0]))

    def with_values(self, columns: Integers, values: Array) -> Any:
        """X, if these columns that the encoder makes have the same values in all rows."""
        if is_sparse(self.rows):
            from scipy.sparse import csr_array

            row, kept = np.zeros((1, self.rows.shape[1])), np.ones((1, self.rows.shape[1]))
            row[0, columns], kept[0, columns] = values, 0.0
            ones = csr_array(np.ones((self.rows.shape[0], 1)))
            return self.steps.transform(csr_array(self.rows.multiply(kept)) + ones @ csr_array(row))
        rows = self.rows.copy()
        (rows.iloc if hasattr(rows, "iloc") else rows)[:, columns] = values
        return self.steps.transform(rows)
