"""What holds for the files of the front end."""

from pathlib import Path

import separatrix.teach.lab

STATIC = Path(separatrix.teach.lab.__file__).parent / "static"


def test_the_front_end_loads_nothing_from_elsewhere():
    for file in STATIC.iterdir():
        addresses = file.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in addresses
        assert "https://" not in addresses
        assert "innerHTML" not in addresses
