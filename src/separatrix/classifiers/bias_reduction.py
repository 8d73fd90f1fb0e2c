"""Fits by a likelihood that takes the bias of maximum likelihood away: what ``bias_reduction`` names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, Setting
from separatrix.classifiers.fit_input import FitInput, check_choice, is_number
from separatrix.classifiers.sklearn_settings import C_of, l1_ratio_of
from separatrix.solvers import named


def _firth(model: Any, task: FitInput, offset: Array | None, weight: Array, by_class: Array) -> None:
    from separatrix.classifiers.firth_fit import fit_firth  # with a package of its own, which other fits do not need

    fit_firth(model, task, offset, weight, by_class)


# How the bias is taken away, by name.
BIAS_REDUCTIONS: dict[str, Callable[[Any, FitInput, Array | None, Array, Array], None]] = {"firth": _firth}


def check_bias_reduction(model: Any) -> None:
    """Refuse settings that have no meaning beside a bias reduction, each in a sentence."""
    if model.bias_reduction is None:
        return
    check_choice("bias_reduction", model.bias_reduction, list(BIAS_REDUCTIONS))
    beside = Message(" with ", Setting("bias_reduction", model.bias_reduction))
    C, l1_ratio = C_of(model), l1_ratio_of(model)
    if not is_number(C) or float(C) not in (1.0, np.inf):
        raise ParameterError("C", f"got {C!r}" + beside, "leave it out: its penalty is that of the likelihood alone")
    if l1_ratio != 0:
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}" + beside, "leave it out: no weight is penalised by size")
    if model.penalty_factors is not None:
        raise ParameterError("penalty_factors", "got some" + beside, "leave them out: no weight is penalised by size")
    if model.loss != "logistic":
        raise ParameterError(
            "loss", f"got {model.loss!r}" + beside, "use 'logistic': the penalty is known for that one"
        )
    if named(model.solver) is not None:
        raise ParameterError(
            "solver", f"got {model.solver!r}" + beside, "leave it at 'auto': it has a solver of its own"
        )
