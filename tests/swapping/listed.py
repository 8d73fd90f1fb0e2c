"""The tests of scikit-learn that do not pass here, and why: the table in ``docs/from-scikit-learn.md``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "from-scikit-learn.md"
HEADING = "## scikit-learn's own tests"


@dataclass(frozen=True)
class Listed:
    """Tests by file and name, with ``*`` for any text; without brackets a name stands for all of its parameters."""

    pattern: str
    reason: str

    def covers(self, test: str) -> bool:
        """Whether this entry speaks of a test, as ``file.py::name[parameters]``."""
        spelled = re.escape(self.pattern).replace(r"\*", ".*")
        return re.fullmatch(spelled if "[" in self.pattern else rf"{spelled}(\[.*\])?", test) is not None

    @property
    def function(self) -> str:
        return self.pattern.partition("[")[0]


def listed(document: Path = DOCUMENT) -> list[Listed]:
    """Every entry of the table, in its order."""
    _, found, section = document.read_text().partition(HEADING)
    assert found, f"{document.name} has no section {HEADING!r}"
    section = section.partition("\n## ")[0]
    entries = []
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("|") or len(cells) != 3 or not cells[1].startswith("`"):
            continue
        file, names, reason = cells
        entries += [Listed(f"{file.strip('`')}::{name}", reason) for name in re.findall(r"`([^`]+)`", names)]
    return entries
