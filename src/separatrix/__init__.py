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
    from separatrix import exercises, firth, lab, losses, plots, solvers
    from separatrix.base import errors, labels
    from separatrix.base.concurrency import threads
    from separatrix.base.watching import watch
    from separatrix.certificates.certificate import Certificate
    from separatrix.checks import check
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
    from separatrix.classifiers import presets as presets
    from separatrix.classifiers.basis import Basis, gaussian, quadratic
    from separatrix.classifiers.penalty_path import PenaltyPath, penalty_path
    from separatrix.cluster.dask_collections import dask_table
    from separatrix.diagnostics.explained_row import ExplainedRow, explain_row
    from separatrix.evaluation import decisions as decision
    from separatrix.evaluation.accuracy import evaluate
    from separatrix.evaluation.calibration import reliability
    from separatrix.evaluation.comparison import compare
    from separatrix.evaluation.table_fit import fit_table
    from separatrix.export import SqlExpressions, to_onnx, to_python, to_sql
    from separatrix.export.other_packages import as_settings
    from separatrix.geometry import (
        Hyperplane,
        ambiguous_regions,
        boundary_curve,
        level_sets,
        probability_bands,
        regions,
    )
    from separatrix.inference import likelihood_ratio_test, summary
    from separatrix.losses import links
    from separatrix.model_file import load, save
    from separatrix.proofs.separability import separability
    from separatrix.reports import report
    from separatrix.scorers.schemes import compare_schemes
    from separatrix.scorers.scorer import Scorer
    from separatrix.streams import Scan, scan
    from separatrix.table import Column, Schema, TextSettings, read_schema, read_table
    from separatrix.table.transformer import TableEncoder
    from separatrix.textbook import information
    from separatrix.textbook.directions import Along, CriterionCurve, along, criterion_curve
    from separatrix.textbook.novikoff import cosines, novikoff_bound
    from separatrix.textbook.own_weights import ObjectiveAt, objective
    from separatrix.textbook.steps import Step, Steps, steps
    from separatrix.textbook.surface import error_surface, walk
    from separatrix.textbook.target_weights import target_weights
    from separatrix.tuning.penalty_choice import PenaltyChoice

_WHERE = {
    # classifiers are those of ``separatrix.classifiers.OFFERED``
    "compare_schemes": "separatrix.scorers.schemes",
    # basis functions
    "Basis": "separatrix.classifiers.basis",
    "gaussian": "separatrix.classifiers.basis",
    "quadratic": "separatrix.classifiers.basis",
    # what a fit comes with
    "Certificate": "separatrix.certificates.certificate",
    "Hyperplane": "separatrix.geometry",
    "ambiguous_regions": "separatrix.geometry",
    "boundary_curve": "separatrix.geometry",
    "level_sets": "separatrix.geometry",
    "probability_bands": "separatrix.geometry",
    "regions": "separatrix.geometry",
    "error_surface": "separatrix.textbook.surface",
    "walk": "separatrix.textbook.surface",
    "target_weights": "separatrix.textbook.target_weights",
    "ObjectiveAt": "separatrix.textbook.own_weights",
    "objective": "separatrix.textbook.own_weights",
    "reliability": "separatrix.evaluation.calibration",
    "Scorer": "separatrix.scorers.scorer",
    "evaluate": "separatrix.evaluation.accuracy",
    "fit_table": "separatrix.evaluation.table_fit",
    "ExplainedRow": "separatrix.diagnostics.explained_row",
    "explain_row": "separatrix.diagnostics.explained_row",
    "load": "separatrix.model_file",
    "save": "separatrix.model_file",
    # leaving
    "SqlExpressions": "separatrix.export",
    "to_onnx": "separatrix.export",
    "to_python": "separatrix.export",
    "to_sql": "separatrix.export",
    "as_settings": "separatrix.export.other_packages",
    # pictures
    "report": "separatrix.reports",
    # inference
    "likelihood_ratio_test": "separatrix.inference",
    "summary": "separatrix.inference",
    # before and beside a fit
    "check": "separatrix.checks",
    "compare": "separatrix.evaluation.comparison",
    # selection
    "PenaltyChoice": "separatrix.tuning.penalty_choice",
    "PenaltyPath": "separatrix.classifiers.penalty_path",
    "penalty_path": "separatrix.classifiers.penalty_path",
    # separation
    "cosines": "separatrix.textbook.novikoff",
    "novikoff_bound": "separatrix.textbook.novikoff",
    "separability": "separatrix.proofs.separability",
    # tables
    "TableEncoder": "separatrix.table.transformer",
    "Column": "separatrix.table",
    "Schema": "separatrix.table",
    "TextSettings": "separatrix.table",
    "read_schema": "separatrix.table",
    "read_table": "separatrix.table",
    "dask_table": "separatrix.cluster.dask_collections",
    "Scan": "separatrix.streams",
    "scan": "separatrix.streams",
    # step by step
    "Along": "separatrix.textbook.directions",
    "CriterionCurve": "separatrix.textbook.directions",
    "along": "separatrix.textbook.directions",
    "criterion_curve": "separatrix.textbook.directions",
    "Step": "separatrix.textbook.steps",
    "Steps": "separatrix.textbook.steps",
    "steps": "separatrix.textbook.steps",
    # settings
    "threads": "separatrix.base.concurrency",
    "watch": "separatrix.base.watching",
}
_MODULES = {
    "decision": "separatrix.evaluation.decisions",
    "errors": "separatrix.base.errors",
    "exercises": "separatrix.exercises",
    "firth": "separatrix.firth",
    "information": "separatrix.textbook.information",
    "lab": "separatrix.lab",
    "labels": "separatrix.base.labels",
    "links": "separatrix.losses.links",
    "losses": "separatrix.losses",
    "plots": "separatrix.plots",
    "presets": "separatrix.classifiers.presets",
    "solvers": "separatrix.solvers",
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
        return import_module(_MODULES[name])
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    classifiers = import_module("separatrix.classifiers")
    if name not in {kind for _, kind in classifiers.OFFERED.values()}:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    return getattr(classifiers, name)


def __dir__() -> list[str]:
    return __all__
