"""Checks of class weights, and of the weight of each class."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array, all_true, any_true
from separatrix.base.errors import ParameterError, WeightError
from separatrix.rows.coding import ClassTotals
from separatrix.rows.labelled import LabelledTable


def refuse_weightless_classes(classes: AnyArray, weight: Array, least: int | None = None) -> None:
    """Raise an error if fewer than ``least`` classes (by default all) have weight; ``weight`` (K,): that of each."""
    held = weight > 0
    if all_true(held) or not any_true(held):
        return  # if no row has weight, the first pass over the rows raises the error
    if held.sum() < (len(classes) if least is None else least):
        label = classes.tolist()[int(np.argmin(held))]
        problem = f"all rows of the class {label!r} have weight zero"
        raise WeightError("sample_weight", problem, "drop these rows, or give one of them a positive weight")


def totals_for(class_weight: Any, table: LabelledTable) -> ClassTotals:
    """Totals of a table that are enough for these class weights: "balanced" ones need those of all rows."""
    return table.totals if isinstance(class_weight, str) else table.seen_totals


def class_weights(class_weight: Any, classes: AnyArray, totals: Array) -> Array:
    """A factor for each class: 1, or given by label, or "balanced": S/(K S_k), where S_k in ``totals`` is the weight of
    class k, and S that of all.
    """
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise ParameterError(
                "class_weight", f"got {class_weight!r}", "give None, 'balanced', or a factor for each label"
            )
        factors = np.ones(len(classes))
        factors[totals > 0] = totals.sum() / (len(classes) * totals[totals > 0])
        return factors
    if not isinstance(class_weight, dict):
        raise ParameterError(
            "class_weight", f"got {class_weight!r}", "give None, 'balanced', or a factor for each label"
        )
    labels = classes.tolist()
    factors = np.ones(len(classes))
    for label, factor in class_weight.items():
        if label not in labels:
            raise ParameterError("class_weight", f"it names {label!r}", f"use the labels {labels}")
        if not isinstance(factor, Real) or not 0 <= float(factor) < np.inf:
            raise WeightError("class_weight", f"{label!r} has {factor!r}", "give finite factors >= 0")
        factors[labels.index(label)] = factor
    return factors
