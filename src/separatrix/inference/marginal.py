"""A table of average marginal effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.normal import quantile, two_sided
from separatrix.inference import render
from separatrix.inference.effects import Effects

DERIVATIVE, CHANGE, AGAINST = "derivative", "change 0 to 1", "against {}"


@dataclass(frozen=True, repr=False, eq=False)
class MarginalEffects:
    """One entry for each probability and column, then the discrete changes of columns of zeros and ones and of factors.

    ``classes`` has the class whose probability changes; ``kinds`` is "derivative", "change 0 to 1" or, for the level of
    a factor, what it is compared with, such as "against white".

    >>> import numpy as np
    >>> from separatrix import LogisticRegression, summary
    >>> X, y = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]], [0, 0, 1, 0, 1, 1]
    >>> effects = summary(LogisticRegression(C=np.inf).fit(X, y), X, y).marginal_effects()
    >>> effects.names, effects.effect.round(3).tolist(), effects.kinds
    (('x0',), [0.159], ('derivative',))
    """

    names: tuple[str, ...]
    classes: tuple[Any, ...]
    kinds: tuple[str, ...]
    effect: Array
    std_err: Array
    level: float

    @classmethod
    def of(cls, found: Effects, names: tuple[str, ...], classes: list[Any], level: float) -> MarginalEffects:
        entries = [
            (name, label, DERIVATIVE, found.effects[k, j], found.errors[k, j])
            for k, label in enumerate(classes)
            for j, name in enumerate(names)
        ]
        entries += [
            (one.name, label, AGAINST.format(one.reference) if one.reference else CHANGE, one.effect[k], one.error[k])
            for k, label in enumerate(classes)
            for one in found.changes
        ]
        who, of, kinds, effect, error = zip(*entries, strict=True) if entries else ((),) * 5
        return cls(who, of, kinds, np.array(effect, dtype=np.float64), np.array(error, dtype=np.float64), level)

    @property
    def z(self) -> Array:
        return self.effect / self.std_err

    @property
    def p_value(self) -> Array:
        return two_sided(self.z)

    @property
    def low(self) -> Array:
        return self.effect - quantile(self.level) * self.std_err

    @property
    def high(self) -> Array:
        return self.effect + quantile(self.level) * self.std_err

    def records(self) -> list[dict[str, Any]]:
        """One dictionary for each entry."""
        columns = (self.effect, self.std_err, self.z, self.p_value, self.low, self.high)
        numbers = zip(*(column.tolist() for column in columns), strict=True)
        labels = zip(self.classes, self.names, self.kinds, strict=True)
        keys = ("class", "term", "kind", "effect", "std_err", "z", "p_value", "low", "high")
        return [dict(zip(keys, (*a, *b), strict=True)) for a, b in zip(labels, numbers, strict=True)]

    def to_frame(self) -> Any:
        """The records as a pandas DataFrame."""
        return render.as_frame(self.records())

    def to_json(self) -> str:
        """The records as JSON."""
        return render.dumped(self.records())

    def __str__(self) -> str:
        title = f"average marginal effects, {100 * self.level:g} % intervals"
        return "\n".join([title, *render.table(self.records())])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return render.html_table(self.records())
