"""The array types that signatures speak of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
AnyArray: TypeAlias = NDArray[Any]
Matrix: TypeAlias = "NDArray[Any] | csr_array[Any, tuple[int, int]]"
