"""No code reads the package's own sentences: messages are data until they are rendered (``core/base/messages.py``)."""

import ast
from pathlib import Path

import separatrix

SOURCE = Path(separatrix.__file__).parent
SCANNED = ("cli", "classifiers", "core/solvers", "core/proofs", "tables", "statistics", "output/report")
# Modules that may use regular expressions, and what they read with them.
READS = {
    "classifiers/signatures.py": "docstrings of classifiers, in the form that numpydoc sets",
    "cli/export.py": "the name of a table in a database, as the user types it",
    "cli/predict.py": "labels of the user's that a spreadsheet would take for formulas",
    "output/report/page.py": "SVG as matplotlib writes it, and hyphens in the exponents of numbers",
    "tables/file_batches.py": "cells of the user's file, and messages of PyArrow",
    "tables/formats/csv_files.py": "bytes, cells and the header of the user's file, and messages of PyArrow",
    "tables/formats/libsvm.py": "lines of the user's file",
    "tables/infer.py": "names of the user's columns",
    "tables/text.py": "texts of the user's table",
    "tables/target_column.py": "labels of the user's",
}
# Methods that take text apart, where the mark they look for is one that sentences have.
PARTING = ("partition", "rpartition", "split", "rsplit", "replace", "removeprefix", "removesuffix")
MARKS = ("; ", ": ", ". ")


def modules():
    for folder in SCANNED:
        for path in sorted(SOURCE.joinpath(folder).rglob("*.py")):
            yield path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text())


def imports_re(tree):
    names = (node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom))
    return any(
        node.module == "re" if isinstance(node, ast.ImportFrom) else any(one.name == "re" for one in node.names)
        for node in names
    )


def test_regular_expressions_read_what_others_wrote():
    assert sorted(name for name, tree in modules() if imports_re(tree)) == sorted(READS)


def test_no_sentence_is_taken_apart():
    found = [
        f"{name}:{node.lineno}"
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in PARTING
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and isinstance(node.args[0].value, str)
        and any(mark in node.args[0].value for mark in MARKS)
    ]
    assert found == []
