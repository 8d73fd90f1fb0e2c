"""Labels and names that an exported file cannot hold are refused by every export, as by ``save``."""

from functools import partial

import numpy as np
import pytest

import separatrix as sx
from separatrix import Scorer
from separatrix.classifiers.model_file import ModelFile
from separatrix.core.base.errors import ParameterError
from separatrix.output.onnx import to_onnx
from separatrix.output.python import to_python
from separatrix.output.sql import to_sql
from separatrix.tables.encoder import Encoded, Encoder

EXPORTS = [to_python, to_sql, partial(to_sql, parts=True), to_onnx]
HALF = "a" + chr(0xD800)


def two_classes(classes):
    return Scorer(np.array([[0.0, 1.0]]), np.array(classes), "logit")


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize("label", [np.inf, -np.inf])
def test_infinite_labels(export, label):
    model = sx.LogisticRegression().fit([[0.0], [1.0], [2.0]], [1.0, label, 1.0])
    with pytest.raises(ParameterError, match=f"model: the class {label} is not finite; fit with labels that are text"):
        export(model)


@pytest.mark.parametrize("export", EXPORTS)
@pytest.mark.parametrize(
    "model",
    [
        two_classes(["b", HALF]),
        ModelFile("logistic", two_classes(["a", "b"]), features=(HALF,)),
        ModelFile(
            "logistic",
            two_classes(["a", "b"]),
            encoder=Encoder((Encoded("c", "category", ("x", HALF), (0.5,)),), "error"),
        ),
    ],
    ids=["label", "name of a column", "level"],
)
def test_text_with_half_of_a_surrogate_pair(export, model):
    with pytest.raises(ParameterError, match="holds half of a surrogate pair; write names and labels in valid Unicode"):
        export(model)
