"""A fit that was interrupted goes on from its checkpoint, and gives the same bits as one that was not."""

import errno
import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import separatrix as sx
from separatrix.base.checkpoints import Checkpoint
from separatrix.base.errors import ParameterError

CLASSIFIERS = {
    "sampled-newton": lambda: sx.LogisticRegression(solver="sampled-newton"),
    "newton": lambda: sx.LogisticRegression(solver="newton"),
    "lbfgs": lambda: sx.LogisticRegression(solver="lbfgs"),
    "working-set": lambda: sx.LogisticRegression(l1_ratio=1.0, C=0.01, solver="working-set"),
    "proximal": lambda: sx.LogisticRegression(l1_ratio=0.5, C=0.01, solver="proximal-newton"),
    "maximum likelihood": lambda: sx.LogisticRegression(C=np.inf),
    "least squares": lambda: sx.LeastSquaresClassifier(),
    "lda": lambda: sx.LinearDiscriminantAnalysis(),
    "svc": lambda: sx.LinearSVC(),
}
INTERRUPTED = ("sampled-newton", "newton", "lbfgs", "working-set", "proximal")
# The program that is killed: it fits the classifier of its first argument, and says when a pass ends.
PROGRAM = """
    import sys
    import separatrix as sx
    from separatrix.base.checkpoints import Checkpoint
    from tests.rows.test_checkpointed import CLASSIFIERS

    keep = Checkpoint.result
    def told(self, question, compute):
        answer = keep(self, question, compute)
        print("kept", flush=True)
        return answer
    Checkpoint.result = told
    with sx.checkpoint(sys.argv[3], resume=True):
        CLASSIFIERS[sys.argv[1]]().fit(sx.scan(sys.argv[2], target="y"))
"""


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    rng = np.random.default_rng(0)
    n, d = 70_000, 8
    X = rng.standard_normal((n, d)) * np.logspace(-1, 1, d) + 3
    y = np.where(X[:, 0] + X[:, 3] > rng.logistic(size=n), "yes", "no")
    folder = tmp_path_factory.mktemp("table")
    for k, part in enumerate(np.array_split(np.arange(n), 2)):
        columns = {f"x{j}": X[part, j] for j in range(d)}
        pq.write_table(pa.table({**columns, "y": y[part]}), folder / f"{k}.parquet", row_group_size=30_000)
    return str(folder / "*.parquet")


def fitted(name, files):
    return CLASSIFIERS[name]().fit(sx.scan(files, target="y"))


def same(ours, theirs):
    assert ours.coef_.tobytes() == theirs.coef_.tobytes()
    assert ours.intercept_.tobytes() == theirs.intercept_.tobytes()
    assert ours.certificate_.code == theirs.certificate_.code
    assert ours.certificate_.passes == theirs.certificate_.passes


@pytest.mark.parametrize(
    "name", [name if name == "newton" else pytest.param(name, marks=pytest.mark.slow) for name in INTERRUPTED]
)
def test_a_fit_killed_in_any_pass_goes_on_to_the_same_bits(files, tmp_path, name):
    """The process is killed with SIGKILL after its second and its fifth result, and started again each time."""
    path = tmp_path / "fit.checkpoint"
    program = textwrap.dedent(PROGRAM)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([os.getcwd(), *sys.path])}
    for results in (2, 5):
        process = subprocess.Popen(
            [sys.executable, "-c", program, name, files, str(path)], stdout=subprocess.PIPE, text=True, env=environment
        )
        for _ in range(results):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
    with sx.checkpoint(path, resume=True) as held:
        resumed = fitted(name, files)
        assert held.replayed >= 1
    same(resumed, fitted(name, files))


class Stopped(Exception):
    """What ends a fit."""


@pytest.mark.parametrize("name", INTERRUPTED)
def test_a_fit_stopped_in_any_pass_goes_on_to_the_same_bits(files, tmp_path, monkeypatch, name):
    """As a fit that is killed, but in this process: an exception ends it after its second and its third result."""
    path, keep = tmp_path / "fit.checkpoint", Checkpoint.result
    for results in (2, 3):
        left = [results]

        def stopping(self, question, compute, left=left):
            answer = keep(self, question, compute)
            left[0] -= 1
            if left[0] == 0:
                raise Stopped
            return answer

        with monkeypatch.context() as patched:
            patched.setattr(Checkpoint, "result", stopping)
            with pytest.raises(Stopped), sx.checkpoint(path, resume=True):
                fitted(name, files)
    with sx.checkpoint(path, resume=True) as held:
        resumed = fitted(name, files)
        assert held.replayed >= 3
    same(resumed, fitted(name, files))


# The others read a few first rows, or columns that they keep in memory.
@pytest.mark.parametrize("name", ["sampled-newton", "newton", "lbfgs", "proximal", "maximum likelihood", "svc"])
def test_a_finished_checkpoint_answers_without_reading_rows(files, tmp_path, name, monkeypatch):
    with sx.checkpoint(tmp_path / "c") as first:
        once = fitted(name, files)
        assert first.kept > 1
    from separatrix.rows.streamed import StreamedRows

    def no_pass(self):
        raise AssertionError("the rows are read")

    monkeypatch.setattr(StreamedRows, "_pieces", no_pass)
    with sx.checkpoint(tmp_path / "c", resume=True) as again:
        same(fitted(name, files), once)
        assert again.kept == 0


def test_other_fits_are_refused_by_name(files, tmp_path):
    path = tmp_path / "c"
    with sx.checkpoint(path):
        sx.LogisticRegression().fit(sx.scan(files, target="y"))
    with pytest.raises(ParameterError, match="exists; give resume=True"), sx.checkpoint(path):
        pass
    with (
        sx.checkpoint(path, resume=True),
        pytest.raises(ParameterError, match=r"another setting C: it was 1\.0, and now it is 2\.0"),
    ):
        sx.LogisticRegression(C=2.0).fit(sx.scan(files, target="y"))
    with sx.checkpoint(path, resume=True), pytest.raises(ParameterError, match="another classifier"):
        sx.LinearSVC().fit(sx.scan(files, target="y"))
    with sx.checkpoint(path, resume=True), pytest.raises(ParameterError, match="another table"):
        sx.LogisticRegression().fit(sx.scan(files.replace("*", "1"), target="y"))


def test_damage_is_noticed_and_an_incomplete_record_is_cut_off(files, tmp_path):
    path = tmp_path / "c"
    with sx.checkpoint(path):
        whole = sx.LogisticRegression(solver="newton").fit(sx.scan(files, target="y"))
    data = path.read_bytes()
    path.write_bytes(data[:-5])
    with sx.checkpoint(path, resume=True) as held:
        same(sx.LogisticRegression(solver="newton").fit(sx.scan(files, target="y")), whole)
        assert held.kept == 1
    assert path.read_bytes() == data
    path.write_bytes(data[:3000] + bytes([data[3000] ^ 1]) + data[3001:])
    with pytest.raises(ParameterError, match="checksum is wrong"):
        Checkpoint(path, resume=True)
    path.write_bytes(data.replace(b"separatrix checkpoint 1", b"separatrix checkpoint 2", 1))
    with pytest.raises(ParameterError, match=r"version is 2.*install a newer"):
        Checkpoint(path, resume=True)
    path.write_bytes(b"PK\x03\x04")
    with pytest.raises(ParameterError, match="not a file of the form"):
        Checkpoint(path, resume=True)


def test_two_processes_cannot_write_one_checkpoint(tmp_path):
    with sx.checkpoint(tmp_path / "c"), pytest.raises(ParameterError, match="another process is writing"):
        Checkpoint(tmp_path / "c", resume=True)


def test_a_disk_without_room_is_named_and_the_passes_before_are_kept(files, tmp_path, monkeypatch):
    path, synced = tmp_path / "kept", os.fsync

    def full(descriptor):
        if kept.kept == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        synced(descriptor)

    model, scan = sx.LogisticRegression(), sx.scan(files, target="y")
    with sx.checkpoint(path) as kept:
        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(ParameterError, match=r"kept': it cannot be written \(No space left on device\); make room"):
            model.fit(scan)
        with pytest.raises(ParameterError, match=r"kept': it was closed after an error; leave this block"):
            sx.LogisticRegression(C=2.0).fit(scan)
    monkeypatch.setattr("os.fsync", synced)
    with sx.checkpoint(path, resume=True) as again:
        model.fit(scan)
    assert again.replayed >= 2
