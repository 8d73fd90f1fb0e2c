"""No public function changes what it is given; a new public name without an entry here fails."""

import contextlib
import inspect

import dask.array as da
import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix import decision, firth, information, losses, plots
from separatrix.classifiers import CLASSIFIERS
from separatrix.statistics import influence, view_plane
from tests.package.test_arguments import DATA
from tests.unchanged import DENSE, KINDS, rows_as, unchanged, values_as

mpl.use("Agg")


class Given:
    """Rows of one kind with labels, and models fitted to them."""

    def __init__(self, kind, folder):
        self.kind, self.folder = kind, folder

    def rows(self, data="overlapping"):
        return rows_as(self.kind, DATA[data][0], self.folder)

    def labels(self, data="overlapping"):
        return self.values(DATA[data][1])

    def both(self, data="overlapping"):
        return self.rows(data), self.labels(data)

    def values(self, values):
        return values_as(self.kind, values)

    def model(self, data="overlapping", **settings):
        model = sx.LogisticRegression(**{"C": np.inf, **settings}).fit(*self.both(data))
        assert model.coef_.size  # kept in the model once it has been asked for
        assert model.intercept_.size
        return model


def _profile(given):
    model = sx.LogisticRegression(C=np.inf, bias_reduction="firth").fit(*given.both())
    unchanged(firth.profile, model, *given.both(), 1)


def _hyperplane(given):
    plane = unchanged(sx.Hyperplane, given.values([1.0, 2.0, -1.0]), 0.5)
    X, t = np.asarray(given.rows()), given.values(np.where(DATA["overlapping"][1] > 0, 1.0, -1.0))
    for name in ("score", "side", "distance", "project"):
        unchanged(getattr(plane, name), given.rows())
    unchanged(plane.margin, given.rows(), t)
    unchanged(sx.Hyperplane.through, rows_as(given.kind, X[:3] + np.eye(3), given.folder), positive=X[0] + 9)


def _basis(given, basis):
    unchanged(basis.fit, given.rows())
    unchanged(basis.transform, given.rows())


def _summaries(given):
    model, X, y = given.model(), *given.both()
    weight = given.values(1.0 + np.arange(len(DATA["overlapping"][1])) % 2)
    unchanged(sx.summary, model, X, y, level=0.9)
    for intervals in ("profile", "wald"):
        unchanged(sx.summary, model, X, y, intervals=intervals)
    weighted = sx.LogisticRegression(C=np.inf).fit(X, y, sample_weight=weight)
    large = unchanged(sx.summary, weighted, X, y, sample_weight=weight, weights="frequency")
    small_rows = rows_as(given.kind, DATA["overlapping"][0][:, :2].copy(), given.folder)
    small = sx.LogisticRegression(C=np.inf).fit(small_rows, y, sample_weight=weight)
    unchanged(
        sx.likelihood_ratio_test, sx.summary(small, small_rows, y, sample_weight=weight, weights="frequency"), large
    )


def _schemes(given):
    unchanged(sx.compare_schemes, given.values([10, 20, 30]))


def _objective(given):
    weight = given.values(1.0 + np.arange(len(DATA["overlapping"][1])) % 2)
    E = unchanged(sx.objective, *given.both(), C=2.0, sample_weight=weight)
    for method in (E.value, E.gradient, E.hessian):
        unchanged(method, np.zeros(E.shape))


# What takes rows of any kind.
WITH_ROWS = {
    "Certificate": lambda g: unchanged(g.model().certificate_.verify, *g.both()),
    "Scorer": lambda g: unchanged(g.model().scorer_.predict, rows_as("dense", DATA["overlapping"][0], None)),
    "check": lambda g: unchanged(sx.check, *g.both()),
    "compare": lambda g: unchanged(sx.compare, *g.both(), cv=2, only=["logistic", "lda", "perceptron"]),
    "cosines": lambda g: list(unchanged(sx.cosines, *g.both("separable"))),
    "evaluate": lambda g: unchanged(sx.evaluate, g.model(), *g.both()),
    "likelihood_ratio_test": _summaries,
    "novikoff_bound": lambda g: unchanged(
        sx.novikoff_bound, *g.both("separable"), start=g.values([0.0, 1.0, 0.0, 0.0])
    ),
    "ObjectiveAt": _objective,
    "objective": _objective,
    "penalty_path": lambda g: unchanged(sx.penalty_path, *g.both(), Cs=g.values([1.0, 0.1]), sample_weight=None),
    "PenaltyPath": lambda g: unchanged(sx.penalty_path, *g.both(), n_values=2).model(0),
    "reliability": lambda g: unchanged(sx.reliability, g.model(), *g.both()),
    "report": lambda g: unchanged(sx.report, g.model(), *g.both()),
    "separability": lambda g: [
        unchanged(unchanged(sx.separability, *g.both(data)).verify, *g.both(data)) for data in DATA
    ],
    "steps": lambda g: unchanged(sx.steps, sx.Perceptron(), *g.both("separable"))[-1],
    "summary": _summaries,
    "firth.profile": _profile,
    "plots.CalibrationDisplay": lambda g: unchanged(plots.CalibrationDisplay.from_estimator, g.model(), *g.both()),
    "plots.CoefficientDisplay": lambda g: unchanged(plots.CoefficientDisplay.from_estimator, g.model(), *g.both()),
    "plots.ConfusionDisplay": lambda g: [
        unchanged(plots.ConfusionDisplay.from_estimator, g.model(), *g.both()),
        unchanged(plots.ConfusionDisplay.from_predictions, g.labels(), g.labels()),
    ],
    "plots.DecisionRegionsDisplay": lambda g: unchanged(
        plots.DecisionRegionsDisplay.from_estimator, g.model(), *g.both()
    ),
    "plots.DistributionDisplay": lambda g: unchanged(plots.DistributionDisplay.from_estimator, g.model(), *g.both()),
    "plots.ThresholdDisplay": lambda g: unchanged(plots.ThresholdDisplay.from_estimator, g.model(), *g.both()),
    "plots.InfluenceDisplay": lambda g: unchanged(plots.InfluenceDisplay.from_estimator, g.model(), *g.both()),
    "plots.LossDisplay": lambda g: unchanged(plots.LossDisplay.from_estimator, g.model(), *g.both()),
    "plots.PenaltyPathDisplay": lambda g: unchanged(plots.PenaltyPathDisplay.from_estimator, g.model(C="auto")),
    "plots.PrecisionRecallDisplay": lambda g: unchanged(
        plots.PrecisionRecallDisplay.from_estimator, g.model(), *g.both()
    ),
    "plots.RocDisplay": lambda g: unchanged(plots.RocDisplay.from_estimator, g.model(), *g.both()),
    "diagnostics.influential": lambda g: unchanged(influence.influential, g.model(), *g.both()),
    "diagnostics.plane_of": lambda g: unchanged(view_plane.plane_of, g.model(), *g.both()),
}

P = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
VALUES = np.array([1.0, 0.0, 1.0, 1.0])


def _losses(given):
    for loss in losses.LOSSES.values():
        K = 3 if loss.traits.multiclass else None
        t = given.values([0, 2, 1]) if K else given.values([1.0, -1.0, 1.0])
        z = rows_as(given.kind, np.array([[1.0, 2.0, -1.0]] * 3), given.folder) if K else given.values([0.5, 2.0, -1.0])
        z = z if isinstance(z, np.ndarray) else np.array(z, dtype=float)
        unchanged(loss.value, t, z)
        with contextlib.suppress(NotImplementedError):
            unchanged(loss.derivative, t, z)
            unchanged(loss.curvature_product, t, z, z)
    for function in (losses.sigmoid, losses.logit, losses.softmax):
        unchanged(function, given.values([0.2, 0.3, 0.5]))


def _information(given):
    p, q = given.values([0.25, 0.75]), given.values([0.5, 0.5])
    for function in (information.entropy, information.self_information):
        unchanged(function, p)
    for function in (information.cross_entropy, information.kl_divergence):
        unchanged(function, p, q)
    unchanged(information.empirical, given.values(VALUES))
    unchanged(information.Categorical, p)
    for function in (information.likelihood, information.negative_log_likelihood):
        unchanged(function, information.Bernoulli(0.3), given.values(VALUES))
    unchanged(information.account, given.values(VALUES), p)
    unchanged(information.conditional_account, given.rows(), given.labels(), _probabilities(given))
    mixture = unchanged(information.Mixture, [0.5, 0.5], [information.Normal(0.0, 1.0), information.Normal(4.0, 1.0)])
    unchanged(information.best_normal, mixture, "q||p")
    unchanged(information.central_limit, mixture, 10, repeats=20)


def _probabilities(given):
    p = np.linspace(0.1, 0.9, len(DATA["overlapping"][1]))
    return rows_as(given.kind if given.kind not in ("integers", "float32") else "dense", np.c_[p, 1 - p], given.folder)


def _decision(given):
    few = rows_as(given.kind if given.kind not in ("integers", "float32") else "dense", P, given.folder)
    cost = rows_as(given.kind, np.array([[0.0, 5.0], [1.0, 0.0]]), given.folder)
    unchanged(decision.decide, given.values(VALUES), 0.5)
    unchanged(decision.expected_costs, few, cost)
    unchanged(decision.bayes_decision, few, cost, given.values([0, 1]))
    unchanged(decision.reweighed, few, given.values([0.5, 0.5]), given.values([0.9, 0.1]))
    unchanged(decision.with_priors, given.model(), given.values([0.5, 0.5]), given.values([0.9, 0.1]))
    unchanged(decision.prior_corrected, given.model(class_weight="balanced"))


def _plane(given, function):
    model = sx.LogisticRegression().fit(DATA["three"][0][:, :2], DATA["three"][1])
    unchanged(function, model, given.values([-9.0, 9.0, -9.0, 9.0]))


def _ambiguous(given):
    model = sx.OneVsRestClassifier(sx.LeastSquaresClassifier()).fit(DATA["three"][0][:, :2], DATA["three"][1])
    unchanged(sx.ambiguous_regions, model, given.values([-9.0, 9.0, -9.0, 9.0]))


def _surface(given):
    X = rows_as(given.kind, DATA["overlapping"][0][:, :2].copy(), given.folder)
    unchanged(sx.error_surface, X, given.labels(), points=5, at=given.values([0.0, 1.0, 1.0]))


def _target_weights(given):
    X = rows_as(given.kind, DATA["overlapping"][0], given.folder)
    unchanged(sx.target_weights, X, X)


def _walk(given):
    X = rows_as(given.kind, DATA["overlapping"][0][:, :2].copy(), given.folder)
    unchanged(sx.walk, X, given.labels(), "newton", start=given.values([0.0, 1.0, 1.0]), steps=3)


def _labels(given):
    _, codes = unchanged(sx.labels.encode, given.labels())
    unchanged(sx.labels.signed, codes)
    unchanged(sx.labels.unsigned, sx.labels.signed(codes))
    unchanged(sx.labels.from_one_hot, unchanged(sx.labels.one_hot, codes, 2))


def _links(given):
    for name, link in sx.links.LINKS.items():
        unchanged(link.activation, given.values([[0.5, -1.0]] if name == "softmax" else [0.5, -1.0]))


# What takes dense rows, or numbers that come beside them.
WITH_NUMBERS = {
    "Basis": lambda g: _basis(g, sx.Basis(["x1*x2", ("square", lambda X: X[:, 0] ** 2)])),
    "Hyperplane": _hyperplane,
    "along": lambda g: unchanged(sx.along, *g.both(), g.values([1.0, 2.0, 0.0])),
    "ambiguous_regions": _ambiguous,
    "boundary_curve": lambda g: _plane(g, lambda model, box: sx.boundary_curve(model, box, n=10, i=0, j=1)),
    "compare_schemes": _schemes,
    "criterion_curve": lambda g: unchanged(
        sx.criterion_curve, rows_as(g.kind, DATA["overlapping"][0][:, :2].copy(), g.folder), g.labels()
    ),
    "error_surface": _surface,
    "gaussian": lambda g: [_basis(g, sx.gaussian(4)), _basis(g, sx.gaussian(rows_as(g.kind, np.eye(3), g.folder)))],
    "level_sets": lambda g: _plane(g, lambda model, box: sx.level_sets(model, box, [0.5])),
    "probability_bands": lambda g: _plane(g, lambda model, box: sx.probability_bands(model, box, [0.5])),
    "quadratic": lambda g: _basis(g, sx.quadratic()),
    "regions": lambda g: _plane(g, sx.regions),
    "target_weights": _target_weights,
    "walk": _walk,
    "decision": _decision,
    "information": _information,
    "exercises": lambda g: unchanged(sx.exercises.check, 9, {"cosines": g.values([0.5, 1.0]), "R": 5.0}),
    "explain_row": lambda g: unchanged(sx.explain_row, g.model(), g.values([0.5, 1.0, -1.0]), 1),
    "labels": _labels,
    "links": _links,
    "losses": _losses,
}

COLUMNS = {
    "age": [30.0, 41.5, None, 28.0, 60.0, 33.0],
    "town": ["a", "b", "a", None, "b", "a"],
    "ill": ["no", "yes", "no", "yes", "yes", "no"],
}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}


def _encoder(frame):
    features = frame.drop(columns=["ill"]) if isinstance(frame, pd.DataFrame) else frame
    encoder = sx.TableEncoder(missing="impute", drop=() if features is not frame else ("ill",))
    unchanged(encoder.fit, features)
    unchanged(encoder.transform, features)


WITH_FRAMES = {
    "TableEncoder": _encoder,
    "check": lambda frame: unchanged(sx.check, frame, target="ill"),
    "fit_table": lambda frame: unchanged(sx.fit_table, sx.LogisticRegression(), frame, "ill", missing="impute"),
    "read_table": lambda frame: unchanged(sx.read_table, frame, "ill", missing="impute"),
}

# What takes a model: its settings and all that a fit has put into it stay.
WITH_MODEL = {
    "save": lambda model, folder: unchanged(sx.save, model, folder / "model.json"),
    "load": lambda model, folder: (sx.save(model, folder / "m.json"), unchanged(sx.load, folder / "m.json")),
    "to_onnx": lambda model, _: unchanged(sx.to_onnx, model),
    "to_python": lambda model, _: unchanged(sx.to_python, model),
    "to_sql": lambda model, _: unchanged(sx.to_sql, model),
}

# What takes Dask collections.
WITH_PARTS = {
    "dask_table": lambda X, y: unchanged(sx.dask_table, da.from_array(X, chunks=5), da.from_array(y, chunks=5)),
}

# Numbers, names, paths and functions go in, or nothing at all.
WITHOUT_ARRAYS = {
    *(
        "Along",
        "Column",
        "CriterionCurve",
        "ExplainedRow",
        "PenaltyChoice",
        "Scan",
        "Schema",
        "SqlExpressions",
        "Step",
        "Steps",
        "TextSettings",
        "__version__",
        "as_settings",
        "read_schema",
        "scan",
    ),
    *("errors", "solvers", "firth", "plots", "threads", "watch"),
    *("plots.DARK", "plots.LIGHT", "plots.Display", "plots.Theme", "plots.figures", "plots.style"),
    *("errors", "solvers", "firth", "lab", "plots", "presets", "threads", "watch"),
    *("plots.DARK", "plots.LIGHT", "plots.Display", "plots.Theme", "plots.style"),
}


def _public():
    yield from sx.__all__
    yield from (f"plots.{name}" for name in plots.__all__)


def test_every_public_name_is_here():
    classifiers = {make.__name__ for make in CLASSIFIERS.values()}  # tests/package/test_arguments.py
    covered = {*WITH_ROWS, *WITH_NUMBERS, *WITH_FRAMES, *WITH_MODEL, *WITH_PARTS, *WITHOUT_ARRAYS, *classifiers}
    assert not set(_public()) - covered
    assert not {name for name in covered if "." not in name} - set(sx.__all__)


def test_every_public_function_of_the_modules_is_here():
    here = inspect.getsource(inspect.getmodule(_decision))
    for called, module in (("decision", decision), ("information", information)):
        missing = [name for name in _functions(module) if f"{called}.{name}" not in here]
        assert set(missing) <= {"cost_threshold", "score_threshold", "maximum_entropy"}  # these take numbers only


def _functions(module):
    names = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    functions = ((name, getattr(module, name)) for name in names)
    return [name for name, one in functions if inspect.isfunction(one) and one.__module__.startswith(module.__name__)]


# Pictures and reports take rows through the model's own checks, as its predictions do.
FEW = ("CSR, unsorted", "CSR, repeated entries", "read-only", "strided", "pandas")
CASES = [(name, kind) for name in WITH_ROWS for kind in (FEW if "." in name or name == "report" else KINDS)]
MARKED = [
    pytest.param(name, kind, marks=() if kind in FEW else pytest.mark.slow, id=f"{name}-{kind}") for name, kind in CASES
]


@pytest.mark.parametrize(("name", "kind"), MARKED)
def test_rows(name, kind, tmp_path):
    WITH_ROWS[name](Given(kind, tmp_path))
    plt.close("all")


@pytest.mark.parametrize("kind", [kind for kind in DENSE if kind != "nested lists"])
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_numbers(name, kind, tmp_path):
    WITH_NUMBERS[name](Given(kind, tmp_path))


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("name", WITH_FRAMES)
def test_frames(name, kind):
    WITH_FRAMES[name](FRAMES[kind](COLUMNS))


@pytest.mark.parametrize("name", WITH_PARTS)
def test_parts_of_rows_stay_as_they_are(name):
    X, y = (np.array(values) for values in DATA["overlapping"])
    before = X.copy(), y.copy()
    WITH_PARTS[name](X, y)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("name", WITH_MODEL)
def test_models(name, tmp_path):
    WITH_MODEL[name](sx.LogisticRegression().fit(*DATA["three"]), tmp_path)
