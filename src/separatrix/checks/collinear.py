r"""Columns that are linear in others: which, with the relation, exactly or nearly.

Of standardised columns Z with Z P = Q R (Golub's pivoted QR), the columns past the rank are R₁₁⁻¹R₁₂ of the first: with
each the columns of its coefficients are a smallest set that depends on itself. A sample proposes the relation; the
largest residual over all rows says how far it holds. Near-dependence is the variance inflation factor 1/(1 − R²) of a
column on all others (Belsley, Kuh and Welsch, Regression Diagnostics, 1980), told by the few columns that explain most.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.labels import quoted
from separatrix.checks.checked_rows import MOST_COLUMNS, SAMPLED, CheckedRows
from separatrix.checks.finding import Finding, many

# Residuals below this share of a column's spread are rounding: the relation is exact.
EXACT = 1e-9
# Inflation that is told, and that is a warning.
INFLATED, MUCH_INFLATED = 100.0, 1e4
# Coefficients below this share of the largest are rounding.
NOTHING = 1e-7
# Columns that explain a near-dependence at most, and what share of R² they must reach.
FEW, MOST_OF = 3, 0.99
# Relations told one by one, and multiplications of the factorisation.
TOLD, MOST_WORK = 4, 4e9


class Relation(NamedTuple):
    """x_j = intercept + Σ coefficient · x_i, up to ``residual``, a share of x_j's spread."""

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
    if d > MOST_COLUMNS or subject.n_rows <= d:
        why = (
            f"{subject.columns(d)} are too many"
            if d > MOST_COLUMNS
            else f"{subject.n_rows:,} rows are too few for {subject.columns(d)}"
        )
        do = "Keep a penalty, which decides between weights that the rows do not tell apart."
        yield Finding("note", "collinear", "Collinear columns were not looked for.", f"{why[:1].upper()}{why[1:]}.", do)
        return
    found = _standardised(subject)
    basis, relations = _exact(subject, found)
    if relations:
        yield _told_exact(subject, relations)
    G = found.Z[:, basis].T @ found.Z[:, basis]
    condition = float(np.sqrt(np.linalg.cond(G)))
    near = _near(G)
    if near:
        yield _told_near(subject, found, basis, near, condition)
    if not relations and not near:
        facts = {"condition": condition}
        sentence = f"The condition number of the standardised columns is {condition:.3g}.{found.aside(subject)}"
        yield Finding("ok", "collinear", "No column is a combination of others.", sentence, "", facts)


def dependent(subject: CheckedRows) -> list[int]:
    """Columns without which the others span the same, exactly as far as rounding shows."""
    d = len(subject.varying)
    if d < 2 or d > MOST_COLUMNS or subject.n_rows <= d:
        return []
    return sorted({relation.j for relation in _exact(subject, _standardised(subject))[1]})


class _Standardised(NamedTuple):
    """Z (m, q) of unit length by column, of some rows; the columns' numbers, and their lengths in raw units."""

    Z: Array
    columns: Integers
    length: Array

    def aside(self, subject: CheckedRows) -> str:
        """What is to be said of figures that rest on some of the rows."""
        return f" (Of a sample of {len(self.Z):,} rows.)" if len(self.Z) < subject.n_rows else ""


def _standardised(subject: CheckedRows) -> _Standardised:
    d = len(subject.varying)
    size = int(max(2 * d + 100, min(SAMPLED, MOST_WORK / d**2)))
    Z = subject.standard.sample(size, 0).block.homogeneous()[:, 1:][:, subject.varying]
    Z = Z - Z.mean(axis=0)
    length = np.linalg.norm(Z, axis=0)
    seen = np.flatnonzero(length > 0)
    columns = subject.varying[seen]
    return _Standardised(Z[:, seen] / length[seen], columns, length[seen] * subject.standard.frame.scale[columns])


def _exact(subject: CheckedRows, found: _Standardised) -> tuple[Integers, list[Relation]]:
    """A basis of the columns of Z, and a relation for each other column that holds on all rows."""
    from scipy.linalg import qr, solve_triangular

    R, order = qr(np.linalg.qr(found.Z, mode="r"), mode="r", pivoting=True)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > EXACT * diagonal[0]))
    C = solve_triangular(R[:rank, :rank], R[:rank, rank:])
    relations = []
    for j, c in zip(order[rank:].tolist(), C.T, strict=True):
        used = order[:rank][np.abs(c) > NOTHING * np.abs(c).max(initial=0.0)]
        together = np.sort(np.append(used, j))  # a smallest dependent set: any of it follows from the others
        relations.append(_relation(subject, found, int(together[-1]), together[:-1]))
    return np.sort(order[:rank]), [relation for relation in relations if relation.residual <= 10 * EXACT]


def _relation(subject: CheckedRows, found: _Standardised, j: int, others: Integers) -> Relation:
    """Column j of Z by others, least squares on the sample, in raw units; the residual is the largest of all rows."""
    c, *_ = np.linalg.lstsq(found.Z[:, others], found.Z[:, j], rcond=None)
    c = c * found.length[j] / found.length[others]
    of, by = int(found.columns[j]), found.columns[others]
    v = np.zeros(subject.n_columns)
    v[by], v[of] = -c, 1.0
    left = np.asarray(subject.X @ v)
    intercept = float(left.mean())
    residual = float(np.abs(left - intercept).max() / subject.summary.std[of])
    return Relation(of, by, c, intercept, residual)


class _Near(NamedTuple):
    """A column of the basis, the few others that explain it, R² by those, and its inflation by all."""

    j: int
    others: Integers
    r_squared: float
    inflation: float


def _near(G: Array) -> list[_Near]:
    """Columns of large inflation, one after the other; each is left out before the next is looked for."""
    left = np.arange(len(G))
    found: list[_Near] = []
    while len(left) > 1:
        inflation = np.diag(np.linalg.pinv(G[np.ix_(left, left)], hermitian=True))
        worst = int(np.argmax(inflation))
        if inflation[worst] < INFLATED:
            break
        j, left = int(left[worst]), np.delete(left, worst)
        found.append(_Near(j, *_explained(G, j, left, 1.0 - 1.0 / inflation[worst]), float(inflation[worst])))
    return found


def _explained(G: Array, j: int, others: Integers, whole: float) -> tuple[Integers, float]:
    """Few of the others by which column j is explained, each the best beside those before, and R² by them."""
    chosen, c, reached = others[:0], np.empty(0), 0.0
    while len(chosen) < FEW and reached < MOST_OF * whole:
        pull = np.abs(G[others, j] - G[np.ix_(others, chosen)] @ c)
        pull[np.isin(others, chosen)] = -1.0
        chosen = np.append(chosen, others[np.argmax(pull)])
        c = np.linalg.lstsq(G[np.ix_(chosen, chosen)], G[chosen, j], rcond=None)[0]
        reached = float(G[chosen, j] @ c)
    return np.sort(chosen), min(reached, whole)


def _told_exact(subject: CheckedRows, relations: list[Relation]) -> Finding:
    one = len(relations) == 1
    shown = [f"{_equation(subject, relation)} to {max(relation.residual, 1e-16):.0e}" for relation in relations[:TOLD]]
    more = f"; and {len(relations) - TOLD} more" if len(relations) > TOLD else ""
    title = "A column is a combination of others." if one else f"{len(relations)} columns are combinations of others."
    sentence = f"{'; '.join(shown)}{more} (the largest residual, in standard deviations)."
    do = "Leave one of each set out: without a penalty their weights are not determined, only their sum is."
    sets = [[subject.names[i] for i in (relation.j, *relation.columns)] for relation in relations]
    return Finding("warning", "collinear", title, sentence, do, {"exact": sets})


def _told_near(
    subject: CheckedRows, found: _Standardised, basis: Integers, near: list[_Near], condition: float
) -> Finding:
    shown = []
    for one in near[:TOLD]:
        relation = _relation(subject, found, int(basis[one.j]), basis[one.others])
        shown.append(f"{_equation(subject, relation, '≈', 3)} (R² {_short_of_one(one.r_squared)})")
    worst = near[0].inflation
    title = (
        "A column nearly follows from others." if len(near) == 1 else f"{len(near)} columns nearly follow from others."
    )
    more = f"; and {many(len(near) - TOLD, 'more column')}" if len(near) > TOLD else ""
    told = f"variances of weights are inflated up to {worst:.3g} times; the condition number is {condition:.3g}"
    do = "Read no weight of such a set by itself; leave columns out, or keep a penalty."
    names = [subject.names[found.columns[basis[one.j]]] for one in near]
    facts = {"near": dict(zip(names, (one.inflation for one in near), strict=True)), "condition": condition}
    severity = "warning" if worst >= MUCH_INFLATED else "note"
    return Finding(severity, "collinear", title, f"{'; '.join(shown)}{more}: {told}.{found.aside(subject)}", do, facts)


def _short_of_one(r_squared: float) -> str:
    """By as many digits as it takes to differ from 1."""
    return next((text for digits in (3, 4, 6, 8) if float(text := f"{r_squared:.{digits}f}") < 1), "1")


def _equation(subject: CheckedRows, relation: Relation, equals: str = "=", digits: int = 6) -> str:
    """b = 2 a − c + 1, by names; a constant within rounding, or beside a near relation's residual, is left out."""
    text = ""
    for c, i in zip(relation.coefficients.tolist(), relation.columns.tolist(), strict=True):
        text += _term(c, quoted(subject.names[i]), digits, first=not text)
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
