r"""Check for columns that are linear combinations of others, exactly or nearly, and give the relation.

For standardised columns Z with Z P = Q R (Golub's pivoted QR), the columns past the rank are the first columns times
R₁₁⁻¹R₁₂. Each of them, with the columns of its nonzero coefficients, is a minimal dependent set. For each of them the
relation with the smallest Σ |c| among all relations is found by a linear program, since it has few terms (basis
pursuit: Chen, Donoho and Saunders, SIAM Review 43, 2001). The relations are found in a sample; the largest residual
over all rows shows how well each holds. Near-dependence is measured by the variance
inflation factor 1/(1 − R²) of a column on all others (Belsley, Kuh and Welsch, Regression Diagnostics, 1980), and is
shown with the few columns that explain most of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.labels import quoted
from separatrix.base.number_text import many, number_text
from separatrix.checks.checked_rows import CHECKED_SAMPLE_ROWS, MOST_COLUMNS_FOR_GRAM_MATRIX, CheckedRows
from separatrix.checks.finding import Finding

# A relation is exact if its residuals are below this share of the column's standard deviation.
LARGEST_EXACT_RESIDUAL = 1e-9
# Variance inflation factors from which a column is reported, and from which it is a warning.
INFLATION_TO_REPORT, INFLATION_TO_WARN = 100.0, 1e4
# Coefficients below this share of the largest are rounding errors.
ROUNDING_SHARE_OF_COEFFICIENT = 1e-7
# A near-dependence is shown with the fewest columns that reach this share of R², and with at most this many columns.
SHARE_OF_R_SQUARED_TO_EXPLAIN, MOST_EXPLAINING_COLUMNS = 0.99, 3
# A sentence shows at most this many relations, and this many terms of each, to stay readable.
MOST_RELATIONS_SHOWN, MOST_TERMS_SHOWN = 4, 5
# Shorter relations are searched for if there are at most this many columns past the rank: each is a linear program.
MOST_RELATIONS_SHORTENED = 50
# The sample is made smaller if its factorisation would take more multiplications than this.
MOST_FACTOR_MULTIPLICATIONS = 4e9


class Relation(NamedTuple):
    """x_j = intercept + Σ coefficient · x_i, up to ``residual``, in standard deviations of x_j."""

    j: int
    columns: Integers
    coefficients: Array
    intercept: float
    residual: float


def collinear(subject: CheckedRows) -> Iterator[Finding]:
    """Exact relations, then near ones, then the condition number."""
    d = len(subject.varying)
    if d < 2:
        return
    if d > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows <= d:
        why = (
            f"{subject.columns(d)} are too many"
            if d > MOST_COLUMNS_FOR_GRAM_MATRIX
            else f"{subject.n_rows:,} rows are too few for {subject.columns(d)}"
        )
        remedy = "Keep a penalty: the rows alone may not determine the weights."
        yield Finding(
            "note", "collinear", "The check for collinear columns was skipped.", f"{why[:1].upper()}{why[1:]}.", remedy
        )
        return
    sample = _standardised(subject)
    basis, relations = _exact(subject, sample)
    if relations:
        yield _told_exact(subject, relations)
    G = sample.Z[:, basis].T @ sample.Z[:, basis]
    condition = float(np.sqrt(np.linalg.cond(G)))
    near = _near(G)
    if near:
        yield _told_near(subject, sample, basis, near, condition)
    if not relations and not near:
        facts = {"condition": condition}
        sentence = (
            f"The condition number of the standardised columns is {number_text(condition, 3)}.{sample.aside(subject)}"
        )
        yield Finding("ok", "collinear", "No column is a combination of others.", sentence, "", facts)


def dependent(subject: CheckedRows) -> list[int]:
    """Columns that are linear combinations of the others, up to rounding."""
    d = len(subject.varying)
    if d < 2 or d > MOST_COLUMNS_FOR_GRAM_MATRIX or subject.n_rows <= d:
        return []
    return sorted({relation.j for relation in _exact(subject, _standardised(subject))[1]})


class _Standardised(NamedTuple):
    """Columns Z (m, q) of unit length, of a sample of rows; their indices, and their lengths in raw units."""

    Z: Array
    columns: Integers
    length: Array

    def aside(self, subject: CheckedRows) -> str:
        """A remark that the numbers come from a sample of rows, if they do."""
        return f" (Computed on a sample of {len(self.Z):,} rows.)" if len(self.Z) < subject.n_rows else ""


def _standardised(subject: CheckedRows) -> _Standardised:
    d = len(subject.varying)
    size = int(max(2 * d + 100, min(CHECKED_SAMPLE_ROWS, MOST_FACTOR_MULTIPLICATIONS / d**2)))
    Z = subject.standard.sample(size, 0).block.homogeneous()[:, 1:][:, subject.varying]
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    seen = np.flatnonzero(length > 0)
    columns = subject.varying[seen]
    return _Standardised(Z[:, seen] / length[seen], columns, length[seen] * subject.standard.frame.scale[columns])


def _exact(subject: CheckedRows, sample: _Standardised) -> tuple[Integers, list[Relation]]:
    """A basis of the columns of Z, and for each other column the relation, if it holds on all rows."""
    from scipy.linalg import qr, solve_triangular

    R, order = qr(np.linalg.qr(sample.Z, mode="r"), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > LARGEST_EXACT_RESIDUAL * diagonal[0]))
    C = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    null = np.vstack([C, -np.eye(len(order) - rank)])  # The relations of the columns in this order, one in each column.
    relations = []
    for v in _short_relations(null) if null.shape[1] <= MOST_RELATIONS_SHORTENED else null.T:
        together = np.sort(order[_used(v)])  # A minimal dependent set: any member follows from the others.
        relations.append(_relation(subject, sample, int(together[-1]), together[:-1]))
    return np.sort(order[:rank]), [
        relation for relation in relations if relation.residual <= 10 * LARGEST_EXACT_RESIDUAL
    ]


def _used(v: Array) -> AnyArray:
    """A mask of the coefficients that are not rounding errors."""
    return np.asarray(np.abs(v) > ROUNDING_SHARE_OF_COEFFICIENT * np.abs(v).max(initial=0.0))


def _short_relations(null: Array) -> Iterator[Array]:
    """Independent relations with few terms that span the same space as the columns of ``null`` (d, q).

    After each relation the last of its columns is removed from the others, so that no relation is found twice.
    """
    while null.shape[1]:
        last = int(np.flatnonzero(np.abs(null).max(axis=1) > ROUNDING_SHARE_OF_COEFFICIENT)[-1])
        v = _shortest(null, last) if null.shape[1] > 1 else null[:, 0]
        yield v
        pivot = int(np.argmax(np.abs(null[last])))
        null = np.delete(null - np.outer(null[:, pivot], null[last] / null[last, pivot]), pivot, axis=1)


def _shortest(null: Array, j: int) -> Array:
    """The combination v of the relations ``null`` (d, q) with v_j = −1 and the smallest Σ |v|, which has few terms.

    >>> twice = np.array([[1.0, 1.0], [1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])  # c = a + b and d = a + b, so d = c
    >>> _shortest(twice, 3).round(9).tolist()
    [0.0, 0.0, 1.0, -1.0]
    """
    from scipy.optimize import linprog

    d, q = null.shape
    split = np.hstack([null, -np.eye(d), np.eye(d)])  # null · a = positive − negative parts of v
    fixed = np.concatenate([null[j], np.zeros(2 * d)])[None, :]
    cost, free = np.concatenate([np.zeros(q), np.ones(2 * d)]), [(None, None)] * q + [(0, None)] * (2 * d)
    solved: Any = linprog(cost, A_eq=np.vstack([split, fixed]), b_eq=np.append(np.zeros(d), -1.0), bounds=free)
    return np.asarray(null @ solved.x[:q] if solved.status == 0 else null[:, np.argmax(np.abs(null[j]))])


def _relation(subject: CheckedRows, sample: _Standardised, j: int, others: Integers) -> Relation:
    """Column j of Z as a combination of others, in raw units, by least squares on the sample.

    The residual is the largest over all rows.
    """
    c, *_ = np.linalg.lstsq(sample.Z[:, others], sample.Z[:, j], rcond=None)
    c = c * sample.length[j] / sample.length[others]
    of, by = int(sample.columns[j]), sample.columns[others]
    v = np.zeros(subject.n_columns)
    v[by], v[of] = -c, 1.0
    left = np.asarray(subject.X @ v)
    intercept = float(left.mean())
    residual = float(np.abs(left - intercept).max() / subject.summary.std[of])
    return Relation(of, by, c, intercept, residual)


class _Near(NamedTuple):
    """A column of the basis, the few others that explain it, their R², and its variance inflation by all others."""

    j: int
    others: Integers
    r_squared: float
    inflation: float


def _near(G: Array) -> list[_Near]:
    """Columns with a large variance inflation factor. Each is left out before the next one is searched."""
    left = np.arange(len(G))
    near: list[_Near] = []
    while len(left) > 1:
        inflation = np.diag(np.linalg.pinv(G[np.ix_(left, left)], hermitian=True))
        worst = int(np.argmax(inflation))
        if inflation[worst] < INFLATION_TO_REPORT:
            break
        j, left = int(left[worst]), np.delete(left, worst)
        near.append(_Near(j, *_explained(G, j, left, 1.0 - 1.0 / inflation[worst]), float(inflation[worst])))
    return near


def _explained(G: Array, j: int, others: Integers, whole: float) -> tuple[Integers, float]:
    """The few columns that explain column j best, chosen greedily, and their R²."""
    chosen, c, reached = others[:0], np.empty(0), 0.0
    while len(chosen) < MOST_EXPLAINING_COLUMNS and reached < SHARE_OF_R_SQUARED_TO_EXPLAIN * whole:
        pull = np.abs(G[others, j] - G[np.ix_(others, chosen)] @ c)
        pull[np.isin(others, chosen)] = -1.0
        chosen = np.append(chosen, others[np.argmax(pull)])
        c = np.linalg.lstsq(G[np.ix_(chosen, chosen)], G[chosen, j], rcond=None)[0]
        reached = float(G[chosen, j] @ c)
    return np.sort(chosen), min(reached, whole)


def _told_exact(subject: CheckedRows, relations: list[Relation]) -> Finding:
    one = len(relations) == 1
    shown = [
        f"{_equation(subject, relation)} within {max(relation.residual, 1e-16):.0e}"
        for relation in relations[:MOST_RELATIONS_SHOWN]
    ]
    more = f"; and {len(relations) - MOST_RELATIONS_SHOWN} more" if len(relations) > MOST_RELATIONS_SHOWN else ""
    title = "A column is a combination of others." if one else f"{len(relations)} columns are combinations of others."
    sentence = f"{'; '.join(shown)}{more} (the largest residual, in standard deviations)."
    remedy = "Leave one of each set out: without a penalty only their combined effect is determined, not each weight."
    sets = [[subject.names[i] for i in (relation.j, *relation.columns)] for relation in relations]
    return Finding("warning", "collinear", title, sentence, remedy, {"exact": sets})


def _told_near(
    subject: CheckedRows, sample: _Standardised, basis: Integers, near: list[_Near], condition: float
) -> Finding:
    shown = []
    for one in near[:MOST_RELATIONS_SHOWN]:
        relation = _relation(subject, sample, int(basis[one.j]), basis[one.others])
        shown.append(f"{_equation(subject, relation, '≈', 3)} (R² {_short_of_one(one.r_squared)})")
    worst = near[0].inflation
    title = (
        "A column nearly follows from others." if len(near) == 1 else f"{len(near)} columns nearly follow from others."
    )
    more = f"; and {many(len(near) - MOST_RELATIONS_SHOWN, 'more column')}" if len(near) > MOST_RELATIONS_SHOWN else ""
    inflated = f"variances of weights are inflated up to {number_text(worst, 3)} times"
    told = f"{inflated}; the condition number is {number_text(condition, 3)}"
    remedy = "Do not interpret the weights of such columns one by one; leave columns out, or keep a penalty."
    names = [subject.names[sample.columns[basis[one.j]]] for one in near]
    facts = {"near": dict(zip(names, (one.inflation for one in near), strict=True)), "condition": condition}
    severity = "warning" if worst >= INFLATION_TO_WARN else "note"
    return Finding(
        severity, "collinear", title, f"{'; '.join(shown)}{more}: {told}.{sample.aside(subject)}", remedy, facts
    )


def _short_of_one(r_squared: float) -> str:
    """The number with enough digits to differ from 1."""
    return next((text for digits in (3, 4, 6, 8) if float(text := f"{r_squared:.{digits}f}") < 1), "1")


def _equation(subject: CheckedRows, relation: Relation, equals: str = "=", digits: int = 6) -> str:
    """The relation as text, such as b = 2 a − c + 1. A constant smaller than the residual is left out."""
    text, n_more = "", len(relation.columns) - MOST_TERMS_SHOWN
    for c, i in list(zip(relation.coefficients.tolist(), relation.columns.tolist(), strict=True))[:MOST_TERMS_SHOWN]:
        text += _term(c, quoted(subject.names[i]), digits, first=not text)
    if n_more > 0:
        return f"{quoted(subject.names[relation.j])} {equals} {text} … and {n_more} more"
    size = max(relation.residual, 1e-9) * subject.summary.std[relation.j] + 1e-12 * abs(
        subject.summary.mean[relation.j]
    )
    if abs(relation.intercept) > size:
        text += _term(relation.intercept, "", digits, first=False)
    return f"{quoted(subject.names[relation.j])} {equals} {text}"


def _term(c: float, name: str, digits: int, first: bool) -> str:
    sign = ("−" if c < 0 else "") if first else (" − " if c < 0 else " + ")
    size = f"{abs(c):.{digits}g}"
    return sign + (size if not name else name if size == "1" else f"{size} {name}")
