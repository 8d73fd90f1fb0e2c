"""A problem does not change, and a copy with other parts keeps exactly the statistics that still hold."""

import numpy as np
import pytest

from separatrix.core.base.lazy import cached_property
from separatrix.core.linear_algebra import Subspace
from separatrix.core.null_model import ConstantSlopes
from separatrix.core.objective_sums import DenseTable
from separatrix.core.problem import Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.sampling import Sample
from tests import problems

FIELDS = ("rows", "loss", "penalty", "pinned", "names", "passes", "gram", "subspace", "total_weight")


@pytest.mark.parametrize("name", FIELDS)
def test_nothing_can_be_assigned_to_a_problem(name):
    problem = problems.draw(3).objective()
    with pytest.raises(AttributeError, match=f"use with_.* another {name}"):
        setattr(problem, name, getattr(problem, name))


def test_every_cached_property_says_what_it_depends_on():
    members = [item for base in Objective.__mro__ for item in vars(base).items()]
    cached = {name for name, value in members if isinstance(value, cached_property)}
    assert cached == Objective.statistics.keys()
    assert all(statistic.depends_on for statistic in Objective.statistics.values())


def test_an_unknown_statistic_is_refused():
    problem = problems.draw(3).objective()
    with pytest.raises(TypeError, match="'gramm'"):
        problem.with_(known={"gramm": np.eye(2)})


def changes(problem):
    """Of each part of a problem, another."""
    block, frame = problem.rows.resident(), problem.rows.frame
    weight = np.where(np.arange(block.n_rows) % 5 == 4, 2.0, 1.0) * block.weight
    pinned = problem.pinned.copy()
    pinned[-1] = True
    return {
        "rows": memory_rows(block.X, block.t, weight, frame),
        "frame": Frame(frame.center + 0.5 * np.where(np.isfinite(frame.scale), frame.scale, 0.0), 2.0 * frame.scale),
        "penalty": problem.penalty.times(4.0),
        "pinned": pinned,
    }


def computed_alone(problem, part, value):
    """The changed problem, with nothing known of it."""
    parts = {"rows": problem.rows, "penalty": problem.penalty, "pinned": problem.pinned}
    parts |= {"rows": problem.rows.seen_through(value)} if part == "frame" else {part: value}
    rest = (problem.n_classes, problem.fit_intercept)
    return Objective(parts["rows"], problem.loss, parts["penalty"], *rest, pinned=parts["pinned"])


def projector(basis):
    """Onto the span of a basis; of none, onto everything, whatever its size."""
    return np.ones((1, 1)) if basis is None else basis @ np.linalg.pinv(basis)


def agree(a, b):
    if isinstance(a, slice):
        return a == b
    if isinstance(a, Block):
        return agree(a.weight, b.weight) and agree(a.homogeneous(), b.homogeneous())
    if a is None or (isinstance(a, Subspace) and b is None):
        return a is b
    if isinstance(a, Subspace):
        return a.rank == b.rank and agree(projector(a.Z), projector(b.Z)) and agree(projector(a.Q), projector(b.Q))
    if isinstance(a, DenseTable):
        W = np.linspace(-1.0, 1.0, a.root_penalty.size).reshape(a.root_penalty.shape)
        return all(agree(x, y) for x, y in zip(a.value_gradient(W), b.value_gradient(W), strict=True))
    if isinstance(a, Sample):
        return agree(a.odds, b.odds) and agree(a.block.homogeneous(), b.block.homogeneous())
    if isinstance(a, ConstantSlopes):
        return all(agree(x, y) for x, y in zip(a, b, strict=True))
    return np.allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("part", ["rows", "frame", "penalty", "pinned"])
@pytest.mark.parametrize("seed", range(12))
def test_a_copy_knows_what_a_problem_by_itself_finds(seed, part):
    problem = problems.draw(seed).objective()
    before = {name: getattr(problem, name) for name in Objective.statistics}
    value = changes(problem)[part]
    copy, alone = problem.with_(**{part: value}), computed_alone(problem, part, value)
    known = {name for name in Objective.statistics if copy.knows(name)}
    for name, statistic in Objective.statistics.items():
        narrowed = part == "pinned" and statistic.narrowed is not None
        assert (name in known) == (part not in statistic.depends_on or narrowed)
        if part not in statistic.depends_on:
            assert getattr(copy, name) is before[name]
        assert agree(getattr(copy, name), getattr(alone, name)), name
    assert all(getattr(problem, name) is before[name] for name in Objective.statistics)


def test_passes_go_on_or_begin_anew():
    problem = problems.draw(3).objective()
    W = np.zeros(problem.shape)
    problem.value_gradient(W)
    same, anew = problem.with_(penalty=problem.penalty), problem.with_(penalty=problem.penalty, count_anew=True)
    assert (same.passes, anew.passes) == (problem.passes, 0)
    same.value_gradient(W)
    assert (problem.passes, anew.passes) == (same.passes, 1)


def test_a_problem_in_raw_coordinates_takes_its_twin_along():
    problem = problems.draw(3).objective(standard=False)
    copy = problem.with_(penalty=problem.penalty.times(4.0))
    assert copy.standard is not problem.standard
    assert copy.standard.penalty is copy.penalty
