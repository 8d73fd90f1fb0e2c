r"""A plane that shows a model's decisions well, and the decision regions in it.

One or two columns are the plane themselves, in their own units. Otherwise columns are standardised and
u = Bᵀ(x − m)/s, with B (d, 2) orthonormal:

    one score       the normal of the boundary
    K scores        the first two of Fisher's axes in the space of the weights, on which alone the scores depend
    not linear      the first two of Fisher's axes (``diagnostics/separating_directions.py``)

Where this is one direction only, the second one is the largest principal direction orthogonal to it.

The regions are those of the points x = m + s ∘ (B u), whose other coordinates are at their means. For one score, and
for three classes, the scores depend on u alone, so every row lies in the region of its predicted class. For linear
scores the regions are exact polygons (``geometry/regions.py``). For others the scores are computed on a grid, and the
boundaries are contours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.errors import LabelError
from separatrix.base.labels import known_codes
from separatrix.classifiers.fit_input import rows_to_score
from separatrix.diagnostics.coefficients import column_names
from separatrix.diagnostics.separating_directions import RELATIVE_RANK_TOLERANCE, fisher_axes, without
from separatrix.evaluation.model_view import view_of
from separatrix.geometry import Region
from separatrix.geometry.regions import linear_regions
from separatrix.rows import Block, Frame, memory_rows, summarise
from separatrix.scorers.parts import PartsScorer
from separatrix.scorers.scorer import Scorer, scores_of
from separatrix.table.scaling import Scaling

# Largest sample of rows from which the directions are computed.
MOST_SAMPLED_ROWS = 5000
# Steps of the power method for the largest principal direction.
POWER_STEPS = 60
# Largest number of classes for which the regions of one versus one are computed exactly: the lines of more pairs cut
# the plane into too many cells, and a grid is used.
MOST_CLASSES_BY_PAIRS = 10
# Grid points along each side, and their number for more columns than ``MANY_COLUMNS``.
GRID_POINTS, COARSE_GRID_POINTS, MANY_COLUMNS = 161, 81, 100


@dataclass(frozen=True)
class Plane:
    """A plane with coordinates u = Bᵀ(x − origin)/scale. ``plane_of`` returns one.

    With a single column, the second coordinate is random, so that points do not overlap.

    Attributes
    ----------
    origin, scale : arrays (d,)
    B : array (d, 2)
        The two directions.
    names : tuple of two str
        Names of the axes.
    exact : bool
        Whether the model's scores depend on u alone.
    says : str
        Which directions these are.

    Examples
    --------
    >>> from separatrix.diagnostics import Plane
    >>> plane = Plane(np.zeros(2), np.ones(2), np.eye(2), ("a", "b"), True, "the two columns")
    >>> plane.weights(np.array([[1.0, 2.0, 3.0]])).tolist(), plane.lift(np.array([[5.0, 6.0]])).tolist()
    ([[1.0, 2.0, 3.0]], [[5.0, 6.0]])
    """

    origin: Array
    scale: Array
    B: Array
    names: tuple[str, str]
    exact: bool
    says: str

    def place(self, X: Any) -> Array:
        """The coordinates of rows X, dense or CSR."""
        block = _block(X, self.origin, self.scale)
        U = block.scores(np.column_stack([np.zeros(2), self.B.T]))
        if len(self.origin) == 1:
            U = np.column_stack([U[:, 0], np.random.default_rng(0).uniform(-1.0, 1.0, len(U))])
        return np.asarray(U)

    def lift(self, U: Array) -> Array:
        """Points u of the plane as rows x, (n, d)."""
        return np.asarray(self.origin + self.scale * (U @ self.B.T))

    def weights(self, W: Array) -> Array:
        """The weights (b, w) of linear scores of x, (K, d + 1), as weights of scores of u, (K, 3)."""
        return np.column_stack([W[:, 0] + W[:, 1:] @ self.origin, (W[:, 1:] * self.scale) @ self.B])


def _block(X: Any, origin: Array, scale: Array) -> Block:
    block = memory_rows(X, np.zeros(X.shape[0]), frame=Frame(origin, scale)).resident()
    assert block is not None  # rows in memory
    return block


def plane_of(model: Any, X: Any, y: Any, *, names: Any = None, seed: int = 0, scaling: Scaling | None = None) -> Plane:
    """Choose a plane that shows the decisions of a fitted classifier well.

    Parameters
    ----------
    model : estimator
        A fitted classifier of this package, or a pipeline that ends in one.
        For a pipeline the plane is in the columns that ``view_of`` chooses: those before a basis φ.
    X, y
        Labelled rows.
    names : list of str or None
        Names of the columns; by default those of the fit.
    seed : int, default 0
        Seed for the sample of rows, if there are many.
    scaling : Scaling or None
        How the columns of X were standardised; by default as the table's encoder in the pipeline did it. One or two
        columns are drawn in their own units.

    Returns
    -------
    Plane

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 3.0], [2.0, 1.0, 1.0], [3.0, 0.5, 2.0]]), [0, 0, 1, 1]
    >>> plane = plane_of(LogisticRegression().fit(X, y), X, y)
    >>> plane.names, plane.exact
    (('normal of the boundary', 'largest orthogonal principal direction'), True)
    """
    model, X, encoded, own_scaling = view_of(model, X)
    scorer = scores_of(model)
    rows, known = rows_to_score(model, X)
    d = rows.shape[1]
    labels = column_names(d, known or encoded, names)
    if d <= 2:
        return own_columns(labels, own_scaling if scaling is None else scaling)
    block, codes = standardised_sample(rows, known_codes(y, np.asarray(model.classes_)), seed)
    mean, scale = block.frame.center, block.frame.scale
    V = _useful(model, scorer, block, codes, len(model.classes_))
    linear = getattr(scorer, "W", None) is not None
    B, n_useful = two_directions(V, block)
    axes, says = names_of_axes(n_useful, linear, normal=linear and len(V) == 1)
    exact = linear and _rank(_weight_directions(model, scorer, scale)) <= 2
    return Plane(mean, scale, B, axes, exact, f"{says}, over standardised columns")


def standardised_sample(rows: Any, codes: Any, seed: int = 0) -> tuple[Block, Any]:
    """At most ``MOST_SAMPLED_ROWS`` rows, as a block of standardised columns, and their class numbers."""
    if rows.shape[0] > MOST_SAMPLED_ROWS:
        sample = sampled_rows(rows.shape[0], MOST_SAMPLED_ROWS, seed)
        rows, codes = rows[sample], codes[sample]
    columns = summarise(memory_rows(rows, codes), ranges=False)
    return _block(rows, columns.mean, np.where(columns.constant | (columns.std == 0), 1.0, columns.std)), codes


def sampled_rows(n: int, most: int, seed: int = 0) -> Integers:
    """The numbers of n rows, or of a random sample of ``most`` of them, in ascending order.

    >>> sampled_rows(3, 5).tolist(), len(sampled_rows(9, 5))
    ([0, 1, 2], 5)
    """
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def names_of_axes(n_useful: int, linear: bool = False, normal: bool = False) -> tuple[tuple[str, str], str]:
    """The names of the axes, and a phrase that explains them.

    ``n_useful`` of them are Fisher's axes, of a ``linear`` model's scores or of the rows; with ``normal``, the first is
    the normal of the boundary.
    """
    if n_useful == 2:
        way = " of the model's scores" if linear else ""
        says = f"the two directions{way} that separate the classes best (Fisher's axes)"
        return ("first Fisher axis", "second Fisher axis"), says
    first = "normal of the boundary" if normal else "Fisher's axis"
    says = f"{'the ' * normal}{first}, and the largest principal direction orthogonal to it"
    return (first, "largest orthogonal principal direction"), says


def own_columns(labels: Sequence[str], scaling: Scaling | None) -> Plane:
    """The plane of one or two columns, with their values as coordinates, before they were standardised by ``scaling``.

    Standardised values are x = (u − center)/scale, so u = (x − origin)/(1/scale) with origin = −center/scale.
    """
    d = len(labels)
    origin, scale = np.zeros(d), np.ones(d)
    if scaling is not None:
        origin, scale = -scaling.center / scaling.scale, 1.0 / scaling.scale
    if d == 1:
        return Plane(origin, scale, np.array([[1.0, 0.0]]), (labels[0], ""), True, "the only column")
    return Plane(origin, scale, np.eye(2), (labels[0], labels[1]), True, "the two columns")


def _weight_directions(model: Any, scorer: Any, scale: Array) -> Array:
    """The weights of linear scores over standardised columns, (q, d): what they differ by, if there are several."""
    W = getattr(scorer, "W", None)
    if W is None:
        W = np.column_stack([np.zeros(len(model.coef_)), model.coef_])
    w = W[:, 1:] * scale
    if len(w) == 1:
        return np.asarray(w)
    if isinstance(scorer, PartsScorer):
        return np.asarray(w / np.maximum(np.linalg.norm(w, axis=1, keepdims=True), np.finfo(np.float64).tiny))
    return np.asarray(w - w.mean(axis=0))


def _useful(model: Any, scorer: Any, block: Block, codes: Any, n_classes: int) -> Array:
    """Directions (q, d) over standardised columns, the most useful first."""
    scale = block.frame.scale
    if getattr(scorer, "W", None) is None and not hasattr(model, "coef_"):
        return fisher_directions(block, codes)
    w = _weight_directions(model, scorer, scale)
    if len(w) == 1:
        return w
    _, values, Vt = np.linalg.svd(w, full_matrices=False)
    space = Vt[values > RELATIVE_RANK_TOLERANCE * max(values[0], np.finfo(np.float64).tiny)]
    if not len(space):
        return np.zeros((1, len(scale)))
    U = block.scores(np.column_stack([np.zeros(len(space)), space]))
    return np.asarray(fisher_axes(U, codes, n_classes).T @ space)


def fisher_directions(block: Block, codes: Any) -> Array:
    """Fisher's directions (q, d) over standardised columns; one of zeros if the class means are equal."""
    from separatrix.classifiers import FisherDiscriminant

    try:
        fitted = FisherDiscriminant().fit(block.X, codes)
    except LabelError:  # no direction separates the classes
        return np.zeros((1, len(block.frame.scale)))
    return np.asarray(fitted.directions_.T * block.frame.scale)


def _rank(V: Array) -> int:
    values = np.linalg.svd(V, compute_uv=False)
    return int(np.sum(values > RELATIVE_RANK_TOLERANCE * max(values[0], np.finfo(np.float64).tiny)))


def two_directions(V: Array, block: Block) -> tuple[Array, int]:
    """Two orthonormal directions (d, 2), and how many of them come from V; the others are principal directions."""
    kept: list[Array] = []
    largest = float(np.max(np.linalg.norm(V, axis=1)))
    for v in V[:2]:
        left = without(v, kept)
        if np.linalg.norm(left) > RELATIVE_RANK_TOLERANCE * largest and largest > 0:
            kept.append(left / np.linalg.norm(left))
    n_useful = len(kept)
    while len(kept) < 2:
        kept.append(_principal(block, kept))
    return np.column_stack(kept), n_useful


def _principal(block: Block, kept: list[Array]) -> Array:
    """The largest principal direction of the rows orthogonal to those kept, by the power method."""
    v = without(np.random.default_rng(0).standard_normal(len(block.frame.scale)), kept)
    for _ in range(POWER_STEPS):
        v = v / np.linalg.norm(v)
        Z = block.scores(np.concatenate([[0.0], v])[None, :])
        after = without(block.adjoint(Z)[0, 1:], kept)
        if not np.linalg.norm(after) > 0:
            break
        v = after
    return np.asarray(v / np.linalg.norm(v))


# -------------------------------------------------------------------------------------------- regions


def exact_regions(model: Any, plane: Plane, box: Any) -> list[Region] | None:
    """The regions in the plane as polygons, one or more for each class; None if scores are not linear.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [3.0, 0.0], [3.0, 1.0]], ["a", "a", "b", "b"]
    >>> model = LogisticRegression().fit(X, y)
    >>> found = exact_regions(model, plane_of(model, X, y), (0, 3, 0, 1))
    >>> [region.labels for region in found], round(found[0].area, 6)
    ([('a',), ('b',)], 1.5)
    """
    scorer = scores_of(model)
    if isinstance(scorer, Scorer):
        return linear_regions(Scorer(plane.weights(scorer.W), scorer.classes, scorer.link_name), box)
    if isinstance(scorer, PartsScorer) and scorer.W is not None and len(scorer.classes) <= MOST_CLASSES_BY_PAIRS:
        return scorer.regions_in(box, plane.weights)
    return None


def leads(model: Any, plane: Plane, box: tuple[float, float, float, float]) -> tuple[Array, Array, Array]:
    """The lead of each class on a grid: its score minus the largest score of the others.

    Returns the first and the second coordinates of the grid, (n,) each, and the leads, (K, n, n).

    >>> from separatrix import QuadraticDiscriminantAnalysis
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.5], [3.0, 0.0], [3.0, 1.0], [4.0, 0.7]], [0, 0, 0, 1, 1, 1]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, y)
    >>> first, second, lead = leads(model, plane_of(model, X, y), (0.0, 4.0, 0.0, 1.0))
    >>> lead.shape == (2, len(second), len(first)), bool(lead[0, 0, 0] > 0)
    (True, True)
    """
    scorer = scores_of(model)
    n = GRID_POINTS if len(plane.origin) <= MANY_COLUMNS else COARSE_GRID_POINTS
    first, second = np.linspace(box[0], box[1], n), np.linspace(box[2], box[3], n)
    Z = []
    for height in second:
        z = scorer.scores(plane.lift(np.column_stack([first, np.full(n, height)])))
        Z.append(np.column_stack([-z, z]) if z.ndim == 1 else z)
    scores = np.stack(Z).transpose(2, 0, 1)
    others = [np.delete(scores, k, axis=0).max(axis=0) for k in range(len(scores))]
    return first, second, scores - np.stack(others)
