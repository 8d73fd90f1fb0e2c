"""``partial_fit`` of the perceptron: one step over some rows, from the weights so far; classes may appear later.

The records of single updates, step by step, are made by ``textbook.steps``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length

from separatrix.base.arrays import AnyArray, Array
from separatrix.base.errors import ParameterError
from separatrix.base.labels import encode, known_codes
from separatrix.classifiers.fit_input import FitInput, column_names, refuse_steps_outside_memory, rows_to_fit
from separatrix.classifiers.later_classes import widened_weights, with_later
from separatrix.classifiers.perceptron_settings import refuse_in_steps, solver_of
from separatrix.classifiers.separator import Facts, Search
from separatrix.classifiers.sklearn_settings import settings_of_work
from separatrix.objectives.problem import Objective
from separatrix.rows import Rows, memory_rows
from separatrix.rows.labelled import MemoryTable
from separatrix.scorers.scorer import Scorer
from separatrix.solvers import State, Status
from separatrix.solvers.separating.mistakes import survey
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.solvers.separating.separation_objective import build_separation_objective, build_separation_objectives


class PerceptronSteps:
    """The part of a perceptron that learns from rows as they arrive.

    ``walking_``: the weights after the last step, which differ from ``coef_`` if a pocket or a mean is returned.
    ``_unseen``: the weights (2, d + 1) of a class that has not appeared: those after the last step, and those that
    would be returned. It is None if all classes were given.
    """

    update: str
    fit_intercept: bool
    classes_: AnyArray
    scorer_: Scorer
    n_iter_: int
    mistakes_: int
    walking_: Array | None
    has_sample_weight_: bool | None
    _told_classes: bool
    _unseen: Array | None

    if TYPE_CHECKING:  # the methods of the perceptron that this part calls

        def _rows(self, task: FitInput) -> list[Rows]: ...

        def _starts(self, task: FitInput) -> Array: ...

        def _without(self, W: Array) -> Array: ...

        def _keep(
            self,
            task: FitInput,
            searches: Sequence[Search[PerceptronMemory]],
            solver: str,
            why: str,
            facts: Facts,
            asked_to_end: bool = True,
        ) -> None: ...

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Make one step over these rows (an epoch for "online"), from the weights so far.

        If the first call is not given ``classes``, new classes may appear in later calls. With ``zero="mistake"``, the
        weights are then the same as if all classes had been given in the first call. A saved model does not store the
        weights of classes that have not appeared.

        Parameters
        ----------
        X : array (n, d), dense or sparse
            Rows.
        y : array (n,)
            Class labels.
        classes : array, optional
            All labels that will occur; others are refused. Without it the first call needs rows of two classes.

        Returns
        -------
        self
        """
        solver = solver_of(self)
        first = not hasattr(self, "scorer_")
        task = self._rows_of_step(X, y, classes, first)
        refuse_in_steps(self)
        starts, before = (self._starts(task), None) if first else self._so_far(task)
        done = 0 if first else self.n_iter_
        walked, searches, every = [], [], self._rows(task)
        if not self._told_classes:
            self._step_of_unseen(solver, every[0], done)
        with settings_of_work(self):
            problems = build_separation_objectives(every, bool(self.fit_intercept), task.names)
            for k, problem in enumerate(problems):
                answer = None if before is None else before[k : k + 1]
                last, found = self._one_step(solver, problem, starts[k : k + 1], answer, done)
                walked.append(last)
                searches.append(found)
        self.walking_ = np.vstack(walked)
        self.has_sample_weight_ = False
        self.mistakes_ = (0 if first else self.mistakes_) + sum(search.state.memory.mistakes for search in searches)
        why = "the method of this classifier, one step per call"
        self._keep(task, searches, solver.name, why, {}, asked_to_end=False)
        self.n_iter_ = done + 1
        return self

    def _rows_of_step(self, X: Any, y: Any, classes: Any, first: bool) -> FitInput:
        """The checked rows of one call of ``partial_fit``, with the classes of the first call."""
        refuse_steps_outside_memory(X=X, y=y, classes=classes)
        X = rows_to_fit(self, X, reset=first)
        check_consistent_length(X, y)
        if first:
            known = encode(y if classes is None else classes)[0]
            self._told_classes, self._unseen = classes is not None, None
        else:
            known = self.classes_ if self._told_classes else with_later(self.classes_, y)
        if len(known) < 2:
            problem = f"there is one class only, {known.tolist()[0]!r}"
            raise ParameterError("classes", problem, "give all of at least two")
        table = MemoryTable(X, known_codes(y, known), np.ones(X.shape[0]), len(known))
        return FitInput(table, known, column_names(self))

    def _so_far(self, task: FitInput) -> tuple[Array, Array]:
        """The weights to start from and those that were returned, (K or 1, d + 1) each, including new classes."""
        answer: Array = self.scorer_.W
        walking = getattr(self, "walking_", None)  # a pocket or a mean returns other weights than the last ones
        both = (answer if walking is None else walking, answer)
        if len(task.classes) > len(self.classes_):
            unseen = np.zeros((2, answer.shape[1])) if self._unseen is None else self._unseen
            both = tuple(  # type: ignore[assignment]
                widened_weights(W, self.classes_, task.classes, own) for W, own in zip(both, unseen, strict=True)
            )
        return self._without(both[0]), both[1]

    def _step_of_unseen(self, solver: Any, rows: Rows, done: int) -> None:
        """One step of the weights of a class that has not appeared: all rows belong to the rest."""
        block = rows.resident()
        assert block is not None  # partial_fit takes rows in memory
        rest = memory_rows(block.X, np.full(block.n_rows, -1.0), block.weight)
        problem = build_separation_objective(rest, bool(self.fit_intercept))
        start, answer = (np.zeros((1, rest.n_features + 1)), None) if self._unseen is None else self._unseen[:, None]
        walked, found = self._one_step(solver, problem, start, answer, done)
        self._unseen = np.vstack([walked, found.W])

    def _one_step(
        self, solver: Any, problem: Objective, start: Array, answer: Array | None, done: int
    ) -> tuple[Array, Search[PerceptronMemory]]:
        """One step from ``start``; ``answer``: the weights returned so far, from a pocket or a mean."""
        state: State[PerceptronMemory] = solver.init(problem, start.copy())
        memory = state.memory._replace(epoch=done)
        if solver.pocket and answer is not None:
            memory = memory._replace(best_W=answer, best_errors=survey(problem, answer, solver.zero).errors)
        if solver.average and answer is not None:  # earlier steps count as if each had had as many rows as this one
            seen = done * problem.n_rows if self.update == "online" else done
            memory = memory._replace(seen=seen, u=seen * (start - answer)[0])
        state = solver.step(problem, replace(state, memory=memory))
        walked, state = state.W, solver.solution(problem, state)
        wrong = state.memory.errors
        status = Status("max_iter", f"one more step over {problem.n_rows} rows leaves {wrong} wrong", wrong == 0)
        return walked, Search(state.W, status, state, (), problem)
