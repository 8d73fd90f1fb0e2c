"""Pipelines of a table's encoder, scalers and a classifier: taken apart for a file, and put together again.

A scaler is x ↦ (x − center)/scale, column by column, and several scalers combine to one. The file stores this map. It
is not folded into the weights, so that settings and certificate remain those of the fit. A new scaler is one line in
``SCALERS``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from separatrix.base.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder
    from separatrix.table.scaling import Scaling


class Parts(NamedTuple):
    """The parts of a pipeline. ``features`` are the column names that the scaler was fitted with, if any."""

    encoder: Encoder | None
    scaling: Scaling | None
    features: tuple[str, ...] | None
    classifier: Any


def _standard(step: Any) -> tuple[Any, Any]:
    return step.mean_ if step.with_mean else None, step.scale_ if step.with_std else None


def _min_max(step: Any) -> tuple[Any, Any]:
    """x s + m = (x + m/s)/(1/s)."""
    return -step.min_ / step.scale_, 1.0 / step.scale_


def _max_abs(step: Any) -> tuple[Any, Any]:
    return None, step.scale_


def _robust(step: Any) -> tuple[Any, Any]:
    return step.center_, step.scale_


# scikit-learn's scalers by name. Each gives center and scale; None stands for 0 and 1.
SCALERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "StandardScaler": _standard,
    "MinMaxScaler": _min_max,
    "MaxAbsScaler": _max_abs,
    "RobustScaler": _robust,
}


def taken_apart(model: Any) -> Parts:
    """The parts of a pipeline. A model that is not a pipeline is a classifier alone.

    >>> from separatrix import Perceptron
    >>> taken_apart(Perceptron())
    Parts(encoder=None, scaling=None, features=None, classifier=Perceptron())
    """
    steps = getattr(model, "steps", None)
    if steps is None:
        return Parts(None, None, None, model)
    encoder, scaling, features = None, None, None
    for k, (name, step) in enumerate(steps[:-1]):
        if step is None or step == "passthrough":
            continue
        if k == 0 and hasattr(step, "encoder_"):
            encoder, scaling = step.encoder_, step.scaling_
            continue
        step_scaling = _scaling(name, step)
        if scaling is None and encoder is None and hasattr(step, "feature_names_in_"):
            features = tuple(str(column) for column in step.feature_names_in_)
        scaling = step_scaling.after(scaling)
    return Parts(encoder, scaling, features, steps[-1][1])


def _scaling(name: str, step: Any) -> Scaling:
    """The map of a fitted scaler. Other steps are refused."""
    from separatrix.table.scaling import Scaling

    kind = type(step).__name__
    known = type(step).__module__.startswith("sklearn.preprocessing") and kind in SCALERS
    if not known or getattr(step, "clip", False):
        problem = f"its step {name!r} is {kind}{' with clip=True' if known else ''}, which a file cannot hold"
        remedy = f"give a pipeline of a TableEncoder, if any, then any of {', '.join(SCALERS)}, then a classifier"
        raise ParameterError("model", problem, remedy)
    if not hasattr(step, "n_features_in_"):
        raise ParameterError("model", f"its step {name!r} is not fitted", "fit the pipeline first")
    center, scale = SCALERS[kind](step)
    d = step.n_features_in_
    return Scaling(
        np.zeros(d) if center is None else np.asarray(center, dtype=np.float64),
        np.ones(d) if scale is None else np.asarray(scale, dtype=np.float64),
    )


def put_together(
    encoder: Encoder | None, model: Any, scaling: Scaling | None = None, features: tuple[str, ...] | None = None
) -> Any:
    """The classifier, or a pipeline of the encoder or scaler and the classifier."""
    if encoder is None and scaling is None:
        return model
    from sklearn.pipeline import make_pipeline

    if encoder is not None:
        from separatrix.table.transformer import TableEncoder

        return make_pipeline(TableEncoder.of(encoder, scaling), model)
    assert scaling is not None
    return make_pipeline(_scaler(scaling, features), model)


def _scaler(scaling: Scaling, features: tuple[str, ...] | None) -> Any:
    """The scaling as a scikit-learn transformer."""
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=bool(scaling.center.any()))
    scaler.mean_, scaler.scale_, scaler.var_ = scaling.center, scaling.scale, scaling.scale**2
    scaler.n_features_in_ = len(scaling.scale)
    if features is not None:
        scaler.feature_names_in_ = np.array(features, dtype=object)
    return scaler
