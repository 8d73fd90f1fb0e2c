"""Wrong content with a right checksum: refused before anything is allocated, and the check is named."""

import copy
import json

import pytest

from separatrix import load, save
from separatrix.classifiers.model_file import FORMAT, VERSION, ModelFile, read
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import ModelFileError

from .models import fitted

HUGE = 10**15


def contents(name, K=2, apart=False):
    return json.loads(checksummed_json.canonical(ModelFile.of(fitted(name, K, apart)[0]).content()))


def at(content, path):
    """The container that the path leads into, and its last key."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in way:
        content = content[key]
    return content, last


def put(path, value):
    def change(content):
        inside, last = at(content, path)
        inside[last] = value

    return change


def drop(path):
    def change(content):
        inside, last = at(content, path)
        del inside[last]

    return change


def refused(content, tmp_path, part):
    path = tmp_path / "model.json"
    path.write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=part):
        load(path)


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (drop("scorer"), "content lacks the key scorer"),
        (put("more", 1), "content has an unknown key, more"),
        (put("classifier", "os.system"), "classifier is unknown: 'os.system'"),
        (put("classifier", "qda"), "scorer is of no known kind: quadratic"),
        (put("classifier", "perceptron"), "fitted lacks the key"),
        (put("columns", 5), r"features has 4 entries, where there must be 5|W has a length of 5, where 1\+d is 6"),
        (put("columns", HUGE), "W has a length of 5"),
        (put("columns", 0), "columns is 0, below 1"),
        (put("columns", 4.0), "columns is 4.0, not of type int"),
        (put("columns", True), "columns is True, not of type int"),
        (put("scorer", []), "scorer is of no known kind"),
        (put("scorer.kind", "pickle"), "scorer is of no known kind"),
        (put("scorer.kind", ["linear"]), "scorer is of no known kind"),
        (put("scorer.W", [[1.0]]), r"scorer\.W has a length of 1, where 1\+d is 5"),
        (put("scorer.W", [[1.0] * 5] * 2), "scorer.W has a length of 2, where scores is 1"),
        (put("scorer.W", [[1.0] * 4 + [True]]), "scorer.W does not hold numbers of type float alone"),
        (put("scorer.W", [[1.0] * 4 + ["2"]]), "scorer.W does not hold numbers of type float alone"),
        (put("scorer.W", [[1.0] * 4 + ["nan"]]), "scorer.W does not hold numbers of type float alone"),
        (put("scorer.W", [[1.0] * 4 + [1]]), "scorer.W does not hold numbers of type float alone"),
        (put("scorer.W", 5), "scorer.W is not an array with 2 axes"),
        (put("scorer.W", [7.0]), "scorer.W is not an array with 2 axes"),
        (put("scorer.W", {"columns": [[1.0]] * 4}), r"scorer\.W has a length of 4"),
        (put("scorer.W", {"same": "classes"}), "scorer.W is not such an array"),
        (put("scorer.W", {"same": "nowhere"}), "scorer.W refers to a place that has not been read"),
        (put("scorer.W", {"same": []}), "scorer.W refers to a place that has not been read"),
        (put("scorer.link_name", "no-such-link"), "scorer.link_name is unknown"),
        (put("scorer.link_name", "softmax"), "scorer has the link softmax, which does not fit 1 scores"),
        (put("scorer.link_name", ["logit"]), "scorer.link_name is unknown"),
        (put("features", ["a", "b"]), "features has 2 entries, where there must be 4"),
        (put("features", ["a", "b", "c", "c"]), "features are not distinct"),
        (put("features", [1, 2, 3, 4]), "features.0 is 1, not of type str"),
        (put("features", "abcd"), "features is not a list"),
        (put("target", 1), "target is 1, not of type str"),
        (put("training", []), "training is not an object"),
        (put("training", {"a": {"b": 1}}), "a setting has a wrong form"),
        (put("separatrix", None), "separatrix is None"),
        (put("encoder", {"columns": []}), "and the model has none"),
        (put("encoder", {"columns": [], "missing": "error", "unseen": "error"}), "and the model has none"),
        (put("left_out", [1]), "left_out.0 is 1"),
        (put("parameters", []), r"parameters is \[\], not of type dict"),
        (put("parameters.shell", "rm"), "no parameter 'shell'"),
        (put("parameters.class_weight", {"pairs": [[[], 1]]}), "a setting has a wrong form"),
        (put("parameters.C", {"classifier": "os.system", "parameters": {}}), "classifier 'os.system' is not one of"),
        (put("parameters.C", {"classifier": 1, "parameters": {}}), "a setting has a wrong form"),
        (put("classes.dtype", "datetime64"), "classes is of an unknown type"),
        (put("classes.dtype", "<U1000000000"), "classes is of an unknown type"),
        (put("classes.width", HUGE), "classes has a width of 1000000000000000"),
        (put("classes.width", 1), "classes has a width of 1,"),
        (put("classes.values", ["a"]), "fewer than two classes"),
        (put("classes.values", ["a", "a"]), "classes has a class twice"),
        (put("classes.values", ["a", 1]), "classes is not all of type str"),
        (put("classes", {"dtype": "int8", "values": [1, 1000]}), "does not fit into int8"),
        (put("classes.values", ["no", "yes", "perhaps"]), "length of 1, where scores is 3"),
        (put("fitted", 1), "fitted is not an object"),
        (put("fitted.C_", -1.0), "fitted.C_ is -1.0, not above 0"),
        (put("fitted.n_parameters_", -1), "fitted.n_parameters_ is -1, below 0"),
        (put("fitted.n_iter_", [-1]), "fitted.n_iter_ "),
        (put("fitted._dtype", "float16"), "fitted._dtype "),
        (drop("fitted.C_"), "fitted lacks the key C_"),
        (put("fitted.__class__", 1), "fitted has an unknown key, __class__"),
        (put("fitted.separation_", {"kind": "doubtful"}), "fitted.separation_ lacks the key"),
        (drop("certificate.met"), "certificate lacks the key met"),
        (put("certificate.met", 1), "certificate.met is 1, not of type bool"),
        (put("certificate.objective", "0.1"), "certificate.objective is '0.1', not of type float"),
        (put("certificate.iterations", 1.0), "certificate.iterations is 1.0, not of type int"),
        (put("certificate.facts", [["a"]]), "certificate.facts are not pairs"),
        (put("certificate.facts", [["a", None]]), "certificate.facts are not plain values"),
        (put("certificate.claim.kind", "firth"), "certificate.claim has an unknown key"),
        (put("certificate.claim.C", -1.0), "certificate.claim.C is -1.0, not above 0"),
        (put("certificate.claim.C", "nan"), "certificate.claim.C is nan, not between"),
        (put("certificate.claim.l1_ratio", 1.5), "l1_ratio is 1.5, not between 0.0 and 1.0"),
        (put("certificate.claim.loss", "none"), "certificate.claim.loss is unknown"),
        (put("certificate.claim.penalty_factors", []), "penalty_factors has a length of 0, where d is 4"),
        (put("certificate.claim.class_weights", [1.0, -1.0]), "class_weights holds a number below 0"),
        (put("certificate.claim.scorer", {"same": "certificate"}), "scorer refers to a place that has not been read"),
        (put("certificate.claim.scorer", {"same": "scorer.W"}), "certificate.claim.scorer is a ndarray"),
    ],
)  # fmt: skip
def test_wrong_content_is_refused_even_with_a_right_checksum(tmp_path, change, part):
    content = contents("logistic")
    change(content)
    refused(content, tmp_path, part)


@pytest.mark.parametrize(
    ("name", "K", "change", "part"),
    [
        ("qda", 3, put("scorer.gaussians.means", [[0.0]]), "means has a length of 1, where K is 3"),
        ("qda", 3, put("scorer.gaussians.whiten", []), "whiten has 0 entries, where there must be 3"),
        ("qda", 3, put("scorer.gaussians.whiten.0", [[1.0], [2.0]]), "whiten.0 has a length of 2, where d is 4"),
        ("qda", 3, drop("scorer.gaussians.colour.0"), "gaussians does not have a colour for each class"),
        ("qda", 2, put("fitted.covariance_", [[[1.0]]]), "covariance_ has a length of 1, where K is 2"),
        ("lda", 3, put("fitted.scalings_", [[1.0], [1.0, 2.0], [1.0], [1.0]]), "scalings_ has rows of different"),
        ("lda", 3, put("fitted.gaussians_.whiten.2", {"same": "scorer.W"}), "whiten.2 has a length of 3, where d is 4"),
        ("fisher", 2, drop("fitted.threshold_"), "fitted lacks the key threshold_"),
        ("fisher", 3, put("fitted.threshold_", 1.0), "fitted has an unknown key, threshold_"),
        ("fisher", 2, put("certificate.claim.projection.direction", "up"), "direction is unknown"),
        ("least-squares", 3, put("certificate.claim.targets", "two-hot"), "targets is unknown"),
        ("least-squares", 2, put("certificate.claim.targets", "signed"), "has 2 outputs, where there must be 1"),
        ("max-margin", 2, put("fitted.support_", [-1]), "support_ holds a number below 0"),
        ("max-margin", 2, put("fitted.support_", [2**70]), "support_ holds a number past 64 bits"),
        ("max-margin", 2, put("fitted.support_", [1.0]), "support_ does not hold numbers of type int alone"),
        ("max-margin", 2, put("certificate.claim.supports", []), "supports has 0 entries, where there must be 1"),
        ("max-margin", 2, put("certificate.claim.supports.0.rows", [1]), "does not have one weight for each row"),
        ("perceptron", 2, put("certificate.claim.zero", "maybe"), "zero is unknown"),
        ("perceptron", 3, put("fitted.walking_", [[1.0]]), "walking_ has a length of 1, where scores is 3"),
        ("one-versus-rest", 3, drop("fitted.estimators_.2"), "estimators_ has 2 entries, where there must be 3"),
        ("one-versus-rest", 3, put("certificate.claim.scheme", "all"), "scheme is unknown"),
        ("one-versus-rest", 3, put("certificate.claim.claims", []), "claims has 0 entries, where there must be 3"),
        ("one-versus-rest", 3, put("fitted.estimators_.0", 1), "estimators_.0 is not an object"),
        ("one-versus-rest", 3, put("fitted.estimators_.0", {"same": "classes"}), "estimators_.0 has None columns"),
        ("one-versus-rest", 3, put("fitted.estimators_.1.columns", 3), "1.scorer.W has a length of 5"),
        ("one-versus-one", 3, put("scorer.estimators.0.parameters.x", 1), "logistic has no parameter 'x'"),
        ("one-versus-one", 3, put("scorer.W", [[0.0] * 5] * 2), "W has a length of 2, where models is 3"),
        ("one-versus-one", 3, put("parameters.estimator", {"classifier": "x", "parameters": {}}), "'x' is not one of"),
    ],
)  # fmt: skip
def test_wrong_shapes_of_every_kind(tmp_path, name, K, change, part):
    content = contents(name, K, apart=name in ("max-margin", "perceptron"))
    change(content)
    refused(content, tmp_path, part)


def leaves(value, path=()):
    """Every place in plain content."""
    yield path
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield from leaves(inner, (*path, key))


@pytest.mark.parametrize("junk", [None, -1, 1e308, "x", [], {}, {"same": "scorer"}, [[[0.0]]]], ids=str)
@pytest.mark.parametrize(("name", "K"), [("logistic", 3), ("fisher", 2), ("max-margin", 2), ("one-versus-one", 3)])
def test_junk_anywhere_is_read_or_refused(name, K, junk):
    """Whatever stands anywhere, reading either makes a model or says what is wrong: no other error, no hang."""
    sound = contents(name, K, apart=True)
    said = 0
    for path in leaves(sound):
        if not path:
            continue
        content = copy.deepcopy(sound)
        inside = content
        for key in path[:-1]:
            inside = inside[key]
        inside[path[-1]] = copy.deepcopy(junk)
        try:
            ModelFile.from_content(content).estimator()
        except ModelFileError:
            said += 1
    assert said > 20


def test_a_huge_declared_size_costs_no_memory(tmp_path):
    import tracemalloc

    content = contents("qda", 3)
    content["columns"] = HUGE
    path = tmp_path / "model.json"
    path.write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
    tracemalloc.start()
    with pytest.raises(ModelFileError, match="where d is 1000000000000000"):
        read(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * path.stat().st_size


def test_a_model_put_together_by_hand(tmp_path):
    """Without what a fit has set: answers all the same."""
    whole = ModelFile.of(fitted("logistic")[0])
    bare = ModelFile("logistic", whole.scorer)
    path = tmp_path / "model.json"
    path.write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, bare.content()))
    X = fitted("logistic")[1]
    assert load(path).predict(X).tolist() == whole.scorer.predict(X).tolist()
    assert read(path).certificate is None
    save(fitted("logistic")[0], path)
    assert read(path).certificate is not None
