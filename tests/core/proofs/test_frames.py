"""Frames that hold more than numbers."""

import pandas as pd
import pytest

from separatrix import separability
from separatrix.core.base.errors import InputError


def test_a_column_of_text_is_named():
    frame = pd.DataFrame({"age": [1.0, 2.0, 3.0], "town": ["a", "b", "a"]})
    with pytest.raises(InputError, match=r"column 'town' is 'a', not a number.*TableEncoder"):
        separability(frame, [0, 1, 0])
