"""What holds for the files of the front end."""

import gzip
from pathlib import Path

import separatrix.lab

STATIC = Path(separatrix.lab.__file__).parent / "static"


def test_the_front_end_is_small_and_loads_nothing_from_elsewhere():
    files = list(STATIC.iterdir())
    # As they are sent; the server compresses them.
    assert sum(len(gzip.compress(file.read_bytes())) for file in files) <= 80_000
    assert sum(file.stat().st_size for file in files) <= 190_000
    for file in files:
        addresses = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses
        assert "https://" not in addresses
        assert "innerHTML" not in addresses
