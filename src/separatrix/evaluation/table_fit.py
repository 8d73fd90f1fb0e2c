"""A table read, divided, encoded and fitted in one call, as ``separatrix fit`` and the lab's page Your data do it."""

from __future__ import annotations

from typing import Any

from separatrix.base.errors import ParameterError
from separatrix.evaluation.held_out_fit import HeldOutFit, fit_held_out
from separatrix.evaluation.split_defaults import TEST_SIZE
from separatrix.table import read_raw
from separatrix.table.selection import Columns


def fit_table(
    model: Any,
    data: Any,
    target: str | int | None = None,
    *,
    drop: Columns = (),
    missing: str = "error",
    standardise: bool = False,
    test_size: float = TEST_SIZE,
    seed: int = 0,
) -> HeldOutFit:
    """Fit a classifier to most rows of a table, and measure it on the others, as ``separatrix fit`` does.

    A share of each class is held out at random. The encoding of categories, the means that fill missing values and the
    scales of columns are learned from the other rows, to which a copy of the model is fitted.

    Parameters
    ----------
    model : estimator
        A classifier of this package. It stays as it is.
    data : str, path or frame
        A file, a folder, ``"demo:NAME"`` or a frame, as in ``read_table``.
    target : str or int, optional
        The column to predict. Demo tables and libsvm files know theirs.
    drop : str or sequence of str
        Columns to leave out.
    missing : {"error", "impute", "indicator", "drop"}
        What to do with missing values, as in ``read_table``.
    standardise : bool, default False
        Whether numbers and dates are standardised by the fitted rows.
    test_size : float, default 0.25
        The share of each class that is held out, from 0 to less than 1.
    seed : int, default 0
        The seed of the choice of rows.

    Returns
    -------
    HeldOutFit
        The fitted model, the table, which rows were held out, and the measures on them.

    Raises
    ------
    ParameterError
        ``test_size`` is not a share.
    TableError
        The table, a column or a cell cannot be read.
    LabelError
        The target column does not hold classes.

    Examples
    --------
    >>> import separatrix as sx
    >>> fit = sx.fit_table(sx.LogisticRegression(), "demo:iris")
    >>> round(fit.accuracy, 3), fit.model.predict([[5.1, 3.5, 1.4, 0.2]]).tolist()
    (0.921, ['setosa'])
    """
    from sklearn.base import clone

    if not 0 <= test_size < 1:
        raise ParameterError("test_size", f"got {test_size!r}", "give a share from 0 to less than 1, such as 0.25")
    raw = read_raw(data, target, drop, missing=missing)
    return fit_held_out(raw, clone(model), standardise=standardise, test_size=test_size, seed=seed)
