r"""The settings of other packages for the same fit: each measures the strength of the penalty in its own way.

    separatrix     C Σ_i s_i ℓ_i + Σ_j f_j (α |w_j| + ½ (1 − α) w_j²),    α = l1_ratio, intercept unpenalised
    sklearn        the same with all f_j = 1: C, l1_ratio
    glmnet         (1/S) Σ_i s_i ℓ_i + λ Σ_j f_j d/F (α |w_j| + ½ (1 − α) w_j²),    S = Σ_i s_i, F = Σ_j f_j, d columns:
                   λ = F/(d C S), alpha = α, penalty.factor = f
    statsmodels    GLM: (1/n) Σ_i s_i ℓ_i + Σ_j a_j (α |w_j| + ½ (1 − α) w_j²),    n rows:    a_j = f_j/(C n), L1_wt = α
                   Logit: Σ_i ℓ_i + Σ_j a_j |w_j|:    a_j = f_j/C
    liblinear      C Σ_i s_i ℓ_i + ½ ‖w‖² or ‖w‖₁, with -R so that the bias is not penalised

A row's weight s_i is its class's factor. glmnet's problem is that of Friedman, Hastie and Tibshirani, Journal of
Statistical Software 33(1), 2010; it standardises columns by default. LIBLINEAR's are those of Fan et al.,
Journal of Machine Learning Research 9, 2008.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from separatrix.core.base.errors import ParameterError


@dataclass(frozen=True)
class Translation:
    """The settings of a package and a line of code.

    If the package has no equivalent fit, ``code`` is None and ``note`` says why.

    >>> as_settings(2.0, 0.0, n_rows=100)["statsmodels"].values
    {'alpha': 0.005, 'L1_wt': 0.0}
    """

    package: str
    values: dict[str, Any] = field(default_factory=dict)
    code: str | None = None
    note: str = ""


@dataclass(frozen=True)
class FittedProblem:
    """The fit: its penalty, the rows and their weights, the classes, and whether there is an intercept.

    ``classes`` are the labels, empty if they do not matter. ``by_class`` are the weights of the classes and ``factors``
    those of the columns' penalties, empty if all are 1. ``total_weight`` is None if it is not known.
    """

    C: float
    l1_ratio: float
    n_rows: int
    total_weight: float | None
    n_classes: int
    fit_intercept: bool
    classes: tuple[Any, ...] = ()
    by_class: tuple[float, ...] = ()
    factors: tuple[float, ...] = ()

    def strength(self, of: float) -> float:
        """1/(C · of), 0 without a penalty."""
        return 0.0 if math.isinf(self.C) else 1.0 / (self.C * of)

    def weights_as(self, argument: str) -> str:
        """A note if rows have weights of their own, which do not fit into a line of code."""
        own = not self.by_class and self.total_weight != self.n_rows
        return f"the rows' weights go into {argument}" if own else ""


def as_settings(
    C: float,
    l1_ratio: float,
    n_rows: int,
    total_weight: float | None = None,
    n_classes: int = 2,
    fit_intercept: bool = True,
    classes: Sequence[Any] = (),
    class_weight: Mapping[Any, float] | None = None,
    penalty_factors: Sequence[float] | None = None,
) -> dict[str, Translation]:
    """The settings of the same fit in scikit-learn, glmnet, statsmodels and LIBLINEAR.

    Parameters
    ----------
    C : float
        The inverse strength of the penalty; infinity for none.
    l1_ratio : float
        The share of the L1 norm in the penalty, from 0 to 1.
    n_rows : int
        The number of rows of the fit.
    total_weight : float, optional
        The sum of the rows' weights, class weights included. By default every row counts once, or by its class weight.
    n_classes : int, default 2
        The number of classes, if ``classes`` is not given.
    fit_intercept : bool, default True
        Whether the model has an intercept.
    classes : sequence of labels, default ()
        The labels, in their order.
    class_weight : dict, optional
        The weights of the classes, by label; 1 for the others.
    penalty_factors : sequence of float, optional
        The factors of the columns' penalties, by default all 1.

    Returns
    -------
    dict of str to Translation
        The settings by the name of the package.

    Raises
    ------
    ParameterError
        An argument is out of range.

    Examples
    --------
    >>> found = as_settings(2.0, 0.5, n_rows=100)
    >>> found["glmnet"].values
    {'lambda': 0.005, 'alpha': 0.5}
    >>> print(found["glmnet"].code)
    glmnet(X, y, family = "binomial", lambda = 0.005, alpha = 0.5, standardize = FALSE, thresh = 1e-14)
    >>> found["liblinear"].code is None, found["liblinear"].note
    (True, 'it has the ridge and the lasso, and nothing between them')
    >>> print(as_settings(2.0, 0.0, 100, classes=["no", "yes"], class_weight={"yes": 3.0})["liblinear"].code)
    train -s 0 -c 2.0 -e 1e-8 -B 1 -R -w-1 1.0 -w1 3.0 rows.libsvm model
    """
    if not C > 0:
        raise ParameterError("C", f"got {C!r}", "give a positive number, or infinity")
    if not 0 <= l1_ratio <= 1:
        raise ParameterError("l1_ratio", f"got {l1_ratio!r}", "give a number from 0 to 1")
    if n_rows < 1:
        raise ParameterError("n_rows", f"got {n_rows!r}", "give the number of rows of the fit")
    if total_weight is not None and not 0 < float(total_weight) < math.inf:
        raise ParameterError("total_weight", f"got {total_weight!r}", "give the sum of the rows' weights")
    by_class = _by_class(classes, class_weight)
    C, factors = _of_columns(float(C), penalty_factors)
    if total_weight is None and not by_class:
        total_weight = n_rows
    fit = FittedProblem(
        C,
        float(l1_ratio),
        n_rows,
        None if total_weight is None else float(total_weight),
        len(classes) or n_classes,
        fit_intercept,
        tuple(classes),
        by_class,
        factors,
    )
    return {name: translate(fit) for name, translate in PACKAGES.items()}


def _of_columns(C: float, penalty_factors: Sequence[float] | None) -> tuple[float, tuple[float, ...]]:
    """C, and the factors of the columns' penalties; no factors if all are 1 or there is no penalty."""
    factors = tuple(map(float, () if penalty_factors is None else penalty_factors))
    if not all(0 <= factor < math.inf for factor in factors):
        raise ParameterError("penalty_factors", f"got {penalty_factors!r}", "give finite numbers that are not negative")
    if factors and not any(factors):  # then there is no penalty
        C = math.inf
    return C, () if math.isinf(C) or set(factors) == {1.0} else factors


def _by_class(classes: Sequence[Any], class_weight: Mapping[Any, float] | None) -> tuple[float, ...]:
    """The weight of each class; empty if all are 1."""
    given = class_weight or {}
    unknown = [label for label in given if label not in list(classes)]
    if isinstance(given, str) or unknown:
        problem = f"got {given!r}" if isinstance(given, str) else f"it names {unknown[0]!r}"
        raise ParameterError("class_weight", problem, "give a factor for each label, and all labels as classes")
    found = tuple(float(given.get(label, 1.0)) for label in classes)
    return () if set(found) <= {1.0} else found


def _notes(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _sklearn(fit: FittedProblem) -> Translation:
    if fit.factors:
        return Translation("sklearn", note="its penalty has one strength for all columns")
    values: dict[str, Any] = {"C": fit.C, "l1_ratio": fit.l1_ratio}
    C = "np.inf" if math.isinf(fit.C) else repr(fit.C)
    solver = "saga" if fit.l1_ratio and not math.isinf(fit.C) else "newton-cholesky"
    weighted = ""
    if fit.by_class:
        values["class_weight"] = dict(zip(fit.classes, fit.by_class, strict=True))
        weighted = f"class_weight={values['class_weight']!r}, "
    code = (
        f"LogisticRegression(C={C}, l1_ratio={fit.l1_ratio!r}, fit_intercept={fit.fit_intercept}, {weighted}"
        f'solver="{solver}", tol=1e-10, max_iter=100000).fit(X, y)'
    )
    note = "saga converges slowly unless columns are of one scale" if solver == "saga" else ""
    return Translation("sklearn", values, code, _notes(note, fit.weights_as("fit's sample_weight")))


def _glmnet(fit: FittedProblem) -> Translation:
    values: dict[str, Any] = {"alpha": fit.l1_ratio}
    # glmnet scales the factors to a mean of 1.
    mean = sum(fit.factors) / len(fit.factors) if fit.factors else 1.0
    if fit.total_weight is not None:
        values = {"lambda": mean * fit.strength(fit.total_weight), **values}
    family = "binomial" if fit.n_classes == 2 else "multinomial"
    strength = f"{mean * fit.strength(1.0)!r} / sum(s)" if fit.by_class else repr(values["lambda"])
    ends = [f"penalty.factor = c({', '.join(map(repr, fit.factors))})"] if fit.factors else []
    ends += ["weights = s"] if fit.by_class else []
    ends += [] if fit.fit_intercept else ["intercept = FALSE"]
    code = (
        f'{_r_weights(fit)}glmnet(X, y, family = "{family}", lambda = {strength}, '
        f"alpha = {fit.l1_ratio!r}, standardize = FALSE, thresh = 1e-14{''.join(f', {end}' for end in ends)})"
    )
    return Translation("glmnet", values, code, fit.weights_as("weights"))


def _r_weights(fit: FittedProblem) -> str:
    """The command of R that gives each row the weight of its class, if the classes have weights."""
    if not fit.by_class:
        return ""
    pairs = zip(map(_r_text, fit.classes), fit.by_class, strict=True)
    named = ", ".join(f"{label} = {factor!r}" for label, factor in pairs)
    return f"s <- unname(c({named})[as.character(y)]); "


def _r_text(label: Any) -> str:
    """A label as R's as.character spells it, in quotes."""
    if isinstance(label, bool):
        return json.dumps(str(label).upper())
    return json.dumps(f"{label:.15g}" if isinstance(label, float) else str(label), ensure_ascii=False)


def _statsmodels(fit: FittedProblem) -> Translation:
    if fit.n_classes > 2:
        return Translation("statsmodels", note="its multinomial model has a reference class, which the penalty favours")
    # With an L1 penalty, the GLM never updates a column again once its weight is zero, and still reports convergence.
    # Logit does update it, but takes no sample weights. With weights, the GLM is restarted from its last result.
    lasso = fit.l1_ratio == 1 and not math.isinf(fit.C) and fit.total_weight == fit.n_rows
    alpha = fit.strength(1.0 if lasso else fit.n_rows)
    values: dict[str, Any] = {"alpha": alpha} if lasso else {"alpha": alpha, "L1_wt": fit.l1_ratio}
    design = "sm.add_constant(X)" if fit.fit_intercept else "X"
    weights = f", freq_weights=np.where(y == 1, {fit.by_class[1]!r}, {fit.by_class[0]!r})" if fit.by_class else ""
    model = f"sm.GLM(y, {design}, sm.families.Binomial(){weights})"
    coded = tuple(fit.classes) in ((), (0, 1))
    said = "" if coded else f"y is 1 for {fit.classes[1]!r} and 0 for {fit.classes[0]!r}"
    code, note = _statsmodels_call(fit, alpha, design, model, lasso)
    return Translation("statsmodels", values, code, _notes(said, fit.weights_as("freq_weights"), note))


def _statsmodels_call(fit: FittedProblem, alpha: float, design: str, model: str, lasso: bool) -> tuple[str, str]:
    """The code that fits, and a note on it. ``design``: the matrix; ``model``: the GLM; ``lasso``: use Logit."""
    if not alpha:
        return f"{model}.fit(tol=1e-12)", ""
    strengths = _strengths(fit, alpha)
    if lasso:
        asked = f'method="l1", alpha={strengths}, acc=1e-12, maxiter=10000, disp=0'
        return f"sm.Logit(y, {design}).fit_regularized({asked})", ""
    if not fit.l1_ratio:
        return f'{model}.fit_regularized("elastic_net", alpha={strengths}, L1_wt=0.0)', ""
    again = f"alpha={strengths}, L1_wt={fit.l1_ratio!r}, start_params=w, maxiter=1000"
    code = (
        f'functools.reduce(lambda w, _: {model}.fit_regularized("elastic_net", {again}).params, '
        f"range({RESTARTS}), None)"
    )
    return (
        code,
        "the line gives the coefficients: it starts the fit again where it stopped, as columns once at zero stay so",
    )


def _strengths(fit: FittedProblem, alpha: float) -> str:
    """The strength of each column's penalty: 0 for the column of ones, whose weight is the intercept."""
    each = f"np.full(X.shape[1], {alpha!r})"
    if fit.factors:
        each = f"np.array({[alpha * factor for factor in fit.factors]!r})"
    return f"np.r_[0.0, {each}]" if fit.fit_intercept else each


def _liblinear_lacks(fit: FittedProblem) -> str:
    """What LIBLINEAR lacks for this fit; empty if nothing."""
    if fit.n_classes > 2:
        return "its logistic regression of several classes is one versus rest, not softmax"
    if math.isinf(fit.C):
        return "it always has a penalty"
    if fit.l1_ratio not in SOLVERS:
        return "it has the ridge and the lasso, and nothing between them"
    return "its penalty has one strength for all columns" if fit.factors else ""


def _liblinear(fit: FittedProblem) -> Translation:
    if lacking := _liblinear_lacks(fit):
        return Translation("liblinear", note=lacking)
    values: dict[str, Any] = {"-s": SOLVERS[fit.l1_ratio], "-c": fit.C}
    # LIBLINEAR reads the labels of -wi as whole numbers.
    whole = all(type(label) is int for label in fit.classes)
    labels = fit.classes if whole else (-1, 1)
    values |= {f"-w{label}": factor for label, factor in zip(labels, fit.by_class, strict=False)}
    options = " ".join(f"{option} {value!r}" for option, value in values.items() if option.startswith("-w"))
    bias = " -B 1 -R" if fit.fit_intercept else ""
    code = f"train -s {values['-s']} -c {fit.C!r} -e 1e-8{bias}{options and ' ' + options} rows.libsvm model"
    said = "" if whole else f"the labels of its file are 1 for {fit.classes[1]!r} and -1 for {fit.classes[0]!r}"
    newer = "-R needs version 2.40 or later" if bias else ""
    return Translation("liblinear", values, code, _notes(said, newer, fit.weights_as("-W of its edition for weights")))


# The number of LIBLINEAR's solver for logistic regression, by l1_ratio.
SOLVERS = {0.0: 0, 1.0: 6}
# Number of restarts of statsmodels' elastic net. Five restarts gave nine correct digits on the tables that were tried.
RESTARTS = 20
PACKAGES: dict[str, Callable[[FittedProblem], Translation]] = {
    "sklearn": _sklearn,
    "glmnet": _glmnet,
    "statsmodels": _statsmodels,
    "liblinear": _liblinear,
}
