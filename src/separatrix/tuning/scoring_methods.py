"""The choice between leave-one-out and cross-validation as the method that scores values of C."""

from __future__ import annotations

import numpy as np

from separatrix.rows.csr import is_sparse
from separatrix.solvers.row_space import MOST_SPAN_ROWS, Basis, factored_span
from separatrix.solvers.state import in_memory
from separatrix.tuning.fold_scores import ByFolds
from separatrix.tuning.leverage_scores import Absolute, ByLeverages, Squares
from separatrix.tuning.penalty_question import Question
from separatrix.tuning.penalty_scores import Method, lowest
from separatrix.tuning.ridge_path import Ridge
from separatrix.tuning.warm_path import WarmPath


def method_for(question: Question) -> Method:
    """Leave-one-out if the Hessian is small enough, in the columns or in the span of the rows; otherwise folds.

    >>> from separatrix.objectives.penalty import Penalty
    >>> from separatrix.rows import labelled_rows
    >>> rows = labelled_rows(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), 2)
    >>> method_for(Question(rows, 2, Penalty(1.0, np.ones(1)))).name
    'leave-one-out'
    """
    walk = question.walk()
    problem = walk.problem = walk.problem.with_(penalty=walk.penalty)
    if _has_short_span(question, walk):
        basis = Basis(problem, *factored_span(problem, in_memory(problem, "leave-one-out")))
        if basis.small.has_hessian:
            return ByLeverages(question, walk, lowest(walk), Squares(Ridge.on(basis.small)), basis)
    if problem.has_hessian and problem.has_absolute:
        return ByLeverages(question, walk, lowest(walk), Absolute(walk, question.max_iter))
    if problem.has_hessian:
        path = Ridge.on(problem)
        walk.problem = path.base  # it has the Gram matrix in its cache
        return ByLeverages(question, walk, lowest(walk), Squares(path))
    return ByFolds.over(question, walk)


def _has_short_span(question: Question, walk: WarmPath) -> bool:
    """Whether the rows are dense and fewer than the columns, and the minimum is in their span.

    By the representer theorem it is in their span if the penalty is a sum of squares of all weights but the intercept.
    """
    X, d = question.block.X, question.n_features
    all_squares = bool(np.all(walk.penalty.quadratic > 0)) and question.penalty.l1_ratio == 0
    short = X.shape[0] < d and X.shape[0] <= MOST_SPAN_ROWS
    return not question.n_offsets and all_squares and short and not is_sparse(X)
