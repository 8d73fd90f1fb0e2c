"""Classes that appear in a later call of ``partial_fit``, if the first call was not given all of them.

Each class against the rest has its own weights, or its own model. A class that has not appeared yet would have seen all
rows so far as the rest, whichever class it is. So one more model is trained with every row on the other side, and a
copy of it becomes the model of a new class. The result is the same as if the first call had been given all classes.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, Integers
from separatrix.base.labels import as_label_array, encode

TWO_SIDES = np.array([0, 1])


def with_later(classes: AnyArray, y: Any) -> AnyArray:
    """The sorted classes with those of y that are new; the same array if there are none.

    >>> with_later(np.array(["a", "c"]), ["b", "c"]).tolist()
    ['a', 'b', 'c']
    """
    known = set(classes.tolist())
    new = [label for label in dict.fromkeys(as_label_array(y).tolist()) if label not in known]
    return encode([*classes.tolist(), *new])[0] if new else classes


def places_of(classes: AnyArray, among: AnyArray) -> Integers:
    """The place of each of ``classes`` in an older array of classes, −1 for a new one.

    >>> places_of(np.array(["a", "b", "c"]), np.array(["a", "c"])).tolist()
    [0, -1, 1]
    """
    place = {label: k for k, label in enumerate(among.tolist())}
    return np.array([place.get(label, -1) for label in classes.tolist()], dtype=np.int64)


def widened_weights(W: Array, before: AnyArray, classes: AnyArray, unseen: Array) -> Array:
    """Weights (K, d + 1) of each class against the rest, made of those of fewer classes.

    Two classes have one row, the weights of the second; those of the first are its negative. ``unseen`` (d + 1,) are
    the weights of a new class.

    >>> widened_weights(np.array([[1.0, 2.0]]), np.array([0, 5]), np.array([0, 3, 5]), np.array([-1.0, 0.0])).tolist()
    [[-1.0, -2.0], [-1.0, 0.0], [1.0, 2.0]]
    """
    each = np.vstack([-W, W]) if len(before) == 2 else W
    return np.vstack([each, unseen])[places_of(classes, before)]


@dataclass
class LaterModels:
    """Models that one versus rest keeps while classes may appear.

    ``unseen`` has every row on the other side. ``first`` is the model of the first class: two classes share one model,
    that of the second.
    """

    unseen: Any
    first: Any

    @classmethod
    def of(cls, base: Any) -> LaterModels:
        """New models, of an estimator that is not fitted."""
        return cls(deepcopy(base), deepcopy(base))

    def step(self, rows: Any, codes: Integers, n_classes: int) -> None:
        """Update the models with rows of these class numbers."""
        self.unseen.partial_fit(rows, np.zeros(len(codes), dtype=np.int64), classes=TWO_SIDES)
        if n_classes == 2:
            self.first.partial_fit(rows, (codes == 0).astype(np.int64), classes=TWO_SIDES)

    def widened(self, models: list[Any], before: AnyArray, classes: AnyArray) -> list[Any]:
        """The models of all classes, made of those of fewer classes."""
        each = [self.first, *models] if len(before) == 2 else models
        return [deepcopy(self.unseen) if k < 0 else each[k] for k in places_of(classes, before)]
