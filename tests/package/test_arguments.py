"""No classifier changes what it is given: rows of every kind, labels, weights, offsets, starts, settings."""

import warnings
from functools import cache

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core import objective_sums
from separatrix.core.losses import LOSSES
from separatrix.core.rows import column_statistics, sampling
from separatrix.core.solvers import LBFGS, Diagonal, Sample
from separatrix.core.solvers.registry import SOLVERS
from tests.unchanged import KINDS, SPARSE, rows_as, unchanged, values_as


def _rows(seed):
    """Whole numbers, so that every type holds them; a third of them zero."""
    rng = np.random.default_rng(seed)
    return rng.integers(-8, 9, (48, 3)) * (rng.random((48, 3)) < 0.7) * 1.0, rng


def _data():
    X, rng = _rows(1)
    z = X @ [1.0, -2.0, 0.5] + 1
    apart = np.abs(z) >= 4
    overlapping = (z + 6 * rng.logistic(size=48) > 0).astype(int)
    three = np.digitize(z + 3 * rng.logistic(size=48), [-5.0, 5.0])
    return {"overlapping": (X, overlapping), "separable": (X[apart], (z > 0).astype(int)[apart]), "three": (X, three)}


DATA = _data()
LOGISTIC = sx.LogisticRegression
# Every classifier by its defaults, and what else the logistic family has.
MODELS = {name: (make, "three" if "one-versus" in name else "separable") for name, make in CLASSIFIERS.items()}
MODELS |= {name: (CLASSIFIERS[name], "overlapping") for name in ("logistic", "perceptron", "least-squares", "lda")}
CHOSEN = {name: name for name in SOLVERS} | {kind.name: LBFGS(kind()) for kind in (Diagonal, Sample)}
MODELS |= {f"solver {name}": (lambda one=one: LOGISTIC(solver=one), "overlapping") for name, one in CHOSEN.items()}
MODELS |= {
    f"loss {name}": (lambda name=name: LOGISTIC(loss=name, max_iter=50), "overlapping")
    for name, loss in LOSSES.items()
    if loss.traits.proper and not loss.traits.multiclass
}
MODELS |= {
    "softmax": (LOGISTIC, "three"),
    "maximum likelihood": (lambda: LOGISTIC(np.inf), "overlapping"),
    "maximum likelihood, separated": (lambda: LOGISTIC(np.inf), "separable"),
    "maximum likelihood, L-BFGS": (lambda: LOGISTIC(np.inf, solver="lbfgs"), "overlapping"),
    "absolute values": (lambda: LOGISTIC(l1_ratio=1.0), "overlapping"),
    "C chosen": (lambda: LOGISTIC("auto"), "overlapping"),
    "C chosen, absolute values": (lambda: LOGISTIC("auto", l1_ratio=1.0), "overlapping"),
    "Firth": (lambda: LOGISTIC(np.inf, bias_reduction="firth"), "overlapping"),
    "means": (lambda: sx.FisherDiscriminant("means"), "overlapping"),
    "pocket": (lambda: sx.Perceptron(pocket=True, shuffle=True, max_iter=20), "overlapping"),
    "worst mistake": (lambda: sx.Perceptron(update="worst"), "separable"),
    "batch": (lambda: sx.Perceptron(update="batch"), "separable"),
}
# Settings of one classifier differ in what they do with the rows, and not in how these come in.
FEW = ("CSR, unsorted", "CSR, repeated entries", "CSR, read-only", "read-only", "strided", "float32")
# In every run, three classifiers that read rows in different ways have rows of all kinds, and the others these.
USUAL = (*FEW, "pandas", "polars", "memory-mapped")
ALL_KINDS = ("logistic", "perceptron", "lda")
CASES = [(name, kind) for name in MODELS for kind in (KINDS if name in CLASSIFIERS else FEW)]
MARKED = [
    pytest.param(name, kind, marks=() if kind in USUAL or name in ALL_KINDS else pytest.mark.slow, id=f"{name}-{kind}")
    for name, kind in CASES
]


def _called(model, X, y, weight):
    """Everything that a classifier is asked; answers to it."""
    takes_weight = {"sample_weight": weight} if "sample_weight" in model.fit.__code__.co_varnames else {}
    unchanged(model.fit, X, y, **takes_weight)
    asked = ("decision_function", "predict", "predict_proba", "predict_log_proba", "transform")
    answers = {name: unchanged(getattr(model, name), X) for name in asked if hasattr(model, name)}
    unchanged(model.score, X, y)
    assert unchanged(model.certificate_.verify, X, y, **takes_weight).holds
    return answers | {"coef_": model.coef_} if hasattr(model, "coef_") else answers


def _answers(name, kind, folder):
    make, data = MODELS[name]
    X, y = DATA[data]
    weight = 1.0 + np.arange(len(y)) % 3
    return _called(make(), rows_as(kind, X, folder), values_as(kind, y), values_as(kind, weight))


@cache
def _plain_answers(name, kind):
    return _answers(name, kind, None)


def _close(a, b):
    """Within what the fits' own tolerance, 1e-8 of the null model's objective, leaves to the scores."""
    if a.dtype.kind not in "fc":
        return np.array_equal(a, b)
    return np.allclose(a, b, rtol=1e-3, atol=1e-3 * np.max(np.abs(b[np.isfinite(b)]), initial=0.0))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(("name", "kind"), MARKED)
def test_a_classifier_changes_nothing_and_answers_as_for_plain_rows(name, kind, tmp_path):
    answers = _answers(name, kind, tmp_path)
    plain = _plain_answers(name, "CSR" if kind in SPARSE else "dense")
    same_bits = {"coef_"} if kind in SPARSE and "float32" not in kind else set()  # scores sum in the order of entries
    for asked, answer in answers.items():
        assert np.array_equal(answer, plain[asked]) if asked in same_bits else _close(answer, plain[asked]), asked


@pytest.mark.parametrize("kind", KINDS)
def test_other_arguments_of_fits(kind, tmp_path):
    X, y = DATA["overlapping"]
    rows, labels = rows_as(kind, X, tmp_path), values_as(kind, y)
    offset, start = values_as(kind, X[:, 0] / 4), np.full((1, 4), 0.1)
    factors, by_class = values_as(kind, [1.0, 2.0, 0.5]), {0: 1.0, 1: 2.0}
    start.flags.writeable = False
    model = unchanged(LOGISTIC, penalty_factors=factors, class_weight=by_class, start=start)
    settings = model.get_params()
    unchanged(model.fit, rows, labels, offset=offset)
    unchanged(model.decision_function, rows, offset=offset)
    unchanged(model.certificate_.verify, rows, labels, offset=offset)
    assert all(model.get_params()[name] is value for name, value in settings.items())
    walking = sx.Perceptron()
    for _ in range(2):
        unchanged(walking.partial_fit, rows, labels, classes=np.array([0, 1]))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", ["read-only", "memory-mapped", "CSR, read-only", "CSR, unsorted and read-only"])
def test_compiled_loops_take_rows_that_cannot_be_written(kind, tmp_path, monkeypatch):
    """Rows of a size at which passes are compiled; here that is any size."""
    for module, name in (
        (column_statistics, "FEWEST_ENTRIES_TO_COMPILE_SUMS"),
        (sampling, "FEWEST_ENTRIES_TO_COMPILE_SEARCH"),
    ):
        monkeypatch.setattr(module, name, 0)
    monkeypatch.setattr(objective_sums, "FEWEST_DENSE_ENTRIES_TO_COMPILE", 0)
    names = ("logistic", "solver diagonal", "solver sample", "maximum likelihood", "Firth", "pocket", "lda")
    for name in names:
        _answers(name, kind, tmp_path)


def test_indices_in_descending_order_stay_so():
    """SciPy sorts such indices in place where it takes absolute values."""
    X = csr_array((100.0 * np.array([1, 5, 2, 7, 3, 8, 4, 9]), [1, 0] * 4, [0, 2, 4, 6, 8]))
    y = [0, 0, 1, 1]
    for model in (LOGISTIC(np.inf), LOGISTIC(solver="lbfgs"), LOGISTIC(loss="probit"), LOGISTIC(loss="cloglog")):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            unchanged(model.fit, X, y)
    assert X.indices.tolist() == [1, 0] * 4
