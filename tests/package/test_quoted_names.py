"""Names and files that comments, docstrings and documents quote exist."""

import ast
import re
from keyword import iskeyword
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "separatrix"
MODULES = {path: path.read_text(encoding="utf-8") for path in sorted(SOURCE.rglob("*.py"))}
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
# Folders that a command of the Makefile writes.
WRITTEN = {"site/"}
OF_OTHER_PACKAGES = {"FeatureHasher", "HashingVectorizer", "OneHotEncoder", "TfidfVectorizer", "available_if"}


def identifiers(tree):
    """The names that the code of a module uses or defines, and its strings that are names."""
    for node in ast.walk(tree):
        for field in ("id", "attr", "arg", "name", "asname", "module", "value"):
            value = getattr(node, field, None)
            if isinstance(value, str):
                yield from value.split(".")


def quoted(source):
    """The names in double backquotes in docstrings and comments."""
    for text in re.findall(r'#.*|"""[\s\S]*?"""', source):
        yield from re.findall(r"``([A-Za-z_][\w.]*)``", text)


def test_names_in_double_backquotes_are_identifiers_or_files():
    files = {path.name for path in [*MODULES, *ROOT.iterdir()]}
    known = OF_OTHER_PACKAGES.union(*(identifiers(ast.parse(source)) for source in MODULES.values()))
    lost = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, source in MODULES.items()
        for name in quoted(source)
        if name not in files and not all(part in known or iskeyword(part) for part in name.split("."))
    }
    assert not lost, "\n".join(sorted(lost))


def test_files_that_are_quoted_exist():
    texts = MODULES | {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
    lost = {
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in re.findall(r"(?<!`)`{1,2}((?:\w+/)+(?:\w+\.(?:py|js|md|R|json|csv))?)`", text)
        if name not in WRITTEN
        and not any((folder / name).exists() for folder in (ROOT, SOURCE, SOURCE.parent, SOURCE / "teach" / "lab"))
    }
    assert not lost, "\n".join(sorted(lost))
