"""What holds for the files of the front end."""

import gzip
from pathlib import Path

import separatrix.lab
from separatrix.lab.front_end import served_texts

STATIC = Path(separatrix.lab.__file__).parent / "static"


def test_the_front_end_is_small_and_loads_nothing_from_elsewhere():
    files = list(STATIC.iterdir())
    # As they are sent: without comments and spaces, and compressed by the server.
    assert sum(len(text.encode()) for text in served_texts().values()) <= 150_000
    assert sum(len(gzip.compress(text.encode())) for text in served_texts().values()) <= 65_000
    for file in files:
        addresses = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses
        assert "https://" not in addresses
        assert "innerHTML" not in addresses
