"""A name of a constant means the same everywhere: it has one value in all modules. A comment says what it means."""

import ast
from collections import defaultdict
from pathlib import Path

import separatrix

# Every page of the lab has a picture of its own shape.
SEVERAL_VALUES = {"HEIGHT_BY_WIDTH"}


def assigned(statement):
    """The names and values that a statement of a module assigns."""
    if isinstance(statement, ast.AnnAssign):
        return [(statement.target, statement.value)]
    if not isinstance(statement, ast.Assign):
        return []
    (target, *_), value = statement.targets, statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        return list(zip(target.elts, value.elts, strict=True))
    return [(target, value)]


def number(value):
    """The number that an expression of literals stands for, or None."""
    try:
        found = eval(compile(ast.Expression(value), "constant", "eval"), {"__builtins__": {}})
    except Exception:
        return None
    return found if type(found) in (int, float) else None


def constants():
    """The name, the value, the file and the paragraph of every numeric constant of a module."""
    for path in Path(separatrix.__file__).parent.rglob("*.py"):
        text = path.read_text()
        for statement in ast.parse(text).body:
            for target, value in assigned(statement):
                found = None if value is None else number(value)
                if found is not None and isinstance(target, ast.Name):
                    above = "\n".join(text.splitlines()[: statement.lineno]).rpartition("\n\n")[2]
                    yield target.id, found, path.name, above


def test_a_name_of_a_constant_has_one_value():
    values = defaultdict(lambda: defaultdict(list))
    for name, value, file, _ in constants():
        values[name][value].append(file)
    assert {name: dict(found) for name, found in values.items() if len(found) > 1 and name not in SEVERAL_VALUES} == {}


def test_a_comment_says_what_a_constant_means():
    assert [(file, name) for name, _, file, above in constants() if "#" not in above] == []
