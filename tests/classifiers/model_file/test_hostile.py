"""Small files, with a right checksum, that would make reading them take gigabytes or minutes.

A digest is no signature, so what a file says about itself is not trusted.
"""

import json
import subprocess
import sys

import numpy as np
import pytest

from separatrix import LeastSquaresClassifier, LogisticRegression, load, save
from separatrix.classifiers.model_file import FORMAT, VERSION, ModelFile, read, write
from separatrix.core.base import checksummed_json
from separatrix.core.base.codec import LONGEST_SENTENCE
from separatrix.core.base.errors import ModelFileError, ParameterError
from separatrix.core.scorer import Scorer

from .models import fitted
from .test_bytes import resealed
from .test_content import contents, put

READ = """
import sys, tracemalloc
import separatrix.tables
from separatrix import load
from separatrix.core.base.errors import ModelFileError
load(sys.argv[1])
tracemalloc.start()
for path in sys.argv[1:]:
    tracemalloc.clear_traces()
    try:
        load(path)
        said = "read"
    except ModelFileError as error:
        said = str(error)
    print(tracemalloc.get_traced_memory()[1], len(said), said[:300], flush=True)
"""
# Seconds after which some file has cost minutes; all together take fewer than twenty.
MINUTES = 400


def by_hand(W, link):
    scorer = Scorer(W, np.arange(max(2, len(W))), link)
    return json.loads(checksummed_json.canonical(ModelFile("logistic", scorer).content()))


def long_class():
    """NumPy would give all classes the room of the one that has 50 000 letters."""
    labels = [f"c{k}" for k in range(9_999)] + ["x" * 50_000]
    return many_classes({"dtype": "str", "values": labels})


def wide_classes():
    return many_classes({"dtype": "str", "values": [f"c{k}" for k in range(40_000)], "width": 1024})


def many_classes(classes):
    content = by_hand(np.ones((3, 2)), "softmax")
    content["classes"], content["scorer"]["classes"] = classes, {"same": "classes"}
    content["scorer"]["W"] = [[0.0, 1.0]] * len(classes["values"])
    return content


def colliding_classes():
    """Python gives all multiples of 2^61 - 1 the same hash, so that a set of them takes quadratic time."""
    return many_classes({"dtype": "object", "values": [k * (2**61 - 1) for k in range(1, 30_001)]})


def colliding_keys():
    content = contents("logistic")
    content["parameters"]["class_weight"] = {"pairs": [[k * (2**61 - 1), 1.0] for k in range(1, 30_001)]}
    return content


def one_hot():
    """A table of targets for 20 000 classes has 400 million numbers."""
    model = LeastSquaresClassifier().fit(np.arange(6.0)[:, None], [0, 1, 2, 0, 1, 2])
    content = json.loads(checksummed_json.canonical(ModelFile.of(model).content()))
    K, W = 20_000, [[0.0, 1.0]] * 20_000
    content["classes"] = {"dtype": "int64", "values": list(range(K))}
    content["scorer"]["W"] = W
    content["fitted"]["output_weights_"] = W
    content["certificate"]["claim"]["weights"] = W
    return content


def long_names():
    """A column's name stands before each of its levels."""
    levels = [str(k) for k in range(5_000)]
    column = {"name": "n" * 50_000, "kind": "category", "levels": levels, "fill": [0.0] * 4_999, "indicator": False}
    column |= {"average": [], "text": None}
    content = by_hand(np.ones((1, 5_000)), "logit")
    content["features"] = levels[1:]
    content["encoder"] = {"columns": [column], "missing": "error", "unseen": "average"}
    return content


def text_column(name, settings, terms):
    """A model of three columns whose encoder has a column of text with these n-grams."""
    text = {"settings": settings, "terms": terms, "idf": [1.0] * len(terms)}
    column = {"name": name, "kind": "words", "levels": [], "fill": [], "indicator": False, "text": text}
    content = by_hand(np.ones((1, 4)), "logit")
    content["features"] = ["a", "b", "c"]
    content["encoder"] = {"columns": [column], "missing": "error", "unseen": "average"}
    return content


def long_text_names():
    """A column's name stands before each of its n-grams."""
    return text_column("n" * 50_000, {}, [str(k) for k in range(5_000)])


def many_hashes():
    """Hashed columns take no room in a file, and their names much in memory."""
    return text_column("n", {"hashed": True, "max_features": 10_000_000}, [])


def many_lists():
    return contents("logistic") | {"left_out": [[]] * 100_000}


def many_objects():
    return contents("logistic") | {"training": {str(k): {} for k in range(30_000)}}


def many_arrays():
    content = contents("qda", 2)
    content["scorer"]["gaussians"]["colour"] = [[[], [], [], []]] * 20_000
    return content


def many_numbers():
    content = contents("max-margin", 2, apart=True)
    content["fitted"]["support_"] = [7] * 200_000
    return content


def many_names():
    return contents("logistic") | {"left_out": ["ab"] * 50_000}


def many_columns():
    return contents("logistic") | {"columns": 2**62}


def long_status():
    content = contents("logistic")
    content["certificate"]["status"] = " 'a" * 1_000_000
    return content


HOSTILE = [
    long_class,
    wide_classes,
    colliding_classes,
    colliding_keys,
    one_hot,
    long_names,
    long_text_names,
    many_hashes,
    many_lists,
    many_objects,
    many_arrays,
    many_numbers,
    many_names,
    many_columns,
    long_status,
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """By the name of a hostile file: its size, the peak of memory when it is read, the length and text of what is said.

    A process of its own reads them all; what it needs for any model at all, it loads with a first, sound one.
    """
    folder = tmp_path_factory.mktemp("hostile")
    save(fitted("logistic")[0], folder / "sound.json")
    paths = [folder / "sound.json"]
    for made in HOSTILE:
        paths.append(folder / f"{made.__name__}.json")
        paths[-1].write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, made()))
    command = [sys.executable, "-c", READ, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=MINUTES, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = [line.split(" ", 2) for line in done.stdout.splitlines()]
    return {
        path.stem: (path.stat().st_size, int(peak), int(length), said)
        for path, (peak, length, said) in zip(paths, found, strict=True)
    }


@pytest.mark.parametrize("made", HOSTILE, ids=lambda made: made.__name__)
def test_memory_is_a_stated_multiple_of_the_file_s_size(measured, made):
    size, peak, length, said = measured[made.__name__]
    assert peak <= checksummed_json.MEMORY_PER_BYTE * size + checksummed_json.MEMORY_AT_LEAST, (peak / size, said)
    assert length < 1000, said


def test_what_becomes_of_them(measured):
    """Files that are odd and sound are read; the others are refused by what is wrong with them."""
    said = {name: text for name, (_, _, _, text) in measured.items()}
    assert {name for name, text in said.items() if text == "read"} == {
        "sound",
        "long_class",
        "wide_classes",
        "colliding_classes",
        "one_hot",
        "many_numbers",
        "many_names",
    }
    assert "does not make the model's features" in said["long_names"]
    assert f"certificate.status has more than {LONGEST_SENTENCE} letters" in said["long_status"]


def test_one_long_class_among_many_is_read_and_written_again(tmp_path):
    """With Python's own strings, where an array of NumPy's would be too wide."""
    labels = np.array([*(f"c{k}" for k in range(2_000)), "x" * 5_000], dtype=object)
    before = ModelFile("logistic", Scorer(np.eye(2_001, 3), labels, "softmax"))
    for dtype in ("str", object):
        write(ModelFile("logistic", Scorer(before.scorer.W, labels.astype(dtype), "softmax")), tmp_path / "model.json")
        after = load(tmp_path / "model.json")
        assert after.classes_.dtype == object
        assert after.classes_.tolist() == labels.tolist()


@pytest.mark.parametrize("width", [4, 32, 256])
def test_the_width_of_text_is_kept(tmp_path, width):
    model = LogisticRegression().fit([[0.0], [1.0]], np.array(["no", "yes"], dtype=f"U{width}"))
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").classes_.dtype == f"<U{width}"


def test_a_very_long_status_is_written_with_its_end_left_out(tmp_path):
    model = fitted("logistic")[0]
    object.__setattr__(model.certificate_, "status", "a" * 100_000)
    save(model, tmp_path / "model.json")
    status = load(tmp_path / "model.json").certificate_.status
    assert (len(status), status[-2:]) == (LONGEST_SENTENCE, "a…")


@pytest.mark.parametrize("text", ["\ud800", "a\udcff", "\udc00\ud800"])
def test_half_of_a_surrogate_pair_is_refused(tmp_path, text):
    """No file and no terminal can take it: predictions could not be written."""
    model = LogisticRegression().fit([[0.0], [1.0]], np.array([text, "b"], dtype=object))
    with pytest.raises(ParameterError, match="holds half of a surrogate pair; write names and labels in valid Unicode"):
        save(model, tmp_path / "model.json")
    content = contents("logistic")
    for place in ("target", "features", "training"):
        changed = content | {"target": text} if place == "target" else content | {place: {text: [1]}}
        raw = checksummed_json.canonical(changed).encode()
        (tmp_path / "model.json").write_bytes(resealed(raw))
        with pytest.raises(ModelFileError, match="holds half of a surrogate pair"):
            read(tmp_path / "model.json")


def test_letters_past_the_basic_plane_are_kept(tmp_path):
    model = LogisticRegression().fit([[0.0], [1.0]], ["\U0001f600", "\\ud800"])
    save(model, tmp_path / "model.json")
    assert load(tmp_path / "model.json").classes_.tolist() == ["\\ud800", "\U0001f600"]


@pytest.mark.parametrize("path", ["certificate.n_rows", "certificate.iterations", "fitted.n_parameters_"])
def test_a_count_past_all_counting_is_refused(tmp_path, path):
    content = contents("logistic")
    put(path, 10**400)(content)
    (tmp_path / "model.json").write_bytes(checksummed_json.with_checksum(FORMAT, VERSION, content))
    with pytest.raises(ModelFileError, match=f"its {path} is 1000.*, too large"):
        read(tmp_path / "model.json")
