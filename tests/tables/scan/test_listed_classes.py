"""With the classes listed, labels are numbered in the first pass, and no pass over their column precedes it."""

import pickle

import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.base.errors import LabelError
from separatrix.tables import table_parts
from tests.tables.scan.tables import labelled, written

N = 150_000


class Opened:
    """A function that gives a table as an Arrow stream, and counts how often it is called and what is read."""

    def __init__(self, table, rows_per_batch=20_000):
        self.table, self.rows_per_batch, self.calls = table, rows_per_batch, 0

    def __call__(self):
        self.calls += 1
        return self.table.to_reader(self.rows_per_batch)


@pytest.fixture(scope="module", params=[2, 3], ids=["two", "three"])
def rows(request):
    X, y = labelled(N, n_classes=request.param)
    return X, y, pa.table({**{f"x{j}": X[:, j] for j in range(X.shape[1])}, "y": y})


@pytest.mark.parametrize(
    "model",
    [sx.LogisticRegression(), sx.LogisticRegression(C=np.inf), sx.LinearSVC(), sx.LinearDiscriminantAnalysis()],
    ids=["logistic", "likelihood", "svc", "lda"],
)
def test_each_read_of_the_source_is_a_pass_of_the_fit(rows, model):
    X, y, table = rows
    without, listed = Opened(table), Opened(table)
    fitted = model.fit(sx.scan(without, target="y", cache=False))
    expected = fitted.coef_.copy()
    fitted = model.fit(sx.scan(listed, target="y", cache=False, classes=sorted(set(y))))
    assert listed.calls == without.calls - 1
    if not isinstance(model, sx.LinearDiscriminantAnalysis):  # its certificate reads the rows after the fit
        assert listed.calls == fitted.certificate_.passes + 1  # one for the schema
    assert fitted.certificate_.n_rows == N
    assert np.array_equal(fitted.coef_, expected)
    assert np.array_equal(fitted.coef_, model.fit(X, y).coef_)


@pytest.mark.parametrize("rows_per_file", [40_000, 90_000])
def test_parquet_files_are_read_as_often_as_there_are_passes(tmp_path, monkeypatch, rows_per_file):
    X, y = labelled(N)
    reads = []
    from separatrix.tables.file_batches import ParquetBatches

    read = ParquetBatches.read

    def counted(self, columns, rows=None):
        reads.append(list(columns))
        return read(self, columns, rows)

    monkeypatch.setattr(ParquetBatches, "read", counted)
    files = written(tmp_path, X, y, files=-(-N // rows_per_file))
    model = sx.LogisticRegression().fit(sx.scan(files, target="y", cache=False, classes=["a", "b"]))
    assert len(reads) == model.certificate_.passes
    assert all(len(columns) == X.shape[1] + 1 for columns in reads)
    assert np.array_equal(model.coef_, sx.LogisticRegression().fit(X, y).coef_)


def test_a_label_that_is_not_listed_is_named_with_its_row_and_file(tmp_path):
    X, y = labelled(60_000)
    y[45_000] = "z"
    files = written(tmp_path, X, y, files=2)
    scan = sx.scan(files, target="y", cache=False, classes=["a", "b"])
    with pytest.raises(LabelError, match=r"row 15001 of 1.parquet has the label 'z' in column 'y'; list all labels"):
        sx.LogisticRegression().fit(scan)


@pytest.mark.parametrize("cache", [None, False])
@pytest.mark.parametrize(("labels", "classes"), [((0, 1), [0, 1]), ((1, 2), ["1", "2"]), (("1", "x"), ["1", "x"])])
def test_labels_of_text_files_mean_what_the_listed_classes_are(tmp_path, cache, labels, classes):
    """The first rows have one label only, of which "1" alone would read as a number."""
    X, _ = labelled(3_000)
    y = np.where(np.arange(3_000) < 1_000, 0, np.arange(3_000) % 2)
    lines = [f"{a!r},{b!r},{labels[k]}" for (a, b), k in zip(X[:, :2].tolist(), y, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["u,v,y", *lines]))
    model = sx.LogisticRegression().fit(sx.scan(path, target="y", cache=cache, classes=classes))
    assert model.classes_.tolist() == classes
    assert np.allclose(model.coef_, sx.LogisticRegression().fit(X[:, :2], y).coef_, rtol=1e-9)


def test_a_listed_class_without_rows_is_left_out_of_the_fit(tmp_path):
    X, y = labelled(20_000)
    files = written(tmp_path, X, y)
    model = sx.LogisticRegression().fit(sx.scan(files, target="y", cache=False, classes=["a", "b", "c"]))
    cached = sx.LogisticRegression().fit(sx.scan(files, target="y", classes=["a", "b", "c"]))
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert np.array_equal(model.coef_, cached.coef_)
    assert not (model.predict(sx.scan(files, target="y")) == "c").any()


def test_rows_in_the_order_of_their_classes_give_the_same_fit(tmp_path, monkeypatch):
    """The first part lacks a class, so the column of labels is read in a pass of its own."""
    monkeypatch.setattr(table_parts, "MOST_PARTS_KEPT", 1)
    X, y = labelled(600_000)
    order = np.argsort(y, kind="stable")[::-1]
    files = written(tmp_path, X[order], y[order])
    scan = sx.scan(files, target="y", cache=False, classes=["a", "b"], memory="500MB")
    assert (next(scan.table.parts()).labels.to_numpy(zero_copy_only=False) == "b").all()
    again = sx.scan(files, target="y", cache=False, memory="500MB")
    assert np.array_equal(sx.LogisticRegression().fit(scan).coef_, sx.LogisticRegression().fit(again).coef_)


def test_weights_are_counted_and_a_second_fit_uses_the_same_scan(tmp_path):
    X, y = labelled(50_000)
    weight = np.arange(len(y)) % 3 + 0.5
    scan = sx.scan(written(tmp_path, X, y, weight), "y", "w", ["a", "b"], cache=False)
    for model in (sx.LinearDiscriminantAnalysis(), sx.LogisticRegression(class_weight="balanced")):
        expected = type(model)(**model.get_params()).fit(X, y, sample_weight=weight).coef_
        assert np.allclose(model.fit(scan).coef_, expected, rtol=1e-9)
    assert scan.totals.weight.sum() == weight.sum()


def test_a_scan_that_has_looked_at_its_first_rows_can_be_sent_to_another_process(tmp_path):
    X, y = labelled(5_000)
    scan = sx.scan(written(tmp_path, X, y), target="y", cache=False, classes=["a", "b"])
    assert scan.seen_totals.rows.sum() > 0
    sent = pickle.loads(pickle.dumps(scan))
    assert np.array_equal(sx.LogisticRegression().fit(sent).coef_, sx.LogisticRegression().fit(scan).coef_)
