"""Verbs that only read a model file start without scikit-learn, SciPy and pandas. Asked of a fresh process."""

import json
import os
import subprocess
import sys

import pytest

from .running import run

# One process runs all verbs: a module that one of them imports stays imported, so the first that does so is found.
CODE = """
import json, sys
from separatrix.cli import main
heavy = {"sklearn", "scipy", "pandas", "numba", "matplotlib"}
for words in json.loads(sys.argv[1]):
    try:
        main(words, prog_name="separatrix")
    except SystemExit as end:
        assert not end.code, (words, end.code)
    loaded = heavy & set(sys.modules)
    assert not loaded, (words, loaded)
"""
MODELS = {
    "logistic": "demo:credit",
    "softmax": "demo:iris",
    "qda": "demo:iris",
    "one-versus-one": "demo:iris",
    "one-versus-rest": "demo:iris",
    "one-versus-one over qda": "demo:iris",
}
WORDS = {
    "softmax": ["logistic"],
    "one-versus-one over qda": ["one-versus-one", "--base", "qda"],
}
VERBS = [
    ["show", "MODEL"],
    ["show", "MODEL", "--json"],
    ["show", "MODEL", "MODEL"],
    ["predict", "MODEL", "DATA", "--scores"],
    ["export", "MODEL", "--to", "sql"],
    ["export", "MODEL", "--to", "python"],
    ["export", "MODEL", "--to", "onnx", "--out", "model.onnx"],
]
OF_PROBABILITIES = [["predict", "MODEL", "DATA", "--proba"]]
OF_LOGISTIC = [
    ["show", "MODEL", "--as", "glmnet"],
    ["predict", "MODEL", "DATA", "--cost", "FP=1,FN=5"],
    ["predict", "MODEL", "DATA", "--prior", "no=0.5,yes=0.5"],
    ["export", "MODEL", "--to", "sql", "--threshold", "0.2"],
    ["export", "MODEL", "--to", "python", "--prior", "no=0.5,yes=0.5"],
]


@pytest.mark.parametrize("model", MODELS)
def test_what_a_verb_does_not_import(model, tmp_path):
    run("fit", MODELS[model], "--model", *WORDS.get(model, [model]), "--out", "m.json")
    (tmp_path / "new.csv").write_text(_rows(MODELS[model]))
    of_own = OF_LOGISTIC if model == "logistic" else []
    of_own = of_own + ([] if model.startswith("one-versus") else OF_PROBABILITIES)
    given = {"MODEL": "m.json", "DATA": "new.csv"}
    asked = json.dumps([[given.get(word, word) for word in words] for words in VERBS + of_own])
    done = subprocess.run([sys.executable, "-c", CODE, asked], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def _rows(name):
    """A demo table as CSV: demos that scikit-learn provides import it when they are read."""
    from separatrix.tables.read_table import read_table

    table = read_table(name)
    return "\n".join([",".join(table.names), *(",".join(map(repr, row)) for row in table.X.tolist())]) + os.linesep
