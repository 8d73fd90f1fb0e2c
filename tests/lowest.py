"""The lowest versions that pyproject.toml declares, as constraints of pip: ``python tests/lowest.py pyproject.toml``.

``make test-lowest`` installs them. What they need in turn is not held back: pip takes the newest that they allow.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

from packaging.requirements import Requirement


def requirements(project: dict, extras: tuple[str, ...] = ()) -> list[Requirement]:
    """The requirements of the package and of these extras; an extra that names the package itself stands for others."""
    found = [Requirement(line) for line in project["dependencies"]]
    for extra in extras:
        found += [Requirement(line) for line in project["optional-dependencies"][extra]]
    return [requirement for requirement in found if requirement.name != project["name"]]


def lowest(requirement: Requirement) -> str:
    """``name==version`` of the one lower bound, e.g. numpy==2.0 of numpy>=2.0."""
    (bound,) = (part.version for part in requirement.specifier if part.operator == ">=")
    return f"{requirement.name}=={bound}"


if __name__ == "__main__":
    declared = tomllib.loads(Path(sys.argv[1]).read_text())["project"]
    every = requirements(declared, tuple(declared["optional-dependencies"]))
    print(*sorted({lowest(requirement) for requirement in every}), sep="\n")
