"""An output that is an input, or another output of the same command, is refused before anything is read."""

import gzip
import os
import subprocess
import sys
from itertools import chain, combinations, product
from pathlib import Path

import click
import pytest

import separatrix as sx
from separatrix.cli import main
from separatrix.cli.exits import VERBS
from separatrix.core.base.errors import ParameterError

from .running import OVERLAPPING, complaint, run

# Options and arguments for files have one of these metavars; an argument has none. All but those in READ are written.
METAVARS = ("FILE", "FOLDER", "DIR", "DATA")
READ = {
    "data": "rows.csv",
    "model": "model.json",
    "other": "other.json",
    "schema": "schema.json",
    "fitted_on": "fitted.csv",
}
# What a verb needs besides its files, so that it would write its outputs.
MORE = {
    "fit": ["--target", "y", "--memory", "4GB"],
    "compare": ["--target", "y", "--only", "lda"],
    "export": ["--to", "python"],
}


def _here(name):
    return name


def _dotted(name):
    return f"./{name}"


def _absolute(name):
    return str(Path.cwd() / name)


def _symbolic_link(name):
    os.symlink(name, f"symbolic-{name}")
    return f"symbolic-{name}"


def _hard_link(name):
    Path(name).touch()
    os.link(name, f"hard-{name}")
    return f"hard-{name}"


REMEDY = "choose another name."
SPELLINGS = (_here, _dotted, _absolute, _symbolic_link, _hard_link)


def files_of(verb):
    """The options and arguments of a verb that are files: what it reads, and what it writes."""
    params = main.get_command(click.Context(main), verb).params
    files = [one for one in params if (isinstance(one, click.Argument) and one.name in READ) or one.metavar in METAVARS]
    return [one for one in files if one.name in READ], [one for one in files if one.name not in READ]


def called(param):
    return param.opts[-1] if isinstance(param, click.Option) else param.name.upper()


def words(verb, files):
    """A command with these files by parameter; what a verb reads is always given."""
    given = {param: READ[param.name] for param in files_of(verb)[0]} | files
    options = [[called(param), path] for param, path in given.items() if isinstance(param, click.Option)]
    arguments = [path for param, path in given.items() if isinstance(param, click.Argument)]
    return [verb, *arguments, *chain.from_iterable(options), *MORE.get(verb, [])]


def runs(*files):
    """Verbs with combinations of their ``files``, and with all spellings of the second file."""
    return [(verb, *pair, how) for verb, pairs in files for pair in pairs for how in SPELLINGS]


OVER_INPUTS = runs(*((verb, product(*files_of(verb))) for verb in VERBS))
OVER_OUTPUTS = runs(*((verb, combinations(files_of(verb)[1], 2)) for verb in VERBS))


def named(value):
    if isinstance(value, str):
        return value
    return value.__name__.strip("_") if callable(value) else called(value)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """The bytes of a model of the table."""
    folder = tmp_path_factory.mktemp("model")
    (folder / "rows.csv").write_text(OVERLAPPING)
    run("fit", folder / "rows.csv", "--target", "y", "--out", folder / "model.json")
    return (folder / "model.json").read_bytes()


@pytest.fixture(autouse=True)
def inputs(here, model):
    """All files that a verb may read."""
    for name in ("model.json", "other.json"):
        Path(name).write_bytes(model)
    Path("fitted.csv").write_text(OVERLAPPING)
    Path("schema.json").write_text('{"columns": [{"name": "a", "kind": "number"}]}')


def refused(*command):
    """The sentence with which the command is refused before it does anything."""
    said = complaint(*command, code=2)
    return said.removeprefix("separatrix: ").removesuffix("\n")


@pytest.mark.parametrize(("verb", "read", "written", "spelled"), OVER_INPUTS, ids=named)
def test_an_output_that_is_an_input_is_refused(verb, read, written, spelled):
    name = READ[read.name]
    before, spelling = Path(name).read_bytes(), spelled(name)
    said = refused(*words(verb, {written: spelling}))
    assert Path(name).read_bytes() == before
    told = f"{called(written)}: {spelling!r} is a file that {called(read)} reads ({name!r}); {REMEDY}"
    folder = f"Invalid value for '{called(written)}': Directory {spelling!r} is a file (see: separatrix {verb} --help)"
    assert said in ([told, folder] if written.metavar == "DIR" else [told])


@pytest.mark.parametrize(("verb", "first", "second", "spelled"), OVER_OUTPUTS, ids=named)
def test_two_outputs_that_are_one_file_are_refused(verb, first, second, spelled):
    spelling = spelled("new")
    given, before = {first: "new", second: spelling}, os.path.exists("new")
    said = refused(*words(verb, given))
    assert os.path.exists("new") == before
    if before and "DIR" in (first.metavar, second.metavar):
        assert "is a file" in said
    else:  # The error is about a file, not about the folder of caches.
        out, other = (first, second) if second.metavar == "DIR" else (second, first)
        problem = f"{given[out]!r} is a file that {called(other)} writes ({given[other]!r})"
        assert said == f"{called(out)}: {problem}; {REMEDY}"


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_for_files_says_whether_it_is_read_or_written(verb):
    """Otherwise the files of a new option would not be compared with the others."""
    read, written = files_of(verb)
    paths = [one for one in main.get_command(click.Context(main), verb).params if isinstance(one.type, click.Path)]
    assert set(paths) == {*read, *written}
    assert [one.type.written for one in (*read, *written)] == [False] * len(read) + [True] * len(written)


@pytest.mark.parametrize("data", ["tables", "tables/*.csv", "tables/a.csv.gz"])
def test_an_output_that_is_one_of_the_files_read_is_refused(data):
    """In a folder, by a pattern, and compressed; a file beside them is written."""
    Path("tables").mkdir()
    files = ["tables/a.csv.gz"] if data.endswith(".gz") else ["tables/a.csv", "tables/b.csv"]
    for name in files:
        Path(name).write_bytes(gzip.compress(OVERLAPPING.encode()) if name.endswith("gz") else OVERLAPPING.encode())
    for name in files:
        before = Path(name).read_bytes()
        assert f"reads ({data!r})" in refused("fit", data, "--target", "y", "--out", f"./{name}")
        assert Path(name).read_bytes() == before
    Path("tables/model.json").write_text("a file that is not read")
    run("fit", data, "--target", "y", "--out", "tables/model.json")
    run("predict", "tables/model.json", data, "--out", "tables/c.csv")
    assert len(sx.load("tables/model.json").classes_) == 2


def test_an_output_that_is_a_cache_of_rows_is_refused():
    Path("kept").mkdir()
    Path("kept/table.rows").write_bytes(b"rows")
    for words in (["--cache", "kept", "--out", "kept/table.rows"], ["--out", "kept/table.rows", "--cache", "kept"]):
        said = refused("fit", "rows.csv", "--target", "y", *words)
        assert said == f"--out: 'kept/table.rows' is a file that --cache writes ('kept'); {REMEDY}"
    run("fit", "rows.csv", "--target", "y", "--cache", "kept", "--out", "kept/model.json")


def test_a_file_on_standard_input_is_an_input():
    program = [sys.executable, "-m", "separatrix", "predict", "model.json", "-", "--out"]
    for out, code in (("rows.csv", 2), ("answers.csv", 0)):
        with open("rows.csv", "rb") as rows:
            done = subprocess.run([*program, out], stdin=rows, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
        assert ("'rows.csv' is a file that DATA reads ('-')" in done.stderr) == (code == 2)
    assert Path("rows.csv").read_text() == OVERLAPPING
    assert run("predict", "model.json", "-", "--out", "-", stdin=OVERLAPPING).stdout == Path("answers.csv").read_text()


def test_other_existing_files_are_replaced():
    """Also by a model that is fitted again, and by one that was read from the file."""
    for _ in range(2):
        run("fit", "rows.csv", "--target", "y", "--out", "again.json")
    run("export", "again.json", "--to", "sql", "--out", "other.json")
    assert "SELECT" in Path("other.json").read_text()
    sx.save(sx.load("again.json"), "again.json")
    assert len(sx.load("again.json").classes_) == 2


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_scan_does_not_cache_its_rows_in_their_own_file(spelled):
    with pytest.raises(ParameterError, match="cache: the folder"):
        sx.scan("rows.csv", target="y", cache=spelled("rows.csv"))
    assert Path("rows.csv").read_text() == OVERLAPPING
