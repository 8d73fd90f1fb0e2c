"""Of all densities with the same mean and variance, the normal has the largest entropy (docs/tour.md, I4)."""

from __future__ import annotations

import numpy as np

from separatrix.textbook.information.densities import Laplace, LogisticDensity, Normal, Uniform
from separatrix.textbook.information.density import Density
from separatrix.textbook.information.mixture import Mixture


def maximum_entropy(mean: float = 0.0, variance: float = 1.0) -> dict[str, float]:
    """Return the entropies of several densities of the same mean and variance; the normal has the largest.

    See docs/tour.md, I4.

    Parameters
    ----------
    mean : float, default 0
        The mean of all densities.
    variance : float, default 1
        The variance of all densities.

    Returns
    -------
    dict of str to float
        The entropy of each density, in nats.

    Examples
    --------
    >>> from separatrix.textbook.information import maximum_entropy
    >>> found = maximum_entropy()
    >>> max(found, key=found.get), {name: round(h, 3) for name, h in found.items()}
    ('normal', {'normal': 1.419, 'logistic': 1.405, 'Laplace': 1.347, 'uniform': 1.242, 'two peaks': 1.247})
    """
    apart = float(np.sqrt(0.8 * variance))
    peaks = Mixture((0.5, 0.5), (Normal(mean - apart, 0.2 * variance), Normal(mean + apart, 0.2 * variance)))
    densities: dict[str, Density] = {
        "normal": Normal(mean, variance),
        "logistic": LogisticDensity.of(mean, variance),
        "Laplace": Laplace.of(mean, variance),
        "uniform": Uniform.of(mean, variance),
        "two peaks": peaks,
    }
    return {name: float(density.entropy_nats()) for name, density in densities.items()}
