"""Files to read: written where a test asks for them."""

import pytest

from separatrix.core.base.errors import LabelError, TableError
from separatrix.tables.read_table import read_table


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(data, target="y", **settings):
    """The one sentence that a table is refused with."""
    with pytest.raises((TableError, LabelError)) as caught:
        read_table(data, target, **settings)
    text = str(caught.value)
    assert "\n" not in text
    return text
