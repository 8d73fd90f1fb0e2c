"""Updates one by one: they are those of the fit, their arithmetic holds, and going back costs nothing."""

import json
import pickle
from itertools import pairwise

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.pipeline import make_pipeline

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.teach.steps import History

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")

RNG = np.random.default_rng(38)
MIXED = np.vstack([RNG.normal([-1.0, 0.9], 1.1, (20, 2)), RNG.normal([1.2, -0.4], 1.0, (20, 2))]).round(1)
Y = np.repeat([0, 1], 20)
APART = MIXED + np.outer(2 * Y - 1, [0.9, -0.2])
THREE = np.arange(40) % 3
S = sx.solvers
SGD = S.StochasticDescent(eta=0.1)
CASES = {
    "online": (sx.Perceptron(), APART, Y),
    "from a start": (sx.Perceptron(start=[[3.0, -2.0, 1.0]], eta0=0.5), APART, Y),
    "zero is positive": (sx.Perceptron(zero="positive"), APART, Y),
    "no intercept": (sx.Perceptron(fit_intercept=False), APART, Y),
    "inseparable": (sx.Perceptron(max_iter=9), MIXED, Y),
    "shuffled": (sx.Perceptron(shuffle=True, random_state=2), APART, Y),
    "pocket": (sx.Perceptron(pocket=True, max_iter=9), MIXED, Y),
    "mean": (sx.Perceptron(average=True, max_iter=9), MIXED, Y),
    "class weights": (sx.Perceptron(class_weight={0: 1.0, 1: 2.5}), APART, Y),
    "batch": (sx.Perceptron("batch"), APART, Y),
    "worst": (sx.Perceptron("worst", eta0=0.3), APART, Y),
    "sparse": (sx.Perceptron(), csr_array(APART), Y),
    "perceptron of three classes": (sx.Perceptron(max_iter=4), MIXED, THREE),
    "kozinec": (sx.KozinecClassifier(), APART, Y),
    "kozinec within": (sx.KozinecClassifier(eps=0.01), APART, Y),
    "kozinec, inseparable": (sx.KozinecClassifier(), MIXED, Y),
    "maximum margin": (sx.MaxMarginClassifier(), APART, Y),
    "gradient descent": (sx.LogisticRegression(solver=S.GradientDescent(eta=0.5), max_iter=20), MIXED, Y),
    "normalised": (
        sx.LogisticRegression(solver=S.GradientDescent(eta=0.5, step_rule="normalised"), max_iter=9),
        MIXED,
        Y,
    ),
    "sgd": (sx.LogisticRegression(solver=SGD, max_iter=3), MIXED, Y),
    "minibatch": (sx.LogisticRegression(solver=S.StochasticDescent(eta=0.1, batch_size=7), max_iter=3), MIXED, Y),
    "sgd of three classes": (sx.LogisticRegression(solver=SGD, max_iter=2), MIXED, THREE),
    "newton": (sx.LogisticRegression(solver="newton"), MIXED, Y),
    "newton on large offsets": (sx.LogisticRegression(solver="newton"), 1e4 + MIXED, Y),
    "lbfgs": (sx.LogisticRegression(solver="lbfgs"), MIXED, Y),
    "svc": (sx.LinearSVC(loss="hinge"), MIXED, Y),
    "svc of three classes": (sx.LinearSVC(), MIXED, THREE),
    "softmax": (sx.LogisticRegression(), MIXED, THREE),
    "one versus rest": (sx.OneVsRestClassifier(sx.LogisticRegression()), MIXED, THREE),
    "one perceptron versus rest": (sx.OneVsRestClassifier(sx.Perceptron(max_iter=4)), MIXED, THREE),
    "one perceptron for two classes": (sx.OneVsRestClassifier(sx.Perceptron()), APART, Y),
}


class Listed(list):
    """All steps of a run, and the fitted model."""

    def __init__(self, run):
        super().__init__(run)
        self.model = run.model


@pytest.fixture(scope="module")
def runs():
    """The steps of every case, which all tests share."""
    return {name: Listed(sx.steps(model, X, y)) for name, (model, X, y) in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_the_last_step_has_the_weights_of_the_fit(runs, name):
    model, X, y = CASES[name]
    alone, run = clone(model).fit(X, y), runs[name]
    np.testing.assert_array_equal(run.model.coef_, alone.coef_)
    last = {step.part: step for step in run}
    if last[0].w.ndim > 1:
        np.testing.assert_array_equal(last[0].w, alone.coef_)
        np.testing.assert_array_equal(last[0].b, alone.intercept_)
        return
    np.testing.assert_array_equal([step.w for step in last.values()], alone.coef_)
    np.testing.assert_array_equal([step.b for step in last.values()], np.broadcast_to(alone.intercept_, len(last)))


@pytest.mark.parametrize("name", CASES)
def test_every_step_begins_where_the_one_before_ended(runs, name):
    for before, after in pairwise(runs[name]):
        if after.kind == "start":
            assert after.number == 0
            assert after.part == before.part + 1
            continue
        assert after.number == before.number + (after.kind == "update")
        np.testing.assert_array_equal(after.w_before, before.w)
        np.testing.assert_array_equal(after.b_before, before.b)
        np.testing.assert_allclose(after.w_before + after.w_added, after.w, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(after.b_before + after.b_added, after.b, rtol=1e-9, atol=1e-12)
        assert after.cost_before == before.cost or after.kind == "answer"


@pytest.mark.parametrize("name", [name for name, (_, X, _) in CASES.items() if isinstance(X, np.ndarray)])
def test_scores_mistakes_and_margins_are_those_of_the_rows(runs, name):
    model, X, y = CASES[name]
    run = runs[name]
    if isinstance(model, sx.OneVsRestClassifier):
        model = model.estimator
    hull = isinstance(model, sx.KozinecClassifier | sx.MaxMarginClassifier)
    for step in list(run)[:40]:
        several = step.w.ndim > 1
        against = y if len(run.model.classes_) == 2 or several else (y == run.model.classes_[step.part]).astype(int)
        t, z = 2.0 * against - 1.0, X @ step.w.T + step.b
        if several:
            wrong = np.argmax(z, axis=1) != against
        elif hull or (isinstance(model, sx.Perceptron) and model.zero == "mistake"):
            wrong = t * z <= 0
        else:
            wrong = (z >= 0) != (t > 0)
        np.testing.assert_array_equal(step.wrong_rows, np.flatnonzero(wrong))
        assert (step.wrong, step.n_rows) == (wrong.sum(), len(X))
        if step.row is None:
            continue
        np.testing.assert_array_equal(step.x, X[step.row])
        np.testing.assert_allclose(step.z, X[step.row] @ step.w_before.T + step.b_before, atol=1e-9)
        np.testing.assert_allclose(step.z_after, z[step.row], atol=1e-9)
        if not several:
            assert step.t == t[step.row]
            assert step.m == step.t * step.z


def test_each_update_of_the_perceptron_adds_its_row(runs):  # P2, P11
    for name in ("online", "from a start", "zero is positive", "inseparable", "shuffled", "pocket", "mean", "worst"):
        run, eta = runs[name], CASES[name][0].eta0
        updates = [step for step in run if step.kind == "update"]
        assert len(updates) == run.model.mistakes_
        for step in updates:
            assert step.mistake
            assert step.m <= 0
            assert step.eta == eta
            np.testing.assert_array_equal(step.w_added, eta * step.t * step.x)
            assert step.gain == pytest.approx(eta * (1 + step.x @ step.x))
    for step in (step for step in runs["no intercept"] if step.kind == "update"):
        assert step.b == step.b_added == 0
    for step in (step for step in runs["class weights"] if step.kind == "update"):
        assert step.b_added == (1.0 if step.t < 0 else -1.0) * -(2.5 if step.t > 0 else 1.0)


def test_the_worst_row_and_all_wrong_rows(runs):  # P3, P4
    X, t = APART, 2.0 * Y - 1.0
    for step in runs["worst"][1:]:
        assert step.m == pytest.approx(np.min(t * (X @ step.w_before + step.b_before)))
    for before, step in pairwise(runs["batch"]):
        np.testing.assert_array_equal(step.rows, before.wrong_rows)
        np.testing.assert_allclose(step.w_added, t[step.rows] @ X[step.rows])
        assert step.b_added == pytest.approx(t[step.rows].sum())


def test_costs_and_gradients(runs):
    t = 2.0 * Y - 1.0
    for name, (_, X, _) in CASES.items():
        if name in ("online", "worst", "batch", "mean", "pocket", "inseparable"):
            for step in runs[name]:
                cost = np.maximum(0.0, -t * (X @ step.w + step.b)).sum()
                assert step.cost == pytest.approx(cost, abs=1e-9)
    E = sx.objective(MIXED, Y, C=1.0)
    for name in ("gradient descent", "normalised", "sgd", "newton", "lbfgs"):
        for step in runs[name]:
            assert step.cost == pytest.approx(E.value([step.b, *step.w]), rel=1e-12)
            if step.w_gradient is None or name == "sgd":
                continue
            gradient = E.gradient([step.b_before, *step.w_before])
            np.testing.assert_allclose([step.b_gradient, *step.w_gradient], gradient, atol=1e-12)
            if name == "gradient descent":
                np.testing.assert_allclose(step.w_added, -0.5 * step.w_gradient, atol=1e-14)
    first = runs["sgd"][1]  # from w = 0, a row adds η t x/2
    np.testing.assert_allclose(first.w_added, 0.1 * first.t * first.x / 2)


def test_stochastic_descent_visits_every_row_once_in_an_epoch(runs):
    steps = [step for step in runs["sgd"] if step.epoch == 1 and step.kind == "update"]
    assert sorted(step.row for step in steps) == list(range(40))
    sizes = [len(step.rows) for step in runs["minibatch"] if step.epoch == 1]
    assert sizes == [7, 7, 7, 7, 7, 5]


def test_an_update_of_stochastic_descent_is_written_with_its_row_its_gradient_and_eta(runs):
    text, step = str(runs["sgd"][2]), runs["sgd"][2]
    x, slope = step.x, step.b_gradient
    assert slope == pytest.approx(-step.t / (1 + np.exp(step.m)))
    np.testing.assert_allclose(step.w_gradient, slope * x + step.w_before / 40, atol=1e-12)
    assert f"row {step.row}, x = ({x[0]:g}".replace("-", "−") in text
    assert "∇E_i = " in text
    assert "w ← w − η ∇E_i, η = 0.1: " in text
    assert "∇E_B, η = 0.1: " in str(runs["minibatch"][1])


def test_bounds(runs):
    for name in ("online", "from a start", "shuffled", "worst"):
        run = runs[name]
        assert all(step.bound_name == "mistakes" for step in run)
        assert run.model.mistakes_ <= run[-1].bound
        model = CASES[name][0]
        start = None if isinstance(model.start, str) else model.start[0]
        assert run[0].bound == pytest.approx(sx.novikoff_bound(APART, Y, start, model.eta0).bound_from_start)
    inside, alone = runs["one perceptron for two classes"], runs["online"]
    assert [step.bound for step in inside] == [step.bound for step in alone]
    for name in ("inseparable", "batch", "class weights"):
        assert all(step.bound is None for step in runs[name])
    best = runs["newton"].model.certificate_.objective
    for name in ("newton", "lbfgs", "gradient descent"):
        known = [step for step in runs[name] if step.bound is not None]
        assert known
        assert all(step.cost - best <= step.bound + 1e-12 for step in known)
    widest = sx.MaxMarginClassifier().fit(APART, Y).margin_
    for step in runs["kozinec within"]:
        assert step.margin <= widest + 1e-9 <= step.bound + 2e-9
        if step.kind == "update":
            np.testing.assert_allclose(step.w, step.hull.factor * (step.hull.alpha - step.hull.beta), rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["online", "from a start", "zero is positive", "no intercept", "shuffled", "batch", "worst"]
)
def test_the_quantities_of_the_proofs_keep_their_bounds(name):  # P6, P12, P16
    model, X, y = CASES[name]
    run = sx.steps(model, X, y)
    trail = list(run.proof())
    assert [after.mistakes for after in trail] == list(range(len(trail)))
    assert len(trail) == run.model.mistakes_ + 1
    for step, after in zip(run, trail, strict=True):
        tiny = 1e-9 * (1 + after.squared_length_bound + after.squared_distance)
        assert after.squared_length == pytest.approx(step.b**2 + step.w @ step.w)
        assert after.projection >= after.projection_bound - tiny
        assert after.squared_length <= after.squared_length_bound + tiny
        assert after.squared_distance <= after.squared_distance_bound + tiny
        assert np.isnan(after.cosine) or after.cosine_bound - 1e-9 <= after.cosine <= 1 + 1e-9
    if name in ("online", "shuffled", "worst"):  # from zero: kγ, kR², and the bound on the cosine
        theorem = run.theorem()
        k, eta = trail[-1].mistakes, model.eta0
        assert trail[-1].projection_bound == pytest.approx(k * eta * theorem.gamma)
        assert trail[-1].squared_length_bound == pytest.approx(k * (eta * theorem.R) ** 2)
        assert trail[-1].cosine_bound == pytest.approx(theorem.cosine_bound(k))
        # The last proof ends the run when its bound reaches zero.
        assert trail[0].squared_distance / (eta * theorem.R) ** 2 == pytest.approx(theorem.bound_from_start)


def test_the_proof_is_about_perceptrons_and_separable_rows():
    with pytest.raises(ParameterError, match="Perceptron"):
        sx.steps(sx.LogisticRegression(), MIXED, Y).proof()
    with pytest.raises(ParameterError, match="class weights"):
        sx.steps(sx.Perceptron(class_weight={0: 1.0, 1: 2.0}), APART, Y).proof()
    with pytest.raises(ParameterError, match="X"):
        sx.steps(sx.Perceptron(max_iter=5), MIXED, Y).proof()
    with pytest.raises(ParameterError, match="separator"):
        sx.steps(sx.Perceptron(), APART, Y).proof(separator=[0.0, -1.0, 0.0])


@pytest.mark.parametrize("name", CASES)
def test_every_step_can_be_written_and_sent(runs, name):
    for step in [*list(runs[name])[:6], runs[name][-1]]:
        text = str(step)
        assert text.startswith({"start": "Start", "update": "Step", "answer": "Answer"}[step.kind])
        assert "None" not in text
        sent = json.loads(json.dumps(step.to_dict(), allow_nan=False))
        assert (sent["number"], sent["wrong"], sent["row"]) == (step.number, step.wrong, step.row)
        np.testing.assert_array_equal(sent["w"], step.w)


def test_only_as_far_as_somebody_looks_and_back():
    run = sx.steps(sx.Perceptron(max_iter=200), MIXED, Y, keep=20)
    assert (run.known, run.ended) == (0, False)
    assert run.now.kind == "start"
    with pytest.raises(IndexError, match="start"):
        run.back()
    forward = [run.next() for _ in range(50)]
    assert (run.known, run.place) == (50, 50)
    for step in forward[-2::-1]:
        again = run.back()
        assert (again.number, again.row, again.cost) == (step.number, step.row, step.cost)
        np.testing.assert_array_equal(again.w, step.w)
    assert not run.ended
    assert len(run) == run.model.mistakes_ + 1
    assert [step.number for step in run[3:9:2]] == [3, 5, 7]
    with pytest.raises(IndexError, match="no step"):
        run[len(run)]
    while run.place < len(run) - 1:
        run.next()
    with pytest.raises(IndexError):
        run.next()
    assert run.place == len(run) - 1


def test_a_run_can_be_stored_and_continued():
    run = sx.steps(sx.LogisticRegression(solver=SGD, max_iter=3), MIXED, Y)
    for _ in range(30):
        run.next()
    stored = pickle.loads(pickle.dumps(run))
    assert stored.place == 30
    np.testing.assert_array_equal(stored.next().w, run.next().w)
    np.testing.assert_array_equal(stored[-1].w, run[-1].w)


@pytest.mark.parametrize("keep", [1, 2, 5, 100])
def test_history_stores_few_and_finds_all(keep):
    made = []

    def advance(k):
        made.append(k)
        return k + 1 if k < 200 else None

    history = History(0, advance, keep)
    order = [*range(60), *range(59, 20, -1), 3, 199, 150, 0, 7]
    assert [history.at(k) for k in order] == order
    assert history.at(201) is None
    assert (history.known, history.ended) == (200, True)
    assert len(history._recent) <= keep
    assert len(history._landmarks) <= max(1, keep)
    made.clear()
    assert history.at(200) == 200
    assert history.at(199) == 199 or keep == 1
    assert len(made) <= 200 / max(1, keep) + 2 or keep == 1


def test_pipelines_watchers_and_estimators_left_alone():
    model = make_pipeline(sx.quadratic(), sx.Perceptron())
    X = np.array([[-1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    told = []
    with sx.watch(lambda stage, within: told.append(stage)):
        run = sx.steps(model, X, [0, 0, 1, 1])
    assert told
    np.testing.assert_array_equal(run[-1].w, run.model[-1].coef_[0])
    assert not hasattr(model[-1], "coef_")


def test_what_has_no_steps_is_refused():
    for model, word in (
        (sx.LeastSquaresClassifier(), "formula"),
        (sx.FisherDiscriminant(), "formula"),
        (sx.LogisticRegression(bias_reduction="firth"), "no states"),
    ):
        with pytest.raises(ParameterError, match=word):
            sx.steps(model, MIXED, Y)
    with pytest.raises(ParameterError, match="inside it"):
        sx.steps(sx.OneVsOneClassifier(sx.LogisticRegression()), MIXED, THREE)
    for wrong in ("perceptron", sx.Perceptron):
        with pytest.raises(ParameterError, match="give an estimator"):
            sx.steps(wrong, MIXED, Y)
    with pytest.raises(ParameterError, match="keep"):
        sx.steps(sx.Perceptron(), MIXED, Y, keep=0)


def test_weights_are_refused_where_the_estimator_takes_none():
    w = np.linspace(1.0, 2.0, len(Y))
    for model in (sx.Perceptron(), sx.KozinecClassifier(), sx.MaxMarginClassifier()):
        for estimator in (model, sx.OneVsRestClassifier(model)):
            with pytest.raises(ParameterError, match=f"sample_weight: {type(model).__name__} takes none; leave it out"):
                sx.steps(estimator, APART, Y, sample_weight=w)
        with pytest.raises(ParameterError, match=f"sample_weight: {type(model).__name__} takes none; leave it out"):
            sx.steps(make_pipeline(sx.quadratic(), model), APART, Y, sample_weight=w)


def test_weights_reach_the_last_estimator_of_a_pipeline():
    w = np.linspace(1.0, 2.0, len(Y))
    run = sx.steps(make_pipeline(sx.quadratic(), sx.LogisticRegression()), MIXED, Y, sample_weight=w)
    alone = sx.LogisticRegression().fit(sx.quadratic().fit_transform(MIXED), Y, sample_weight=w)
    np.testing.assert_array_equal(run[-1].w, alone.coef_[0])
