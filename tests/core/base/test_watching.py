"""Watching: what is told is what happened; raising ends it; nobody watching costs nothing and changes nothing."""

import gzip
import threading
import time

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import separatrix as sx
from separatrix.classifiers import CLASSIFIERS
from separatrix.core.base.watching import Amount, Part, part, stage, unwatched, watch, watched
from separatrix.core.proofs.separability import separability
from separatrix.core.solvers import driver
from separatrix.core.solvers.driver import Iteration
from separatrix.core.solvers.registry import SOLVERS
from tests.problems import draw

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.core.base.errors.NotConvergedWarning")

X = np.random.default_rng(0).standard_normal((200, 4))
Y = np.argmax(X[:, :3] + np.random.default_rng(1).gumbel(size=(200, 3)), axis=1)
GAP = X[np.abs(X[:, 0]) > 0.1]  # rows that a hyperplane separates with room to spare


class Stopped(Exception):
    pass


def seen_by(work):
    """What is told, each with the stages around it, and what the work gives."""
    told = []
    with watch(lambda stage, within: told.append((stage, within))):
        found = work()
    return told, found


def stop(stage, within):
    raise Stopped


MODELS = {
    "newton": (sx.LogisticRegression(solver="newton"), X, Y),
    "lbfgs": (sx.LogisticRegression(solver="lbfgs"), X, Y),
    "dual": (sx.LogisticRegression(solver="dual"), X, Y > 0),
    "lasso": (sx.LogisticRegression(C=0.1, l1_ratio=1.0), X, Y),
    "unpenalised": (sx.LogisticRegression(C=np.inf), X, Y > 0),
    "squared": (sx.LogisticRegression(loss="squared-sigmoid"), X, Y > 0),
    "perceptron": (sx.Perceptron(max_iter=20), X, Y > 0),
    "perceptron of three classes": (sx.Perceptron("batch", pocket=True, max_iter=20), X, Y),
    "kozinec": (sx.KozinecClassifier(), GAP, (GAP[:, 0] > 0).astype(int)),
    "max-margin": (sx.MaxMarginClassifier(), GAP, (GAP[:, 0] > 0).astype(int)),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_records_are_the_trace_and_nothing_else_changes(name):
    model, rows, y = MODELS[name]
    told, fitted = seen_by(lambda: clone(model).fit(rows, y))
    steps = [stage for stage, _ in told if isinstance(stage, Iteration)]
    assert tuple(step.record for step in steps) == fitted.trace_
    assert [step.state.iteration for step in steps] == [record.iteration for record in fitted.trace_]
    alone = clone(model).fit(rows, y)
    np.testing.assert_array_equal(alone.coef_, fitted.coef_)
    assert len(alone.trace_) == len(fitted.trace_)
    for plain, shown in zip(alone.trace_, fitted.trace_, strict=True):
        # For a watcher, small tables compute bounds that they do not need themselves.
        bound = None if plain.bound is None else shown.bound
        assert plain._replace(seconds=0.0) == shown._replace(seconds=0.0, bound=bound)


@pytest.mark.parametrize("name", MODELS)
def test_raising_leaves_it_unfitted(name):
    model, rows, y = MODELS[name]
    model = clone(model)
    with pytest.raises(Stopped), watch(stop):
        model.fit(rows, y)
    assert watched() is None
    with pytest.raises(NotFittedError):
        model.predict(rows)
    model.fit(rows, y).predict(rows)


def test_every_classifier_with_iterations_can_be_stopped():
    """Those of moments have one pass and no iterations, and say nothing."""
    silent = set()
    for name, kind in CLASSIFIERS.items():
        model = kind()
        try:
            with watch(stop):
                model.fit(X, Y)
            silent.add(name)
        except Stopped:
            with pytest.raises(NotFittedError):
                model.predict(X)
    assert silent == {"least-squares", "fisher", "lda", "qda"}


@pytest.mark.parametrize("seed", range(12))
def test_the_share_is_how_far_the_gap_has_come(seed):
    problem = draw(seed, C=1.0)
    told, model = seen_by(lambda: sx.LogisticRegression().fit(problem.X, problem.codes, problem.weight))
    shares = [stage.share for stage, _ in told]
    assert all(share is None or 0 <= share <= 1 for share in shares)
    assert model.certificate_.met
    assert shares[-1] == 1
    last = told[-1][0]
    assert last.gap <= last.tol
    assert last.gap == model.trace_[-1].bound / model.certificate_.null_objective
    assert str(last).startswith(f"{model.certificate_.solver}: iteration {model.n_iter_[0]}, gap ")


def test_the_share_is_logarithmic():
    step = seen_by(lambda: sx.LogisticRegression().fit(X, Y))[0][0][0]
    at = {"tol": 1e-8, "first": 1e-2}
    known = {gap: Iteration(step.solver, step.record, step.state, gap=gap, **at).share for gap in (1e-2, 1e-5, 1e-9)}
    assert known == pytest.approx({1e-2: 0.0, 1e-5: 0.5, 1e-9: 1.0})
    assert Iteration(step.solver, step.record, step.state, gap=1.0, **at).share == 0  # a bound may grow
    assert Iteration(step.solver, step.record, step.state, tol=1e-8).share is None
    assert Iteration(step.solver, step.record, step.state, tol=0.0, first=1.0, gap=0.5).share is None


def test_nothing_is_made_where_nobody_watches(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(driver, "Iteration", refuse)
    sx.LogisticRegression("auto").fit(X, Y)
    sx.LogisticRegression(bias_reduction="firth").fit(X, Y > 0)
    with pytest.raises(AssertionError), watch(lambda *_: None):
        sx.LogisticRegression().fit(X, Y)


def test_stages_around_a_fit():
    told, _ = seen_by(lambda: sx.OneVsRestClassifier(sx.LogisticRegression()).fit(X, Y))
    assert [stage for stage, within in told if not within] == [Part("model", k, 3) for k in (1, 2, 3)]
    assert {within for stage, within in told if isinstance(stage, Iteration)} == {
        (Part("model", k, 3),) for k in (1, 2, 3)
    }
    told, _ = seen_by(lambda: sx.Perceptron(max_iter=3).fit(X, Y))
    outer = [stage for stage, within in told if not within]
    assert outer == [Part("class", k, 3) for k in (1, 2, 3)]
    told, _ = seen_by(lambda: sx.Perceptron(max_iter=3).fit(X, Y > 0))
    assert not any(within for _, within in told)


@pytest.mark.parametrize("l1_ratio", [0.0, 1.0])
def test_the_search_for_C(l1_ratio):
    told, model = seen_by(lambda: sx.LogisticRegression("auto", l1_ratio=l1_ratio).fit(X, Y))
    tried = [stage for stage, _ in told if isinstance(stage, Part)]
    assert [stage.number for stage in tried] == list(range(1, 1 + len(model.penalty_choice_.Cs)))
    assert sorted(stage.note for stage in tried) == sorted(f"C = {C:.3g}" for C in model.penalty_choice_.Cs)
    final = [stage for stage, within in told if isinstance(stage, Iteration) and not within]
    assert tuple(step.record for step in final) == model.trace_


def test_threads_change_nothing_that_is_told():
    """Rows that are fitted again one by one, with absolute values, are in threads where there are several."""

    def fitted(count):
        with sx.threads(count):
            return sx.LogisticRegression("auto", l1_ratio=1.0).fit(X[:60], Y[:60])

    one, several = ([str(stage) for stage, _ in seen_by(lambda k=count: fitted(k))[0]] for count in (1, 3))
    assert one == several


def test_a_path_of_penalties():
    told, path = seen_by(lambda: sx.penalty_path(X, Y, n_values=4))
    assert [stage.number for stage, _ in told if isinstance(stage, Part)] == [1, 2, 3, 4]
    records = [stage.record for stage, within in told if within and within[0].number == 3]
    assert tuple(records) == path.models[2].trace_


def test_firth():
    told, model = seen_by(lambda: sx.LogisticRegression(bias_reduction="firth").fit(X[:40], Y[:40] > 0))
    starts = [stage for stage, _ in told if isinstance(stage, Part)]
    assert starts == [Part("start", k, 3) for k in (1, 2, 3)]
    first = [stage for stage, within in told if isinstance(stage, Iteration) and within == (starts[0],)]
    assert tuple(step.record for step in first) == model.trace_
    assert first[-1].share == 1
    assert "score" in str(first[-1])


def test_a_proof_says_how_many_rows_it_looks_at():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((5000, 6))
    told, verdict = seen_by(lambda: separability(rows, rows[:, 0] + 0.01 * rng.standard_normal(5000) > 0))
    assert not verdict
    assert [stage.number for stage, _ in told][:1] == [1]
    assert all("of 5000 rows at hand" in str(stage) for stage, _ in told)
    with pytest.raises(Stopped), watch(stop):
        separability(rows, rows[:, 0] > 0.01 * rng.standard_normal(5000))


def test_each_thread_has_its_own_watcher():
    seen = {"here": [], "there": []}

    def there(watching):
        if not watching:
            sx.LogisticRegression().fit(X, Y)
            return
        with watch(lambda stage, within: seen["there"].append(stage.record)):
            seen["model"] = sx.LogisticRegression(C=0.1).fit(X, Y)

    with watch(lambda stage, within: seen["here"].append(stage.record)):
        for watching in (False, True):
            thread = threading.Thread(target=there, args=[watching])
            thread.start()
            thread.join()
        assert seen["here"] == []
        model = sx.LogisticRegression().fit(X, Y)
    assert tuple(seen["here"]) == model.trace_
    assert tuple(seen["there"]) == seen["model"].trace_


def test_blocks_end_as_they_began():
    def nested():
        with stage(Part("fold", 1, 2)), part("class", 2, 3):
            watched()(Amount("rows", 1, 2))
            with unwatched(), stage(Part("fold", 2, 2)):
                assert watched() is None
        watched()(Amount("rows", 2, 2))
        with pytest.raises(Stopped), stage(Part("fold", 2, 2)):
            raise Stopped
        watched()(Amount("rows", 3, 2))

    told, _ = seen_by(nested)
    assert [len(within) for _, within in told] == [0, 1, 2, 0, 0, 0]
    assert watched() is None


def test_a_comparison_that_is_stopped_ends_the_fits_under_way(monkeypatch):
    ended = []

    def endless(self, rows, y):
        try:
            for _ in range(10_000):
                watched()(Part("step", 1))
                time.sleep(1e-3)
        finally:
            ended.append(True)
        ended.append(False)

    monkeypatch.setattr(CLASSIFIERS["lda"], "fit", endless)
    with pytest.raises(Stopped), watch(stop):
        sx.compare(X, Y, cv=2, only=["lda"])
    assert False not in ended


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "libsvm"])
def test_bytes_of_files(tmp_path, ending):
    line = "1 1:{} 2:{}" if ending == "libsvm" else "{},{},yes"
    text = "\n".join(line.format(i % 97, (i * i) % 31) for i in range(2000)) + "\n"
    other = "0 1:3\n" if ending == "libsvm" else "1,2,no\n"
    text = text + other if ending == "libsvm" else "a,b,y\n" + text + other
    path = tmp_path / f"rows.{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    target = None if ending == "libsvm" else "y"
    told, table = seen_by(lambda: sx.read_table(path, target=target))
    amounts = [stage for stage, _ in told if isinstance(stage, Amount)]
    assert {stage.unit for stage in amounts} == {"MB"}
    assert max(stage.share for stage in amounts) == 1
    assert amounts[-1].total == path.stat().st_size / 1e6
    np.testing.assert_array_equal(table.y, sx.read_table(path, target=target).y)
    with pytest.raises(Stopped), watch(stop):
        sx.read_table(path, target=target)


def test_columns_of_a_table():
    import pyarrow as pa

    columns = pa.table({"a": ["1", "2", "3"], "b": ["u", "v", "u"], "y": ["n", "m", "n"]})
    told, _ = seen_by(lambda: sx.read_table(columns, target="y"))
    assert {stage.what for stage, _ in told} == {"what columns hold: column", "as numbers: column"}


def test_checks():
    told, _ = seen_by(lambda: sx.check(X, Y > 0))
    whole = [stage for stage, within in told if not within]
    assert whole[-1].number <= whole[-1].total
    assert "separation" in {stage.note for stage in whole}


@pytest.mark.parametrize("name", SOLVERS)
def test_all_solvers_tell(name):
    told, model = seen_by(lambda: sx.LogisticRegression(solver=name, max_iter=5).fit(X, Y > 0))
    assert tuple(stage.record for stage, _ in told) == model.trace_
    assert {stage.solver for stage, _ in told} == {SOLVERS[name].name}


@pytest.mark.parametrize("name", ["newton", "lasso", "perceptron", "kozinec", "firth"])
def test_weights_are_told_in_the_units_of_the_columns(name):
    firth = (sx.LogisticRegression(bias_reduction="firth"), X, Y > 0)
    model, rows, y = firth if name == "firth" else MODELS[name]
    units = np.array([1.0, 1e-3, 50.0, 8.0])
    told, fitted = seen_by(lambda: clone(model).fit(7.0 + rows * units, y))
    runs = [(stage, within) for stage, within in told if isinstance(stage, Iteration)]
    # Firth's likelihood is maximised from three starts; the first one is the fit.
    last = [stage for stage, within in runs if not within or within[0].number == 1][-1]
    if name == "perceptron":  # it answers with a mean, after its last epoch
        assert last.W.shape == (1, 5)
        return
    np.testing.assert_allclose(last.W[:, 1:], fitted.coef_, rtol=1e-7)
    np.testing.assert_allclose(last.W[:, 0], fitted.intercept_, rtol=1e-7)
