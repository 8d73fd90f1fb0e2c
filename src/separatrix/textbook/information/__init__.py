"""Information theory and likelihood: the meaning of the loss of logistic regression (docs/tour.md, I1–I6, R10).

Logarithms are natural (nats) unless ``base`` says otherwise: ``base=2`` gives bits.

>>> from separatrix import information
>>> information.entropy([0.5, 0.25, 0.25], base=2)
1.5
"""

from separatrix.textbook.information.densities import Laplace, LogisticDensity, Normal, Uniform
from separatrix.textbook.information.density import Density
from separatrix.textbook.information.divergence import Approximation, best_normal
from separatrix.textbook.information.entropy import cross_entropy, entropy, kl_divergence, self_information
from separatrix.textbook.information.largest_entropy import maximum_entropy
from separatrix.textbook.information.likelihood import (
    Account,
    Empirical,
    account,
    conditional_account,
    empirical,
    likelihood,
    negative_log_likelihood,
)
from separatrix.textbook.information.limit import CentralLimit, central_limit
from separatrix.textbook.information.mixture import Mixture
from separatrix.textbook.information.outcomes import Bernoulli, Categorical

__all__ = [
    "Account",
    "Approximation",
    "Bernoulli",
    "Categorical",
    "CentralLimit",
    "Density",
    "Empirical",
    "Laplace",
    "LogisticDensity",
    "Mixture",
    "Normal",
    "Uniform",
    "account",
    "best_normal",
    "central_limit",
    "conditional_account",
    "cross_entropy",
    "empirical",
    "entropy",
    "kl_divergence",
    "likelihood",
    "maximum_entropy",
    "negative_log_likelihood",
    "self_information",
]
