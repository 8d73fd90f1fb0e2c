"""Separatrix: linear classification you can check.

The classifiers are scikit-learn estimators. After a fit, ``certificate_`` says how far from the optimum the fit is at
most, and ``certificate_.verify(X, y)`` checks that again from the rows, without the solver. ``separability`` decides
whether a hyperplane separates the classes, with a proof of its answer.

Names are loaded when they are first used, so that importing the package is fast.

Examples
--------
>>> import separatrix as sx
>>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["no", "yes", "no", "yes"]
>>> model = sx.LogisticRegression().fit(X, y)
>>> model.certificate_.code, bool(model.certificate_.verify(X, y))
('optimal', True)
>>> type(sx.separability(X, y)).__name__
'Inseparable'
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix._version import __version__

if TYPE_CHECKING:
    from separatrix.classifiers import (
        FisherDiscriminant,
        KozinecClassifier,
        LeastSquaresClassifier,
        LinearDiscriminantAnalysis,
        LinearSVC,
        LogisticRegression,
        MaxMarginClassifier,
        OneVsOneClassifier,
        OneVsRestClassifier,
        Perceptron,
        QuadraticDiscriminantAnalysis,
    )
    from separatrix.classifiers.basis import Basis, gaussian, quadratic
    from separatrix.classifiers.model_file import load, save
    from separatrix.classifiers.penalty_path import PenaltyPath, penalty_path
    from separatrix.core import firth, links, losses, solvers
    from separatrix.core.base import errors, labels
    from separatrix.core.base.machine import threads
    from separatrix.core.base.watching import watch
    from separatrix.core.certificate import Certificate
    from separatrix.core.cluster.cluster_rows import dask_table
    from separatrix.core.geometry.hyperplane import Hyperplane
    from separatrix.core.geometry.plane_regions import (
        ambiguous_regions,
        boundary_curve,
        level_sets,
        probability_bands,
        regions,
    )
    from separatrix.core.novikoff import cosines, novikoff_bound
    from separatrix.core.penalty import PenaltyChoice
    from separatrix.core.proofs.separability import separability
    from separatrix.core.schemes import compare_schemes
    from separatrix.core.scorer import Scorer
    from separatrix.core.squared_cost import target_weights
    from separatrix.output import plots
    from separatrix.output.onnx import to_onnx
    from separatrix.output.other_packages import as_settings
    from separatrix.output.python import to_python
    from separatrix.output.report.assemble import report
    from separatrix.output.sql import SqlExpressions, to_sql
    from separatrix.statistics import decisions as decision
    from separatrix.statistics.checks import check
    from separatrix.statistics.comparison import compare
    from separatrix.statistics.evaluation import evaluate
    from separatrix.statistics.explained_row import ExplainedRow, explain_row
    from separatrix.statistics.held_out_fit import fit_table
    from separatrix.statistics.reliability import reliability
    from separatrix.statistics.summary import likelihood_ratio_test, summary
    from separatrix.tables.read_table import read_table
    from separatrix.tables.scan import Scan, scan
    from separatrix.tables.schema import Column, Schema, read_schema
    from separatrix.tables.table_encoder import TableEncoder
    from separatrix.tables.text import TextSettings
    from separatrix.teach import exercises, information, lab
    from separatrix.teach import presets as presets
    from separatrix.teach.directions import Along, CriterionCurve, along, criterion_curve
    from separatrix.teach.error_surface import ObjectiveAt, error_surface, objective, walk
    from separatrix.teach.step_arithmetic import Step
    from separatrix.teach.steps import Steps, steps

_WHERE = {
    # classifiers are those of ``separatrix.classifiers.OFFERED``
    "compare_schemes": "separatrix.core.schemes",
    # basis functions
    "Basis": "separatrix.classifiers.basis",
    "gaussian": "separatrix.classifiers.basis",
    "quadratic": "separatrix.classifiers.basis",
    # what a fit comes with
    "Certificate": "separatrix.core.certificate",
    "Hyperplane": "separatrix.core.geometry.hyperplane",
    "ambiguous_regions": "separatrix.core.geometry.plane_regions",
    "boundary_curve": "separatrix.core.geometry.plane_regions",
    "level_sets": "separatrix.core.geometry.plane_regions",
    "probability_bands": "separatrix.core.geometry.plane_regions",
    "regions": "separatrix.core.geometry.plane_regions",
    "error_surface": "separatrix.teach.error_surface",
    "walk": "separatrix.teach.error_surface",
    "target_weights": "separatrix.core.squared_cost",
    "ObjectiveAt": "separatrix.teach.error_surface",
    "objective": "separatrix.teach.error_surface",
    "reliability": "separatrix.statistics.reliability",
    "Scorer": "separatrix.core.scorer",
    "evaluate": "separatrix.statistics.evaluation",
    "fit_table": "separatrix.statistics.held_out_fit",
    "ExplainedRow": "separatrix.statistics.explained_row",
    "explain_row": "separatrix.statistics.explained_row",
    "load": "separatrix.classifiers.model_file",
    "save": "separatrix.classifiers.model_file",
    # leaving
    "SqlExpressions": "separatrix.output.sql",
    "to_onnx": "separatrix.output.onnx",
    "to_python": "separatrix.output.python",
    "to_sql": "separatrix.output.sql",
    "as_settings": "separatrix.output.other_packages",
    # pictures
    "report": "separatrix.output.report.assemble",
    # inference
    "likelihood_ratio_test": "separatrix.statistics.summary",
    "summary": "separatrix.statistics.summary",
    # before and beside a fit
    "check": "separatrix.statistics.checks",
    "compare": "separatrix.statistics.comparison",
    # selection
    "PenaltyChoice": "separatrix.core.penalty",
    "PenaltyPath": "separatrix.classifiers.penalty_path",
    "penalty_path": "separatrix.classifiers.penalty_path",
    # separation
    "cosines": "separatrix.core.novikoff",
    "novikoff_bound": "separatrix.core.novikoff",
    "separability": "separatrix.core.proofs.separability",
    # tables
    "TableEncoder": "separatrix.tables.table_encoder",
    "Column": "separatrix.tables.schema",
    "Schema": "separatrix.tables.schema",
    "TextSettings": "separatrix.tables.text",
    "read_schema": "separatrix.tables.schema",
    "read_table": "separatrix.tables.read_table",
    "dask_table": "separatrix.core.cluster.cluster_rows",
    "Scan": "separatrix.tables.scan",
    "scan": "separatrix.tables.scan",
    # step by step
    "Along": "separatrix.teach.directions",
    "CriterionCurve": "separatrix.teach.directions",
    "along": "separatrix.teach.directions",
    "criterion_curve": "separatrix.teach.directions",
    "Step": "separatrix.teach.step_arithmetic",
    "Steps": "separatrix.teach.steps",
    "steps": "separatrix.teach.steps",
    # settings
    "threads": "separatrix.core.base.machine",
    "watch": "separatrix.core.base.watching",
}
_MODULES = {
    "decision": "separatrix.statistics.decisions",
    "errors": "separatrix.core.base.errors",
    "exercises": "separatrix.teach.exercises",
    "firth": "separatrix.core.firth",
    "information": "separatrix.teach.information",
    "lab": "separatrix.teach.lab",
    "labels": "separatrix.core.base.labels",
    "links": "separatrix.core.links",
    "losses": "separatrix.core.losses",
    "plots": "separatrix.output.plots",
    "presets": "separatrix.teach.presets",
    "solvers": "separatrix.core.solvers",
}

__all__ = [
    "Along",
    "Basis",
    "Certificate",
    "Column",
    "CriterionCurve",
    "ExplainedRow",
    "FisherDiscriminant",
    "Hyperplane",
    "KozinecClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LogisticRegression",
    "MaxMarginClassifier",
    "ObjectiveAt",
    "OneVsOneClassifier",
    "OneVsRestClassifier",
    "PenaltyChoice",
    "PenaltyPath",
    "Perceptron",
    "QuadraticDiscriminantAnalysis",
    "Scan",
    "Schema",
    "Scorer",
    "SqlExpressions",
    "Step",
    "Steps",
    "TableEncoder",
    "TextSettings",
    "__version__",
    "along",
    "ambiguous_regions",
    "as_settings",
    "boundary_curve",
    "check",
    "compare",
    "compare_schemes",
    "cosines",
    "criterion_curve",
    "dask_table",
    "decision",
    "error_surface",
    "errors",
    "evaluate",
    "exercises",
    "explain_row",
    "firth",
    "fit_table",
    "gaussian",
    "information",
    "lab",
    "labels",
    "level_sets",
    "likelihood_ratio_test",
    "links",
    "load",
    "losses",
    "novikoff_bound",
    "objective",
    "penalty_path",
    "plots",
    "presets",
    "probability_bands",
    "quadratic",
    "read_schema",
    "read_table",
    "regions",
    "reliability",
    "report",
    "save",
    "scan",
    "separability",
    "solvers",
    "steps",
    "summary",
    "target_weights",
    "threads",
    "to_onnx",
    "to_python",
    "to_sql",
    "walk",
    "watch",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = import_module(_MODULES[name])
    elif name in _WHERE:
        found = getattr(import_module(_WHERE[name]), name)
    else:
        classifiers = import_module("separatrix.classifiers")
        if name not in {kind for _, kind in classifiers.OFFERED.values()}:
            raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
        found = getattr(classifiers, name)
    globals()[name] = found  # the next access finds it without this function
    return found


def __dir__() -> list[str]:
    return __all__
