"""An export decides by a threshold, by costs or by class shares as ``predict`` does, in every engine."""

import numpy as np
import pyarrow as pa
import pytest

import separatrix as sx
from separatrix.core.base.errors import ParameterError
from separatrix.output.formula import formula_of
from separatrix.output.onnx import graph_of
from separatrix.output.python import program_text
from separatrix.output.sql import select_statement
from separatrix.statistics.model_decisions import DecisionRule, rule_for

from .sql_engines import LONG, in_duckdb, in_sqlite

LINKS = ("logit", "probit", "cloglog")
RULES = [
    {"threshold": 0.2},
    {"threshold": 0.0},
    {"threshold": 1.0},
    {"cost": {"FP": 1, "FN": 7}},
    {"prior": [0.9, 0.1]},
    {"prior": {"no": 2, "yes": 3}, "threshold": 0.75},
    {"prior": [1e-200, 1.0]},
]


def in_sql(engine, dialect):
    def labels(formula, X):
        table = pa.table({"id": range(len(X)), **{f"x{j}": x for j, x in enumerate(X.T)}})
        rows = engine(table, select_statement(formula, dialect, keep=["id"]))
        return [row[-1] for row in rows]

    return labels


def in_onnx(formula, X):
    import onnxruntime

    session = onnxruntime.InferenceSession(graph_of(formula).SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(["label"], {"X": X})[0].tolist()


def in_python(formula, X):
    names = {"__name__": "exported"}
    exec(program_text(formula), names)
    return [names["predict"]({f"x{j}": x for j, x in enumerate(row)}) for row in X.tolist()]


ENGINES = {
    "duckdb": in_sql(in_duckdb, "duckdb"),
    "sqlite": in_sql(in_sqlite, "sqlite"),
    "onnx": in_onnx,
    "python": in_python,
}


def predicted(scorer, rule, X):
    """As ``separatrix predict`` does."""
    return scorer.classes[rule.chosen(rule.probabilities(scorer, X))].tolist()


def neighbours(z, steps):
    """The doubles next to z, as many below as above, in order."""
    below, above = [z], [z]
    for _ in range(steps):
        below.append(np.nextafter(below[-1], -np.inf))
        above.append(np.nextafter(above[-1], np.inf))
    return np.array([*below[:0:-1], *above])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("settings", RULES, ids=str)
def test_two_classes(engine, link, settings):
    rng = np.random.default_rng(7)
    scorer = sx.Scorer(rng.normal(size=(1, 5)), np.array(["no", "yes"]), link)
    rule = rule_for(scorer, **settings, fitted_prior=[30, 70])
    n = 3000 if link == "logit" else 500
    X = rng.normal(size=(n, 4)) * np.exp(rng.normal(0, 1.5, (n, 1)))
    expected = predicted(scorer, rule, X)
    assert ENGINES[engine](formula_of(scorer, rule=rule), X) == expected
    assert len(set(expected)) == 2 or settings in ({"threshold": 0.0}, {"prior": [1e-200, 1.0]})


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("settings", RULES, ids=str)
def test_scores_next_to_the_threshold(engine, link, settings):
    """The label changes at the same double as that of ``predict``; the score is the column itself."""
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array(["no", "yes"]), link)
    rule = rule_for(scorer, **settings, fitted_prior=[30, 70])
    least = rule.least_score(scorer.link)
    assert np.isfinite(least) == (settings != {"threshold": 0.0})
    X = neighbours(least if np.isfinite(least) else 0.0, 60)[:, None]
    expected = predicted(scorer, rule, X)
    assert ENGINES[engine](formula_of(scorer, rule=rule), X) == expected
    assert expected.count("yes") == (61 if np.isfinite(least) else 121)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("K", [3, 5])
def test_class_shares_of_several_classes(engine, K):
    rng = np.random.default_rng(K)
    classes = np.array(["a", "b", "c", "d", "e"][:K])
    scorer = sx.Scorer(rng.normal(size=(K, 4)), classes, "softmax")
    X = rng.normal(size=(3000, 3)) * np.exp(rng.normal(0, 2.0, (3000, 1)))
    rule = rule_for(scorer, prior=rng.dirichlet(np.ones(K)), fitted_prior=rng.dirichlet(np.ones(K)))
    expected = predicted(scorer, rule, X)
    assert ENGINES[engine](formula_of(scorer, rule=rule), X) == expected
    own = scorer.predict(X).tolist()
    assert sum(a != b for a, b in zip(own, expected, strict=True)) > 30


@pytest.mark.parametrize("engine", ENGINES)
def test_ties_go_to_the_first_class(engine):
    """Equal scores and equal shares, also where the logarithms of the shares carry rounding errors."""
    W = np.array([[0.0, 1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    scorer = sx.Scorer(W, np.array(["a", "b", "c"]), "softmax")
    X = np.array([[float(i), float(j)] for i in range(-40, 40) for j in range(-20, 20)])
    for prior, fitted in (([0.1, 0.1, 0.8], [3, 3, 7]), ([0.7, 0.2, 0.1], [7, 2, 1]), ([1, 1, 1], [10, 10, 10])):
        rule = rule_for(scorer, prior=prior, fitted_prior=fitted)
        expected = predicted(scorer, rule, X)
        assert set(expected) == {"a", "c"}
        assert ENGINES[engine](formula_of(scorer, rule=rule), X) == expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("kind", ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis", "LogisticRegression"])
def test_fitted_models(engine, K, kind):
    rng = np.random.default_rng(K)
    codes = rng.choice(K, 300, p=[0.7, 0.3] if K == 2 else [0.6, 0.3, 0.1])
    train = rng.normal(size=(300, 2)) * (1 + codes[:, None]) + codes[:, None]
    model = getattr(sx, kind)().fit(train, codes)
    X = rng.normal(size=(2000, 2)) * 3
    settings = {"prior": np.ones(K), "fitted_prior": np.bincount(codes)}
    for extra in [{}] if K > 2 else [{}, {"threshold": 0.3}, {"cost": {"FP": 5, "FN": 1}}]:
        rule = rule_for(model, **settings, **extra)
        assert ENGINES[engine](formula_of(model, rule=rule), X) == predicted(model.scorer_, rule, X)


@pytest.mark.parametrize("engine", LONG)
@pytest.mark.parametrize("K", [2, 3])
def test_probabilities_and_expressions(engine, K):
    """The probabilities are those for the new shares, in a statement and in single expressions."""
    rng = np.random.default_rng(1)
    # SQLite's parser refuses the long expressions of probit.
    link = "softmax" if K == 3 else {"duckdb": "probit", "sqlite": "logit"}[engine]
    scorer = sx.Scorer(rng.normal(size=(1 if K == 2 else K, 3)), np.array(["a", "b", "c"])[:K], link)
    X, settings = rng.normal(size=(500, 2)), {"prior": [5, 3, 2][:K], "fitted_prior": [1, 1, 3][:K]}
    rule = rule_for(scorer, **settings)
    P = rule.probabilities(scorer, X)
    table = pa.table({"id": range(500), "x0": X[:, 0], "x1": X[:, 1]})
    run = {"duckdb": in_duckdb, "sqlite": in_sqlite}[engine]
    rows = run(table, sx.to_sql(scorer, engine, keep=["id"], **settings))
    found = sx.to_sql(scorer, engine, parts=True, **settings)
    parts = [found.probability] if K == 2 else found.probability
    single = run(table, f"SELECT id, {', '.join(parts)}, {found.label} FROM rows")
    start = 2 if K == 2 else 1 + K
    for answers, at in ((rows, start), (single, 1)):
        np.testing.assert_allclose([row[at:-1] for row in answers], P[:, 1:] if K == 2 else P, rtol=1e-11, atol=1e-300)
        assert [row[-1] for row in answers] == predicted(scorer, rule, X)


def test_the_decision_is_written_beside_the_code():
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array(["no", "yes"]), "logit")
    settings = {"cost": {"FP": 1, "FN": 4}, "prior": {"no": 3, "yes": 1}, "fitted_prior": [1, 1]}
    shares = "Probabilities are corrected for these class shares: 'no' 0.75, 'yes' 0.25."
    rule = "The label is 'yes' where P('yes') is at least 0.2, otherwise 'no'."
    assert sx.to_sql(scorer, **settings).splitlines()[:2] == [f"-- {shares}", f"-- {rule}"]
    assert f"{shares}\n{rule}\n" in sx.to_python(scorer, **settings)
    assert sx.to_onnx(scorer, **settings).doc_string == f"{shares} {rule}"
    assert "The label is the most probable class." in sx.to_python(
        sx.Scorer(np.zeros((3, 2)), np.arange(3), "softmax"), prior=[1, 2, 3], fitted_prior=[1, 1, 1]
    )
    assert "P('yes')" not in sx.to_sql(scorer) + sx.to_python(scorer)


def test_a_hostile_label_stays_inside_its_comment():
    scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.array(["a\n; DROP TABLE rows", '"""\\']), "logit")
    rule = rule_for(scorer, threshold=0.2)
    X = np.array([[-3.0], [3.0]])
    for engine in ENGINES.values():
        assert engine(formula_of(scorer, rule=rule), X) == predicted(scorer, rule, X)


def exports(model, **settings):
    return [lambda to=to: to(model, **settings) for to in (sx.to_sql, sx.to_onnx, sx.to_python)]


def test_what_is_refused():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    silent, two = sx.LeastSquaresClassifier().fit(X, y), sx.LogisticRegression().fit(X, y)
    three = sx.LogisticRegression().fit(X, np.arange(30) % 3)
    cases = [
        (silent, {"threshold": 0.2}, "threshold: LeastSquaresClassifier has scores but no probabilities"),
        (silent, {"cost": {"FP": 1, "FN": 2}}, "cost: LeastSquaresClassifier has scores but no probabilities"),
        (sx.OneVsRestClassifier().fit(X, y), {"threshold": 0.2}, "OneVsRestClassifier combines models"),
        (sx.Scorer(np.ones((1, 2)), np.arange(2), "sign"), {"threshold": 0.2}, "Scorer has scores but no"),
        (sx.Scorer(np.eye(2), np.arange(2), "softmax"), {"threshold": 0.2}, "model: it has a score for each"),
        (three, {"threshold": 0.2}, "threshold: it is for two classes, and the model has 3"),
        (two, {"threshold": 1.5}, "threshold: got 1.5; give a probability from 0 to 1"),
        (two, {"cost": {"FP": 1}}, "cost: got"),
        (two, {"prior": [0.5, 0.5]}, "fitted_prior: it is not given, and prior needs it"),
        (two, {"prior": [0.5, 0.2, 0.3], "fitted_prior": [15, 15]}, "prior: got"),
    ]
    for model, settings, message in cases:
        for export in exports(model, **settings):
            with pytest.raises(ParameterError, match=message):
                export()


def test_the_least_score_is_where_the_answer_changes():
    """Law: z chooses the second class exactly if z ≥ least_score, for scores of any size."""
    rng = np.random.default_rng(5)
    for link in LINKS:
        for _ in range(20):
            threshold, ratio = rng.random() ** 4, rng.normal(size=2) * 3 if rng.random() < 0.5 else None
            rule = DecisionRule(float(threshold), ratio)
            scorer = sx.Scorer(np.array([[0.0, 1.0]]), np.arange(2), link)
            least = rule.least_score(scorer.link)
            spread = rng.normal(size=400) * 10.0 ** rng.integers(-17, 3, 400)
            z = np.concatenate([neighbours(least, 20), least + spread, [-1e300, 1e300]])
            assert np.array_equal(rule.chosen(rule.probabilities(scorer, z[:, None])) == 1, z >= least)
