r"""Docstrings as they are meant: text with formulas and ``code``, in numpydoc's sections.

Sphinx reads docstrings as reStructuredText, in which ``|w|``, ``coef_`` and ``*`` are markup. In this package they are
an absolute value, an attribute and a product. So each is escaped outside of ``code`` and of examples. An indented block
after a blank line is shown as it stands.

>>> escaped("‖w‖² + |w_j|, and coef_ is a*b: see ``coef_``")
'‖w‖² + \\|w_j\\|, and coef\\_ is a\\*b: see ``coef_``'
"""

from __future__ import annotations

import dataclasses
import re
from typing import Any

import separatrix as sx

# Double backquotes hold code; single ones do too, for readers of Markdown.
CODE = re.compile(r"(``.+?``|`[^`]+`)")
MARKUP = re.compile(r"[*|]|(?<=\w)_(?!\w)")
SECTION = re.compile(r"^-{3,}\s*$")
# sklearn's own methods carry references to pages of its own site.
FOREIGN = ("sklearn.",)


def escaped(line: str) -> str:
    """The line with every character that is markup only by accident escaped."""
    parts = CODE.split(line)
    for k, part in enumerate(parts):
        if k % 2 == 0:
            parts[k] = MARKUP.sub(lambda found: "\\" + found[0], part)
        elif not part.startswith("``"):
            parts[k] = f"`{part}`"
    return "".join(parts)


def rewritten(lines: list[str]) -> list[str]:
    """A docstring's lines for reStructuredText."""
    sections = next((k for k, line in enumerate(lines) if SECTION.match(line)), len(lines))
    found: list[str] = []
    example = literal = False
    for k, line in enumerate(lines):
        blank = not line.strip()
        example = (example or line.lstrip().startswith(">>>")) and not blank
        opens = line.startswith("    ") and k and not lines[k - 1].strip() and k < sections
        if opens and not example and not literal:
            found += ["::", ""]
            literal = True
        literal = literal and (blank or line.startswith("    "))
        found.append(line if example or literal or SECTION.match(line) else escaped(line))
    return found


def is_result(name: str, kind: str) -> bool:
    """Whether a name is that of a class which users get from functions and do not call themselves.

    >>> is_result("separatrix.statistics.summary.Summary", "class"), is_result("separatrix.Hyperplane", "class")
    (True, False)
    """
    return kind == "class" and name.split(".")[1] not in sx.__all__


def fields(kind: Any) -> tuple[str, ...]:
    """The public fields of a dataclass or of a named tuple."""
    if dataclasses.is_dataclass(kind):
        names = tuple(field.name for field in dataclasses.fields(kind))
    else:
        names = tuple(getattr(kind, "_fields", ()))
    return tuple(name for name in names if not name.startswith("_"))


def _process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    lines[:] = rewritten(lines)
    if is_result(name, what) and fields(obj) and "Attributes" not in lines:
        lines += ["", "Fields: " + ", ".join(f"``{field}``" for field in fields(obj)) + ".", ""]


def _sign(app: Any, what: str, name: str, obj: Any, options: Any, signature: str, result: str) -> Any:
    """Leave out the signature of what users do not call."""
    return ("", None) if is_result(name, what) else None


def _skip(app: Any, what: str, name: str, obj: Any, skip: bool, options: Any) -> bool | None:
    """Leave out what scikit-learn's classes pass on; its own site describes it."""
    module = getattr(obj, "__module__", None) or ""
    return True if module.startswith(FOREIGN) or name.endswith("_request") else None


def setup(app: Any) -> dict[str, bool]:
    """Before numpydoc, which parses the sections."""
    app.connect("autodoc-process-docstring", _process, priority=300)
    app.connect("autodoc-process-signature", _sign)
    app.connect("autodoc-skip-member", _skip)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
