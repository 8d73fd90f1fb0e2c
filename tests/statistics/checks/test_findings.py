"""Each check on a small set that has what it looks for, and on one that has not."""

import re

import numpy as np
import pytest
from scipy.sparse import csr_array

import separatrix as sx
from separatrix.core.base.errors import LabelError, ParameterError
from separatrix.core.proofs.overlap import MOST_EXACT_ROWS
from separatrix.statistics.checks import CHECKS
from separatrix.statistics.finding import Checks, Finding


def plain(n=120, d=3, K=2, seed=0):
    """Overlapping classes of like sizes, columns of like scales, nothing odd."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % K
    X = rng.standard_normal((n, d)).round(6)
    X[:, 0] += 0.8 * codes
    return X, codes


def one(X, y, check, names=None):
    """The findings of one check alone, by severity."""
    return {finding.severity: finding for finding in sx.check(X, y, names, only=[check]).of(check)}


def test_a_plain_set_is_fine_throughout():
    found = sx.check(*plain())
    assert {finding.severity for finding in found} == {"ok"}
    assert found.worst == "ok"
    assert {"leakage", "separation", "index", "collinear", "leverage", "duplicates", "constant"} <= {
        f.check for f in found
    }


@pytest.mark.parametrize("K", [2, 3])
def test_a_plain_sparse_set_says_what_the_dense_one_does(K):
    X, y = plain(K=K)
    X[np.abs(X) < 0.3] = 0
    dense, sparse = sx.check(X, y), sx.check(csr_array(X), y)
    assert str(dense) == str(sparse)


def test_missing_values_are_counted_and_filled():
    X, y = plain()
    X[3, 1] = np.nan
    X[5:15, 2] = np.nan
    found = sx.check(X, y, ["a", "b", "c"])
    (missing,) = found.of("missing")
    assert missing.facts["missing"] == {"c": 10, "b": 1}
    assert missing.severity == "problem"  # a fit stops at them
    assert "means" in missing.remedy
    assert "missing='impute'" in missing.remedy
    assert found.of("separation")[0].facts["verdict"] == "Inseparable"
    assert np.isnan(X[3, 1])


def test_missing_values_of_a_sparse_column_are_filled_by_its_mean_over_all_rows():
    dense, y = plain()
    dense[np.abs(dense) < 0.5] = 0
    dense[7, 1] = np.nan
    X = csr_array(dense)
    assert str(sx.check(X, y)) == str(sx.check(dense, y))


def test_separability_comes_with_its_proof():
    X, y = plain()
    rows = one(X, y, "separation")["ok"]
    assert rows.facts["verified"]
    assert all(str(row) in rows.facts["proof"] for row in rows.facts["rows"][:3])
    assert one(X + 9 * y[:, None], y, "separation")["warning"].facts["verdict"] == "Separable"


def test_quasi_separation_names_the_category():
    rng = np.random.default_rng(1)
    y = np.arange(80) % 2
    X = np.column_stack([rng.standard_normal(80), (y == 1) & (rng.random(80) < 0.4)]).astype(float)
    found = one(X, y, "separation", ["age", "city=Brno"])["warning"]
    assert found.facts == {**found.facts, "verdict": "QuasiSeparable", "columns": ["city=Brno"], "verified": True}
    assert "the category 'Brno' of 'city'" in found.sentence


def test_columns_that_follow_but_for_rounding_leave_no_doubt():
    X, y = plain(400)
    X = np.column_stack([X, 0.1 * X[:, 0] + X[:, 1] / 3])
    assert type(sx.separability(X, y)).__name__ == "Doubtful"
    found = one(X, y, "separation", ["a", "b", "c", "d"])["ok"]
    assert "without 'd'" in found.sentence
    assert found.facts["verified"]


def test_too_many_columns_for_a_proof_are_said_to_be():
    X = np.eye(MOST_EXACT_ROWS + 1)
    assert "not checked" in one(X, np.arange(len(X)) % 2, "separation")["note"].title


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_an_exact_relation_is_found_and_written_down(make):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4))
    X[:, 3] = 2 * X[:, 0] - X[:, 2] + 5
    found = one(make(X), np.arange(200) % 2, "collinear", list("acbd"))["warning"]
    assert found.facts["exact"] == [["d", "a", "b"]]
    assert re.search(r"'d' = 2 'a' − 'b' \+ 5 within \de-1[456] ", found.sentence)


def test_relations_of_unlike_units_and_of_two_sets():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 5))
    X = np.column_stack([A, 1e6 * A[:, 0], A[:, 1] + A[:, 2] + A[:, 3]]) * [1, 1e-5, 1e-5, 1e-5, 1e3, 1, 1e-5] + 1.0
    found = one(X, np.arange(300) % 2, "collinear", list("abcdefg"))["warning"]
    assert sorted(map(sorted, found.facts["exact"])) == [["a", "f"], ["b", "c", "d", "g"]]
    assert "'f' = 1e+06 'a'" in found.sentence
    assert "'g' = 'b' + 'c' + 'd'" in found.sentence


def test_relations_are_the_shortest_and_are_cut_short():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((300, 12))
    total = A.sum(axis=1)
    X = np.column_stack([A, total, 2 * total])  # the last is twice the one before, and both are sums of twelve
    found = one(X, np.arange(300) % 2, "collinear", [f"x{j}" for j in range(14)])["warning"]
    assert "'x13' = 2 'x12'" in found.sentence
    assert "… and 7 more within" in found.sentence
    assert found.sentence.count(" + ") <= 4


def test_a_relation_of_the_sample_that_some_row_breaks_is_not_exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30_000, 2))
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    y = np.arange(30_000) % 2
    assert "exact" in one(X, y, "collinear")["warning"].facts
    X[::3, 2] += 1e-3 * rng.standard_normal(10_000)
    assert all("exact" not in finding.facts for finding in one(X, y, "collinear").values())


def test_near_relations_come_with_the_inflation():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 3))
    X = np.column_stack([X, 3 * X[:, 1] + 0.1 * rng.standard_normal(500)])
    found = one(X, np.arange(500) % 2, "collinear", list("abcd"))["note"]
    (column,) = found.facts["near"]
    others = [j for j in range(4) if "abcd"[j] != column]
    Z = np.column_stack([np.ones(500), X[:, others]])
    x = X[:, "abcd".index(column)]
    left = x - Z @ np.linalg.lstsq(Z, x, rcond=None)[0]
    assert found.facts["near"][column] == pytest.approx(np.var(x) / np.var(left), rel=1e-6)
    standard = (X - X.mean(axis=0)) / X.std(axis=0)
    assert found.facts["condition"] == pytest.approx(np.linalg.cond(standard), rel=1e-6)
    assert one(X[:, :3], np.arange(500) % 2, "collinear")["ok"].facts["condition"] < 1.5


def test_constants_and_near_constants():
    X, y = plain(1000)
    X[:, 1], X[:, 2] = 7, 2
    X[5, 2] = 3
    found = [f for f in sx.check(X, y, ["a", "b", "c"], only=["constant"]) if f.check == "constant"]
    assert [f.facts["columns"] for f in found] == [["b"], {"c": 1}]
    assert "ok" in one(X[:, :1], y, "constant")


def test_a_sparse_column_is_nearly_constant_only_where_hardly_any_row_has_it():
    rng = np.random.default_rng(0)
    X = (rng.random((400, 3)) < 0.02).astype(float)
    assert "ok" in one(csr_array(X), np.arange(400) % 2, "constant")
    X[:, 2] = 0
    X[9, 2] = 4
    assert one(csr_array(X), np.arange(400) % 2, "constant")["note"].facts["columns"] == {"x2": 1}


def test_unlike_scales():
    X, y = plain()
    found = one(X * [1, 1e4, 1], y, "scales", list("abc"))["note"]
    assert found.facts["largest"] == "b"
    assert found.facts["ratio"] > 1e3
    assert "ok" in one(X * [1, 10, 1], y, "scales")


def test_imbalance_and_the_accuracy_of_guessing():
    X, _ = plain(1000)
    y = np.where(np.arange(1000) % 20 == 0, "yes", "no")
    found = one(X, y, "balance")["note"]
    assert found.facts == {
        "majority": "no",
        "accuracy_of_guessing": 0.95,
        "smallest": "yes",
        "smallest_rows": 50,
    }
    assert "95.0 %" in found.sentence
    assert "warning" in one(X, np.arange(1000) < 5, "balance")
    assert "ok" in one(X, np.arange(1000) % 3, "balance")


def test_repeated_rows_and_what_conflicting_labels_allow():
    X, y = plain(100)
    X[[10, 20, 30]] = X[0]
    X[41] = X[40]
    y[[0, 10, 20, 30]], y[[40, 41]] = [0, 0, 0, 1], 1
    found = sx.check(X, y, only=["duplicates"])
    (twice,), (torn,) = found.of("duplicates"), found.of("conflicts")
    assert twice.facts["repeated_rows"] == 4
    assert twice.facts["rows"] == [0, 10, 20, 30]
    assert torn.facts["rows"] == [[0, 10, 20, 30]]
    assert torn.facts["best_accuracy"] == 0.99
    assert torn.severity == "warning"
    y[30] = 0
    assert sx.check(X, y, only=["duplicates"]).of("conflicts")[0].severity == "ok"


def test_a_row_number_hides_no_repeated_row():
    X, y = plain(60)
    X[7] = X[3]
    with_index = np.column_stack([np.arange(60), X])
    found = sx.check(with_index, y, ["id", "a", "b", "c"])
    assert found.of("index")[0].severity == "warning"
    assert found.of("duplicates")[0].facts["rows"] == [3, 7]
    assert "'id'" in found.of("duplicates")[0].sentence


@pytest.mark.parametrize("make", [np.asarray, csr_array])
def test_a_column_that_tells_the_class(make):
    X, y = plain()
    X[:, 1] = 3 * y - 1 + 0.5 * np.sin(np.arange(120))
    found = one(make(X), y, "leakage", list("abc"))
    assert found["problem"].facts["columns"] == ["b"]
    X[4, 1] = 1.8
    found = one(make(X), y, "leakage", list("abc"))
    assert "problem" not in found
    assert found["warning"].facts["columns"]["b"] == pytest.approx(sx_area(X[:, 1], y), abs=1e-12)
    assert "ok" in one(make(X[:, [0, 2]]), y, "leakage")


def sx_area(x, y):
    """P(x of class 1 > x of class 0), pair by pair."""
    pairs = x[y == 1][:, None] - x[y == 0][None, :]
    return np.mean((pairs > 0) + 0.5 * (pairs == 0))


def test_one_class_of_several_told_by_a_column_is_a_warning():
    X, y = plain(K=3)
    X[:, 2] += 9 * (y == 2)
    found = one(X, y, "leakage", list("abc"))
    assert "problem" not in found
    assert found["warning"].facts["columns"] == {"c": 1.0}
    X[:, 2] = y
    assert one(X, y, "leakage", list("abc"))["problem"].facts["columns"] == ["c"]


def test_areas_of_a_sample_are_confirmed_on_all_rows():
    rng = np.random.default_rng(0)
    n = 50_000
    y = np.arange(n) % 2
    X = np.column_stack([rng.standard_normal(n) + 4 * y, rng.standard_normal(n)])
    found = one(X, y, "leakage", ["a", "b"])["warning"]
    order = np.argsort(X[:, 0])
    ranks = np.empty(n)
    ranks[order] = np.arange(1, n + 1)
    assert found.facts["columns"] == {
        "a": pytest.approx((ranks[y == 1].sum() - n / 2 * (n / 2 + 1) / 2) / (n / 2) ** 2)
    }


def test_categories_with_one_class_only():
    X, y = plain()
    X[:, 1] = (y == 1) & (np.arange(120) % 3 == 0)
    X[:, 2] = np.arange(120) == 7
    found = one(X, y, "categories", ["a", "city=Brno", "city=Zlín"])["warning"]
    assert found.facts["categories"] == {"'city' = Brno": 20}
    X[2, 1] = 1
    by_chance = one(X, y, "categories", ["a", "city=Brno", "city=Zlín"])["note"]
    assert by_chance.facts["categories"] == {"'city' = Zlín": 1}
    X[8, 2] = 1
    assert "at least two classes" in one(X, y, "categories", ["a", "city=Brno", "city=Zlín"])["ok"].sentence


def test_a_level_of_few_rows_is_named_wherever_it_separates():
    """What one line of the output blames for a separation no other line may call fine."""
    X, y = plain()
    X[:, 1] = (y == 1) & (np.arange(120) % 3 == 0)
    X[:, 2] = (y == 0) & (np.arange(120) >= 110)
    names = ["age", "school=Preschool", "work=Without-pay"]
    checks = sx.check(X, y, names)
    (separation,) = checks.of("separation")
    assert sorted(separation.facts["columns"]) == names[1:]
    assert "'Preschool' of 'school'" in separation.sentence
    assert "'Without-pay' of 'work'" in separation.sentence
    listed = [finding.facts["categories"] for finding in checks.of("categories")]
    assert {name for levels in listed for name in levels} == {"'school' = Preschool", "'work' = Without-pay"}


def test_what_is_called_fine_states_its_threshold():
    X, y = plain()
    y = (np.arange(120) < 15).astype(int)  # 12.5 % of the rows
    assert one(X, y, "balance")["ok"].title == "Every class has at least 10 % of the rows."
    assert "1000 times" in one(X, y, "scales")["ok"].title


def test_the_level_without_a_column_is_a_category_too():
    X, y = plain()
    X[:, 1] = (y == 0) | (np.arange(120) % 2 == 0) | (np.arange(120) % 3 > 0)
    found = one(X, y, "categories", ["a", "student=Yes", "c"])["warning"]
    (name,) = found.facts["categories"]
    assert name == "'student' = 0"


def test_a_row_that_dominates_is_named_with_its_column():
    X, y = plain()
    X[17, 2] = 1e4
    found = one(X, y, "leverage", list("abc"))["warning"]
    assert found.facts["rows"] == [17]
    assert "'c'" in found.sentence
    H = np.column_stack([np.ones(120), X])
    assert found.facts["leverage"][0] == pytest.approx(np.diag(H @ np.linalg.pinv(H))[17])
    assert str(found) == str(one(csr_array(X), y, "leverage", list("abc"))["warning"])


def test_fewer_rows_than_columns():
    X, y = plain(40, 30)
    assert one(X, y, "rows")["note"].facts["classes"] == [0, 1]
    assert "no more rows" in one(X[:20], y[:20], "rows")["warning"].title
    assert "ok" in one(X[:, :3], y, "rows")


@pytest.mark.parametrize(
    ("y", "word"),
    [
        (np.linspace(0.5, 7.3, 120), "measurement"),
        (np.arange(120), "measurement"),
        ([f"name {k}" for k in range(120)], "too many"),
        (["a"] * 120, "one class"),
    ],
)
def test_a_target_that_makes_no_classes_is_a_problem_and_stops_nothing(y, word):
    X, _ = plain()
    X[3] = X[4]
    found = sx.check(X, y)
    assert word in found.problems[0].title
    assert found.of("duplicates")[0].facts["repeated_rows"] == 1
    assert not found.of("separation")
    assert not found.counts


def test_arguments_are_refused_by_name():
    X, y = plain()
    with pytest.raises(ParameterError, match="only: got 'speed'"):
        sx.check(X, y, only=["speed"])
    with pytest.raises(ParameterError, match="120"):
        sx.check(X[:5], y)
    with pytest.raises(ParameterError, match="names"):
        sx.check(X, y, ["a"])
    with pytest.raises(LabelError, match="no labels"):
        sx.check(np.empty((0, 2)), [])
    with pytest.raises(ParameterError, match="severity"):
        Finding("bad", "x", "", "")


@pytest.mark.usefixtures("undrawn")
def test_findings_fit_a_report():
    X, y = plain()
    found = sx.check(np.column_stack([X, y]), y)
    page = sx.report(sx.LogisticRegression().fit(X, y), X, y, checks=found.for_report())
    assert found.problems[0].title in page
    assert {severity for severity, _, _ in found.for_report()} == {"error", "warning", "ok"}


def test_every_check_by_name_and_worst_first():
    found = sx.check(*plain())
    assert set(CHECKS) - {"categories"} <= {finding.check for finding in found}
    parts = tuple(Finding(severity, "x", "", "") for severity in ("ok", "note", "problem", "warning"))
    assert [one.severity for one in Checks(parts, 1, 1)] == ["problem", "warning", "note", "ok"]


def test_an_overlap_is_told_in_a_plain_sentence_and_its_proof_is_a_fact():
    X, y = plain()
    overlap = one(X, y, "separation")["ok"]
    assert overlap.sentence.startswith("No linear boundary has every row on the side of its class")
    assert "λ" not in overlap.sentence
    assert overlap.facts["proof"] == sx.separability(X, y, names=["x0", "x1", "x2"]).explain()


def test_the_scale_of_a_single_column_is_no_range():
    X, y = plain(d=1)
    assert re.fullmatch(
        r"One column varies, 'x0', with a standard deviation of [\d.]+\.", one(X, y, "scales")["ok"].sentence
    )
