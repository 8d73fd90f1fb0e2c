"""H2O's GLM on two local cores. It needs Java, and holds the table in its own memory."""

from __future__ import annotations

import h2o
import numpy as np
from h2o.estimators import H2OGeneralizedLinearEstimator


def fit(path: str, names: list[str], C: float) -> np.ndarray:
    h2o.init(nthreads=2, max_mem_size="6g", bind_to_localhost=True, log_level="FATA", verbose=False)
    h2o.no_progress()
    table = h2o.import_file(path)
    table["y"] = table["y"].asfactor()
    settings = {"family": "binomial", "alpha": 0.0, "lambda_": 1.0 / (C * table.nrow), "standardize": False}
    model = H2OGeneralizedLinearEstimator(**settings, solver="IRLSM", beta_epsilon=1e-9, objective_epsilon=1e-12)
    model.train(names, "y", table)
    found = model.coef()
    return np.array([found["Intercept"], *(found[name] for name in names)])
