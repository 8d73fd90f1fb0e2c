"""A model as an ONNX graph, in double precision throughout.

    inputs     one tensor "X" (n, d) of doubles. If the model has an encoder, one (n, 1) tensor for each column of the
               table: doubles (for dates, the days since 1970-01-01), text for categories, truth values for booleans
    outputs    "label" (n,), "scores" (n, 1 or K), "probabilities" (n, K) if the model has them

White space around a text is not removed, since ONNX has no operator for it. A missing value is NaN or the empty text.
If values may be missing, booleans are doubles as well. ONNX has neither errors nor null values. For a row without
a prediction, scores and probabilities are NaN, and the label is the empty text, NaN, the smallest int64 or false,
depending on its type. An underscore is appended to an output that has the name of a column.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from separatrix._version import __version__
from separatrix.core.base.arrays import AnyArray
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.output import algebra
from separatrix.output.formula import Formula, FormulaColumn, decision_notes, formula_of, refuse_words
from separatrix.statistics.model_decisions import rule_for

# Versions of ONNX's operator sets and of its file format. onnxruntime has supported them for years, with double
# precision for all operators used here.
OPSET, ML_OPSET, IR_VERSION = 13, 2, 8
OPERATORS = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div"}
# The label of a row without an answer, by the type of the labels.
NO_LABEL: dict[type, Any] = {str: "", float: np.nan, int: np.iinfo(np.int64).min, bool: False}


def to_onnx(
    model: Any,
    *,
    threshold: float | None = None,
    cost: Mapping[str, float] | None = None,
    prior: Any = None,
    fitted_prior: Any = None,
) -> Any:
    """The model as an ONNX graph.

    Parameters
    ----------
    model : classifier, pipeline, model file or Scorer
        The fitted model. If it was fitted with an offset, the offset here is zero.
    threshold, cost, prior, fitted_prior : optional
        Another rule for the labels, as in ``to_sql``: a threshold for the second class, the costs of both mistakes, or
        other class shares.

    Returns
    -------
    onnx.ModelProto
        The graph; ``.SerializeToString()`` gives its bytes.

    Raises
    ------
    InputError
        The package onnx is not installed, or the model has no probabilities to decide by.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> import onnxruntime
    >>> model = LogisticRegression().fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"])
    >>> session = onnxruntime.InferenceSession(to_onnx(model).SerializeToString())
    >>> session.run(["label"], {"X": np.array([[0.5], [2.5]])})[0].tolist()
    ['no', 'yes']
    """
    return graph_of(formula_of(model, rule=rule_for(model, threshold, cost, prior, fitted_prior)))


def graph_of(formula: Formula) -> Any:
    """The graph of a formula; see ``to_onnx``."""
    try:
        import onnx
    except ImportError:
        problem, remedy = "the package onnx is not installed", "install it: pip install 'separatrix[onnx]'"
        raise InputError("to_onnx", problem, remedy) from None
    refuse_words(formula, "ONNX")
    return Graph(formula, onnx).proto()


class Graph:
    """Collects the nodes of a formula."""

    def __init__(self, formula: Formula, onnx: Any) -> None:
        self.formula, self.onnx = formula, onnx
        names = [column.name for column in formula.columns] if formula.encoder else ["X"]
        if "" in names:
            raise ParameterError("model", "a column's name is empty", "rename it: ONNX gives it another meaning")
        self.taken = set(names)
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []
        self.rules: algebra.Rules[str] = {
            algebra.Inputs: self._inputs,
            algebra.Constant: lambda node: self._constant(np.array([[node.value]])),
            algebra.Affine: self._affine,
            algebra.Combine: lambda node, a, b: self._node(OPERATORS[node.sign], a, b),
            algebra.Exp: self._exp,
            algebra.Abs: lambda node, v: self._node("Abs", v),
            algebra.Where: lambda node, test, yes, no: self._node("Where", self._not_negative(test), yes, no),
            algebra.Largest: lambda node, v: self._node("ReduceMax", v, axes=[1], keepdims=1),
        }

    def proto(self) -> Any:
        """The whole model."""
        helper, formula = self.onnx.helper, self.formula
        known: dict[algebra.Vector, str] = {}
        z = algebra.translate(formula.scores, self.rules, known)
        refused = self._node("IsNaN", self._node("Gather", z, self._constant(np.array([0])), axis=1))
        kind, labels = self._labels()
        ranked = algebra.translate(formula.ranking, self.rules, known)
        outputs = [self._output("label", self._label(z, ranked, refused, labels), kind, [None])]
        width = formula.scores.width
        nan = self._constant(np.array([[np.nan]]))
        outputs.append(self._output("scores", self._node("Where", refused, nan, z), np.float64, [None, width]))
        if formula.probabilities is not None:
            p = algebra.translate(formula.probabilities, self.rules, known)
            p = self._node("Where", refused, nan, p)
            outputs.append(self._output("probabilities", p, np.float64, [None, formula.probabilities.width]))
        graph = helper.make_graph(self.nodes, "separatrix", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION)
        model.doc_string = " ".join(decision_notes(formula))
        model.producer_name, model.producer_version = "separatrix", __version__
        self.onnx.checker.check_model(model)
        return model

    # --- The columns of the table

    def _inputs(self, node: algebra.Inputs) -> str:
        columns = self.formula.columns
        if self.formula.encoder is None:
            X = self._input("X", np.float64, node.width)
            shift = np.array([column.shift for column in columns])
            finite = self._node("Where", self._node("IsInf", X), self._constant(np.array([[np.nan]])), X)
            return self._moved(finite, -shift) if shift.any() else finite
        return self._node("Concat", *(self._column(column) for column in columns), axis=1)

    def _column(self, column: FormulaColumn) -> str:
        """The columns of X, (n, width), that one column of the table is encoded as."""
        if column.rows:
            return self._category(column)
        if column.kind == "boolean" and column.absent is None:
            v = self._node("Cast", self._input(column.name, np.bool_, 1), to=self._type(np.float64))
        else:
            v = self._input(column.name, np.float64, 1)
        ones = np.zeros((1, column.width))
        ones[0, 0] = 1.0
        found = self._moved(self._node("MatMul", v, self._constant(ones)), (-column.shift, *column.tail))
        missing, infinite = self._node("IsNaN", v), self._node("IsInf", v)
        found = self._node("Where", infinite, self._constant(np.array([[np.nan]])), found)
        return found if column.absent is None else self._node("Where", missing, self._row(column.absent), found)

    def _category(self, column: FormulaColumn) -> str:
        """A lookup in a table with one row for each level, one for a missing value and one for an unseen level."""
        levels = [level for level, _ in column.rows]
        keys = levels if "" in levels else [*levels, ""]
        number = self._node(
            "LabelEncoder",
            self._input(column.name, np.str_, 1),
            domain="ai.onnx.ml",
            keys_strings=keys,
            values_int64s=list(range(len(keys))),
            default_int64=len(levels) + 1,
        )
        none = (np.nan,) * column.width
        rows = [*(row for _, row in column.rows), column.absent or none, column.unseen or none]
        flat = self._node("Reshape", number, self._constant(np.array([-1])))
        return self._node("Gather", self._constant(np.array(rows)), flat, axis=0)

    # --- Scores, probabilities and labels

    def _affine(self, node: algebra.Affine, v: str) -> str:
        return self._moved(self._node("MatMul", v, self._constant(node.M.T)), node.a)

    def _moved(self, v: str, by: Any) -> str:
        """Add the numbers ``by``, one for each column, to v.

        The operator is Sum, since onnxruntime removes an Add of one number that single precision rounds to zero.
        """
        return self._node("Sum", v, self._row(by))

    def _exp(self, node: algebra.Exp, v: str) -> str:
        low, zero = (self._constant(np.array([[value]])) for value in (algebra.LOWEST_EXPONENT, 0.0))
        return self._node("Where", self._node("Less", v, low), zero, self._node("Exp", v))

    def _not_negative(self, v: str) -> str:
        return self._node("GreaterOrEqual", v, self._constant(np.array([[0.0]])))

    def _labels(self) -> tuple[Any, str]:
        classes = self.formula.classes
        whole = all(not isinstance(label, int) or -(1 << 63) < label < 1 << 63 for label in classes)
        # A tensor has one type. Labels of several types, or too large for int64, are all written as text.
        plain = whole and len({type(label) for label in classes}) == 1
        values = classes if plain else [str(label) for label in classes]
        kind = {str: np.str_, float: np.float64, int: np.int64, bool: np.bool_}[type(values[0])]
        values = [*values, NO_LABEL[type(values[0])]]
        return kind, self._constant(np.array(values, dtype=object if kind is np.str_ else kind))

    def _label(self, z: str, ranked: str, refused: str, labels: str) -> str:
        """The label by the only score ``z``, or by the first largest of ``ranked``."""
        K = len(self.formula.classes)
        if self.formula.scores.width == 1:
            exceeds = "GreaterOrEqual" if self.formula.takes_boundary else "Greater"
            second = self._node(exceeds, z, self._constant(np.array([[self.formula.boundary]])))
            chosen = self._node("Cast", second, to=self._type(np.int64))
        else:
            chosen = self._node("ArgMax", ranked, axis=1, keepdims=1)
        chosen = self._node("Where", refused, self._constant(np.array([[K]])), chosen)
        return self._node("Gather", labels, self._node("Reshape", chosen, self._constant(np.array([-1]))))

    # --- The parts of the graph

    def _fresh(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        name = self._fresh(f"v{len(self.nodes)}")
        self.nodes.append(self.onnx.helper.make_node(operator, list(inputs), [name], **attributes))
        return name

    def _row(self, values: Any) -> str:
        return self._constant(np.array([values], dtype=np.float64))

    def _constant(self, values: AnyArray) -> str:
        name = self._fresh(f"c{len(self.constants)}")
        if values.dtype == object:
            text = [value.encode() for value in values.tolist()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, list(values.shape), text)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name)
        self.constants.append(tensor)
        return name

    def _type(self, kind: Any) -> int:
        return int(self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind)))

    def _info(self, name: str, kind: Any, shape: list[int | None]) -> Any:
        element = self.onnx.TensorProto.STRING if kind is np.str_ else self._type(kind)
        return self.onnx.helper.make_tensor_value_info(name, element, ["n", *shape[1:]])

    def _input(self, name: str, kind: Any, width: int) -> str:
        self.inputs.append(self._info(name, kind, [None, width]))
        return name

    def _output(self, name: str, of: str, kind: Any, shape: list[int | None]) -> Any:
        found = self._fresh(name)
        self.nodes.append(self.onnx.helper.make_node("Identity", [of], [found]))
        return self._info(found, kind, shape)
