"""One row under a fitted model: its score, its distance from the boundary, its probability, and what each column adds.

    z = b + Σ_j w_j x_j,    d = z/‖w‖,    x = x⊥ + d w/‖w‖    (docs/tour.md, G2)

With K > 2 scores, the boundary is the one between the predicted class i and the class j with the next largest score:
(w_i − w_j)·x + b_i − b_j = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from separatrix.classifiers import lacks_probabilities, name_of
from separatrix.core.base.arrays import AnyArray, Array, Integers
from separatrix.core.base.errors import InputError
from separatrix.core.base.labels import TIMES, known_codes, label_list
from separatrix.core.base.messages import number_text
from separatrix.core.geometry.hyperplane import Hyperplane
from separatrix.core.losses import LOSSES
from separatrix.core.rows.block import is_sparse
from separatrix.core.scorer import Scorer, scores_of, taken_apart
from separatrix.core.squared_cost import TARGETS

# The most coordinates of the nearest point in the text of an explained row.
MOST_COORDINATES = 6


@dataclass(frozen=True, eq=False)
class ExplainedRow:
    """One row under a fitted model. ``explain_row`` returns one, and ``print`` writes it as text.

    Attributes
    ----------
    x : array (d,)
        The row; for a pipeline, as its last step receives it.
    columns : list of str
        The names of its columns.
    classes : array (K,)
        The labels.
    predicted, against : labels
        The predicted class, and the class with the next largest score.
    scores : array (1,) or (K,)
        z; with two classes it is positive for the second one.
    contributions : array (d,) or None
        What each column adds to the score of ``predicted`` less that of ``against``: (w_i − w_j)_c x_c.
    intercept : float or None
        The rest of that difference, b_i − b_j, so that intercept + Σ contributions = the lead.
    lead : float
        The score of ``predicted`` less that of ``against``; with two classes the distance of z from its threshold.
    distance : float or None
        How far the row is from the boundary, on the side of ``predicted``.
    signed_distance : float or None
        With two classes, the same with the sign of the score: positive on the side of the second class.
    projection : array (d,) or None
        The nearest point of that boundary.
    probabilities : array (K,) or None
        P(class | x).
    label : label or None
        The true class, if it was given.
    margin : float or None
        The score of the true class less the largest of the others, with two classes t (z − its threshold); negative for
        a mistake.
    loss, loss_name : float and str, or None
        What the row costs: −ln P(label | x), or the loss that the fit minimises. With K > 2 scores, it is the sum over
        the classes of the losses of each one against the rest.
    missing : mapping of str to str
        Why a quantity is None, by its name.

    Examples
    --------
    >>> import separatrix as sx
    >>> model = sx.LeastSquaresClassifier().fit([[1.0], [2.0], [4.0], [5.0]], [0, 0, 1, 1])
    >>> found = sx.explain_row(model, [4.0])
    >>> found.predicted, found.against, round(found.distance, 6), found.projection.round(6).tolist()
    (1, 0, 1.0, [3.0])
    """

    x: Array
    columns: list[str]
    classes: AnyArray
    predicted: Any
    against: Any
    scores: Array
    lead: float
    contributions: Array | None = None
    intercept: float | None = None
    distance: float | None = None
    signed_distance: float | None = None
    projection: Array | None = None
    probabilities: Array | None = None
    label: Any = None
    margin: float | None = None
    loss: float | None = None
    loss_name: str | None = None
    missing: Mapping[str, str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All fields as numbers, strings, lists and None, for JSON.

        Returns
        -------
        dict
        """
        return {each.name: _plain(getattr(self, each.name)) for each in fields(self)}

    def __str__(self) -> str:
        scores = ", ".join(map(number_text, self.scores.tolist()))
        lines = [f"predicted {self.predicted!s}, against {self.against!s}: score {scores}"]
        if self.contributions is not None and self.intercept is not None:
            parts = zip(self.columns, self.contributions.tolist(), strict=True)
            added = [f"{number_text(value)} ({name})" for name, value in _largest(list(parts))]
            lines.append(f"  lead {number_text(self.lead)} = {number_text(self.intercept)} + {' + '.join(added)}")
        if self.distance is not None and self.projection is not None:
            shown = [number_text(value) for value in self.projection.tolist()[:MOST_COORDINATES]]
            nearest = ", ".join(shown + ["…"] * (len(self.projection) > MOST_COORDINATES))
            lines.append(f"  {number_text(self.distance)} from the boundary, whose nearest point is ({nearest})")
        if self.probabilities is not None:
            each = zip(label_list(self.classes), self.probabilities.tolist(), strict=True)
            lines.append("  " + ", ".join(f"P({label}) = {number_text(p)}" for label, p in each))
        if self.margin is not None:
            side = "right" if self.label == self.predicted else "wrong"
            cost = "" if self.loss is None else f", {self.loss_name} {number_text(self.loss)}"
            lines.append(f"  label {self.label!s}: {side}, margin {number_text(self.margin)}{cost}")
        lines += [f"  no {name.replace('_', ' ')}: {why}" for name, why in self.missing.items()]
        return "\n".join(lines)


def explain_row(model: Any, x: Any, label: Any = None) -> ExplainedRow:
    """Explain the prediction of a fitted model for one row.

    Parameters
    ----------
    model : fitted classifier of this package, or a pipeline that ends with one
        The model.
    x : array (d,), or a row of a data frame
        The row. For a pipeline that encodes a table, give a row of that table: ``X.iloc[0]`` or ``X.iloc[[0]]``.
    label : label, optional
        The true class of the row. If it is given, the margin and the loss of the row are computed, too.

    Returns
    -------
    ExplainedRow
        Quantities that the model does not have are None, and ``missing`` says why.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]], ["no", "no", "yes", "yes"]
    >>> model = sx.Perceptron().fit(X, y)
    >>> found = sx.explain_row(model, [2.0, 3.0], "yes")
    >>> print(found)
    predicted yes, against no: score 3
      lead 3 = -2 + 2 (x1) + 3 (x2)
      2.121 from the boundary, whose nearest point is (0.5, 1.5)
      label yes: right, margin 3, perceptron loss 0
      no probability: Perceptron has scores but no probabilities
    """
    last, rows, names = taken_apart(model, _table_of(model, x))
    scorer = last.scorer_of() if hasattr(last, "scorer_of") else scores_of(last)
    inside = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, dtype=np.float64)[0]
    labels = label_list(scorer.classes)
    predicted = label_list(scorer.predict(rows))[0]
    Z = np.asarray(scorer.scores(rows))
    z, i = np.atleast_1d(Z[0]), labels.index(predicted)
    j = int(_second(Z, np.array([i]))[0])
    known, missing = _linear(scorer, inside, i, j), dict[str, str]()
    if not known:
        why = f"the scores of this {type(last).__name__} are not linear in the columns"
        missing = dict.fromkeys(("contributions", "distance", "projection"), why)
    elif "distance" not in known:
        missing = dict.fromkeys(("distance", "projection"), "all weights are zero, so there is no boundary")
    if len(z) > 1:
        missing.setdefault("signed_distance", "the model has more than two classes")
    if getattr(last, "has_probabilities", False) and hasattr(last, "predict_proba"):
        known["probabilities"] = np.asarray(scorer.probabilities(rows))[0]
    else:
        missing["probability"] = lacks_probabilities(type(last).__name__)
    if label is not None:
        known |= _judged(last, scorer, z, label, known.get("probabilities"), missing)
    lead = float(known.pop("lead", z[i] - z[j] if len(z) > 1 else abs(z[0])))
    about = {"columns": names or _names(last, len(inside)), "classes": scorer.classes, "scores": z, "lead": lead}
    return ExplainedRow(inside, predicted=predicted, against=labels[j], missing=missing, **about, **known)


def _table_of(model: Any, x: Any) -> Any:
    """The row as a table of one row: a data frame if a pipeline is to encode it, otherwise an array of numbers."""
    frame = x.to_frame().T.infer_objects() if hasattr(x, "to_frame") and hasattr(x, "index") else x
    if hasattr(frame, "columns"):
        if len(frame) != 1:
            raise InputError("x", f"it has {len(frame)} rows", "give one row")
        if len(getattr(model, "steps", ())) > 1:
            return frame
    try:
        row = np.asarray(frame, dtype=np.float64)
    except (TypeError, ValueError) as error:
        remedy = "give one row: an array of numbers or, for a pipeline that encodes a table, a row of a data frame"
        raise InputError("x", f"got {x!r}", remedy) from error
    row = row[0] if hasattr(frame, "columns") else row
    width = getattr(model, "n_features_in_", row.size)
    if row.shape != (width,) or not np.all(np.isfinite(row)):
        problem = "it has NaN or infinity" if row.shape == (width,) else f"its shape is {row.shape}"
        raise InputError("x", problem, f"give one row, an array of {width} finite numbers")
    return row[None, :]


def _second(Z: Array, codes: Integers) -> Integers:
    """For each row, the class with the largest score apart from the given one."""
    if Z.ndim == 1:
        return np.asarray(1 - codes)
    Z = Z.copy()
    np.put_along_axis(Z, codes[:, None], -np.inf, axis=1)
    return np.asarray(np.argmax(Z, axis=1), dtype=np.int64)


def _linear(scorer: Any, x: Array, i: int, j: int) -> dict[str, Any]:
    """What linear scores have: contributions, distance and projection; nothing for other scores."""
    if not isinstance(scorer, Scorer):
        return {}
    W = scorer.W
    if not np.any(W[0, 1:] if len(W) == 1 else W[i, 1:] - W[j, 1:]):
        lead = float(abs(W[0, 0] - scorer.link.boundary) if len(W) == 1 else W[i, 0] - W[j, 0])
        return {"contributions": np.zeros_like(x), "intercept": lead, "lead": lead}
    plane: Hyperplane = scorer.hyperplane(scorer.classes[i], scorer.classes[j])
    found: dict[str, Any] = {"contributions": plane.w * x, "intercept": float(plane.b)}
    found["lead"] = float(plane.score(x[None, :])[0])
    found["distance"] = float(plane.distance(x[None, :])[0])
    found["projection"] = np.asarray(plane.project(x[None, :]))[0]
    if len(W) == 1:
        found["signed_distance"] = found["distance"] if i == 1 else -found["distance"]
    return found


def _judged(model: Any, scorer: Any, z: Array, label: Any, P: Array | None, missing: dict[str, str]) -> dict[str, Any]:
    """The margin and the loss of the row with its true class."""
    classes = scorer.classes
    code = int(known_codes([label], classes)[0])
    t = 2.0 * code - 1.0
    threshold = scorer.link.boundary if isinstance(scorer, Scorer) else 0.0
    margin = t * (float(z[0]) - threshold) if len(z) == 1 else float(z[code] - np.max(np.delete(z, code)))
    found: dict[str, Any] = {"label": label_list(classes)[code], "margin": margin}
    if P is not None:
        with np.errstate(divide="ignore"):
            return {**found, "loss": -float(np.log(P[code])), "loss_name": "−ln P"}
    name = _minimised_loss(model)
    if name is None:
        missing["loss"] = _no_loss(model)
        return found
    if len(z) == 1:
        return {**found, "loss": float(LOSSES[name].value(np.array([t]), z)[0]), "loss_name": f"{name} loss"}
    return {**found, "loss": _summed_loss(model, name, z, code), "loss_name": f"{name} loss, summed over the classes"}


# The loss of the margin that a classifier without probabilities minimises, by the name of the classifier. Classifiers
# that are not listed have it as their setting ``loss``.
LOSS_OF_CLASSIFIER = {"perceptron": "perceptron", "least-squares": "squared", "max-margin": "hinge"}


def _minimised_loss(model: Any) -> str | None:
    """The name of the loss of single rows that the fit minimises, for each class against the rest; None without one."""
    name = name_of(type(model))
    if name == "one-versus-rest":
        return _minimised_loss(model.estimators_[0])
    loss = None if name is None else LOSS_OF_CLASSIFIER.get(name, getattr(model, "loss", None))
    return loss if loss in LOSSES else None


def _no_loss(model: Any) -> str:
    """Why the fit does not minimise a loss of single rows."""
    if name_of(type(model)) == "one-versus-one":
        return f"{type(model).__name__} fits a model to each pair of classes, not to all rows at once"
    return f"the fit of this {type(model).__name__} is not a sum of losses of single rows"


def _summed_loss(model: Any, name: str, z: Array, code: int) -> float:
    """The sum of the losses of all K scores of a row, where each class has its target: its own one, or the rest's."""
    if name_of(type(model)) == "least-squares":
        return float(np.sum((z - TARGETS[model.targets].table(len(z))[code]) ** 2))
    t = np.where(np.arange(len(z)) == code, 1.0, -1.0)
    return float(np.sum(LOSSES[name].value(t, z)))


def _names(model: Any, width: int) -> list[str]:
    known = getattr(model, "feature_names_in_", None)
    return [str(name) for name in known] if known is not None else [f"x{c + 1}" for c in range(width)]


def _largest(parts: list[tuple[str, float]], most: int = 6) -> list[tuple[str, float]]:
    """The parts as they are, or of many only the largest, with the sum of the rest."""
    if len(parts) <= most:
        return parts
    ordered = sorted(parts, key=lambda part: -abs(part[1]))
    return [*ordered[: most - 1], ("the other columns", float(sum(value for _, value in ordered[most - 1 :])))]


def _plain(value: Any) -> Any:
    """The value in the types of JSON."""
    if isinstance(value, np.ndarray):
        return [_plain(label) for label in label_list(value)] if value.dtype.kind in TIMES else value.tolist()
    if isinstance(value, np.generic):
        return str(value) if value.dtype.kind in TIMES else value.item()
    return dict(value) if isinstance(value, Mapping) else value


# --- What each column contributed to the margins of several rows

# Largest number of columns for a model that is not linear: each row is scored once for every column.
MOST_COLUMNS_NOT_LINEAR = 400


@dataclass(frozen=True)
class Contributions:
    """What each column contributed to the margins of some rows. ``contributions`` returns one.

    Attributes
    ----------
    values : array (m, d)
        The values of the rows.
    parts : array (m, d)
        The contributions. A positive one favours the true class.
    others : array (m,) of int
        The numbers of the classes that the true ones are compared with.
    """

    values: Array
    parts: Array
    others: Integers

    def largest(self, i: int, top: int) -> Integers:
        """The numbers of the columns that contributed most to row i, largest first, without zero contributions."""
        size = np.abs(self.parts[i])
        order = np.argsort(-size, kind="stable")[:top]
        return np.asarray(order[size[order] > 0])


def contributions(
    model: Any, rows: Any, codes: Integers, mean: Array, together: Sequence[slice] = ()
) -> Contributions | None:
    """What each column contributed to the margins of rows, a dense or CSR matrix, with the true classes ``codes``.

        margin m = (score of the true class) − (largest score of the others),    negative for a misclassified row
        contribution of column j = m(x) − m(x with x_j at its mean)
                                 = v_j (x_j − mean_j)  for linear scores, with v = w_true − w_other

    For linear scores the contributions add up: m(x) = m(row of means) + their sum. For others each is one column's
    share alone, with the class that comes second held fixed. The columns of one category go to their means together,
    since no row has two levels.

    ``mean`` (d,) holds the means of the columns over the rows of the fit. ``together`` has the columns that came from
    one column of a table; for scores that are not linear, the first of them has the contribution of all. Returns None
    for a model that is not linear and has too many columns.

    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 1.0], [3.0, 0.0]], [0, 0, 1, 1]
    >>> model = LogisticRegression().fit(X, y)
    >>> found = contributions(model, np.array([[0.0, 0.5]]), np.array([1]), np.mean(X, axis=0))
    >>> bool(found.parts[0, 0] < 0), found.parts[0, 1].item(), found.others.tolist()
    (True, 0.0, [0])
    """
    scorer = scores_of(model)
    values = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
    others = _second(np.asarray(scorer.scores(rows)), codes)
    if isinstance(scorer, Scorer):
        W = scorer.W[:, 1:]
        v = np.where(codes == 1, 1.0, -1.0)[:, None] * W if len(W) == 1 else W[codes] - W[others]
        return Contributions(values, v * (values - mean), others)
    if values.shape[1] > MOST_COLUMNS_NOT_LINEAR:
        return None
    parts = np.empty_like(values)
    for i, x in enumerate(values):
        moved = np.tile(x, (len(x) + 1, 1))
        np.fill_diagonal(moved, mean)
        for columns in together:
            moved[columns] = x
            moved[columns.start, columns] = mean[columns]
        m = _margin(np.asarray(scorer.scores(moved)), int(codes[i]), int(others[i]))
        parts[i] = m[-1] - m[:-1]
    return Contributions(values, parts, others)


def _margin(Z: Array, own: int, other: int) -> Array:
    return np.asarray((Z if own == 1 else -Z) if Z.ndim == 1 else Z[:, own] - Z[:, other])
