r"""One fit, asked for in other packages: the penalty's strength in each one's own terms.

    separatrix     C Σ_i s_i ℓ_i + Σ_j (α |w_j| + ½ (1 − α) w_j²),    α = l1_ratio, the intercept left alone
    sklearn        the same: C, l1_ratio
    glmnet         (1/S) Σ_i s_i ℓ_i + λ Σ_j (α |w_j| + ½ (1 − α) w_j²),    S = Σ_i s_i:    λ = 1/(C S), alpha = α
    statsmodels    (1/n) Σ_i s_i ℓ_i + a Σ_j (α |w_j| + ½ (1 − α) w_j²),    n rows:    a = 1/(C n), L1_wt = α
    liblinear      C Σ_i s_i ℓ_i + ½ ‖w‖² or ‖w‖₁, with -R so that the bias is left alone

glmnet's is that of Friedman, Hastie and Tibshirani, Journal of Statistical Software 33(1), 2010; it standardises
columns unless told not to. LIBLINEAR's are those of Fan et al., Journal of Machine Learning Research 9, 2008.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from separatrix.errors import ParameterError


@dataclass(frozen=True)
class Translation:
    """A package's settings and a line of its code; ``code`` is None where it has no such fit, and ``note`` says why.

    >>> as_settings(2.0, 0.0, n_rows=100)["statsmodels"].values
    {'alpha': 0.005, 'L1_wt': 0.0}
    """

    package: str
    values: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    note: str = ""


@dataclass(frozen=True)
class Fit:
    """What is fitted: the penalty, the rows, the total of their weights, how many classes, with an intercept or not."""

    C: float
    l1_ratio: float
    n_rows: int
    total_weight: float
    n_classes: int
    fit_intercept: bool

    def strength(self, of: float) -> float:
        """1/(C · of), 0 without a penalty."""
        return 0.0 if math.isinf(self.C) else 1.0 / (self.C * of)


def as_settings(
    C: float,
    l1_ratio: float,
    n_rows: int,
    total_weight: float | None = None,
    n_classes: int = 2,
    fit_intercept: bool = True,
) -> dict[str, Translation]:
    """The same fit in every package of ``PACKAGES``, by its name.

    ``total_weight``: of all rows, with class weights; None: every row counts once.

    >>> found = as_settings(2.0, 0.5, n_rows=100)
    >>> found["glmnet"].values
    {'lambda': 0.005, 'alpha': 0.5}
    >>> print(found["glmnet"].code)
    glmnet(X, y, family = "binomial", lambda = 0.005, alpha = 0.5, standardize = FALSE, thresh = 1e-14)
    >>> found["liblinear"].code is None, found["liblinear"].note
    (True, 'it has the ridge and the lasso, and nothing between them')
    """
    if not C > 0:
        raise ParameterError("C", f"got {C!r}", "give a positive number, or infinity")
    if not 0 <= l1_ratio <= 1:
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}", "give a number from 0 to 1")
    if n_rows < 1:
        raise ParameterError("n_rows", f"got {n_rows!r}", "give the number of rows of the fit")
    total = float(n_rows) if total_weight is None else float(total_weight)
    if not 0 < total < math.inf:
        raise ParameterError("total_weight", f"got {total_weight!r}", "give the sum of the rows' weights")
    fit = Fit(float(C), float(l1_ratio), n_rows, total, n_classes, fit_intercept)
    return {name: translate(fit) for name, translate in PACKAGES.items()}


def _sklearn(fit: Fit) -> Translation:
    values = {"C": fit.C, "l1_ratio": fit.l1_ratio}
    C = "np.inf" if math.isinf(fit.C) else repr(fit.C)
    solver = "saga" if fit.l1_ratio and not math.isinf(fit.C) else "newton-cholesky"
    code = (
        f'LogisticRegression(C={C}, l1_ratio={fit.l1_ratio!r}, fit_intercept={fit.fit_intercept}, solver="{solver}", '
        "tol=1e-10, max_iter=100000).fit(X, y)"
    )
    note = "saga converges slowly unless columns are of one scale" if solver == "saga" else ""
    return Translation("sklearn", values, code, note)


def _glmnet(fit: Fit) -> Translation:
    values = {"lambda": fit.strength(fit.total_weight), "alpha": fit.l1_ratio}
    family = "binomial" if fit.n_classes == 2 else "multinomial"
    bare = "" if fit.fit_intercept else ", intercept = FALSE"
    code = (
        f'glmnet(X, y, family = "{family}", lambda = {values["lambda"]!r}, alpha = {fit.l1_ratio!r}, '
        f"standardize = FALSE, thresh = 1e-14{bare})"
    )
    return Translation("glmnet", values, code)


def _statsmodels(fit: Fit) -> Translation:
    if fit.n_classes > 2:
        return Translation("statsmodels", note="its multinomial model has a reference class, which the penalty favours")
    values = {"alpha": fit.strength(fit.n_rows), "L1_wt": fit.l1_ratio}
    # One strength a column: none for the constant that stands for the intercept.
    design = "sm.add_constant(X)" if fit.fit_intercept else "X"
    alpha = f"np.r_[0.0, np.full(X.shape[1], {values['alpha']!r})]" if fit.fit_intercept else repr(values["alpha"])
    model = f"sm.GLM(y, {design}, sm.families.Binomial())"
    if not values["alpha"]:
        return Translation("statsmodels", values, f"{model}.fit(tol=1e-12)")
    end = ", maxiter=10000" if fit.l1_ratio else ""
    code = f'{model}.fit_regularized("elastic_net", alpha={alpha}, L1_wt={fit.l1_ratio!r}{end})'
    return Translation("statsmodels", values, code)


def _liblinear(fit: Fit) -> Translation:
    if fit.n_classes > 2:
        return Translation(
            "liblinear", note="its logistic regression of several classes is one versus rest, not softmax"
        )
    if math.isinf(fit.C):
        return Translation("liblinear", note="it always has a penalty")
    if fit.l1_ratio not in SOLVERS:
        return Translation("liblinear", note="it has the ridge and the lasso, and nothing between them")
    values = {"-s": SOLVERS[fit.l1_ratio], "-c": fit.C}
    bias = " -B 1 -R" if fit.fit_intercept else ""
    code = f"train -s {values['-s']} -c {fit.C!r} -e 1e-8{bias} rows.libsvm model"
    return Translation("liblinear", values, code, "-R needs version 2.40 or later" if bias else "")


# LIBLINEAR's numbers of logistic regression, by l1_ratio.
SOLVERS = {0.0: 0, 1.0: 6}
PACKAGES: dict[str, Callable[[Fit], Translation]] = {
    "sklearn": _sklearn,
    "glmnet": _glmnet,
    "statsmodels": _statsmodels,
    "liblinear": _liblinear,
}
