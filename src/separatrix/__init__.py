"""Separatrix: linear classification you can check.

The names below are loaded when first used, so that importing the package stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from separatrix._version import __version__

if TYPE_CHECKING:
    from separatrix import errors, losses, solvers
    from separatrix.certificate import Certificate
    from separatrix.classifiers import LogisticRegression
    from separatrix.concurrency import threads
    from separatrix.evaluation import evaluate
    from separatrix.geometry import Hyperplane
    from separatrix.model_file import load, save
    from separatrix.scorer import Scorer

_WHERE = {
    # classifiers
    "LogisticRegression": "separatrix.classifiers",
    # what a fit comes with
    "Certificate": "separatrix.certificate",
    "Hyperplane": "separatrix.geometry",
    "Scorer": "separatrix.scorer",
    "evaluate": "separatrix.evaluation",
    "load": "separatrix.model_file",
    "save": "separatrix.model_file",
    # settings
    "threads": "separatrix.concurrency",
}
_MODULES = ("errors", "losses", "solvers")

__all__ = [
    "Certificate",
    "Hyperplane",
    "LogisticRegression",
    "Scorer",
    "__version__",
    "errors",
    "evaluate",
    "load",
    "losses",
    "save",
    "solvers",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"separatrix.{name}")
    if name not in _WHERE:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    return getattr(import_module(_WHERE[name]), name)


def __dir__() -> list[str]:
    return __all__
