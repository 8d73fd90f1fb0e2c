"""A problem does not change, and a copy with other parts shares what does not depend on them."""

import numpy as np
import pytest

from separatrix.core.base.lazy import cached_property
from separatrix.core.linear_algebra import Subspace
from separatrix.core.null_model import ConstantSlopes
from separatrix.core.objective_sums import DenseTable
from separatrix.core.problem import Columns, FramedRows, Objective
from separatrix.core.rows.block import Block
from separatrix.core.rows.frame import Frame
from separatrix.core.rows.memory_rows import memory_rows
from separatrix.core.rows.sampling import RowSample
from tests import problems

FIELDS = ("rows", "loss", "penalty", "pinned", "names", "passes", "subspace", "total_weight")


@pytest.mark.parametrize("name", FIELDS)
def test_nothing_can_be_assigned_to_a_problem(name):
    problem = problems.draw(3).objective()
    with pytest.raises(AttributeError, match=f"use with_.* another {name}"):
        setattr(problem, name, getattr(problem, name))


def changes(problem):
    """Of each part of a problem, another."""
    block, frame = problem.rows.resident(), problem.rows.frame
    weight = np.where(np.arange(block.n_rows) % 5 == 4, 2.0, 1.0) * block.weight
    pinned = problem.pinned.copy()
    pinned[-1] = True
    offset = 0.5 * np.where(np.isfinite(frame.scale), frame.scale, 0.0)
    return {
        "rows": memory_rows(block.X, block.t, weight, frame),
        "frame": Frame(frame.center + offset, 2.0 * frame.scale),
        "scale": Frame(frame.center, 2.0 * frame.scale),
        "penalty": problem.penalty.times(4.0),
        "pinned": pinned,
    }


def computed_alone(problem, part, value):
    """The changed problem, with nothing known of it."""
    rows = {"rows": value}.get(part, problem.rows)
    rows = rows.seen_through(value) if part in ("frame", "scale") else rows
    penalty, pinned = {"penalty": value}.get(part, problem.penalty), {"pinned": value}.get(part, problem.pinned)
    columns = Columns(FramedRows(rows, problem.n_classes, problem.shape[0]), pinned)
    return Objective(columns, problem.loss, penalty, problem.fit_intercept)


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
        W = np.linspace(-1.0, 1.0, a.block.X.shape[1] + 1)[None, :].repeat(1 if a.t.ndim == 1 else len(a.t), axis=0)
        return all(agree(x, y) for x, y in zip(a.sums(W), b.sums(W), strict=True))
    if isinstance(a, RowSample):
        return agree(a.odds, b.odds) and agree(a.block.homogeneous(), b.block.homogeneous())
    if isinstance(a, ConstantSlopes):
        return all(agree(x, y) for x, y in zip(a, b, strict=True))
    return np.allclose(np.asarray(a, dtype=float), np.asarray(b, dtype=float), rtol=1e-9, atol=1e-12)


def statistics(problem):
    """Every cached statistic of a problem, computed, by name."""
    found = {}
    for each in (problem, problem.columns, problem.framed):
        names = [name for name, value in vars(type(each)).items() if isinstance(value, cached_property)]
        found |= {f"{type(each).__name__}.{name}": getattr(each, name) for name in names}
    return found


@pytest.mark.parametrize("part", ["rows", "frame", "scale", "penalty", "pinned"])
@pytest.mark.parametrize("seed", range(12))
def test_a_copy_finds_what_a_problem_by_itself_finds(seed, part):
    problem = problems.draw(seed).objective()
    before = statistics(problem)
    value = changes(problem)[part]
    copy, alone = problem.with_(**{"frame" if part == "scale" else part: value}), computed_alone(problem, part, value)
    expected = statistics(alone)
    for name, found in statistics(copy).items():
        assert agree(found, expected[name]), name
    after = statistics(problem)
    assert all(after[name] is before[name] for name in before)


def test_copies_share_what_does_not_depend_on_the_changed_part():
    problem = problems.draw(3).objective()
    another = changes(problem)
    assert problem.with_(penalty=another["penalty"]).columns is problem.columns
    assert problem.with_(loss=problem.loss).columns is problem.columns
    assert problem.with_(pinned=another["pinned"]).framed is problem.framed
    space = problem.subspace
    assert problem.with_(penalty=another["penalty"], subspace=space).subspace is space


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
