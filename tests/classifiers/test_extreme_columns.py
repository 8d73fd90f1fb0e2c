"""One column of extreme size, or far from zero, among ordinary columns: every classifier stays truthful.

A fit reaches its goal, or names the column and says what to do, or is refused with an error that does. NumPy's warnings
of overflow are no answer, and a status claims no minimum that the bound does not prove.
"""

import warnings

import numpy as np
import pytest

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.errors import InputError
from separatrix.core.base.messages import Message

RNG = np.random.default_rng(0)
ROWS = RNG.standard_normal((100, 3))
LABELS = (ROWS[:, 0] + 0.5 * RNG.standard_normal(100) > 0.4).astype(int)
THREE = np.digitize(ROWS[:, 0] + 0.5 * RNG.standard_normal(100), [-0.6, 0.7])
DRAWN = RNG.standard_normal(100)
EXTREME = {
    "1e12": 1e12 * DRAWN,
    "1e100": 1e100 * DRAWN,
    "1e300": 1e300 * DRAWN,
    "1e-300": 1e-300 * DRAWN,
    "both ends of float64": np.where(DRAWN > 0, 1.79e308, -1.79e308),
    "one entry of 1e100": np.where(np.arange(100) == 5, 1e100, DRAWN),
    "1e15 from zero": 1e15 + DRAWN,
}
MODELS = {
    "linear-svc, hinge": sx.LinearSVC(loss="hinge"),
    "linear-svc, squared": sx.LinearSVC(loss="squared"),
    "logistic, unpenalised": sx.LogisticRegression(C=np.inf),
    "logistic, lasso": sx.LogisticRegression(l1_ratio=1.0),
    "logistic, elastic net": sx.LogisticRegression(l1_ratio=0.5),
    **{name: kind(sx.LinearSVC()) if name.startswith("one-") else kind() for name, kind in CLASSIFIERS.items()},
}


def fitted(model, column, labels):
    """The model fitted to ordinary columns and ``column`` as column 3, without any warning of NumPy."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sx.errors.NotConvergedWarning)
        warnings.simplefilter("ignore", sx.errors.SeparationWarning)
        warnings.simplefilter("error", RuntimeWarning)
        return model.fit(np.column_stack([ROWS, column]), labels)


def names_column_3(message):
    return isinstance(message, Message) and 3 in message.columns


THREE_CLASSES = [(name, size, THREE) for name in ("linear-svc", "logistic, lasso") for size in EXTREME]


@pytest.mark.parametrize(
    ("name", "size", "labels"),
    [*((name, size, LABELS) for name in MODELS for size in EXTREME), *THREE_CLASSES],
)
def test_a_fit_reaches_its_goal_or_names_the_column(name, size, labels):
    refused = None
    try:
        certificate = fitted(MODELS[name], EXTREME[size], labels).certificate_
    except InputError as error:
        refused = error.problem
    if refused is not None:
        assert names_column_3(refused)
        return
    assert np.isfinite(certificate.objective)
    assert certificate.met or certificate.code == "inseparable" or names_column_3(certificate.status)


@pytest.mark.parametrize("size", EXTREME)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_a_support_vector_fit_is_as_good_as_without_the_column(loss, size):
    """The column has no part in the labels, and its weight may be zero, so it cannot raise the minimum."""
    without = sx.LinearSVC(loss=loss).fit(ROWS, LABELS).certificate_
    try:
        with_it = fitted(sx.LinearSVC(loss=loss), EXTREME[size], LABELS).certificate_
    except InputError:
        return
    assert with_it.objective <= without.objective + 1e-5
    assert not with_it.met or with_it.bound <= 1e-8 * with_it.null_objective


def test_a_run_that_max_iter_ends_names_the_column():
    certificate = fitted(sx.LinearSVC(loss="hinge", max_iter=2), EXTREME["1e100"], LABELS).certificate_
    assert certificate.code == "max_iter"
    assert names_column_3(certificate.status)
