r"""Losses ℓ(t, z) of the score z of a row, with their mathematical properties as traits (docs/tour.md, L1, L2).

A loss depends on the coded target t and the score z, not on X or w. The margin losses are functions ℓ(m) of
m = t z with t = ±1 and z of shape (n,); softmax takes class numbers t and scores (n, K).

>>> sorted(LOSSES)
['cloglog', 'hinge', 'logistic', 'perceptron', 'probit', 'softmax', 'squared', 'squared-sigmoid', 'squared_hinge',
 'zero-one']
"""

from separatrix.losses.activations import logit, sigmoid, softmax
from separatrix.losses.margin import Hinge, Logistic, Perceptron, Squared, SquaredHinge, ZeroOne
from separatrix.losses.multiclass import Softmax
from separatrix.losses.other_heads import ComplementaryLogLog, Probit, SquaredSigmoid
from separatrix.losses.traits import Loss, MarginLoss, Traits

LOSSES: dict[str, Loss] = {
    "logistic": Logistic(),
    "softmax": Softmax(),
    "probit": Probit(),
    "cloglog": ComplementaryLogLog(),
    "squared-sigmoid": SquaredSigmoid(),
    "squared": Squared(),
    "perceptron": Perceptron(),
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
    "zero-one": ZeroOne(),
}

__all__ = [
    "LOSSES",
    "ComplementaryLogLog",
    "Hinge",
    "Logistic",
    "Loss",
    "MarginLoss",
    "Perceptron",
    "Probit",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "SquaredSigmoid",
    "Traits",
    "ZeroOne",
    "logit",
    "sigmoid",
    "softmax",
]
