"""The benchmark's own logic, with contestants that need no other environment: ours and scikit-learn, on tiny data."""

import doctest
import importlib
import json
import sys

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from benchmarks import __main__ as command
from benchmarks import scaling, table
from benchmarks.contest import Contest, Entry, Settings
from benchmarks.contestant import Contestant, Task, tolerances
from benchmarks.environments import pins_of
from benchmarks.judges import JUDGES
from benchmarks.limits import Limits
from benchmarks.objective import largest_slope, objective
from benchmarks.peers import OURS, PEERS, contestants_of
from benchmarks.rows import ROWS, Part
from benchmarks.session import Session
from benchmarks.worker import FEW, few_of_each
from separatrix.classifiers import CLASSIFIERS
from tests import reference
from tests.problems import draw

LIMITS = Limits(bandwidth=1e10, double=1e11, single=2e11)
SWIFT = Settings(repeats=1, pause=0.0)
SHRINK = 5000


@pytest.fixture(scope="module")
def tiny():
    """Ours and scikit-learn, both in this interpreter."""
    here = Session(SWIFT, LIMITS, SHRINK, (OURS, "scikit-learn"), lambda text: None, lambda peer: sys.executable)
    yield here
    here.close()


def is_ours(entry):
    return entry.peer == OURS


# ----------------------------------------------------------------------------------------------- the objective


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_objective_is_the_references(seed, K, sparse):
    problem = draw(seed, K=K, C=0.3)
    W = np.random.default_rng(seed).standard_normal((1 if K == 2 else K, problem.X.shape[1] + 1))
    ones, d = np.ones(len(problem.X)), problem.X.shape[1]
    mean, _ = reference.objective(W, problem.X, problem.codes, ones, np.full(d, 1 / 0.3))
    bare, _ = reference.objective(W, problem.X, problem.codes, ones, np.zeros(d))
    X = csr_matrix(problem.X) if sparse else problem.X
    n = len(problem.X)
    assert objective(X, problem.codes, W, 0.3) == pytest.approx(0.3 * n * mean, rel=1e-12)
    assert objective(X, problem.codes, W, np.inf) == pytest.approx(n * bare, rel=1e-12)
    lasso = 0.3 * n * bare + np.abs(W[:, 1:]).sum()
    assert objective(X, problem.codes, W, 0.3, l1_ratio=1.0) == pytest.approx(lasso, rel=1e-12)


def test_objective_of_no_numbers_is_infinite():
    assert objective(np.ones((2, 1)), np.array([0, 1]), np.array([[0.0, np.nan]]), 1.0) == np.inf


def test_at_the_largest_slope_all_weights_are_zero():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    strength = largest_slope(X, y)
    null = np.array([[np.log(y.mean() / (1 - y.mean())), 0, 0, 0]])
    steps = [np.insert(sign * 1e-4 * e, 0, 0.0) for e in np.eye(3) for sign in (1, -1)]

    def least(C):
        return min(objective(X, y, null + step, C, 1.0) for step in steps)

    assert least(0.999 / strength) > objective(X, y, null, 0.999 / strength, 1.0)
    assert least(1.1 / strength) < objective(X, y, null, 1.1 / strength, 1.0)


# ------------------------------------------------------------------------------------------------ the contest


class Scripted:
    """A crew whose answers are written down: by contestant and rung, (seconds, value) or a reply."""

    def __init__(self, script):
        self.script, self.asked = script, []

    def ask(self, peer, request, limit):
        name, tol = request["contestant"], request["rung"]["tol"]
        self.asked.append((name, tol))
        found = self.script[name][tol]
        if isinstance(found, list):  # one after the other
            found = found.pop(0)
        if isinstance(found, dict):
            return found
        seconds, value = found
        np.save(request["answer"], np.array([value]))
        return {"seconds": seconds, "extra": 10, "facts": {}}


class AsSaid:
    """value = the answer; shortfall = what it is above the best."""

    shown = "value"

    def __init__(self, task, data):
        pass

    def value(self, result):
        return result

    def shortfall(self, value, best):
        return float(value[0] - best[0])


def contest(monkeypatch, tmp_path, script, repeats=2, **settings):
    """Lines by contestant, and who was asked in which order."""
    monkeypatch.setitem(JUDGES, "said", AsSaid)
    part = Part("", None, Task("said"), None, accuracy=0.1)
    crew = Scripted(script)
    limits = Settings(repeats=repeats, pause=0.0, **settings)
    held = Contest(part, part.task, None, tmp_path, crew, limits, lambda line: None)
    entries = [
        Entry("peer", Contestant(name, "said", None, ladder=tolerances(*rungs))) for name, rungs in script.items()
    ]
    return {line["contestant"]: line for line in held.hold(entries)}, crew.asked


def test_the_loosest_rung_that_reaches_the_accuracy_is_timed(monkeypatch, tmp_path):
    script = {"a": {1: (5.0, 0.0)}, "b": {1: (1.0, 3.0), 2: (2.0, 0.05), 3: (9.0, 0.0)}}
    lines, asked = contest(monkeypatch, tmp_path, script)
    assert lines["b"]["rung"] == {"tol": 2}
    assert lines["b"]["seconds"] == 2.0
    assert ("b", 3) not in asked


def test_who_has_not_reached_the_accuracy_has_no_time(monkeypatch, tmp_path):
    script = {"good": {1: (5.0, 0.0)}, "quick": {1: (0.1, 1.0), 2: (0.2, 0.5)}}
    lines, _ = contest(monkeypatch, tmp_path, script)
    assert lines["quick"]["status"] == "not reached"
    assert lines["quick"]["seconds"] is None
    assert lines["quick"]["shortfall"] == 0.5
    assert table.seconds(lines["quick"]) == "not reached (0.5)"


def test_a_later_better_answer_sends_others_up_their_ladders(monkeypatch, tmp_path):
    """At first b is the best there is; a's second rung shows that it is far off."""
    script = {"b": {1: (1.0, 5.0), 2: (1.0, 0.0)}, "a": {1: (1.0, 6.0), 2: (1.0, 0.0)}}
    lines, asked = contest(monkeypatch, tmp_path, script)
    assert asked[:4] == [("b", 1), ("a", 1), ("a", 2), ("b", 2)]
    assert {line["status"] for line in lines.values()} == {"reached"}
    assert lines["b"]["rung"] == {"tol": 2}


def test_timed_runs_are_interleaved(monkeypatch, tmp_path):
    script = {"a": {1: (1.0, 0.0)}, "b": {1: (1.0, 0.0)}}
    lines, asked = contest(monkeypatch, tmp_path, script, repeats=3)
    assert [name for name, _ in asked] == ["a", "b"] * 4  # a warm-up and three rounds
    assert lines["a"]["repeats"] == 3


def test_who_misses_the_accuracy_when_timed_goes_a_rung_up(monkeypatch, tmp_path):
    script = {"a": {1: (1.0, 0.0)}, "lots": {1: [(1.0, 0.0), (1.0, 0.0), (1.0, 7.0)], 2: (3.0, 0.0)}}
    lines, _ = contest(monkeypatch, tmp_path, script)
    assert lines["lots"]["rung"] == {"tol": 2}
    assert lines["lots"]["seconds"] == 3.0
    assert lines["lots"]["repeats"] == 2


def test_one_run_over_the_limit_is_no_verdict_and_most_are(monkeypatch, tmp_path):
    over = {"over": 60.0}
    script = {"a": {1: [(1.0, 0.0), (1.0, 0.0), over, (2.0, 0.0)]}, "b": {1: [(1.0, 0.0), over, over, (1.0, 0.0)]}}
    lines, _ = contest(monkeypatch, tmp_path, script, repeats=3)
    assert lines["a"]["seconds"] == 2.0
    assert lines["a"]["spread"] == [1.0, 60.0]
    assert table.seconds(lines["b"]) == "> 60 s"


def test_the_budget_cuts_repeats_and_ladders(monkeypatch, tmp_path):
    script = {"a": {1: (15.0, 0.0)}, "b": {1: (30.0, 9.0), 2: (30.0, 8.0), 3: (30.0, 0.0)}}
    lines, _ = contest(monkeypatch, tmp_path, script, repeats=5, budget=40.0)
    assert lines["a"]["repeats"] == 1
    assert lines["b"]["status"] == "not reached in 40 s"


def test_runs_that_end_otherwise_say_so(monkeypatch, tmp_path):
    script = {
        "a": {1: (1.0, 0.0)},
        "slow": {1: {"over": 60.0}},
        "broken": {1: {"failed": "ValueError: no"}},
        "absent": {1: {"unavailable": "no wheel"}},
    }
    lines, _ = contest(monkeypatch, tmp_path, script)
    shown = [table.seconds(lines[name]) for name in ("slow", "broken", "absent")]
    assert shown == ["> 60 s", "failed: ValueError: no", "unavailable: no wheel"]


# -------------------------------------------------------------------------------------------------- the table


def line(peer, name, seconds, status="reached", **more):
    shown = {"peer": peer, "contestant": name, "status": status, "seconds": seconds, "spread": [seconds, seconds]}
    rest = {"repeats": 1, "shortfall": 0.0, "value": 1.0, "extra": 5e6, "rung": {}, "facts": {}, "note": ""}
    return shown | rest | more


def part(*lines, **more):
    usual = {"name": "", "goal": 2.0, "accuracy": 1e-8, "most_passes": None, "against": [], "shown": "objective"}
    return usual | {"limit_seconds": 0.1, "memory_bound": 1e7, "lines": list(lines)} | more


def test_ratio_is_to_the_quickest_peer_that_reached_the_accuracy():
    found = part(
        line(OURS, "ours", 0.5), line("x", "slow", 4.0), line("x", "good", 2.0), line("y", "wrong", None, "not reached")
    )
    assert table.ratio(found) == 4.0
    assert table.verdict(found) == "≥ 2: reached"
    assert "wrong" not in table.summary_line("row", found)[3]
    assert table.summary_line("row", found)[6] == "5.0"  # × from the limit


def test_goals_that_are_not_reached_are_said():
    slow = part(line(OURS, "ours", 1.5), line("x", "good", 2.0))
    assert "**not reached** (too slow)" in table.verdict(slow)
    ours_off = part(line(OURS, "ours", None, "not reached"), line("x", "good", 2.0))
    assert table.ratio(ours_off) is None
    assert "ours did not reach the accuracy" in table.verdict(ours_off)
    passes = part(line(OURS, "ours", 0.1, facts={"passes": 9}), line("x", "good", 2.0), most_passes=8)
    assert "too many passes" in table.verdict(passes)
    alone = part(line(OURS, "ours", 0.1), line("x", "off", None, "not reached"))
    assert "**not decided** (no peer reached the accuracy)" in table.verdict(alone)


def test_goals_against_named_peers_leave_others_out():
    found = part(line(OURS, "ours", 1.0), line("x", "quick", 0.1), line("y", "named", 3.0), against=["y"])
    assert table.ratio(found) == 3.0


def test_memory_over_its_bound_is_marked():
    assert "over" in table.memory(part(), line(OURS, "ours", 1.0, extra=2e7))
    assert "over" not in table.memory(part(), line(OURS, "ours", 1.0, extra=1e6))


def test_a_row_that_is_run_again_leaves_the_others(tiny, tmp_path):
    path = tmp_path / "results.json"
    done = {name: tiny.row(ROWS[name], is_ours) for name in ("tall", "margin")}
    table.write({"rows": dict(done)}, path)
    before = table.read(path)
    table.write({"rows": {**before["rows"], "tall": {**done["tall"], "about": "changed"}}}, path)
    after = table.read(path)
    assert after["rows"]["margin"] == json.loads(json.dumps(done["margin"]))
    assert after["rows"]["tall"]["about"] == "changed"
    text = path.with_suffix(".md").read_text()
    assert "## margin" in text
    assert "Smaller than the row says" in text


# --------------------------------------------------------------------------------------------- rows and peers


def test_ours_and_scikit_learn_side_by_side(tiny):
    two = ("LogisticRegression", "newton-cholesky")
    found, _ = tiny.part(ROWS["tall"].parts[0], "tall", lambda entry: entry.contestant.name in two)
    by_name = {f"{entry['peer']} {entry['contestant']}": entry for entry in found["lines"]}
    ours, peer = by_name[f"{OURS} LogisticRegression"], by_name["scikit-learn newton-cholesky"]
    assert ours["status"] == peer["status"] == "reached"
    assert ours["value"] == pytest.approx(peer["value"], rel=1e-8)
    assert table.ratio(found) > 0
    assert ours["facts"]["passes"] > 0


# Rows that start many processes, and one that fits many times.
LONG = ("auto-C", "cli", "start")


@pytest.mark.parametrize("name", [pytest.param(name, marks=pytest.mark.slow if name in LONG else ()) for name in ROWS])
def test_every_row_runs(tiny, name):
    parts = tiny.row(ROWS[name], is_ours)["parts"]
    ours = [table.ours_of(found) for found in parts]
    assert [entry["status"] for entry in ours] == ["reached"] * len(parts)


def test_a_run_over_its_limit_costs_the_worker_and_nothing_else(tiny):
    asked = ROWS["tall"].parts[0]
    rows, folder = tiny.rows_of(asked.data)
    request = {
        "folder": str(folder),
        "task": asked.task_on(rows).to_dict(),
        "contestant": "LogisticRegression",
        "rung": {"tol": 1e-8},
        "answer": str(folder / "answer.npy"),
    }
    assert tiny.crew.ask(OURS, request, limit=0.0) == {"over": 0.0}
    assert OURS not in tiny.crew.workers
    assert "seconds" in tiny.crew.ask(OURS, request, limit=60.0)
    assert "failed" in tiny.crew.ask(OURS, {**request, "contestant": "nobody"}, limit=60.0)


def test_registries_fit_together():
    for name, row in ROWS.items():
        assert row.name == name
        assert all(part.task.kind in JUDGES for part in row.parts)
    for name in PEERS:
        assert all(contestant.kind in JUDGES and contestant.ladder for contestant in contestants_of(name))
        pinned = {entry.split("==")[0] for entry in pins_of(name).read_text().split()}
        assert name == OURS or set(PEERS[name].distributions) <= pinned


def test_data_come_from_their_seed():
    asked = ROWS["sparse"].parts[0].data
    a, b = asked(SHRINK), asked(SHRINK)
    assert (a.X != b.X).nnz == 0
    assert np.array_equal(a.y, b.y)
    assert asked(50).X.shape[0] > a.X.shape[0]


def test_the_picture_of_growth_is_small(tmp_path):
    pytest.importorskip("matplotlib", reason="the picture needs the bench extra")
    found = {sweep.name: {scaling.OURSELVES: [[size, size * 1e-6] for size in sweep.sizes]} for sweep in scaling.SWEEPS}
    said = table.document({"rows": {}, "scaling": {**found, "K": {scaling.OURSELVES: [[2, 0.5]], "peer": [[4, 1.5]]}}})
    assert "| K                             | 2      | 4     |" in said
    assert "| separatrix LogisticRegression | 500 ms | –     |" in said
    scaling.draw(found, tmp_path / "growth.svg")
    text = (tmp_path / "growth.svg").read_text()
    assert all(sweep.title in text for sweep in scaling.SWEEPS)
    assert len(text) < 200_000


# ------------------------------------------------------------------------------------------- the command line


def test_unknown_rows_are_refused_by_name(capsys):
    with pytest.raises(SystemExit) as stopped:
        command.main(["tal"])
    assert stopped.value.code == 2
    assert "got tal; choose of tall" in capsys.readouterr().err


def test_list_names_every_row_and_peer(capsys):
    assert command.main(["--list"]) == 0
    said = capsys.readouterr().out
    assert all(name in said for name in (*ROWS, *PEERS, "scaling"))


@pytest.mark.parametrize("name", ["contest", "contestant", "data", "limits", "objective", "table"])
def test_doctests(name):
    found = doctest.testmod(importlib.import_module(f"benchmarks.{name}"))
    assert found.attempted > 0
    assert found.failed == 0


def test_a_run_to_compile_has_rows_of_every_class():
    y = np.repeat([0, 1, 2], [100, 100, 1])
    assert set(y[few_of_each(y)]) == {0, 1, 2}
    assert few_of_each(y)[:FEW].tolist() == list(range(FEW))
    assert few_of_each(np.array([1, 0, 1])).tolist() == [0, 1, 2]


def test_what_dragging_needs_is_measured_beside_its_goals(capsys):
    from benchmarks import drag

    assert drag.main(repeats=1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(list(drag.tasks()))
    assert all(f"| fit {name} |" in "\n".join(lines) for name in CLASSIFIERS)


def test_small_tables_are_compared_with_every_solver(capsys):
    from benchmarks import small_tables

    assert small_tables.main(repeats=1) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 + len(small_tables.tables())
    for line in lines[2:]:
        ours, *theirs, ratio = line.strip("| ").split(" | ")[1:]
        times = [float(cell) for cell in theirs if cell.strip()]
        assert float(ours) > 0
        assert float(ratio) == pytest.approx(float(ours) / min(times), rel=0.1)
