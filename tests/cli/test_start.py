"""Verbs that only read a model file start without scikit-learn, SciPy and pandas. Asked of fresh processes."""

import os
import subprocess
import sys

import pytest

from .running import run

CODE = """
import sys
from separatrix.cli import main
try:
    main(sys.argv[1:], prog_name="separatrix")
except SystemExit as end:
    assert not end.code, end.code
print(*sorted({name.split(".")[0] for name in sys.modules}), file=sys.stderr)
"""
MODELS = {"logistic": "demo:credit", "softmax": "demo:iris", "qda": "demo:iris"}
VERBS = [
    ["show", "MODEL"],
    ["show", "MODEL", "--json"],
    ["show", "MODEL", "MODEL"],
    ["predict", "MODEL", "DATA", "--proba"],
    ["export", "MODEL", "--to", "sql"],
    ["export", "MODEL", "--to", "python"],
    ["export", "MODEL", "--to", "onnx", "--out", "model.onnx"],
]
OF_LOGISTIC = [
    ["show", "MODEL", "--as", "glmnet"],
    ["predict", "MODEL", "DATA", "--cost", "FP=1,FN=5"],
    ["predict", "MODEL", "DATA", "--prior", "no=0.5,yes=0.5"],
    ["export", "MODEL", "--to", "sql", "--threshold", "0.2"],
    ["export", "MODEL", "--to", "python", "--prior", "no=0.5,yes=0.5"],
]


@pytest.mark.parametrize("model", MODELS)
def test_what_a_verb_does_not_import(model, tmp_path):
    kind = "qda" if model == "qda" else "logistic"
    run("fit", MODELS[model], "--model", kind, "--out", "m.json")
    (tmp_path / "new.csv").write_text(_rows(MODELS[model]))
    for words in VERBS + (OF_LOGISTIC if model == "logistic" else []):
        given = [{"MODEL": "m.json", "DATA": "new.csv"}.get(word, word) for word in words]
        done = subprocess.run([sys.executable, "-c", CODE, *given], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (words, done.stderr)
        loaded = set(done.stderr.splitlines()[-1].split())
        assert not loaded & {"sklearn", "scipy", "pandas", "numba", "matplotlib"}, words


def _rows(name):
    """A demo table as CSV: demos that scikit-learn provides import it when they are read."""
    from separatrix.table import read_table

    table = read_table(name)
    return "\n".join([",".join(table.names), *(",".join(map(repr, row)) for row in table.X.tolist())]) + os.linesep
