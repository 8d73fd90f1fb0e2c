"""Files written whole or not at all: what they keep of the file they replace, and what killed writers leave behind."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import time

import pytest

from separatrix.core.base import files as atomic_files
from separatrix.core.base.errors import ParameterError
from separatrix.core.base.files import replace_file

# Writes a file over and over, so that it can be killed in the midst of it.
WRITER = """
import sys
from separatrix.core.base.files import replace_file
print("ready", flush=True)
while True:
    replace_file(sys.argv[1], b"x" * 4_000_000)
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def stray(folder, pid, machine=None, name="model.json", age=0.0):
    path = folder / f".{name}.{pid}-{machine or atomic_files._machine()}.0123456789abcdef.tmp"
    path.write_bytes(b"half")
    os.utime(path, (time.time() - age, time.time() - age))
    return path.name


@pytest.fixture
def dead():
    """The number of a process that has ended."""
    with subprocess.Popen([sys.executable, "-c", ""]) as process:
        process.wait()
    return process.pid


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o755])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    replace_file(path, b"new")
    assert (stat.S_IMODE(path.stat().st_mode), path.read_bytes()) == (mode, b"new")


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        replace_file(tmp_path / "model.json", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "model.json").stat().st_mode) == 0o640


def test_what_is_written_is_never_readable_by_more_than_the_old_file_was(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(0o600)
    seen = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda number: (seen.append(os.fstat(number).st_mode & 0o777), fsync(number)))
    opened = os.open
    modes = []
    monkeypatch.setattr(os, "open", lambda name, flags, mode: (modes.append(mode), opened(name, flags, mode))[1])
    replace_file(path, b"new")
    assert (modes, seen) == ([0o600], [0o600])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away")
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    os.chown(path, 1234, 2345)
    replace_file(path, b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 2345)


def test_an_owner_that_cannot_be_kept_is_no_error(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    asked = []

    def chown(_, owner, group):
        asked.append((owner, group))
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "chown", chown)
    replace_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert [owner for owner, _ in asked] == [path.stat().st_uid, -1]


@pytest.mark.parametrize("link", [False, True])
def test_a_read_only_file_is_not_replaced(tmp_path, link):
    path = tmp_path / "model.json"
    path.write_bytes(b"old")
    path.chmod(0o444)
    (tmp_path / "link.json").symlink_to(path)
    given = tmp_path / "link.json" if link else path
    with pytest.raises(ParameterError, match=rf"'{re.escape(str(given))}' is read-only; make it writable"):
        replace_file(given, b"new")
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["link.json", "model.json"])


def test_files_of_dead_writers_are_removed(tmp_path, dead):
    stray(tmp_path, dead)
    replace_file(tmp_path / "model.json", b"new")
    assert names(tmp_path) == ["model.json"]


def test_only_files_of_dead_writers_of_the_same_target_are_removed(tmp_path, dead):
    kept = [
        stray(tmp_path, os.getpid()),
        stray(tmp_path, os.getppid()),
        stray(tmp_path, dead, machine="00000000"),
        stray(tmp_path, dead, name="other.json"),
        stray(tmp_path, dead, name="model.json.bak"),
        stray(tmp_path, 10**30),
    ]
    (tmp_path / ".0123456789abcdef.tmp").write_bytes(b"somebody else's")
    replace_file(tmp_path / "model.json", b"new")
    assert names(tmp_path) == sorted([*kept, ".0123456789abcdef.tmp", "model.json"])


def test_abandoned_files_are_removed_after_a_day(tmp_path, dead):
    stray(tmp_path, os.getpid(), age=atomic_files.ABANDONED_SECONDS + 60)
    stray(tmp_path, dead, machine="00000000", age=atomic_files.ABANDONED_SECONDS + 60)
    replace_file(tmp_path / "model.json", b"new")
    assert names(tmp_path) == ["model.json"]


@pytest.mark.parametrize("name", ["m" * 250, "é" * 120, "a b'c\"[1].*.json"])
def test_odd_and_long_names(tmp_path, name, dead):
    path = tmp_path / name
    beginning = atomic_files._beginning(name)
    (tmp_path / f"{beginning}{dead}-{atomic_files._machine()}.0123456789abcdef.tmp").write_bytes(b"half")
    replace_file(path, b"new")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize(
    "path", ["m" * 300, "absent/model.json", "model.json/inside", "loop", "a\0b"], ids=lambda path: path[:12]
)
def test_paths_that_cannot_be_written(tmp_path, path):
    (tmp_path / "model.json").write_bytes(b"old")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ParameterError, match=r"^path: .* cannot be written \(.*\); give a path in a folder"):
        replace_file(tmp_path / path, b"new")
    assert names(tmp_path) == ["loop", "model.json"]


@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.slow)])
def test_killed_writers_leave_a_whole_file_and_nothing_after_the_next_write(tmp_path, kills):
    path = tmp_path / "model.json"
    replace_file(path, b"x" * 4_000_000)
    left = 0
    for k in range(kills):
        command = [sys.executable, "-c", WRITER, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(0.01 + 0.003 * (k % 10))
            process.send_signal(signal.SIGKILL)
        assert path.read_bytes() == b"x" * 4_000_000
        left += len(names(tmp_path)) - 1
    replace_file(path, b"new")
    assert names(tmp_path) == ["model.json"], f"{left} strays were seen"
