"""A model as one Python file without dependencies: predict, scores, probabilities, and a command that reads CSV."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

from separatrix.output import algebra, python_runtime
from separatrix.output.formula import Formula, FormulaColumn, Row, decision_notes, formula_of
from separatrix.statistics.model_decisions import rule_for
from separatrix.tables.cells import NO_NUMBER, NO_TEXT
from separatrix.tables.text import TextFeatures

# Largest number of columns in the example in the docstring of the exported file.
MOST_EXAMPLE_COLUMNS = 4
OPERATORS = {"+": "operator.add", "-": "operator.sub", "*": "operator.mul", "/": "operator.truediv"}
READERS = {"number": "as_number", "boolean": "as_truth", "date": "as_days", "category": "as_level"}


def to_python(
    model: Any,
    *,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> str:
    """The text of a Python file that predicts without this package.

    The file has the functions ``predict(row)``, ``scores(row)`` and, if the model has probabilities,
    ``probabilities(row)``. A row is a dictionary of the table's columns. ``python file.py < rows.csv`` prints a
    prediction for each line, and with ``--probabilities`` also probabilities; ``python file.py --help`` lists the
    options.

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model. If it was fitted with an offset, the offset here is zero.
    threshold, cost, prior, fitted_prior : optional
        Another rule for the labels, as in ``to_sql``: a threshold for the second class, the costs of both mistakes, or
        other class shares.

    Returns
    -------
    str
        The text of the file.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> names = {}
    >>> exec(to_python(model), names)
    >>> names["predict"]({"x0": 2.5}), names["predict"]({"x0": "0.5"})
    ('yes', 'no')
    """
    return program_text(formula_of(model, rule=rule_for(model, threshold, cost, prior, fitted_prior)))


def program_text(formula: Formula) -> str:
    """The text of the Python file for a formula; see ``to_python``."""
    program = Program(formula)
    words = any(column.text is not None for column in formula.columns)
    modules = sorted(
        {*python_runtime.MODULES, *(python_runtime.TEXT_MODULES if words else ())}, key=lambda module: module.__name__
    )
    readers = READERS | ({"words": "as_words"} if words else {})
    asked = ["__doc__", "COLUMNS", "predict"] + ["probabilities"] * (formula.probabilities is not None)
    parts = [
        f'"""{_docstring(formula)}"""',
        "from __future__ import annotations",
        "\n".join(f"import {module.__name__}" for module in modules),
        _constants(formula),
        *(inspect.getsource(function).rstrip() for function in python_runtime.FUNCTIONS),
        *(inspect.getsource(function).rstrip() for function in python_runtime.TEXT_FUNCTIONS if words),
        _literal("READERS", {kind: _Name(name) for kind, name in readers.items()}),
        program.written(),
        f'if __name__ == "__main__":\n    predict_table({", ".join(asked)})',
    ]
    return "\n\n\n".join(parts) + "\n"


class _Name(str):
    """A name whose ``repr`` is the name itself, so that it is written into code without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _literal(name: str, value: Any) -> str:
    return f"{name} = {value!r}"


def _constants(formula: Formula) -> str:
    drop = formula.encoder is not None and formula.encoder.missing == "drop"
    columns = ",\n    ".join(repr(_plain(column, drop)) for column in formula.columns)
    lines = [
        _literal("CLASSES", formula.classes),
        _literal("LOWEST_EXPONENT", algebra.LOWEST_EXPONENT),
        _literal("NO_NUMBER", NO_NUMBER),
        _literal("NO_TEXT", NO_TEXT),
        f"COLUMNS = [\n    {columns},\n]",
    ]
    return "\n".join(lines)


def _plain(column: FormulaColumn, drop: bool) -> dict[str, Any]:
    rows: dict[str | float, Row] = dict(column.rows)
    return {
        "name": column.name,
        "kind": column.kind,
        "shift": column.shift,
        "tail": column.tail,
        "rows": rows | {value: rows[level] for value, level in column.numbers},
        "truths": dict(column.truths),
        "absent": column.absent,
        "unseen": column.unseen,
        "drop": drop,
        "text": None if column.text is None else _text_plan(column.text, column.shifts),
    }


def _text_plan(text: TextFeatures, shifts: Row) -> dict[str, Any]:
    """What ``text_row`` needs."""
    return {
        "width": text.width,
        "ngrams": text.settings.ngrams,
        "places": None if text.settings.hashed else {term: j for j, term in enumerate(text.terms)},
        "idf": list(text.idf),
        "sublinear": text.settings.sublinear_tf,
        "shifts": shifts,
    }


class Program:
    """A formula as Python statements, one for each node."""

    def __init__(self, formula: Formula) -> None:
        self.formula = formula
        self.constants: list[str] = []
        self.lines: list[str] = []
        self.rules: algebra.Rules[str] = {
            algebra.Inputs: lambda node: "x",
            algebra.Constant: lambda node: f"[{node.value!r}]",
            algebra.Affine: self._affine,
            algebra.Combine: lambda node, a, b: self._assigned(f"each({OPERATORS[node.sign]}, {a}, {b})"),
            algebra.Exp: lambda node, v: self._assigned(f"each(raised, {v})"),
            algebra.Abs: lambda node, v: self._assigned(f"each(abs, {v})"),
            algebra.Where: lambda node, test, yes, no: self._assigned(f"each(where, {test}, {yes}, {no})"),
            algebra.Largest: lambda node, v: self._assigned(f"[max({v})]"),
        }

    def written(self) -> str:
        """The constants and the public functions."""
        known: dict[algebra.Vector, str] = {}
        z = algebra.translate(self.formula.scores, self.rules, known)
        of_x = [*self.lines, f"return {z}"]
        self.lines = []
        p = self.formula.probabilities
        functions = [_function("all_scores", "x", "The scores for the columns of X.", of_x)]
        binary = len(self.formula.classes) == 2
        functions.append(_function("scores", "row", *SCORES[binary]))
        if p is not None:
            name = algebra.translate(p, self.rules, {self.formula.scores: "z"})
            of_z = [*self.lines, f"return {name}"]
            functions.append(_function("all_probabilities", "z", "The probabilities for the scores.", of_z))
            functions.append(_function("probabilities", "row", *PROBABILITIES))
        says = "The class of a row; None if there is no prediction."
        functions.append(_function("predict", "row", says, _predict(self.formula)))
        return "\n\n\n".join(["\n".join(self.constants), *functions])

    def _affine(self, node: algebra.Affine, v: str) -> str:
        k = len(self.constants)
        self.constants.append(f"M{k}, A{k} = {node.M.tolist()!r}, {node.a.tolist()!r}")
        return self._assigned(f"affine(M{k}, A{k}, {v})")

    def _assigned(self, text: str) -> str:
        self.lines.append(f"v{len(self.lines)} = {text}")
        return f"v{len(self.lines) - 1}"


_ENCODED = ["x = encoded(row, COLUMNS, READERS)", "if x is None:", "    return None"]
# The docstring and the body of the function ``scores``, by whether there are two classes.
SCORES: dict[bool, tuple[str, Sequence[str]]] = {
    True: (
        "The score, which is positive for the second class; None if there is no prediction.",
        [*_ENCODED, "return all_scores(x)[0]"],
    ),
    False: (
        "The score of each class; None if there is no prediction.",
        [*_ENCODED, "return dict(zip(CLASSES, all_scores(x)))"],
    ),
}
PROBABILITIES = (
    "The probability of each class; None if there is no prediction.",
    [*_ENCODED, "return dict(zip(CLASSES, all_probabilities(all_scores(x))))"],
)


def _predict(formula: Formula) -> list[str]:
    """The body of ``predict``: one score against the boundary, or the first largest of several numbers."""
    if len(formula.classes) > 2:
        ranked = "all_scores(x)" if formula.ranking is formula.scores else "all_probabilities(all_scores(x))"
        return [*_ENCODED, f"ranked = {ranked}", "return CLASSES[ranked.index(max(ranked))]"]
    if math.isinf(formula.boundary):  # The rule gives every row the same label.
        return [*_ENCODED, f"return CLASSES[{int(formula.boundary < 0)}]"]
    exceeds = ">=" if formula.takes_boundary else ">"
    return [*_ENCODED, f"return CLASSES[all_scores(x)[0] {exceeds} {formula.boundary!r}]"]


def _function(name: str, argument: str, says: str, body: Sequence[str]) -> str:
    return "\n    ".join([f"def {name}({argument}):", f'"""{says}"""', *body])


def _docstring(formula: Formula) -> str:
    """The exported file's docstring: usage, columns, classes, and treatment of missing values and unseen levels."""
    listed = "\n".join(f"    {column.name!r}: {_kind(column)}" for column in formula.columns)
    shown = [f"{column.name!r}: {_example(column)}" for column in formula.columns[:MOST_EXAMPLE_COLUMNS]]
    shown += ["..."] if len(formula.columns) > MOST_EXAMPLE_COLUMNS else []
    chances = ["the probability of each class", "--probabilities "] if formula.probabilities is not None else None
    text = (
        "A classifier, exported by separatrix. It needs Python 3.11 or later and nothing else.\n\n"
        f"In Python, with this file as model.py:\n\n    from model import predict\n"
        f"    predict({{{', '.join(shown)}}})\n\n"
        f"predict(row) returns one of {formula.classes!r}, scores(row) the scores"
        f"{', probabilities(row) ' + chances[0] if chances else ''}.\n"
        f"{''.join(note + chr(10) for note in decision_notes(formula))}"
        "In a shell, for a table in CSV (--help lists the options):\n\n"
        f"    python model.py {chances[1] if chances else ''}< rows.csv\n\n"
        f"A row is a dictionary or a line of the table, with these columns:\n\n{listed}\n\n"
        "A missing value is None or NaN, or in a table an empty cell or NA. Text that spells a number counts as that\n"
        "number. Other columns are ignored.\n"
        f"{_missing(formula)}\n"
    )
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _example(column: FormulaColumn) -> str:
    if column.rows:
        return repr(column.rows[0][0])
    return {"number": "1.5", "boolean": "True", "date": "'2024-12-31'", "words": "'some text'"}[column.kind]


def _kind(column: FormulaColumn) -> str:
    says = {
        "number": "a finite number",
        "boolean": "true or false",
        "date": "a date, or a date and time",
        "words": "a free text",
        "category": f"one of {[level for level, _ in column.rows]!r}",
    }
    return says[column.kind]


def _missing(formula: Formula) -> str:
    encoder = formula.encoder
    policy = "error" if encoder is None else encoder.missing
    missing = {
        "error": "A missing value raises a ValueError.",
        "impute": "A missing value is filled as learned from the training rows.",
        "indicator": "A missing value is filled as learned from the training rows, and being missing has a weight.",
        "drop": "For a row with a missing value, the functions return None.",
    }[policy]
    if all(column.kind != "category" for column in formula.columns):
        return missing
    unseen = (
        "is encoded as the mean of the training rows"
        if encoder and encoder.unseen == "average"
        else "raises a ValueError"
    )
    return f"{missing}\nA level that no training row had {unseen}."
