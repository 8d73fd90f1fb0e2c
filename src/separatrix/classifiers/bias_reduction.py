"""The methods behind ``bias_reduction``: penalised likelihoods that reduce the bias of maximum likelihood."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.messages import Message, Setting
from separatrix.base.setting_checks import check_choice, is_number
from separatrix.classifiers.fit_input import FitInput
from separatrix.classifiers.sklearn_settings import C_of, l1_ratio_of
from separatrix.rows.coding import Coding
from separatrix.solvers import named


def _firth(model: Any, task: FitInput, offset: Array | None, coding: Coding, by_class: Array) -> None:
    from separatrix.classifiers.firth_fit import fit_firth  # other fits do not need the package ``firth``

    fit_firth(model, task, offset, coding, by_class)


# The function that fits a model by each method of bias reduction.
BIAS_REDUCTIONS: dict[str, Callable[[Any, FitInput, Array | None, Coding, Array], None]] = {"firth": _firth}


def check_bias_reduction(model: Any) -> None:
    """Refuse settings that have no meaning together with a bias reduction."""
    if model.bias_reduction is None:
        return
    check_choice("bias_reduction", model.bias_reduction, list(BIAS_REDUCTIONS))
    together = Message(" with ", Setting("bias_reduction", model.bias_reduction))
    C, l1_ratio = C_of(model), l1_ratio_of(model)
    if not is_number(C) or float(C) not in (1.0, np.inf):
        raise ParameterError("C", f"got {C!r}" + together, "leave it out: Firth's penalty has no strength to set")
    if l1_ratio != 0:
        remedy = "leave it out: Firth's penalty is not on the size of the weights"
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}" + together, remedy)
    if model.penalty_factors is not None:
        remedy = "leave them out: Firth's penalty is not on the size of the weights"
        raise ParameterError("penalty_factors", "got some" + together, remedy)
    if model.loss != "logistic":
        remedy = "use 'logistic': Firth's penalty is implemented for that loss only"
        raise ParameterError("loss", f"got {model.loss!r}" + together, remedy)
    if named(model.solver) is not None:
        remedy = "leave it at 'auto': this likelihood has its own solver"
        raise ParameterError("solver", f"got {model.solver!r}" + together, remedy)
