"""A model as SQL: score, probability and label are expressions that the database engine computes.

An answer is NULL if the model has none, because a value is missing, a level did not occur in training or a number is
infinite. Numbers, truth values (true and false, or 1 and 0) and dates (2024-12-31, 2024-12-31T23:59Z) may have types of
their own or be text, as in a file. A category may have any of these types. Its values are compared with the levels as
the encoder spells them: in a column of truth values, true is the level with that meaning, such as Yes. Comments above
the statement list such cases, and what an engine may have lost when it read a file. The dialect "standard" cannot ask
for the type of a column: there dates are timestamps, and categories are text, whole numbers or truth values. SQLite has
no truth values and uses 1 and 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

from separatrix.base.errors import ParameterError
from separatrix.base.setting_checks import check_flag
from separatrix.evaluation.model_rule import rule_for
from separatrix.export.decision_notes import decision_notes
from separatrix.export.dialects import dialect_of
from separatrix.export.formula import Formula, formula_of, refuse_words
from separatrix.export.guards import guard_of
from separatrix.export.level_texts import notes_on_levels
from separatrix.export.sql_writer import Binding, Writer
from separatrix.table.cells import NA

# Largest total length, in characters, of the expressions of ``to_sql(..., parts=True)``. Longer ones would be of no
# practical use, so they are an error.
LONGEST_EXPRESSIONS = 8_000_000
# Largest factor by which a statement may grow if an engine expands its subqueries. Beyond it, expansion is prevented
# (``Dialect.fence``).
LARGEST_EXPANSION = 20


@dataclass(frozen=True)
class SqlExpressions:
    """The result of ``to_sql(..., parts=True)``.

    Parameters
    ----------
    score : str or tuple of str
        One expression for two classes, or one for each of several classes.
    probability : str, tuple of str or None
        Likewise; None if the model has no probabilities.
    label : str
        The expression of the predicted label.

    Examples
    --------
    >>> SqlExpressions("(x)", None, "CASE WHEN (x) >= 0 THEN 'yes' WHEN (x) < 0 THEN 'no' END").probability is None
    True
    """

    score: str | tuple[str, ...]
    probability: str | tuple[str, ...] | None
    label: str


@overload
def to_sql(
    model: Any,
    dialect: str = ...,
    table: str | Sequence[str] | None = ...,
    keep: Sequence[str] = ...,
    *,
    parts: Literal[False] = ...,
    threshold: float | None = ...,
    cost: Mapping[str, float] | None = ...,
    prior: Any = ...,
    fitted_prior: Any = ...,
) -> str: ...


@overload
def to_sql(
    model: Any,
    dialect: str = ...,
    *,
    parts: Literal[True],
    threshold: float | None = ...,
    cost: Mapping[str, float] | None = ...,
    prior: Any = ...,
    fitted_prior: Any = ...,
) -> SqlExpressions: ...


def to_sql(
    model: Any,
    dialect: str = "duckdb",
    table: str | Sequence[str] | None = None,
    keep: Sequence[str] = (),
    *,
    parts: bool = False,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> str | SqlExpressions:
    """A SELECT statement of score, probability and label for every row of a table, or these as expressions.

    With two classes there is one score, which is positive for the second class, and the probability of that class. With
    more there is a score and a probability for each class, in columns such as "score=setosa".

    With ``parts=True``, score, probability and label are separate expressions, for use in other statements and views.
    For Gaussian models they do not distinguish classes if a distance is so large (1e154) that its square overflows, and
    PostgreSQL ends the statement with an error at such a row. SQLite's parser may refuse the long expressions of a
    probit model, or of a complementary log-log model with ``prior``. The statement has none of these limits.

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model. If it was fitted with an offset, the statement has an offset of zero.
    dialect : {"duckdb", "sqlite", "postgresql", "standard"}, default "duckdb"
        The dialect of SQL.
    table : str or sequence of str, optional
        The name of the table, in which dots belong to the name, or a schema and a table; by default "rows".
    keep : sequence of str, default ()
        The columns of the table to select before the answers.
    parts : bool, default False
        Return expressions instead of a statement. They name no table, so ``table`` and ``keep`` are refused.
    threshold : float, optional
        For two classes, the probability of the second class from which it is the label, by default ½.
    cost : dict, optional
        For two classes, the costs of both mistakes, as in ``{"FP": 1, "FN": 5}``; the second class is the positive one.
        Unless a threshold is given, the threshold is FP/(FP + FN).
    prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares for which the probabilities are corrected, if they differ from those of the fitted rows.
    fitted_prior : (K,) sequence in the order of the classes, or dict by label, optional
        The class shares or counts of the fitted rows, which ``prior`` needs. Discriminant analyses and model files of
        ``separatrix fit`` know theirs.

    Returns
    -------
    str or SqlExpressions
        The statement, or with ``parts=True`` the expressions.

    Raises
    ------
    ParameterError
        A column of ``keep`` has the name of an answer, the expressions would be too long, or the model cannot be
        exported or has no probabilities to decide by.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> import duckdb
    >>> rows = duckdb.sql("SELECT 2.5 AS x0 UNION ALL SELECT NULL")
    >>> duckdb.sql(f"SELECT label FROM ({to_sql(model)})").fetchall()
    [('yes',), (None,)]

    >>> import numpy as np
    >>> from separatrix import Scorer
    >>> scorer = Scorer(np.array([[-1.5, 2.0]]), np.array(["no", "yes"]), "sign")
    >>> to_sql(scorer, "standard", parts=True).score
    '((-1.5e0) + 2.0e0 * (CAST("x0" AS DOUBLE PRECISION)))'
    """
    check_flag("parts", parts)
    rule = rule_for(model, threshold, cost, prior, fitted_prior)
    if not parts:
        return select_statement(formula_of(model, rule=rule), dialect, table, keep)
    if table is not None or keep:
        name = "table" if table is not None else "keep"
        raise ParameterError(name, "it was given with parts=True", "leave it out: expressions name no table")
    return _expressions(formula_of(model, drawn_in=False, rule=rule), dialect)


def _expressions(formula: Formula, dialect: str) -> SqlExpressions:
    spelled = dialect_of(dialect)
    refuse_words(formula, "SQL")
    guard = guard_of(formula, spelled, inline=True)
    written, unfolded = Writer(formula, spelled, guard).sizes()
    if unfolded > LONGEST_EXPRESSIONS:
        problem = f"its expressions would have {unfolded:.2g} characters, as a statement with subqueries {written}"
        raise ParameterError("model", problem, "leave out parts=True: the statement has subqueries")
    writer = Writer(formula, spelled, guard, inline=True)
    z, p = writer.answers()
    if len(z) == 1:
        return SqlExpressions(z[0], None if p is None else p[0], writer.label())
    return SqlExpressions(tuple(z), None if p is None else tuple(p), writer.label())


def select_statement(
    formula: Formula, dialect: str, table: str | Sequence[str] | None = None, keep: Sequence[str] = ()
) -> str:
    """A SELECT statement of the answers for every row of a table; see ``to_sql``."""
    refuse_words(formula, "SQL")
    spelled = dialect_of(dialect)
    writer = Writer(formula, spelled, guard_of(formula, spelled, inline=False))
    columns = _answer_columns(writer)
    twice = {name for name, _ in columns} & set(keep)
    if twice:
        raise ParameterError("keep", f"it has {sorted(twice)[0]!r}, as the answers do", "rename that column")
    quoted = spelled.name_of
    kept = [(f"k{i}", f"t.{quoted(name)}") for i, name in enumerate(keep)]
    final = [(quoted(name), f"k{i}") for i, name in enumerate(keep)] + [(quoted(name), text) for name, text in columns]
    parts = ["rows"] if table is None else [table] if isinstance(table, str) else table
    step = "separatrix"
    while parts[-1].lower().startswith(step):  # a subquery must not have the table's name
        step += "_"
    source = f"{'.'.join(quoted(name) for name in parts)} AS t"
    return _comments(formula) + _layered(writer, source, step, kept, final)


def _answer_columns(writer: Writer) -> list[Binding]:
    """The names and expressions of scores, probabilities and label."""
    z, p = writer.answers()
    label = ("label", writer.label())
    if len(z) == 1:
        return [("score", z[0]), *([] if p is None else [("probability", p[0])]), label]
    classes = [str(name) for name in writer.formula.classes]
    scores = [(f"score={name}", text) for name, text in zip(classes, z, strict=True)]
    return [*scores, *((f"probability={name}", text) for name, text in zip(classes, p or (), strict=False)), label]


def _comments(formula: Formula) -> str:
    """Comments on the decision and on columns of categories, a line each."""
    lines = decision_notes(formula)
    levels = {column.name: [level for level, _ in column.rows] for column in formula.columns if column.rows}
    lines += [line for name, known in levels.items() for line in notes_on_levels(name, known)]
    if any(NA not in known for known in levels.values()):
        lines.append(
            f"In a category, the text {NA} is a level like any other. If it means a missing value, make it NULL."
        )
    return "".join(f"-- {' '.join(line.splitlines())}\n" for line in lines)


def _layered(writer: Writer, source: str, step: str, kept: list[Binding], final: list[Binding]) -> str:
    """The statement: a subquery for each layer of names, then the answers."""
    parts: list[str] = []
    written, unfolded = writer.sizes()
    fence = writer.dialect.fence if unfolded > LARGEST_EXPANSION * written else ""
    for i, bound in enumerate(writer.needed([text for _, text in final])):
        own = [*kept, *bound] if i == 0 else bound
        before = "" if i == 0 else "*, "
        listed = ",\n         ".join(f"{text} AS {name}" for name, text in own)
        parts.append(f"{step}_{i} AS (\n  SELECT {before}{listed}\n  FROM {source}{fence}\n)")
        source = f"{step}_{i}"
    listed = ",\n       ".join(f"{text} AS {name}" for name, text in final)
    return f"WITH {', '.join(parts)}\nSELECT {listed}\nFROM {source}\n"
