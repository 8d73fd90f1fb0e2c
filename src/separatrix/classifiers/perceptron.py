"""The perceptron as defined in the lectures (docs/tour.md, P1–P8, P11–P14, D1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from separatrix.base.arrays import Array
from separatrix.base.errors import ParameterError
from separatrix.base.watching import part
from separatrix.certificates.claim import Recomputed
from separatrix.certificates.separation_claims import NO_BOUND, SeparationClaim
from separatrix.classifiers.description import COUNT, Description, Setting, array
from separatrix.classifiers.fit_input import (
    FitInput,
    validate,
)
from separatrix.classifiers.linear import ClassifierTraits
from separatrix.classifiers.perceptron_partial_fit import PerceptronSteps
from separatrix.classifiers.perceptron_settings import plan_of, refuse_outside_memory, solver_of
from separatrix.classifiers.perceptron_theorem import theorem_facts
from separatrix.classifiers.sample_weights import class_weights
from separatrix.classifiers.separator import Facts, Search, SeparatingClassifier
from separatrix.classifiers.shared_descriptions import (
    CLASS_WEIGHT,
    L1_RATIO,
    MAX_ITER,
    NO_INTERCEPT,
    SEARCHED,
    SEPARATION,
    TOL,
)
from separatrix.classifiers.sklearn_settings import settings_of_work
from separatrix.rows import Rows
from separatrix.rows.coding import Coding
from separatrix.rows.one_against_rest import one_against_rest
from separatrix.solvers.separating.search_memories import PerceptronMemory
from separatrix.solvers.separating.separation_objective import build_separation_objectives

DESCRIPTION = Description(
    about="Rosenblatt's perceptron",
    settings=(
        Setting(
            "--update",
            "update",
            "For perceptron: update after each misclassified row (online, the default), with all of them (batch), or "
            "with the worst one (worst).",
            metavar="WORD",
        ),
        Setting(
            "--eta0",
            "eta0",
            "For perceptron: the learning rate; 1 by default.",
            float,
            metavar="NUMBER",
            span=(0.01, 100.0),
        ),
        Setting(
            "--pocket",
            "pocket",
            "For perceptron: return the weights with the fewest mistakes (the pocket algorithm).",
            flag=True,
        ),
        Setting("--shuffle", "shuffle", "For perceptron: shuffle the rows before each epoch.", flag=True),
        Setting(
            "--penalty",
            "penalty",
            "For perceptron: shrink the weights by an l2, l1 or elasticnet penalty; none by default.",
            words=("l2", "l1", "elasticnet"),
            metavar="NAME",
        ),
        Setting(
            "--alpha",
            "alpha",
            "For perceptron: the strength of --penalty; 0.0001 by default.",
            float,
            metavar="NUMBER",
            span=(1e-6, 1.0),
        ),
        L1_RATIO,
        NO_INTERCEPT,
        CLASS_WEIGHT,
        TOL,
        MAX_ITER,
    ),
    claims={"separation": SEPARATION},
    fitted={**SEARCHED, "mistakes_": COUNT, "walking_": array("scores", "1+d").maybe()},
    traced=True,
    only_with={"l1_ratio": ("penalty", "elasticnet")},
    offers={"update": ("online", "batch", "worst")},
)


class Perceptron(PerceptronSteps, SeparatingClassifier):
    r"""w ← w + η t_i x̄_i for rows on the wrong side, until there are none; x̄ = (1, x) (docs/tour.md, P1–P8).

    On separable rows the updates end after at most R²‖w*‖²/γ² mistakes (``novikoff_bound``), with weights that separate
    the classes. On other rows they would never end. The fit then looks for rows that prove that no hyperplane separates
    the classes, and the certificate's status names them. The last weights depend on where the updates stopped. If they
    misclassify rows, the fit by default returns the mean of the weights over a second run in random order
    (``average``), or the best weights seen (``pocket``).

    The weights depend on the start and on the order of the rows. A row that is never misclassified causes no update.
    Columns are not scaled.

    Rows outside memory (``scan``) are visited in the order of the file, with the same updates as in memory. There
    ``shuffle`` mixes them within a buffer, ``average="auto"`` takes the mean over 10 epochs mixed in this way, and a
    pocket needs ``update="batch"`` or ``"worst"``.

    With more than two classes there is one perceptron for each class against the rest. There is no ``sample_weight``;
    to weight rows, use ``class_weight`` or ``LogisticRegression``.

    Parameters
    ----------
    update : "online", "batch" or "worst", default "online"
        "online": update with each mistake in turn, cycling through the rows. "batch": update with all mistakes at once.
        "worst": update with the row that has the smallest margin.
    zero : "mistake" or "positive", default "mistake"
        A mistake is t z ≤ 0 (lectures 000, 004), or f(z) ≠ t with f(0) = +1 (001, 003).
    pocket : bool, default False
        Return the weights of the run that made the fewest mistakes on all rows. With a pocket, with ``average=True`` or
        with a penalty, a proof that the rows are not separable does not end the run: it continues until ``max_iter``
        (or ``tol``), and the proof is part of the status. For "online", the mistakes are counted after every update,
        which takes up to one pass each time. ``partial_fit`` keeps the pocket between calls, and compares it with the
        new weights on the rows of the call.
    average : "auto", True or False, default "auto"
        True: return the mean of the weights after each row of the run (for "batch" and "worst", after each step).
        False: return the last weights. "auto": return the last weights if they classify every row correctly. If not,
        for "online", return the mean over a second run in random order from the same start, which counts neither in
        ``n_iter_`` nor in ``mistakes_``. The second run has 100 epochs, or more on tables of fewer than 3000 rows, so
        that it visits 300 000 rows; at most ``max_iter``. In ``partial_fit``, "auto" returns the last weights, and True
        gives the means of all calls the same weight.
    eta0 : float, default 1.0
        The learning rate η; from a start at zero and without a penalty it only rescales w.
    max_iter : int, default 1000
        The maximum number of steps. A step is an epoch for "online", and an update for the others.
    shuffle : bool, default False
        Visit the rows in a new random order in each epoch; for "online".
    start : "zero" or array (K or 1, n_features + 1), default "zero"
        The weights to start from. An array has the intercepts in column 0.
    fit_intercept : bool, default True
        Whether to learn an intercept.
    class_weight : None, "balanced" or dict, default None
        Multiplies η for the rows of a class: by the factor of its label, or by n/(K n_k). Mistakes and the cost count
        every row once.
    penalty : None, "l2", "l1" or "elasticnet", default None
        α ½‖w‖², α‖w‖₁, or α ((1 − r) ½‖w‖² + r ‖w‖₁), r = ``l1_ratio``. A proximal step follows every row.
    alpha : float, default 0.0001
        α above. It has no effect without a penalty.
    l1_ratio : float, default 0.15
        r above, between 0 and 1; for "elasticnet".
    tol : float or None, default None
        Stop when a measure has not fallen by more than ``tol`` in ``n_iter_no_change`` steps. The measure is the mean
        cost; for "online", each row's cost is computed just before the row is processed. With a pocket it is the share
        of mistakes, and with ``early_stopping`` the share of mistakes on the validation rows. None: the run ends only
        by separation, by a proof or at ``max_iter``.
    n_iter_no_change : int, default 5
        The number of steps without improvement after which ``tol`` ends the run.
    early_stopping : bool, default False
        Hold out rows of every class for validation, stop when their accuracy no longer improves, and return the weights
        with the highest accuracy on them. The fit then does not try to prove that the rows are inseparable.
    validation_fraction : float, default 0.1
        The share of validation rows.
    random_state : int, RandomState or None
        The seed for ``shuffle``, ``average="auto"`` and the choice of validation rows.
    warm_start : bool, default False
        Start from the weights of the last fit if the classes and columns are the same.
    verbose : int, default 0
        Above 0, print a line for every step.
    n_jobs : int or None, default None
        The number of threads, −1 for all cores; None leaves it to ``separatrix.threads``. The fit is the same, bit by
        bit, for any number.

    Attributes
    ----------
    classes_, coef_, intercept_, n_iter_, n_features_in_, feature_names_in_ : as in scikit-learn
    mistakes_ : int
        The number of updates over all classes.
    certificate_ : Certificate
        The evidence.
    trace_ : tuple of Record
        One record per step. ``value`` is the cost E_p/n of the weights after the step. For "online", ``met`` is the
        mean cost of the rows in the epoch, each computed just before the row is processed, and ``value`` is computed
        after every epoch on tables of up to 20 000 entries; on larger tables it is NaN except at the end.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> X, y = [[1], [2], [3], [4], [5], [6], [7], [8]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> model = Perceptron().fit(X, y)
    >>> model.intercept_.tolist(), model.coef_.tolist(), model.mistakes_
    ([-23.0], [[5.0]], 87)

    Row by row, as on a blackboard: t x̄ is added for a mistake, and nothing for a row on the correct side.

    >>> step = Perceptron()
    >>> for x, label in zip(X[2:6], y[2:6]):
    ...     step = step.partial_fit([x], [label], classes=[0, 1])
    ...     print(x, label, step.intercept_.tolist(), step.coef_[0].tolist(), step.mistakes_)
    [3] 0 [-1.0] [-3.0] 1
    [4] 0 [-1.0] [-3.0] 1
    [5] 1 [0.0] [2.0] 2
    [6] 1 [0.0] [2.0] 2
    """

    # Whether the first call of ``partial_fit`` was given all classes. If not, the weights of a class that has not
    # appeared yet, (2, d + 1): those that updates change, and those that would be returned.
    _told_classes: bool = False
    _unseen: Array | None = None

    # The result depends on the order of the rows, and there are no row weights.
    traits: ClassVar[ClassifierTraits] = ClassifierTraits(order_free=False, repeatable=False)

    def __init__(
        self,
        update: str = "online",
        *,
        zero: str = "mistake",
        pocket: bool = False,
        average: bool | str = "auto",
        eta0: float = 1.0,
        max_iter: int = 1000,
        shuffle: bool = False,
        start: Any = "zero",
        fit_intercept: bool = True,
        class_weight: Any = None,
        penalty: str | None = None,
        alpha: float = 0.0001,
        l1_ratio: float = 0.15,
        tol: float | None = None,
        n_iter_no_change: int = 5,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        random_state: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        self.update = update
        self.zero = zero
        self.pocket = pocket
        self.average = average
        self.eta0 = eta0
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.start = start
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.penalty = penalty
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.random_state = random_state
        self.warm_start = warm_start
        self.verbose = verbose
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the model to rows.

        Parameters
        ----------
        X : array (n, d), dense or sparse, or a ``scan``
            Rows. Those of a scan are read once in every step.
        y : array (n,)
            Class labels. A scan has its own.

        Returns
        -------
        self
        """
        solver = solver_of(self)
        task = validate(self, X, y)
        refuse_outside_memory(self, task)
        starts, plan = self._starts(task), plan_of(self, solver, task)
        searches = []
        every = self._rows(task)
        with settings_of_work(self):
            for k, problem in enumerate(build_separation_objectives(every, bool(self.fit_intercept), task.names)):
                with part("class", k + 1, len(every)):
                    searches.append(plan.search(problem, starts[k : k + 1]))
            searches = plan.with_means(searches, starts)
        self.mistakes_ = sum(search.state.memory.mistakes for search in searches)
        self.walking_: Array | None = None
        for held in ("_told_classes", "_unseen"):  # of an earlier partial_fit
            self.__dict__.pop(held, None)
        facts = theorem_facts(self, searches[0], starts) if task.n_classes == 2 else {}
        self._keep(task, searches, solver.name, "the method of this classifier", facts)
        return self

    def _without(self, W: Array) -> Array:
        """W, without an intercept where none is fitted."""
        W = W.copy()
        W[:, 0] *= bool(self.fit_intercept)
        return W

    def _rows(self, task: FitInput) -> list[Rows]:
        """The rows of every problem, weighted by the class weights."""
        factors = None
        if self.class_weight is not None:
            factors = class_weights(self.class_weight, task.classes, task.table.totals.weight)
        return one_against_rest(task.table.rows(Coding(task.n_classes == 2, factors)), task.n_classes)

    def _starts(self, task: FitInput) -> Array:
        """The start in raw units, (K or 1, d + 1)."""
        shape = (1 if task.n_classes == 2 else task.n_classes, task.n_features + 1)
        before = task.before if self.warm_start else None
        if before is not None and before.W.shape == shape and before.classes.tolist() == task.classes.tolist():
            return self._without(before.W)
        if isinstance(self.start, str) and self.start == "zero":
            return np.zeros(shape)
        return self._without(self._given_start(shape))

    def _given_start(self, shape: tuple[int, int]) -> Array:
        """The weights that the setting ``start`` gives, after a check of their shape."""
        try:
            W = np.array(self.start, dtype=np.float64)
        except (TypeError, ValueError):
            W = np.full(shape, np.nan)
        if W.shape != shape or not np.all(np.isfinite(W)):
            remedy = f"give 'zero' or finite weights of shape {shape}, intercepts first"
            raise ParameterError("start", f"got {self.start!r}", remedy)
        return W

    def _keep(
        self,
        task: FitInput,
        searches: Sequence[Search[PerceptronMemory]],
        solver: str,
        why: str,
        facts: Facts,
        asked_to_end: bool = True,
    ) -> None:
        self._keep_searches(task, searches)
        values = [search.state.at for search in searches]
        at = Recomputed(
            sum(value.value for value in values),
            0.0,
            NO_BOUND,
            float(np.linalg.norm([np.linalg.norm(value.gradient) for value in values])),
        )
        claim = SeparationClaim(self.scorer_, bool(self.fit_intercept), self.zero)  # type: ignore[arg-type]
        wrong = sum(search.state.memory.errors for search in searches)
        facts = {"mistakes": self.mistakes_, "wrong": wrong, "margin": _margin(searches), **facts}
        self._certify(task, searches, claim, at, solver, why, facts, asked_to_end)


def _margin(searches: Sequence[Search[PerceptronMemory]]) -> float:
    """The smallest signed distance of a row to its hyperplane."""
    lengths = [float(np.linalg.norm(search.W[0, 1:])) for search in searches]
    smallest = [search.state.memory.known_survey.smallest for search in searches]
    return min(m / length if length > 0 else 0.0 for m, length in zip(smallest, lengths, strict=True))
