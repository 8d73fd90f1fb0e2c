"""``steps``: the updates of a fit as a sequence whose items are computed on demand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
from sklearn.base import clone

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.number_text import many
from separatrix.base.setting_checks import check_count
from separatrix.proofs.verdicts import Separable, Verdict
from separatrix.rows.in_memory import InMemory
from separatrix.textbook.novikoff import Theorem, as_vector, theorem, widest_separator
from separatrix.textbook.steps.history import History
from separatrix.textbook.steps.methods import method_of, user_weights
from separatrix.textbook.steps.proof import ProofStep, followed, refuse_other_updates
from separatrix.textbook.steps.reading import Moment, read
from separatrix.textbook.steps.recorded_runs import last_estimator, recorded_fit
from separatrix.textbook.steps.step import Step

STEPS = InMemory("steps", "it follows the updates row by row")


class Steps(Sequence[Step]):
    """The updates of a fit: ``steps[k]`` has the weights after k updates. ``steps`` returns one.

    A step is computed when it is first requested, and the states before it are stored, so that going back is cheap.
    ``len(steps)``, ``steps[-1]`` and a loop compute all steps; the estimator's ``max_iter`` limits their number.

    Parameters
    ----------
    estimator, X, y, sample_weight, keep
        As for ``steps``.

    Attributes
    ----------
    model : estimator
        The fitted estimator. The last step has its weights.
    place : int
        The number k of the current step, which ``next`` and ``back`` change.
    known : int
        The number of the last step that has been computed.
    ended : bool
        Whether all steps have been computed, so that ``len`` costs nothing.

    Examples
    --------
    >>> import separatrix as sx
    >>> run = sx.steps(sx.Perceptron(), [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> run.next().row, run.next().row, run.back().row, run.known, run.ended
    (0, 2, 0, 2, False)
    >>> for after in list(run.proof())[:3]:
    ...     print(after)
    k = 0: w*·w = 0 ≥ 0, ‖w‖² = 0 ≤ 0, ‖w − αŵ‖² = 8381 ≤ 8381
    k = 1: w*·w = 3 ≥ 1, ‖w‖² = 2 ≤ 17, ‖w − αŵ‖² = 8281 ≤ 8364
    k = 2: w*·w = 4 ≥ 2, ‖w‖² = 4 ≤ 34, ‖w − αŵ‖² = 8249 ≤ 8347
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any, keep: int) -> None:
        self._made_of = (estimator, X, y, sample_weight, keep)
        self.model = clone(estimator)
        self._runs = recorded_fit(self.model, X, y, sample_weight)
        self._methods = [method_of(run) for run in self._runs]
        self._theorems: dict[int, Theorem | None] = {}
        self._history = History(self._start(0), self._after, keep)
        self.place = 0

    @property
    def known(self) -> int:
        return self._history.known

    @property
    def ended(self) -> bool:
        return self._history.ended

    @property
    def now(self) -> Step:
        """The current step, which ``next`` and ``back`` change."""
        return self[self.place]

    def next(self) -> Step:
        """Go one step forward.

        Returns
        -------
        Step

        Raises
        ------
        IndexError
            At the end.
        """
        found = self[self.place + 1]
        self.place += 1
        return found

    def back(self) -> Step:
        """Go one step back.

        Returns
        -------
        Step

        Raises
        ------
        IndexError
            At the start.
        """
        if self.place == 0:
            raise IndexError("this is the start")
        self.place -= 1
        return self.now

    def theorem(self, part: int = 0) -> Theorem | None:
        """The convergence theorem for a run of the perceptron, by the separator of maximum margin.

        Parameters
        ----------
        part : int, default 0
            The number of the run, if there is one for each class.

        Returns
        -------
        Theorem or None
            None if the theorem does not apply: the classes are not known to be separable, or the updates do not add
            single, unweighted rows.
        """
        if part not in self._theorems:
            self._theorems[part] = self._proved(part)
        return self._theorems[part]

    def proof(self, separator: Any = None, part: int = 0) -> Iterator[ProofStep]:
        """Follow the quantities of the perceptron's convergence proofs, update by update, with their bounds.

        Parameters
        ----------
        separator : array (d + 1,), optional
            w* as (b, w), any separating hyperplane; by default the one of maximum margin for the rows (1, x).
        part : int, default 0
            The number of the run, if there is one for each class.

        Returns
        -------
        iterator of ProofStep
            After k = 0, 1, … updates, for any start and for online, batch and worst-example updates.

        Raises
        ------
        ParameterError
            If the run is not that of a perceptron without class weights, or the classes are not separable.
        """
        run = self._runs[part]
        refuse_other_updates(run.method)
        width = run.problem.shape[1]
        w_star = widest_separator(run.problem) if separator is None else as_vector("separator", separator, width)
        proved = theorem(run.problem, w_star, run.first.W[0], float(run.method.eta))
        steps = (step for step in self if step.part == part and step.kind != "answer")
        return followed(steps, proved, float(run.method.eta))

    def __len__(self) -> int:
        while not self.ended:
            self._history.at(self.known + 1)
        return self.known + 1

    @overload
    def __getitem__(self, k: int) -> Step: ...
    @overload
    def __getitem__(self, k: slice) -> list[Step]: ...
    def __getitem__(self, k: int | slice) -> Step | list[Step]:
        if isinstance(k, slice):
            return [self._step(place) for place in range(*k.indices(len(self)))]
        return self._step(k if k >= 0 else len(self) + k)

    def __iter__(self) -> Iterator[Step]:
        place = 0
        while (moment := self._history.at(place)) is not None:
            yield self._read(moment)
            place += 1

    def __repr__(self) -> str:
        far = f"{many(self.known, 'update')}{'' if self.ended else ' so far'}"
        return f"<Steps of {type(last_estimator(self.model)).__name__}: {far}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Unpickling fits the estimator again; the current step stays the same."""
        return Steps, self._made_of, {"place": self.place}

    def _step(self, place: int) -> Step:
        moment = self._history.at(place) if place >= 0 else None
        if moment is None:
            raise IndexError(f"there are steps 0 to {len(self) - 1}, and no step {place}")
        return self._read(moment)

    def _read(self, moment: Moment) -> Step:
        method, certificate = self._methods[moment.part], last_estimator(self.model).certificate_
        return read(method, moment, self._answer(moment.part), self._bound(moment), str(certificate.status))

    def _bound(self, moment: Moment) -> float | None:
        """What is proven at a moment; at the fitted weights, what the certificate says."""
        method, certificate = self._methods[moment.part], last_estimator(self.model).certificate_
        if method.by_rows:
            found = self.theorem(moment.part)
            return None if found is None else found.bound_from_start
        if method.bound_name == "gap" and len(self._runs) == 1 and (moment.kind == "answer" or self._is_fitted(moment)):
            known: float | None = certificate.bound
            return known
        return method.bound(moment.state)

    def _start(self, part: int) -> Moment:
        first = self._runs[part].first
        return Moment(part, 0, "start", first, first)

    def _after(self, moment: Moment) -> Moment | None:
        """The next moment: the next update, the answer of the run, or the start of the next run."""
        part, state = moment.part, moment.state
        if moment.kind != "answer":
            following = self._methods[part].next(state)
            if following is not None:
                return Moment(part, moment.number + 1, "update", state, following)
            if not self._is_fitted(moment):
                return Moment(part, moment.number, "answer", state, state)
        return self._start(part + 1) if part + 1 < len(self._runs) else None

    def _is_fitted(self, moment: Moment) -> bool:
        """Whether the weights at a moment are the fitted ones."""
        W = user_weights(self._runs[moment.part].problem, moment.state.W)
        return np.array_equal(W, self._answer(moment.part))

    def _answer(self, part: int) -> Array:
        """The fitted weights that a run has found, (K or 1, d + 1)."""
        fitted = last_estimator(self.model)
        W = np.column_stack([fitted.intercept_, fitted.coef_])
        return W if len(self._runs) == 1 else W[part : part + 1]

    def _proved(self, part: int) -> Theorem | None:
        method, run = self._methods[part], self._runs[part]
        if not method.by_rows:
            return None
        if run.last.memory.errors and not isinstance(self._verdict(part), Separable):
            return None
        try:
            separator = widest_separator(run.problem)
        except ParameterError:  # with a score of zero on the right side, rows may touch
            return None
        return theorem(run.problem, separator, run.first.W[0], float(run.method.eta))

    def _verdict(self, part: int) -> Verdict | None:
        """What the fit has proven about the separability of a part's classes; None if nothing."""
        fitted = last_estimator(self.model)
        if hasattr(fitted, "estimators_"):  # a scheme: each of its models has made one run
            fitted, part = fitted.estimators_[part], 0
        verdict: Verdict | None = fitted.verdicts_[part]
        return verdict


@STEPS.refusing_tables
def steps(estimator: Any, X: Any, y: Any, *, sample_weight: Any = None, keep: int = 1000) -> Steps:
    """Fit an estimator, and return every update of its solver, one by one.

    Parameters
    ----------
    estimator : estimator
        An estimator that is fitted by a solver: ``Perceptron``, ``KozinecClassifier``, ``MaxMarginClassifier``,
        ``LogisticRegression``, ``LinearSVC``, or a pipeline that ends with one. It is not changed; a copy is fitted.
    X : array (n, d), dense or sparse
        The rows.
    y : array (n,)
        The labels.
    sample_weight : array (n,), optional
        Weights of the rows, if the estimator takes them.
    keep : int, default 1000
        The maximum number of states to store. Steps that are no longer stored are computed again.

    Returns
    -------
    Steps
        A sequence of `Step`: ``steps[0]`` is the start, ``steps[k]`` the k-th update with the weights after it. The
        last step has the weights of the fitted estimator, ``steps.model``. If these are not the weights of the last
        update (a pocket, a mean, final Newton steps), the last step is an "answer". With one model for each class,
        the runs follow one another, each from its start.

    Raises
    ------
    ParameterError
        If the weights are computed in closed form, so that there are no steps.

    Notes
    -----
    For the online perceptron, each update is a step, while its ``max_iter`` counts epochs. For ``StochasticDescent``,
    each batch is a step. For a pipeline, the columns are those that its last estimator receives.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[2.0, 1.0], [1.0, 3.0], [-1.0, -0.5], [0.5, -2.0]], [1, 1, 0, 0]
    >>> run = sx.steps(sx.Perceptron(), X, y)
    >>> print(run.next())
    Step 1: row 0, x = (2, 1), t = +1
      z = w·x + b = 0·2 + 0·1 + 0 = 0
      m = t z = (+1)·0 = 0: wrong
      w ← w + η t x = (0, 0) + 1·(+1)·(2, 1) = (2, 1)
      b ← b + η t = 0 + 1·(+1) = 1
      E_p = 0, 1 of 4 rows wrong; at most 5 mistakes
    >>> run.back().w.tolist(), len(run), run.model.mistakes_
    ([0.0, 0.0], 3, 2)
    >>> descent = sx.solvers.GradientDescent(eta=0.5)
    >>> walk = sx.steps(sx.LogisticRegression(solver=descent), X, y)
    >>> walk[1].w.tolist(), walk[1].b, round(walk[1].cost, 4)
    ([0.21875, 0.40625], 0.0, 0.3959)
    """
    if isinstance(estimator, type) or not hasattr(estimator, "get_params"):
        raise ParameterError("estimator", f"got {estimator!r}", "give an estimator, such as Perceptron()")
    check_count("keep", keep)
    return Steps(estimator, X, y, sample_weight, int(keep))
