"""A plane that shows a model's decisions well, and the decision regions in it.

One or two columns are the plane themselves, in their own units. Otherwise columns are standardised and
u = Bᵀ(x − m)/s, with B (d, 2) orthonormal:

    one score       the normal of the boundary
    K scores        the first two of Fisher's axes in the space of the weights, on which alone the scores depend
    not linear      the first two of Fisher's axes of the rows

Where this is one direction only, the second one is the largest principal direction orthogonal to it.

The regions are those of the points x = m + s ∘ (B u), whose other coordinates are at their means. For one score, and
for three classes, the scores depend on u alone, so every row lies in the region of its predicted class. For linear
scores the regions are exact polygons (``core/geometry/polygons.py``). For others the scores are computed on a grid, and
the boundaries are contours.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from separatrix.classifiers.fit_input import rows_to_score
from separatrix.classifiers.model_file import SCALERS
from separatrix.core.base.arrays import EPS, AnyArray, Array, Integers
from separatrix.core.base.errors import LabelError
from separatrix.core.base.labels import encode, known_codes
from separatrix.core.geometry.plane_regions import linear_regions
from separatrix.core.geometry.polygons import Region
from separatrix.core.links import Link
from separatrix.core.rows.block import Block
from separatrix.core.rows.column_statistics import summarise
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.schemes import PartsScorer
from separatrix.core.scorer import Scorer, scores_of, taken_apart
from separatrix.statistics.coefficients import column_names
from separatrix.tables.encoder import Scaling
from separatrix.tables.read_table import Table

# Singular values below this share of the largest count as zero.
RELATIVE_RANK_TOLERANCE = 1e-9


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
    >>> from separatrix.statistics.view_plane import Plane
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


# --- Planes that the reader chooses, whatever the model: two columns, or Fisher's axes


def fisher_plane(table: Table) -> Plane:
    """The plane of the two directions that separate the classes best, whatever the model.

    With two classes there is one such direction, and the second is the largest principal direction orthogonal to it.

    >>> from separatrix import read_table
    >>> fisher_plane(read_table("demo:iris")).names
    ('first Fisher axis', 'second Fisher axis')
    """
    names, scaling = list(table.names), table.scaling
    if len(names) <= 2:
        return own_columns(names, scaling)
    block, codes = standardised_sample(table.X, encode(table.y)[1])
    B, n_useful = two_directions(fisher_directions(block, codes), block)
    axes, says = names_of_axes(n_useful)
    return Plane(block.frame.center, block.frame.scale, B, axes, False, f"{says}, over standardised columns")


def column_plane(table: Table, first: int, second: int) -> Plane:
    """The plane of two columns in their own units, where all other columns are at their means.

    >>> from separatrix import read_table
    >>> plane = column_plane(read_table("demo:iris"), 2, 3)
    >>> plane.lift(np.array([[4.0, 1.0]])).round(2).tolist()
    [[5.84, 3.06, 4.0, 1.0]]
    """
    d = len(table.names)
    if d <= 2:
        return own_columns(list(table.names), table.scaling)
    mean = summarise(memory_rows(table.X, np.zeros(table.X.shape[0])), ranges=False).mean
    origin, scale, drawn = np.array(mean), np.ones(d), [first, second]
    own = table.scaling
    origin[drawn] = 0.0 if own is None else -own.center[drawn] / own.scale[drawn]
    scale[drawn] = 1.0 if own is None else 1.0 / own.scale[drawn]
    B = np.zeros((d, 2))
    B[first, 0] = B[second, 1] = 1.0
    says = "two columns, where the boundary is that of rows with all other columns at their means"
    return Plane(origin, scale, B, (table.names[first], table.names[second]), False, says)


# --- The columns in which a model is drawn


class PlaneView(NamedTuple):
    """A classifier, the rows X in the columns that are drawn, and the names of these columns if they are known.

    ``scaling`` says how the table's encoder standardised these columns; None if it did not.
    """

    model: Any
    X: Any
    names: list[str] | None
    scaling: Scaling | None = None


@dataclass(frozen=True)
class ThroughSteps:
    """The scores of a pipeline's classifier as a function of the columns before its steps."""

    steps: Any
    scorer: Any

    @property
    def classes(self) -> AnyArray:
        return np.asarray(self.scorer.classes)

    @property
    def link(self) -> Link:
        found: Link = self.scorer.link
        return found

    def _reached(self, X: Any) -> Any:
        """The rows X after the steps."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            reached = self.steps.transform(X)
        return reached if hasattr(reached, "nnz") else np.asarray(reached, dtype=np.float64)

    def scores(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.scores(self._reached(X)))

    def predict(self, X: Any, names: list[str] | None = None) -> AnyArray:
        return np.asarray(self.scorer.predict(self._reached(X)))

    def probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.probabilities(self._reached(X)))

    def log_probabilities(self, X: Any, names: list[str] | None = None) -> Array:
        return np.asarray(self.scorer.log_probabilities(self._reached(X)))


@dataclass(frozen=True)
class WholePipeline:
    """A pipeline as one classifier that is not linear in its columns."""

    scorer_: ThroughSteps
    classes_: AnyArray
    n_features_in_: int


def view_of(model: Any, X: Any) -> PlaneView:
    """The view in which a fitted classifier of this package, or a pipeline that ends in one, is drawn.

    Its columns are the input of the pipeline, or the input of its classifier (docs/tour.md, B4). A table's encoder
    turns text into numbers, so the columns after it are drawn. Scalers only shift and stretch the axes, so a model of
    more than two columns is drawn after them. Any other step, such as a basis φ, is not linear: the columns before it
    are drawn, and the boundary in them is curved. One or two columns are always drawn before all scalers.

    >>> from sklearn.pipeline import make_pipeline
    >>> from separatrix import LogisticRegression, quadratic
    >>> X, y = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]]), [0, 0, 1, 1]
    >>> view = view_of(make_pipeline(quadratic(), LogisticRegression()).fit(X, y), X)
    >>> view.X.shape, type(view.model).__name__
    ((4, 2), 'WholePipeline')
    """
    before = [step for _, step in getattr(model, "steps", ())[:-1]]
    steps = [step for step in before if step is not None and step != "passthrough"]
    if not steps:
        return PlaneView(*taken_apart(model, X))
    names: list[str] | None = [str(name) for name in getattr(X, "columns", ())] or None
    after_encoder, scaling = model, None
    if hasattr(steps[0], "encoder_"):
        X, names = model[0].transform(X), [str(name) for name in model[0].get_feature_names_out()]
        after_encoder, scaling, steps = model[1:], model[0].scaling_, steps[1:]
    if not steps:
        return PlaneView(model[-1], X, names, scaling)
    rows = X if hasattr(X, "nnz") else np.asarray(X, dtype=np.float64)
    only_scalers = all(type(step).__name__ in SCALERS for step in steps)
    if only_scalers and rows.shape[1] > 2:
        return PlaneView(*taken_apart(after_encoder, X))
    scorer = ThroughSteps(after_encoder[:-1], scores_of(model[-1]))
    return PlaneView(WholePipeline(scorer, np.asarray(model[-1].classes_), rows.shape[1]), rows, names, scaling)


# --- Decision regions

# Largest number of classes for which the regions of one versus one are computed exactly: the lines of more pairs cut
# the plane into too many cells, and a grid is used.
MOST_CLASSES_BY_PAIRS = 10
# Grid points along each side, and their number for more columns than ``MANY_COLUMNS``.
GRID_POINTS, COARSE_GRID_POINTS, MANY_COLUMNS = 161, 81, 100


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


@dataclass(frozen=True, eq=False)  # compared by identity, since arrays have no truth value
class ModelInPlane:
    """A fitted model as a classifier of points v of a plane, with u = corner + size ∘ v; classes are numbers.

    If the plane is that of two of several columns, the other columns are at their means. Coordinates v in which the
    picture has about the size 1 keep the geometry exact if the two axes have very different units.
    """

    model: Any
    plane: Plane
    corner: Array
    size: Array

    @property
    def classes_(self) -> Integers:
        """The numbers of the classes."""
        return np.arange(len(self.model.classes_))

    @property
    def n_features_in_(self) -> int:
        """Two: the coordinates in the plane."""
        return 2

    @property
    def scorer_(self) -> Any:
        """The scores as functions of v: linear ones as such, others by way of the rows."""
        scorer = scores_of(self.model)
        if isinstance(scorer, Scorer):
            return Scorer(self.weights(scorer.W), self.classes_, scorer.link_name)
        few = len(self.model.classes_) <= MOST_CLASSES_BY_PAIRS
        polygons = few and isinstance(scorer, PartsScorer) and scorer.W is not None
        return _CurvedScheme(scorer, self) if polygons else _Curved(scorer, self)

    def weights(self, W: Array) -> Array:
        """The weights of linear scores of rows x as weights of scores of v, (K, 3)."""
        found = self.plane.weights(W)
        return np.column_stack([found[:, 0] + found[:, 1:] @ self.corner, found[:, 1:] * self.size])

    def rows(self, V: Array) -> Array:
        """The rows x of points v."""
        return self.plane.lift(self.corner + np.asarray(V) * self.size)

    def decision_function(self, V: Array) -> Array:
        """The scores of points."""
        return np.asarray(scores_of(self.model).scores(self.rows(V)))

    def predict(self, V: Array) -> Integers:
        """The class numbers of points."""
        return known_codes(scores_of(self.model).predict(self.rows(V)), np.asarray(self.model.classes_))


@dataclass(frozen=True)
class _Curved:
    """The scores of a model that is not linear, at points of the plane."""

    scorer: Any
    of: ModelInPlane

    @property
    def classes(self) -> Integers:
        return self.of.classes_

    @property
    def link(self) -> Any:
        return self.scorer.link


@dataclass(frozen=True)
class _CurvedScheme(_Curved):
    """The same for a scheme of linear models, which computes its polygons itself."""

    def regions_in(self, box: Any) -> list[Region] | None:
        polygons = self.scorer.regions_in(box, self.of.weights)
        if polygons is None:
            return None
        number = {label: k for k, label in enumerate(self.scorer.classes.tolist())}
        return [replace(one, labels=tuple(number[label] for label in one.labels)) for one in polygons]


# --- Directions, from a sample of the rows

# Largest sample of rows from which the directions are computed.
MOST_SAMPLED_ROWS = 5000
# Steps of the power method for the largest principal direction.
POWER_STEPS = 60


def sampled_rows(n: int, most: int, seed: int = 0) -> Integers:
    """The numbers of n rows, or of a random sample of ``most`` of them, in ascending order.

    >>> sampled_rows(3, 5).tolist(), len(sampled_rows(9, 5))
    ([0, 1, 2], 5)
    """
    return np.arange(n) if n <= most else np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def standardised_sample(rows: Any, codes: Any, seed: int = 0) -> tuple[Block, Any]:
    """At most ``MOST_SAMPLED_ROWS`` rows, as a block of standardised columns, and their class numbers."""
    if rows.shape[0] > MOST_SAMPLED_ROWS:
        sample = sampled_rows(rows.shape[0], MOST_SAMPLED_ROWS, seed)
        rows, codes = rows[sample], codes[sample]
    columns = summarise(memory_rows(rows, codes), ranges=False)
    return _block(rows, columns.mean, np.where(columns.constant | (columns.std == 0), 1.0, columns.std)), codes


def _block(X: Any, origin: Array, scale: Array) -> Block:
    block = memory_rows(X, np.zeros(X.shape[0]), frame=Frame(origin, scale)).resident()
    assert block is not None  # rows in memory
    return block


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


def _rank(V: Array) -> int:
    """The rank of the rows of V."""
    values = np.linalg.svd(V, compute_uv=False)
    return int(np.sum(values > RELATIVE_RANK_TOLERANCE * max(values[0], np.finfo(np.float64).tiny)))


def fisher_directions(block: Block, codes: Any) -> Array:
    """Fisher's directions (q, d) over standardised columns; one of zeros if the class means are equal."""
    from separatrix.classifiers import FisherDiscriminant

    try:
        fitted = FisherDiscriminant().fit(block.X, codes)
    except LabelError:  # no direction separates the classes
        return np.zeros((1, len(block.frame.scale)))
    return np.asarray(fitted.directions_.T * block.frame.scale)


def fisher_axes(U: Array, codes: Any, n_classes: int) -> Array:
    """Fisher's axes of points U (n, q), as columns, the most separating first. Without several classes, as given.

    They maximise vᵀ S_B v / vᵀ S_W v, the scatter between the classes by the scatter within them. S_W is shrunk towards
    a multiple of the identity by q/(q + n), since with few rows per column it separates rows by chance.
    """
    n, q = U.shape
    counts = np.bincount(codes, minlength=n_classes)
    sums = np.zeros((n_classes, q))
    np.add.at(sums, codes, U)
    means = sums[counts > 0] / counts[counts > 0, None]
    centred = U - (sums / np.maximum(counts, 1)[:, None])[codes]
    within = _shrunk(centred.T @ centred / n, n, float(np.mean(U**2)))
    apart = (means - U.mean(axis=0)) * np.sqrt(counts[counts > 0, None] / n)
    L = np.linalg.cholesky(within)
    half = np.linalg.solve(L, apart.T)
    vectors = np.linalg.svd(half)[0]
    return np.asarray(np.linalg.solve(L.T, vectors))


def _shrunk(S: Array, n: int, size: float) -> Array:
    """A scatter matrix, divided by its mean variance and shrunk towards the identity.

    ``size``: the mean square of the columns. A variance that is smaller than its rounding error counts as zero; if all
    do, as with one row in each class, the identity is left.
    """
    q = len(S)
    share, mean = q / (q + n), float(np.trace(S)) / q
    if not mean > n * EPS * size:
        return np.eye(q)
    return np.asarray((1 - share) * (S / mean) + (share + RELATIVE_RANK_TOLERANCE) * np.eye(q))


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


def without(v: Array, kept: list[Array]) -> Array:
    """The part of v orthogonal to the directions kept."""
    for known in kept:
        v = v - (known @ v) * known
    return v
