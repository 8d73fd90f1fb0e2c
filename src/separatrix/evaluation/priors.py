"""Class shares, and the correction of probabilities from those of the fitted rows to others (docs/tour.md, D4, M4)."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError


def class_shares(argument: str, priors: Any, classes: AnyArray) -> Array:
    """The shares in the order of the classes, (K,), from a sequence or a dict by label. They need not sum to 1.

    >>> class_shares("prior", {"yes": 1, "no": 3}, np.array(["no", "yes"])).tolist()
    [3.0, 1.0]
    """
    labels = classes.tolist()
    if isinstance(priors, dict):
        missing = [label for label in labels if label not in priors]
        if missing or len(priors) != len(labels):
            raise ParameterError(argument, f"it names {list(priors)}", f"give a prior for each of {labels}")
        priors = [priors[label] for label in labels]
    found = np.asarray(priors, dtype=np.float64)
    if found.shape != (len(labels),) or not np.all(np.isfinite(found) & (found > 0)):
        raise ParameterError(argument, f"got {priors!r}", f"give {len(labels)} positive numbers, one for each class")
    return found


def prior_ratio(classes: AnyArray, prior: Any, fitted_prior: Any, claim: Any = None) -> Array:
    """ln(new_k/old_k), (K,), from the class shares to decide for and those of the fitted rows.

    If the classes had weights in the fit, which its ``claim`` holds, the old shares are those of weighted rows.

    >>> prior_ratio(np.array(["no", "yes"]), {"no": 0.75, "yes": 0.25}, [0.5, 0.5]).round(3).tolist()
    [0.405, -0.693]
    """
    new, old = class_shares("prior", prior, classes), class_shares("fitted_prior", fitted_prior, classes)
    weights = getattr(claim, "class_weights", None)
    old = old if weights is None else old * np.asarray(weights)
    return np.asarray(np.log(new / new.sum()) - np.log(old / old.sum()))
