"""Files that the command line cannot use or must not replace: one sentence, and the documented exit code."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from separatrix.classifiers import model_file
from separatrix.core.base.codec import LONGEST_SENTENCE

from .running import complaint, run


@pytest.mark.parametrize("option", ["--out", "--report"])
def test_a_read_only_file_is_refused_before_the_table_is_read(option):
    Path("model.json").write_bytes(b"old")
    os.chmod("model.json", 0o444)
    said = complaint("fit", "no-such-table.csv", option, "model.json", code=2)
    assert said == (
        f"separatrix: {option}: 'model.json' is read-only; make it writable, as chmod u+w does, or give another path.\n"
    )
    assert Path("model.json").read_bytes() == b"old"


def test_answers_do_not_replace_a_read_only_file():
    run("fit", "demo:iris", "--out", "model.json")
    Path("answers.csv").write_bytes(b"old")
    os.chmod("answers.csv", 0o444)
    assert "is read-only" in complaint("predict", "model.json", "demo:iris", "--out", "answers.csv", code=2)
    assert Path("answers.csv").read_bytes() == b"old"


def test_a_model_saved_again_keeps_its_mode():
    run("fit", "demo:iris", "--out", "model.json")
    os.chmod("model.json", 0o640)
    run("fit", "demo:iris", "--out", "model.json")
    assert os.stat("model.json").st_mode & 0o777 == 0o640


def test_a_hostile_status_is_shown_in_no_time():
    """With quotes that open and never close, the wording once took minutes for the letters of a small file."""
    run("fit", "demo:iris", "--out", "model.json")
    found = model_file.read("model.json")
    for unit in (" 'a", ' "a', "'a'a", "C='\\x' ", "; the weights grow without bound along +", "row a "):
        status = (unit * LONGEST_SENTENCE)[: LONGEST_SENTENCE - 1]
        certificate = replace(found.certificate, status=status, why=status, bound_reason=status)
        model_file.write(replace(found, certificate=certificate), "hostile.json")
        for words in (
            ["show", "hostile.json"],
            ["show", "hostile.json", "--json"],
            ["show", "hostile.json", "model.json"],
        ):
            run(*words)
