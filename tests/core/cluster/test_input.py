"""Dask collections of every kind: unknown sizes, empty partitions, classes that a partition lacks, errors by name."""

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import InputError, LabelError, NotFiniteError, ParameterError, TableError, WeightError
from separatrix.core.cluster.cluster_rows import dask_table
from separatrix.core.rows.streamed import StreamedRows
from separatrix.core.rows.targets import CLASS_NUMBERS
from tests.core.cluster.tables import from_file, labelled

N, CHUNKS = 400, (100, 0, 150, 150)
X, Y = labelled(N, 5)


def on_dask(array, chunks=CHUNKS):
    return da.from_array(array, chunks=(chunks, *array.shape[1:]))


def frame(**columns):
    table = pd.DataFrame(X, columns=list("abcde")).assign(y=Y, **columns)
    return dd.from_pandas(table, npartitions=3, sort=False)


def near(model, other):
    assert model.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_allclose(model.coef_, other.coef_, rtol=1e-6, atol=1e-9)


@pytest.fixture(params=["a cluster", "this process"])
def anywhere(request, client):
    """A test runs twice: with a client of a cluster, and without one, when partitions are computed in this process."""
    if request.param == "this process":
        yield None
        return
    with client.as_current():
        yield client


def test_arrays_with_sizes_that_are_not_known(anywhere, tmp_path):
    unknown = from_file(X, tmp_path / "X.npy", CHUNKS, unknown=True), from_file(Y, tmp_path / "y.npy", CHUNKS, True)
    near(sx.LogisticRegression().fit(*unknown), sx.LogisticRegression().fit(X, Y))


def test_arrays_with_other_chunks_than_the_labels(anywhere):
    rows = da.from_array(X, chunks=(130, 2))
    near(sx.LogisticRegression().fit(rows, da.from_array(Y, chunks=99)), sx.LogisticRegression().fit(X, Y))
    near(sx.LogisticRegression().fit(rows, Y), sx.LogisticRegression().fit(X, Y))


def test_data_frames(anywhere):
    table = frame()
    model = sx.LogisticRegression().fit(table[list("abcde")], table["y"])
    assert model.feature_names_in_.tolist() == list("abcde")
    near(model, sx.LogisticRegression().fit(X, Y))
    few = table[table["a"] > 0.15]  # whole partitions may have no such row
    pandas = few.compute()
    near(
        sx.LogisticRegression().fit(few[list("abcde")], few["y"]),
        sx.LogisticRegression().fit(pandas[list("abcde")], pandas["y"]),
    )


def test_partitions_that_lack_classes_or_have_other_categories(anywhere):
    y = np.where(np.arange(N) < 100, "first", np.where(np.arange(N) < 250, "second", "third"))
    near(sx.LogisticRegression().fit(on_dask(X), on_dask(y)), sx.LogisticRegression().fit(X, y))
    parts = [dask.delayed(pd.Series)(pd.Categorical(y[k : k + 100])) for k in range(0, N, 100)]
    series = dd.from_delayed(parts, meta=pd.Series(pd.Categorical([], categories=["first"])), verify_meta=False)
    rows = dd.from_pandas(pd.DataFrame(X, columns=list("abcde")), chunksize=100, sort=False)
    near(sx.LogisticRegression().fit(rows, series), sx.LogisticRegression().fit(X, y))


def test_weights_and_single_precision(anywhere):
    weight = np.random.default_rng(0).integers(0, 3, N)
    model = sx.LogisticRegression().fit(on_dask(X), on_dask(Y), on_dask(weight))
    near(model, sx.LogisticRegression().fit(X, Y, weight))
    single = sx.LogisticRegression().fit(on_dask(X.astype(np.float32)), on_dask(Y))
    near(single, sx.LogisticRegression().fit(X.astype(np.float32), Y))
    assert single.decision_function(X.astype(np.float32)).dtype == np.float32


def test_sparse_chunks(anywhere):
    rows = on_dask(X).map_blocks(csr_array)
    near(sx.LogisticRegression().fit(rows, on_dask(Y)), sx.LogisticRegression().fit(csr_array(X), Y))


def named(error, words, rows, labels, weights=None):
    with pytest.raises(error, match=words):
        sx.LogisticRegression().fit(rows, labels, weights)


def test_errors_name_the_argument_and_the_partition(anywhere):
    labels = on_dask(Y)
    named(LabelError, "only one class, 'yes'", on_dask(X), on_dask(np.full(N, "yes")))
    named(LabelError, "in partition 2, row 4 is 0.5", on_dask(X), on_dask(np.where(np.arange(N) == 104, 0.5, 1.0)))
    missing = np.where(np.arange(N) == 251, None, Y).astype(object)
    named(LabelError, "in partition 3, row 1 has no label", on_dask(X), on_dask(missing))
    named(WeightError, r"row 0 of partition 2 has -1\.0", on_dask(X), labels, on_dask(0.0 - (np.arange(N) == 100)))
    named(WeightError, r"the largest is 1e\+308", on_dask(X), labels, on_dask(np.full(N, 1e308)))
    hole = X.copy()
    hole[260, 3] = np.nan
    named(NotFiniteError, "row 260, column 3 is NaN", on_dask(hole), labels)
    named(InputError, "y: it has 3 entries, and X has 400 rows", on_dask(X), da.from_array(Y[:3]))
    named(InputError, "y: requires y", on_dask(X), None)
    named(InputError, "X: it has 1 dimension; give", labels, labels)
    named(InputError, "X: it has 1 dimension; give", frame()["a"], frame()["y"])
    named(InputError, "X: it holds <U3, not numbers", labels[:, None], labels)
    named(TableError, "column 'kind' holds", frame(kind="text").drop(columns="y"), frame()["y"])


def test_partitions_that_do_not_fit_together_are_named(anywhere, tmp_path):
    rows = from_file(X, tmp_path / "X.npy", CHUNKS, unknown=True)
    other = from_file(Y, tmp_path / "y.npy", (100, 0, 151, 149), unknown=True)
    named(TableError, "partition [23] of X has 150 rows, and that of y has 1(51|49) labels", rows, other)
    named(
        InputError,
        "y: it has 2 partitions, X has 4, and their sizes",
        rows,
        from_file(Y, tmp_path / "z.npy", (1, 399), True),
    )
    mixed = on_dask(X).map_blocks(lambda block: csr_array(block) if len(block) == 100 else block, meta=np.empty((0, 0)))
    named(TableError, "partition 0 is sparse, but X is declared to be dense", mixed, on_dask(Y))


def test_one_versus_all_others_and_one_versus_one(anywhere):
    """They take Dask collections as the other classifiers do."""
    y = np.where(X[:, 1] > 0.2, "third", Y)
    for make in (sx.OneVsRestClassifier, sx.OneVsOneClassifier):
        ours, theirs = (
            make(sx.LogisticRegression()).fit(on_dask(X), on_dask(y)),
            make(sx.LogisticRegression()).fit(X, y),
        )
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9)
    weight = np.random.default_rng(0).integers(0, 3, N)
    ours = sx.OneVsRestClassifier().fit(on_dask(X), on_dask(y), on_dask(weight))
    near(ours, sx.OneVsRestClassifier().fit(X, y, weight))
    with pytest.raises(InputError, match=r"y: its shape is \(400, 2\); give one value per row"):
        sx.OneVsRestClassifier().fit(on_dask(X), da.from_array(np.tile([0, 1], (N, 1)), chunks=(100, 2)))


def test_partitions_of_more_digits_than_declared_are_refused(anywhere):
    """Otherwise their numbers would be rounded."""
    single = X.astype(np.float32)
    mixed = on_dask(single).map_blocks(
        lambda block: block.astype(np.float64) if len(block) == 150 else block, dtype=np.float32
    )
    words = "partition [23] holds float64, but X is declared to hold float32"
    named(TableError, words, mixed, on_dask(Y))
    near(sx.LogisticRegression().fit(mixed.astype(np.float64), on_dask(Y)), sx.LogisticRegression().fit(single, Y))
    tables = pd.DataFrame(single, columns=list("abcde"))
    parts = [dask.delayed(tables[:100]), dask.delayed(tables[100:].astype({"c": np.float64}))]
    rows = dd.from_delayed(parts, meta=tables[:0], verify_meta=False)
    labels = dd.from_delayed([dask.delayed(pd.Series(Y[:100])), dask.delayed(pd.Series(Y[100:]))])
    named(TableError, "partition 1 holds float64, but X is declared to hold float32", rows, labels)
    narrow = on_dask(single).map_blocks(lambda block: block.astype(np.float16), dtype=np.float32)
    near(sx.LogisticRegression().fit(narrow, on_dask(Y)), sx.LogisticRegression().fit(X.astype(np.float16), Y))


def test_functions_that_need_rows_in_memory_refuse_dask_collections_by_name():
    with pytest.raises(ParameterError, match="a Dask collection is not in memory, and 'check' needs rows in memory"):
        sx.check(on_dask(X), on_dask(Y))
    with pytest.raises(ParameterError, match="'compare' needs rows in memory"):
        sx.compare(frame().drop(columns="y"), frame()["y"])


def test_methods_that_need_rows_in_memory_say_so(anywhere):
    with pytest.raises(ParameterError, match="KozinecClassifier needs them there"):
        sx.KozinecClassifier().fit(on_dask(X), on_dask(Y))


IN_STEPS = {
    "perceptron": lambda: sx.Perceptron(),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "qda": lambda: sx.QuadraticDiscriminantAnalysis(),
    "one versus rest": lambda: sx.OneVsRestClassifier(sx.Perceptron()),
    "one versus one": lambda: sx.OneVsOneClassifier(sx.LinearDiscriminantAnalysis()),
}


@pytest.mark.parametrize("name", IN_STEPS)
def test_partial_fit_does_not_gather_dask_collections(name):
    classes = np.unique(Y)
    given = {
        "X": (
            (on_dask(X), Y),
            (frame().drop(columns="y"), Y),
            (on_dask(X), on_dask(Y)),
            (dask_table(on_dask(X), Y), None),
        ),
        "y": ((X, on_dask(Y)), (X, frame()["y"])),
    }
    for argument, calls in given.items():
        for call in calls:
            with pytest.raises(ParameterError, match=rf"{argument}: .*partial_fit takes rows in memory; use fit"):
                IN_STEPS[name]().partial_fit(*call, classes=classes)
    model = IN_STEPS[name]()
    for rows, labels in zip(on_dask(X).blocks, on_dask(Y).blocks, strict=True):
        if len(rows):
            model.partial_fit(rows.compute(), labels.compute(), classes=classes)
    assert model.classes_.tolist() == classes.tolist()


def test_partial_fit_does_not_gather_weights():
    with pytest.raises(ParameterError, match="sample_weight: it is a Dask collection"):
        sx.LinearDiscriminantAnalysis().partial_fit(X, Y, sample_weight=da.ones(N))


def test_predictions_are_dask_arrays(anywhere):
    table = frame()
    plain, with_names = sx.LogisticRegression().fit(X, Y), sx.LogisticRegression()
    with_names.fit(table[list("abcde")], table["y"])
    for rows, model in ((on_dask(X), plain), (table[list("abcde")], with_names)):
        for method in ("predict", "predict_proba", "decision_function", "predict_log_proba"):
            lazy = getattr(model, method)(rows)
            assert isinstance(lazy, da.Array)
            ours, theirs = lazy.compute(), getattr(model, method)(rows.compute())
            if method == "predict":
                np.testing.assert_array_equal(ours, theirs)
            else:  # products with other numbers of rows may differ in their last bits
                np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-15)
    with pytest.raises(ValueError, match="feature names"):
        with_names.predict(table[list("abcd")])
    assert plain.predict(on_dask(X)).chunks == (CHUNKS,)
    assert plain.score(on_dask(X), on_dask(Y)) == plain.score(X, Y)


@pytest.mark.parametrize("kind", [pytest.param("array", marks=pytest.mark.slow), "frame", "unknown sizes"])
def test_what_measures_a_model_gathers_no_rows(anywhere, kind, monkeypatch, tmp_path):
    plain, labels = pd.DataFrame(X, columns=list("abcde")), on_dask(Y)
    weight = np.arange(N) % 3
    rows, weights = on_dask(X), on_dask(weight)
    if kind == "frame":
        rows, labels, weights = frame()[list("abcde")], frame()["y"], frame(w=weight)["w"]
    elif kind == "unknown sizes":
        rows, labels = (from_file(part, tmp_path / f"{k}.npy", CHUNKS, True) for k, part in enumerate((X, Y)))
        weights = from_file(weight, tmp_path / "w.npy", CHUNKS, True)

    def refused(*_, **__):
        raise AssertionError("the rows are gathered")

    for gathering in (da.Array, dd.DataFrame):
        monkeypatch.setattr(gathering, "__array__", refused)
    model, weighted = (sx.LogisticRegression(C=np.inf).fit(plain, Y, sample_weight=given) for given in (None, weight))
    assert model.score(rows, labels) == model.score(plain, Y)
    assert model.score(rows, labels, weights) == pytest.approx(model.score(plain, Y, weight))
    assert model.certificate_.verify(rows, labels)
    assert weighted.certificate_.verify(rows, labels, weights)
    assert not weighted.certificate_.verify(rows, labels)
    ours, theirs = sx.evaluate(model, rows, labels), sx.evaluate(model, plain, Y)
    assert ours.accuracy == theirs.accuracy
    assert ours.log_loss == pytest.approx(theirs.log_loss)
    ours, theirs = sx.summary(model, rows, labels), sx.summary(model, plain, Y)
    assert str(ours) == str(theirs)
    piped = make_pipeline("passthrough", sx.LogisticRegression(C=np.inf)).fit(plain, Y)
    assert str(sx.summary(piped, rows, labels)) == str(theirs)
    assert sx.evaluate(piped, rows, labels).accuracy == model.score(plain, Y)
    verdict = sx.separability(rows, labels)
    assert type(verdict) is type(sx.separability(X, Y))
    assert verdict.verify(rows, labels)
    assert verdict.verify(X, Y)
    assert verdict.exact_cost(rows) == verdict.exact_cost(X)


def test_functions_that_read_files_and_frames_say_where_dask_collections_are_taken():
    for read in (sx.read_table, lambda data: sx.fit_table("logistic", data)):
        with pytest.raises(TableError, match=r"got a Dask collection; give a path, .*; fit, evaluate and summary take"):
            read(frame())
    with pytest.raises(TableError, match="got a Dask collection; give it to fit directly, or to dask_table"):
        sx.scan(frame())
    with pytest.raises(ParameterError, match="a Dask collection is not in memory, and 'check' needs rows in memory"):
        sx.check(frame(), target="y")


def test_a_dask_array_has_the_columns_of_a_model_in_their_order(anywhere):
    """The names of its columns in messages, x0, x1, ..., may be names of other columns of the model."""
    names = ["x1", "x0", "x4", "x2", "x3"]
    model = sx.LogisticRegression().fit(pd.DataFrame(X, columns=names), Y)
    assert model.score(on_dask(X), on_dask(Y)) == model.score(pd.DataFrame(X, columns=names), Y)
    assert model.certificate_.verify(on_dask(X), on_dask(Y))
    with pytest.raises(TableError, match="it has 4 columns, and the model was fitted to 5; give"):
        sx.evaluate(model, on_dask(X)[:, :4], on_dask(Y))


def test_a_table_serves_several_fits_and_its_certificates(anywhere):
    table = sx.dask_table(on_dask(X), on_dask(Y))
    assert isinstance(table.rows(CLASS_NUMBERS), StreamedRows) == (anywhere is None)
    model = sx.LogisticRegression(C=10.0).fit(table)
    near(model, sx.LogisticRegression(C=10.0).fit(X, Y))
    near(sx.FisherDiscriminant().fit(table), sx.FisherDiscriminant().fit(X, Y))
    assert model.certificate_.verify(table)
    assert sx.evaluate(model, table).accuracy == sx.evaluate(model, X, Y).accuracy


@pytest.mark.filterwarnings("ignore:The `numpy.may_share_memory`:FutureWarning")  # StandardScaler calls it
def test_pipelines_and_searches(anywhere):
    """Steps that take Dask collections work in a pipeline; a search selects rows by index, as Dask arrays allow."""
    near(
        make_pipeline("passthrough", sx.LogisticRegression()).fit(on_dask(X), on_dask(Y))[-1],
        sx.LogisticRegression().fit(X, Y),
    )
    scaled = make_pipeline(StandardScaler(), sx.LogisticRegression())  # the first step gathers the rows
    ours, theirs = (
        clone(scaled).fit(*given)
        for given in (
            (
                on_dask(X),
                on_dask(Y),
            ),
            (X, Y),
        )
    )
    near(ours[-1], theirs[-1])
    assert ours.score(on_dask(X), on_dask(Y)) == theirs.score(X, Y)
    weight = np.random.default_rng(0).integers(0, 3, N)
    near(sx.LogisticRegression().fit(X, on_dask(Y), on_dask(weight)), sx.LogisticRegression().fit(X, Y, weight))
    chosen = []
    for rows, labels in ((on_dask(X), on_dask(Y)), (X, Y)):
        search = GridSearchCV(sx.LogisticRegression(), {"C": [0.01, 1.0]}, cv=3, error_score="raise")
        chosen.append(search.fit(rows, labels))
    ours, theirs = chosen
    assert ours.best_params_ == theirs.best_params_
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])
