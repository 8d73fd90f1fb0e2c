"""Export of a fitted model as SQL, as ONNX or as a Python file. All are written from one ``Formula``."""

from separatrix.export.onnx import to_onnx
from separatrix.export.python import to_python
from separatrix.export.sql import SqlExpressions, to_sql

__all__ = ["SqlExpressions", "to_onnx", "to_python", "to_sql"]
