"""Pipelines of a table's encoder and a classifier, taken apart for a file and put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from separatrix.errors import ParameterError

if TYPE_CHECKING:
    from separatrix.table.encoder import Encoder


def taken_apart(model: Any) -> tuple[Encoder | None, Any]:
    """The encoder of a pipeline, and its classifier; a model that is no pipeline has no encoder.

    >>> from separatrix import Perceptron
    >>> taken_apart(Perceptron())
    (None, Perceptron())
    """
    steps = getattr(model, "steps", None)
    if steps is None:
        return None, model
    if len(steps) != 2 or not hasattr(steps[0][1], "encoder_"):
        named = ", ".join(type(step).__name__ for _, step in steps)
        do = "save a classifier by itself, or a pipeline of a fitted TableEncoder and a classifier"
        raise ParameterError("model", f"a pipeline of {named}", do)
    return steps[0][1].encoder_, steps[1][1]


def put_together(encoder: Encoder | None, model: Any) -> Any:
    """The classifier, behind the encoder where there is one."""
    if encoder is None:
        return model
    from sklearn.pipeline import make_pipeline

    from separatrix.table.transformer import TableEncoder

    return make_pipeline(TableEncoder.of(encoder), model)
