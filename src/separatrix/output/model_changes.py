"""The differences between two models: settings, columns, levels, classes, training, certificate, numbers.

Numbers have names: the weights of a linear model by column; the means, deviations and priors of Gaussians; and for a
model of several parts, those of each part. They are matched by column and class, not by position. The largest changes
come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from separatrix.classifiers.model_file import SCORERS, ModelFile, stored
from separatrix.core.base.checksummed_json import canonical
from separatrix.core.base.codec import Writing, from_plain, to_plain


class Difference(NamedTuple):
    """What changed, and its values before and after; None if one of the models does not have it."""

    what: str
    before: Any
    after: Any


def differences(a: ModelFile, b: ModelFile) -> list[Difference]:
    """All changes from ``a`` to ``b``; empty if the models are the same.

    >>> from separatrix import Perceptron
    >>> rows = [[0.0], [1.0]]
    >>> a = ModelFile.of(Perceptron().fit(rows, ["no", "yes"]), ("age",))
    >>> b = ModelFile.of(Perceptron(eta0=0.5).fit(rows, ["no", "yes"]), ("age",))
    >>> for what, before, after in differences(a, b):
    ...     print(what, before, after)
    setting eta0 1.0 0.5
    weight of age 2.0 1.0
    intercept -1.0 -0.5
    """
    columns, changed = list(_columns(a, b)), _changed(_facts(a), _facts(b))
    before, after = (_numbers(model, model.names) | _units(model, model.names) for model in (a, b))
    moved = _changed(before, after) + _reweighted(a, b)
    moved.sort(key=lambda one: -_size(one))
    # A change of numbers without names, such as a covariance, is visible only in the digest.
    unnamed = [] if moved else _changed({"scorer's digest": _digest(a)}, {"scorer's digest": _digest(b)})
    return [*changed, *columns, *moved, *unnamed]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    pairs = [(what, before.get(what), after.get(what)) for what in dict.fromkeys([*before, *after])]
    return [Difference(*one) for one in pairs if canonical(to_plain(one[1])) != canonical(to_plain(one[2]))]


def _size(one: Difference) -> float:
    """The size of a change; a missing number counts as zero."""
    before, after = (0.0 if value is None else value for value in one[1:])
    return abs(after - before) if math.isfinite(after - before) else math.inf


def _facts(model: ModelFile) -> dict[str, Any]:
    """Everything about a model except its columns and its numbers, by name."""
    facts: dict[str, Any] = {"classifier": model.classifier, "scorer": SCORERS.name_of(model.scorer)}
    facts |= {f"setting {name}": value for name, value in _settings(model.parameters)}
    facts |= {"settings left out": model.left_out, "target": model.target}
    facts["classes"] = tuple(model.scorer.classes.tolist())
    if model.encoder is not None:
        facts |= {"missing values": model.encoder.missing, "unseen levels": model.encoder.unseen}
        for column in model.encoder.columns:
            facts[f"kind of {column.name}"] = column.kind
            if column.levels:
                facts[f"levels of {column.name}"] = column.levels
            if column.text is not None:
                settings = column.text.settings.plain()
                facts |= {f"text {name} of {column.name}": value for name, value in settings.items()}
    facts["standardised"] = model.scaling is not None
    facts |= {f"training {name.replace('_', ' ')}": value for name, value in model.training.items()}
    certificate = model.certificate
    if certificate is not None:
        facts |= {"rows": certificate.n_rows, "certificate status": certificate.status}
        facts |= {"certificate met": certificate.met, "objective": certificate.objective}
        facts |= {"bound": certificate.bound, "solver": certificate.solver}
    return facts | {"written by separatrix": model.made_by}


def _settings(parameters: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in parameters.items():
        inner = isinstance(value, dict) and set(value) == {"classifier", "parameters"}
        yield prefix + name, value["classifier"] if inner else from_plain(value)
        if inner:
            yield from _settings(value["parameters"], f"{prefix}{name}__")


def _columns(a: ModelFile, b: ModelFile) -> Iterator[Difference]:
    """Columns removed and added, followed by those kept; and the order of the columns, if it changed."""
    before, after = a.names, b.names
    if before == after:
        return
    removed, kept = _partition(before, after)
    added, kept_in_new_order = _partition(after, before)
    if removed:
        yield Difference("columns removed", removed, None)
    if added:
        yield Difference("columns added", None, added)
    if removed or added:
        yield Difference("columns kept", kept, kept)
    if kept != kept_in_new_order:
        yield Difference("order of columns", before, after)


def _partition(names: tuple[str, ...], others: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names that are not among the others, and those that are."""
    known = set(others)
    return tuple(name for name in names if name not in known), tuple(name for name in names if name in known)


# --- The numbers of a model by name


def _numbers(model: ModelFile, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers that determine a model's predictions, by name."""
    kind = SCORERS.name_of(model.scorer)
    return {} if kind is None else _BY_KIND[kind](model.scorer, names)


def _units(model: ModelFile, names: tuple[str, ...]) -> dict[str, float]:
    """The center and scale of each column, if columns are scaled."""
    if model.scaling is None:
        return {}
    centers, scales = model.scaling.center.tolist(), model.scaling.scale.tolist()
    named = {f"center of {name}": center for name, center in zip(names, centers, strict=True)}
    return named | {f"scale of {name}": scale for name, scale in zip(names, scales, strict=True)}


def _reweighted(a: ModelFile, b: ModelFile) -> list[Difference]:
    """Changes of the idf of n-grams that both models have. Other n-grams are columns added or removed."""
    before, after = _idf(a), _idf(b)
    return [change for change in _changed(before, after) if change.what in before and change.what in after]


def _idf(model: ModelFile) -> dict[str, float]:
    """The inverse document frequency of each n-gram of a text."""
    columns = () if model.encoder is None else model.encoder.columns
    texts = [(column.name, column.text) for column in columns if column.text is not None and column.text.idf]
    return {
        f"idf of {name}": value
        for column, text in texts
        for name, value in zip(text.names(column), text.idf, strict=True)
    }


def _weights(W: Any, names: tuple[str, ...], whose: list[str]) -> dict[str, float]:
    numbers: dict[str, float] = {}
    for row, of in zip(W.tolist(), whose, strict=True):
        numbers |= {f"weight of {name}{of}": w for name, w in zip(names, row[1:], strict=True)}
        numbers[f"intercept{of}"] = row[0]
    return numbers


def _of_linear(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    labels = scorer.classes.tolist()
    return _weights(scorer.W, names, [""] if len(scorer.W) == 1 else [f" for {label}" for label in labels])


def _of_quadratic(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    model, labels = scorer.gaussians, scorer.classes.tolist()
    numbers = {f"prior of {label}": p for label, p in zip(labels, model.priors.tolist(), strict=True)}
    means = model.frame.center + model.means * model.frame.scale
    for label, mean in zip(labels, means.tolist(), strict=True):
        numbers |= {f"mean of {name} for {label}": m for name, m in zip(names, mean, strict=True)}
    for label, colour in zip(labels, model.colour, strict=False):  # A projection has none.
        spread = (np.linalg.norm(colour, axis=1) * model.frame.scale).tolist()
        numbers |= {f"deviation of {name} for {label}": s for name, s in zip(names, spread, strict=True)}
    return numbers


def _of_parts(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    labels = scorer.classes.tolist()
    pairs = [part.names for part in scorer.scheme.parts(np.arange(len(labels)), len(labels))]
    whose = [f" for {labels[i]} against {'the rest' if j is None else labels[j]}" for i, j in pairs]
    if scorer.W is not None:
        return _weights(scorer.W, names, whose)
    parts = [(_numbers(stored(part), names), of) for part, of in zip(scorer.estimators, whose, strict=True)]
    return {f"{what}{of}": value for numbers, of in parts for what, value in numbers.items()}


_BY_KIND: dict[str, Callable[[Any, tuple[str, ...]], dict[str, float]]] = {
    "linear": _of_linear,
    "quadratic": _of_quadratic,
    "parts": _of_parts,
}


def _digest(model: ModelFile) -> str:
    """A hash of all numbers of the scorer, without its classes."""
    classes = model.scorer.classes
    plain = Writing("scorer", seen={id(classes): ("classes", classes)}).plain(SCORERS, model.scorer)
    return sha256(canonical(plain).encode()).hexdigest()
