"""Files that are no files, streams that are full, and interrupts: one sentence and the documented exit code."""

import os
import signal
import subprocess
import sys
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from separatrix.cli import exits
from separatrix.cli.exits import Terminated, terminate
from tests.cli.running import OVERLAPPING, complaint, run

PROGRAM = [sys.executable, "-m", "separatrix"]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(OVERLAPPING)
    return str(path)


FIT_WITH_SCHEMAS = """
import sys
from pathlib import Path
from tests.cli.running import complaint
for path in sys.argv[2:]:
    print(complaint("fit", sys.argv[1], "--target", "y", "--schema", path, code=3), end="")
"""


def test_a_schema_that_is_no_regular_file(table, tmp_path):
    """A process of its own reads them, so that one that waits for ever can be ended."""
    os.mkfifo(tmp_path / "fifo")
    paths = [str(tmp_path / "fifo"), "/dev/zero", str(tmp_path)]
    words = [sys.executable, "-c", FIT_WITH_SCHEMAS, table, *paths]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=True, cwd=ROOT)
    for path, line in zip(paths, done.stdout.splitlines(), strict=True):
        assert line.startswith(f"separatrix: {path}: it is not a regular file")


def test_a_schema_of_any_size(table, tmp_path):
    path = tmp_path / "schema.json"
    with path.open("wb") as out:
        out.truncate(1 << 32)  # takes no room on the disk
    assert "larger than" in complaint("fit", table, "--target", "y", "--schema", path, code=3)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"columns": [], "columns": [{"name": "a", "kind": "number"}]}', "the key 'columns' occurs twice"),
        ('{"columns": [{"name": "a", "name": "b", "kind": "number"}]}', "the key 'name' occurs twice"),
        ('{"columns": [{"name": "\\ud800", "kind": "number"}]}', "is not a character"),
        ('{"columns": [{"name": "a", "kind": "category", "levels": ["\\udfff", "0"]}]}', "is not a character"),
        ('{"target": NaN}', "target"),
    ],
)
def test_a_schema_that_says_nothing_clear(table, tmp_path, text, told):
    path = tmp_path / "schema.json"
    path.write_text(text)
    assert told in complaint("fit", table, "--target", "y", "--schema", path, code=3)


@pytest.mark.skipif(not hasattr(os, "setresuid"), reason="needs users without the right to read a file")
def test_a_file_that_may_not_be_read(table, tmp_path):
    schema = tmp_path / "schema.json"
    schema.write_text('{"columns": []}')
    model = tmp_path / "model.json"
    model.write_text("{}")
    for path in (table, schema, model):
        os.chmod(path, 0)
    root = os.geteuid() == 0
    if root:  # who may read everything
        for folder in (tmp_path, tmp_path.parent, tmp_path.parent.parent):
            os.chmod(folder, 0o755)
        os.setresuid(65534, 65534, 0)
    try:
        assert "it cannot be opened" in complaint("fit", table, "--target", "y", code=3)
        assert "it cannot be opened" in complaint("fit", "demo:iris", "--schema", schema, code=3)
        assert "it cannot be opened" in complaint("show", model, code=4)
    finally:
        if root:
            os.setresuid(0, 0, 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
@pytest.mark.parametrize("words", [[], ["--help"], ["--version"], *([verb, "--help"] for verb in exits.VERBS)])
def test_help_on_a_full_device(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*PROGRAM, *words], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    if words:
        assert done.stderr == "separatrix: the output cannot be written (No space left on device)\n"


INTERRUPTED = """
import runpy, signal, sys

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs inherit that it is ignored
signal.signal(signal.SIGTERM, signal.SIG_DFL)

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            signal.raise_signal({signal})

sys.meta_path.insert(0, Interrupt())
sys.argv = ["separatrix", *{words!r}]
runpy.run_module("separatrix", run_name="__main__")
"""


def ended(script):
    """The exit code of a script, and what it prints on standard error; it prints nothing else."""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == ""
    return done.returncode, done.stderr.strip()


@pytest.mark.parametrize("module", ["click", "separatrix.cli.exits", "separatrix.cli.compare", "separatrix.statistics"])
def test_an_interrupt_while_modules_are_loaded(table, module):
    script = INTERRUPTED.format(module=module, words=["compare", table, "--target", "y"], signal=int(signal.SIGINT))
    assert ended(script) == (130, "separatrix: interrupted")


@pytest.mark.parametrize("module", ["click", "separatrix.cli.compare"])
def test_a_termination_while_modules_are_loaded(table, module):
    script = INTERRUPTED.format(module=module, words=["compare", table, "--target", "y"], signal=int(signal.SIGTERM))
    assert ended(script) == (143, "separatrix: terminated")


TERMINATED_WHILE_WRITING = """
import os, runpy, signal, sys

signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.fsync = lambda descriptor: signal.raise_signal(signal.SIGTERM)
sys.argv = ["separatrix", *{words!r}]
runpy.run_module("separatrix", run_name="__main__")
"""


def test_a_termination_leaves_no_part_of_a_file_behind(table, tmp_path):
    model, out = tmp_path / "model.json", tmp_path / "out"
    run("fit", table, "--target", "y", "--out", model)
    out.mkdir()
    for words in (["predict", str(model), table], ["fit", table, "--target", "y"]):
        script = TERMINATED_WHILE_WRITING.format(words=[*words, "--out", str(out / "file")])
        assert ended(script) == (143, "separatrix: terminated")
        assert list(out.iterdir()) == []


TERMINATED_AGAIN = """
import atexit, os, runpy, signal, sys

signal.signal(signal.SIGTERM, signal.SIG_DFL)
os.fsync = lambda descriptor: signal.raise_signal(signal.SIGTERM)
remove = os.unlink

def unlink(*given, **named):
    signal.raise_signal(signal.SIGTERM)
    remove(*given, **named)

os.unlink = os.remove = unlink
atexit.register(signal.raise_signal, signal.SIGTERM)
sys.argv = ["separatrix", *{words!r}]
runpy.run_module("separatrix", run_name="__main__")
"""


@pytest.mark.slow
def test_a_second_termination_leaves_no_part_of_a_file_behind(table, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    script = TERMINATED_AGAIN.format(words=["fit", table, "--target", "y", "--out", str(out / "file")])
    assert ended(script) == (143, "separatrix: terminated")
    assert list(out.iterdir()) == []


@pytest.fixture
def terminated():
    """SIGTERM is handled as the program does."""
    before = signal.signal(signal.SIGTERM, terminate)
    yield partial(signal.raise_signal, signal.SIGTERM)
    signal.signal(signal.SIGTERM, before)


def test_another_termination_does_not_interrupt_what_removes_files(terminated):
    done = []

    def pieces():
        try:
            yield 1
        finally:
            terminated()
            done.append("generator")

    def fit(rows):
        for _ in rows:
            try:
                terminated()
            finally:
                try:
                    raise OSError
                except OSError:
                    terminated()
                done.append("finally")

    def verb():
        with ExitStack() as files:
            files.callback(done.append, "file")
            files.callback(terminated)
            fit(files.enter_context(closing(pieces())))

    with pytest.raises(Terminated):
        verb()
    assert done == ["finally", "generator", "file"]
    with pytest.raises(Terminated):  # another run
        terminated()


def test_a_termination_that_python_drops_is_followed_by_the_next_one(terminated, monkeypatch):
    dropped = []
    monkeypatch.setattr(sys, "unraisablehook", lambda raised: dropped.append(raised.exc_type))

    class Finaliser:
        def __del__(self):
            terminated()

    Finaliser()
    assert dropped == [Terminated]
    with pytest.raises(Terminated):
        terminated()
