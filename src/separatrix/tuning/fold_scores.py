"""Scores of C by cross-validation, for problems with too many parameters for leverages (docs/tour.md, R8, E2).

There are five stratified folds, with a regularisation path for each. For sparse rows, columns that are nonzero in only
one row are merged (``merged_columns``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from separatrix.base.arrays import Array, Integers
from separatrix.base.folds import stratified_folds
from separatrix.tuning.penalty_question import Question
from separatrix.tuning.penalty_scores import FOLD_TOL, PERFECT_LOSS_SHARE, Plan, Scored, lowest, mean_loss
from separatrix.tuning.warm_path import Solved, WarmPath

# The number of folds of cross-validation.
FOLDS = 5


@dataclass(frozen=True)
class ByFolds:
    """Cross-validation with five stratified folds, and a path of warm-started fits on the training rows of each.

    ``evaluation.trials`` fits an estimator once for each fold. Here all values of C are fitted for each fold, each with
    a warm start from the last, and the score is weighted by the sample weights.
    """

    question: Question
    walk: WarmPath
    least: float
    fold: Integers
    walks: tuple[WarmPath, ...]
    name: ClassVar[str] = "cross-validation"

    @classmethod
    def over(cls, question: Question, walk: WarmPath) -> ByFolds:
        """Draw the folds by the seed. A row that cannot be left out is in no fold."""
        fold = stratified_folds(question.codes, FOLDS, question.seed, among=question.scored, draw_first=True)
        question = question.with_merged_columns()
        walks = tuple(question.walk(np.flatnonzero(fold != k)) for k in range(FOLDS))
        return cls(question, walk, lowest(walk), fold, walks)

    @property
    def plan(self) -> Plan:
        """The plan of the search, which starts at the strongest penalty."""
        return Plan(self.least)

    def score(self, C: float) -> Scored:
        """The mean log loss of held-out rows at C."""
        question = self.question
        loss, fitted = np.zeros(len(question.codes)), 0.0
        for k, walk in enumerate(self.walks):
            held = np.flatnonzero(self.fold == k)
            if len(held):
                solved = walk.solved(C, tol=FOLD_TOL, max_iter=question.max_iter)
                loss[held] = self._held_out(solved, held)
                problem, state = solved.problem, solved.outcome.state
                fitted = max(fitted, (state.at.value - problem.penalty_value(state.W)) / problem.null_value)
        score, error = mean_loss(loss, question.weight * question.scored)
        return Scored(
            C, score, error, fitted, 0, 0, len(loss), score < PERFECT_LOSS_SHARE * self.walk.problem.null_value, None
        )

    def weights(self, best: Scored) -> Array | None:
        """None, because no fit to all rows was made, and fits to folds are not near enough to it."""
        return None

    def _held_out(self, solved: Solved, held: Integers) -> Array:
        question, problem = self.question, solved.problem
        raw = problem.rows.frame.to_original(solved.outcome.state.W)[:, : question.n_features + 1]
        block = question.block.take(held)
        z = block.scores(np.hstack([raw, np.eye(len(raw), question.n_offsets)]))
        return np.asarray(problem.loss.value(block.t, z if problem.loss.traits.multiclass else z[:, 0]))

    def note(self, path: list[Scored]) -> str:
        """How the scores were made."""
        return f"{FOLDS}-fold cross-validation, since parameters are too many for leverages"
