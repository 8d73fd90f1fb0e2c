"""A real table of text: the docstrings of NumPy, SciPy and scikit-learn, with the package that each is from."""

import inspect
from functools import cache

import numpy as np
import pandas as pd
import scipy.linalg
import scipy.optimize
import scipy.signal
import scipy.special
import scipy.stats
import sklearn.cluster
import sklearn.datasets
import sklearn.linear_model
import sklearn.metrics
import sklearn.preprocessing

MODULES = {
    "numpy": (np, np.linalg, np.random, np.fft),
    "scipy": (scipy.linalg, scipy.optimize, scipy.signal, scipy.stats, scipy.special),
    "sklearn": (sklearn.cluster, sklearn.datasets, sklearn.linear_model, sklearn.metrics, sklearn.preprocessing),
}


@cache
def docstrings(*packages):
    """A frame of ``doc``, ``name``, ``lines`` and ``package``, one row for each public function or class."""
    rows = {}
    for package in packages or MODULES:
        for module in MODULES[package]:
            for name in dir(module):
                doc = inspect.getdoc(getattr(module, name)) if not name.startswith("_") else None
                if doc and len(doc) > 100 and not inspect.ismodule(getattr(module, name)):
                    rows.setdefault(doc, (doc, name, len(doc.splitlines()), package))
    return pd.DataFrame(list(rows.values()), columns=["doc", "name", "lines", "package"])
