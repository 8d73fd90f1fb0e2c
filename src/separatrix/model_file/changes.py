"""What changed from one model to another: settings, columns, levels, classes, training, certificate, numbers.

Numbers have names: of a linear model its weights by column, of Gaussians their means, deviations and priors, of a model
of parts those of each part. They are told apart by columns and classes, not by places; the largest changes come first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from separatrix.base.checksummed_json import canonical
from separatrix.model_file.kinds import SCORERS
from separatrix.model_file.model import ModelFile
from separatrix.model_file.places import Writing
from separatrix.model_file.plain import from_plain, to_plain


class Difference(NamedTuple):
    """What changed, from what and to what; None where one of the two has no such thing."""

    what: str
    before: Any
    after: Any


def differences(a: ModelFile, b: ModelFile) -> list[Difference]:
    """All that changed from ``a`` to ``b``; nothing where they are the same.

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
    before, after = (_numbers(model, _names(model)) | _units(model, _names(model)) for model in (a, b))
    moved = _changed(before, after)
    moved.sort(key=lambda one: -_size(one))
    # What has no name here, such as a covariance, shows in the digest.
    unnamed = [] if moved else _changed({"scorer's digest": _digest(a)}, {"scorer's digest": _digest(b)})
    return [*changed, *columns, *moved, *unnamed]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    pairs = [(what, before.get(what), after.get(what)) for what in dict.fromkeys([*before, *after])]
    return [Difference(*one) for one in pairs if canonical(to_plain(one[1])) != canonical(to_plain(one[2]))]


def _size(one: Difference) -> float:
    """How much a number changed; one that is not there counts as zero."""
    before, after = (0.0 if value is None else value for value in one[1:])
    return abs(after - before) if math.isfinite(after - before) else math.inf


def _facts(model: ModelFile) -> dict[str, Any]:
    """Everything about a model but its columns and its numbers, by name."""
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
    facts["standardised"] = model.scaling is not None
    facts |= {f"training {name.replace('_', ' ')}": value for name, value in model.training.items()}
    held = model.certificate
    if held is not None:
        facts |= {"rows": held.n_rows, "certificate status": held.status, "certificate met": held.met}
        facts |= {"objective": held.objective, "bound": held.bound, "solver": held.solver}
    return facts | {"written by separatrix": model.made_by}


def _settings(parameters: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in parameters.items():
        inner = isinstance(value, dict) and set(value) == {"classifier", "parameters"}
        yield prefix + name, value["classifier"] if inner else from_plain(value)
        if inner:
            yield from _settings(value["parameters"], f"{prefix}{name}__")


def _names(model: ModelFile) -> tuple[str, ...]:
    return model.features or tuple(f"column {j + 1}" for j in range(model.columns))


def _columns(a: ModelFile, b: ModelFile) -> Iterator[Difference]:
    """Columns taken away and added, with those kept beside them; their order, where that alone is another."""
    before, after = _names(a), _names(b)
    if before == after:
        return
    removed = tuple(name for name in before if name not in set(after))
    added = tuple(name for name in after if name not in set(before))
    kept = tuple(name for name in before if name in set(after))
    if removed:
        yield Difference("columns removed", removed, None)
    if added:
        yield Difference("columns added", None, added)
    if removed or added:
        yield Difference("columns kept", kept, kept)
    if kept != tuple(name for name in after if name in set(before)):
        yield Difference("order of columns", before, after)


# ---------------------------------------------------------------------------------------------- numbers


def _numbers(model: ModelFile, names: tuple[str, ...]) -> dict[str, float]:
    """The numbers that a model answers by, each with a name of its own."""
    kind = SCORERS.name_of(model.scorer)
    return {} if kind is None else _BY_KIND[kind](model.scorer, names)


def _units(model: ModelFile, names: tuple[str, ...]) -> dict[str, float]:
    """What columns are shifted and divided by, where they are."""
    if model.scaling is None:
        return {}
    centers, scales = model.scaling.center.tolist(), model.scaling.scale.tolist()
    found = {f"center of {name}": center for name, center in zip(names, centers, strict=True)}
    return found | {f"scale of {name}": scale for name, scale in zip(names, scales, strict=True)}


def _weights(W: Any, names: tuple[str, ...], whose: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for row, of in zip(W.tolist(), whose, strict=True):
        found |= {f"weight of {name}{of}": w for name, w in zip(names, row[1:], strict=True)}
        found[f"intercept{of}"] = row[0]
    return found


def _of_linear(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    labels = scorer.classes.tolist()
    return _weights(scorer.W, names, [""] if len(scorer.W) == 1 else [f" for {label}" for label in labels])


def _of_quadratic(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    model, labels = scorer.gaussians, scorer.classes.tolist()
    found = {f"prior of {label}": p for label, p in zip(labels, model.priors.tolist(), strict=True)}
    means = model.frame.center + model.means * model.frame.scale
    for label, mean in zip(labels, means.tolist(), strict=True):
        found |= {f"mean of {name} for {label}": m for name, m in zip(names, mean, strict=True)}
    for label, colour in zip(labels, model.colour, strict=False):  # there are none along a projection
        spread = (np.linalg.norm(colour, axis=1) * model.frame.scale).tolist()
        found |= {f"deviation of {name} for {label}": s for name, s in zip(names, spread, strict=True)}
    return found


def _of_parts(scorer: Any, names: tuple[str, ...]) -> dict[str, float]:
    labels = scorer.classes.tolist()
    pairs = [part.names for part in scorer.scheme.parts(np.arange(len(labels)), len(labels))]
    whose = [f" for {labels[i]} against {'the rest' if j is None else labels[j]}" for i, j in pairs]
    if scorer.W is not None:
        return _weights(scorer.W, names, whose)
    parts = [(_numbers(ModelFile.of(part), names), of) for part, of in zip(scorer.estimators, whose, strict=True)]
    return {f"{what}{of}": value for found, of in parts for what, value in found.items()}


_BY_KIND: dict[str, Callable[[Any, tuple[str, ...]], dict[str, float]]] = {
    "linear": _of_linear,
    "quadratic": _of_quadratic,
    "parts": _of_parts,
}


def _digest(model: ModelFile) -> str:
    """Of every number of the scorer, whatever its classes are."""
    classes = model.scorer.classes
    plain = Writing("scorer", seen={id(classes): ("classes", classes)}).plain(SCORERS, model.scorer)
    return sha256(canonical(plain).encode()).hexdigest()
