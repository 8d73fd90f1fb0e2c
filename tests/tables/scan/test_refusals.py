"""What needs rows in memory refuses tables outside memory by name, and says what to use instead."""

import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.covariance import OAS
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError, WeightError
from tests.tables.scan.tables import labelled, written


@pytest.fixture(scope="module")
def scan(tmp_path_factory):
    return sx.scan(written(tmp_path_factory.mktemp("table"), *labelled(1_000)), target="y")


FITS = {
    "C: got 'auto', and the rows are not in memory": lambda: sx.LogisticRegression(C="auto"),
    "solver: 'dual' needs rows in memory": lambda: sx.LogisticRegression(solver="dual"),
    "shrinkage: got 'auto'": lambda: sx.LinearDiscriminantAnalysis(shrinkage="auto"),
    "shrinkage: got 'auto', and": lambda: sx.QuadraticDiscriminantAnalysis(shrinkage="auto"),
    "covariance_estimator: got OAS": lambda: sx.LinearDiscriminantAnalysis(covariance_estimator=OAS()),
    "KozinecClassifier needs them there": lambda: sx.KozinecClassifier(),
    "MaxMarginClassifier needs them there": lambda: sx.MaxMarginClassifier(),
    "estimator: got RandomForestClassifier": lambda: sx.OneVsRestClassifier(RandomForestClassifier()),
    "it is a table outside memory": lambda: make_pipeline(StandardScaler(), sx.LogisticRegression()),
    "is a table outside memory, and": lambda: GridSearchCV(sx.LogisticRegression(), {"C": [1.0, 2.0]}),
}


@pytest.mark.parametrize("message", FITS)
def test_fits(scan, message):
    with pytest.raises(InputError, match=message):
        FITS[message]().fit(scan)


def test_an_offset(scan):
    with pytest.raises(InputError, match="offset: got one, and the rows are not in memory"):
        sx.LogisticRegression().fit(scan, offset=np.zeros(1_000))


FUNCTIONS = {
    "check": lambda model, scan: sx.check(scan),
    "compare": lambda model, scan: sx.compare(scan),
    "penalty_path": lambda model, scan: sx.penalty_path(scan),
    "reliability": lambda model, scan: sx.reliability(model, scan),
    "report": lambda model, scan: sx.report(model, scan),
    "from_estimator": lambda model, scan: sx.plots.RocDisplay.from_estimator(model, scan),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(scan, name):
    model = sx.LogisticRegression().fit(scan)
    with pytest.raises(InputError, match=f"is not in memory, and '{name}' needs rows in memory: "):
        FUNCTIONS[name](model, scan)


def test_no_array_is_made_of_a_table(scan):
    with pytest.raises(InputError, match="this function needs an array"):
        np.asarray(scan)


@pytest.mark.parametrize("largest", [1e308, 1e-300])
@pytest.mark.parametrize("settings", [{}, {"cache": False}, {"cache": False, "classes": ["a", "b"]}])
def test_weights_that_are_refused_in_memory_are_refused(tmp_path, largest, settings):
    X, y, weight = np.arange(4.0)[:, None], np.array(["a", "b", "a", "b"]), np.array([0.0, largest, largest, largest])
    pq.write_table(pa.table({"x": X[:, 0], "y": y, "w": weight}), tmp_path / "table.parquet")
    with pytest.raises(WeightError, match=f"sample_weight: the largest is {re.escape(str(largest))}; rescale them"):
        sx.LogisticRegression().fit(X, y, weight)
    table = sx.scan(tmp_path / "table.parquet", target="y", weight="w", **settings)
    words = rf"weight: the largest weight of .*table.parquet is {re.escape(str(largest))}; rescale them"
    with pytest.raises(WeightError, match=words):
        sx.LogisticRegression().fit(table)


def test_a_scan_without_a_target_names_the_column_that_may_have_the_labels(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,kind\n1,a\n2,b\n")
    with pytest.raises(InputError, match="if it has the labels, name it with target='kind'; otherwise leave it out"):
        sx.scan(path)
    path.write_text("x,kind,day\n1,a,2020-01-01\n2,b,2020-01-02\n")
    words = r"columns do not hold numbers: 'kind' \(string\), 'day' \(date32\[day\]\); "
    with pytest.raises(InputError, match=words + "if one of them has the labels, name it, as with target='kind'"):
        sx.scan(path)
    with pytest.raises(InputError, match=words + r"leave them out with drop=\['kind', 'day'\], or turn them into"):
        sx.scan(path, target="x")
    path.write_text("x,kind\n1,a\n2,b\n")
    table = sx.scan(path, target="kind")
    assert repr(table) == f"<Scan of {path}: 1 column, target='kind'>"


@pytest.mark.parametrize("memory", ["1kB", 1000, "400MB"])
def test_a_memory_below_what_is_possible_is_refused_with_the_smallest(tmp_path, memory):
    """The command line refuses ``--memory`` with the same words."""
    files = written(tmp_path, *labelled(100))
    columns = len(sx.scan(files, target="y").columns) + 1
    least = 420 + 3 * columns
    problem = f"memory: got {memory}, and a table of {columns} columns takes about {least} MB in batches"
    with pytest.raises(ParameterError, match=f"^{problem}; give {least}MB or more"):
        sx.scan(files, target="y", memory=memory)
    assert sx.scan(files, target="y", memory=f"{least}MB").memory == least * 10**6
