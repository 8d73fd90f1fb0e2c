"""The runs of solvers inside a fit: for each run, the solver, the problem, and the first and the last state.

An estimator is fitted once, under a watcher. From the first state of a run its solver can make the same steps again,
one by one, because states are immutable and steps depend on nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sklearn.utils.validation import has_fit_parameter

from separatrix.base.errors import ParameterError
from separatrix.base.watching import Part, Stage, watch, watched
from separatrix.objectives.problem import Objective
from separatrix.solvers.iteration import Iteration
from separatrix.solvers.state import State

# The stages around the runs of a fit that has one run for each row of its weights.
PARTS_OF_A_FIT = ("class", "model")


@dataclass
class RecordedRun:
    """One run: its solver, its problem, the stages around it, its first state, and the last one the solver made."""

    method: Any
    problem: Objective
    within: tuple[Stage, ...]
    first: State[Any]
    last: State[Any]


@dataclass
class _Recorder:
    """A watcher that records the runs, and passes every stage on to the watcher around it."""

    around: Any
    runs: list[RecordedRun] = field(default_factory=list)
    has_others: bool = False

    def __call__(self, stage: Stage, within: tuple[Stage, ...]) -> None:
        if self.around is not None:
            self.around(stage)
        if not isinstance(stage, Iteration):
            return
        if stage.problem is None or stage.method is None:
            self.has_others = True
            return
        run = self.runs[-1] if self.runs else None
        if run is None or run.problem is not stage.problem or run.within != within:
            run = RecordedRun(stage.method, stage.problem, within, stage.state, stage.state)
            self.runs.append(run)
        if not stage.final:
            run.last = stage.state


def recorded_fit(model: Any, X: Any, y: Any, sample_weight: Any = None) -> list[RecordedRun]:
    """Fit the model, and return the runs that its weights come from.

    >>> from separatrix import Perceptron
    >>> model = Perceptron()
    >>> (run,) = recorded_fit(model, [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> run.method.name, run.last.memory.mistakes == model.mistakes_
    ('online perceptron', True)
    """
    recorder = _Recorder(watched())
    with watch(recorder):
        model.fit(X, y, **_weight_settings(model, sample_weight))
    runs = [run for run in recorder.runs if not run.within] or [run for run in recorder.runs if _is_part(run)]
    if not runs:
        why = "a method that gives no states" if recorder.has_others else "a formula, without steps"
        problem = f"{type(last_estimator(model)).__name__} with these settings is fitted by {why}"
        remedy = "give an estimator that a solver fits, such as Perceptron, KozinecClassifier or LogisticRegression"
        raise ParameterError("estimator", problem, remedy)
    _refuse_others(model, runs, len(y))
    return runs


def _weight_settings(model: Any, sample_weight: Any) -> dict[str, Any]:
    """The arguments of ``fit`` that give the weights to the estimator, or to the last one of a pipeline."""
    if sample_weight is None:
        return {}
    fitted = last_estimator(model)
    if not has_fit_parameter(fitted, "sample_weight"):
        raise ParameterError("sample_weight", f"{type(fitted).__name__} takes none", "leave it out")
    if fitted is model:
        return {"sample_weight": sample_weight}
    return {f"{model.steps[-1][0]}__sample_weight": sample_weight}


def _is_part(run: RecordedRun) -> bool:
    return len(run.within) == 1 and isinstance(run.within[0], Part) and run.within[0].what in PARTS_OF_A_FIT


def last_estimator(model: Any) -> Any:
    """The estimator at the end of a pipeline, or the estimator itself."""
    return model[-1] if hasattr(model, "named_steps") else model


def _refuse_others(model: Any, runs: list[RecordedRun], n_rows: int) -> None:
    """Refuse fits whose weights are not those of the runs, row by row, or whose runs left rows out."""
    for run in runs:
        if run.problem.n_rows != n_rows:
            problem = f"its fit makes steps with {run.problem.n_rows} of {n_rows} rows"
            raise ParameterError("estimator", problem, "give the estimator inside it, and rows of two classes")
    coef = getattr(last_estimator(model), "coef_", None)
    made = sum(run.problem.shape[0] for run in runs)
    if coef is None or len(coef) != made:
        problem = f"{type(last_estimator(model)).__name__} combines {len(runs)} fits, and its weights are not theirs"
        raise ParameterError("estimator", problem, "give the estimator inside it, and rows of two classes")
