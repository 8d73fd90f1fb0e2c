"""A fit that ends at the limits of float64 names the column that is the cause, and the way out."""

import re

import numpy as np
import pytest
from click.testing import CliRunner

from separatrix.cli import main

from .running import run

RNG = np.random.default_rng(0)
FIRST = RNG.normal(size=120)
LABELS = np.where(FIRST + RNG.normal(size=120) > 0, "yes", "no")
WORDS = ("--target", "y", "--C", "inf", "--test-size", "0")


def write(path, **columns):
    rows = zip(*(column.tolist() for column in columns.values()), LABELS, strict=True)
    path.write_text(",".join([*columns, "y"]) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))


def test_columns_that_are_collinear_up_to_rounding(tmp_path):
    write(tmp_path / "t.csv", first=FIRST, second=FIRST + 1e-15 * RNG.normal(size=120))
    told = run("fit", "t.csv", *WORDS).stdout
    status = next(line for line in told.splitlines() if line.startswith("status:"))
    assert "column 'first', column 'second' are collinear but for differences" in status
    assert "leave one of them out, or use a finite --C" in status
    assert "column 0" not in told


def test_a_column_that_is_nearly_zero(tmp_path):
    write(tmp_path / "t.csv", dust=RNG.normal(size=120) * 1e-310, first=FIRST)
    told = run("fit", "t.csv", *WORDS, code=1).stdout
    assert "weight of column 'dust' is beyond the range of float64" in told
    assert "with --standardise" in told
    assert "status:    optimal" in run("fit", "t.csv", *WORDS, "--standardise").stdout


FIRTH = ("--model", "logistic", "--bias-reduction", "firth")
STALLED = ("--model", "logistic", "--solver", "lbfgs", "--C", "inf")
LEAVE_ONE_OUT = "leave one of them out"


def status_of(*words, code=0):
    """The status line of a fit to all rows of the table, which every column but those named here leaves alone."""
    told = run("fit", "t.csv", "--target", "y", "--test-size", "0", *words, code=code)
    status = next((line for line in told.stdout.splitlines() if line.startswith("status:")), told.stderr)
    assert "column 'third'" not in status
    return status


@pytest.mark.parametrize(
    ("words", "difference", "code", "remedy"),
    [
        (("--model", "least-squares"), 1e-15, 0, "leave one of them out, or set --l2 > 0"),
        (("--model", "fisher"), 1e-9, 0, LEAVE_ONE_OUT),
        (("--model", "lda"), 1e-9, 0, LEAVE_ONE_OUT),
        (("--model", "qda"), 1e-9, 0, LEAVE_ONE_OUT),
        (FIRTH, 1e-15, 0, LEAVE_ONE_OUT),
        (FIRTH, 1e-11, 1, LEAVE_ONE_OUT),
        (STALLED, 1e-11, 1, LEAVE_ONE_OUT),
    ],
)
def test_nearly_collinear_columns_by_name(tmp_path, words, difference, code, remedy):
    rng = np.random.default_rng(1)
    second, third = FIRST + difference * rng.normal(size=120), rng.normal(size=120)
    write(tmp_path / "t.csv", first=FIRST, third=third, second=second)
    status = status_of(*words, code=code)
    assert "column 'first', column 'second' are" in status
    assert "collinear" in status
    assert remedy in status


@pytest.mark.parametrize(
    ("words", "offset", "code"),
    [(("--model", "least-squares"), 1e15, 1), (("--model", "lda"), 1e12, 0), (FIRTH, 1e15, 1)],
)
def test_a_column_far_from_zero_by_name(tmp_path, words, offset, code):
    rng = np.random.default_rng(1)
    write(tmp_path / "t.csv", third=FIRST, far=offset + rng.normal(size=120))
    status = status_of(*words, code=code)
    assert "the mean of column 'far' is about" in status
    assert "standardise the columns first, with --standardise" in status
    assert "column 'far'" not in status_of(*words, "--standardise")


@pytest.mark.parametrize("model", ["fisher", "qda"])
def test_a_column_far_from_zero_is_no_limit(tmp_path, model):
    write(tmp_path / "t.csv", third=FIRST, far=1e12 + np.random.default_rng(1).normal(size=120))
    assert status_of("--model", model).endswith("in closed form")


@pytest.mark.parametrize(
    ("words", "size", "code"),
    [
        (("--model", "least-squares"), 1e-310, 3),
        (("--model", "fisher"), 1e-200, 3),
        (("--model", "fisher"), 1e200, 3),
        (("--model", "lda"), 1e-310, 3),
        (("--model", "qda"), 1e-310, 3),
        (FIRTH, 1e-310, 1),
    ],
)
def test_a_column_of_extreme_size_by_name(tmp_path, words, size, code):
    write(tmp_path / "t.csv", third=FIRST, extreme=size * np.random.default_rng(1).normal(size=120))
    status = status_of(*words, code=code)
    assert "the entries of column 'extreme' differ by about" in status
    assert "standardise the columns first, with --standardise" in status
    assert "column 'extreme'" not in status_of(*words, "--standardise")


@pytest.mark.parametrize("model", ["perceptron", "kozinec", "max-margin", "linear-svc"])
def test_a_column_of_subnormal_numbers_ends_in_a_sentence(tmp_path, model):
    write(tmp_path / "t.csv", third=FIRST, dust=1e-310 * np.random.default_rng(1).normal(size=120))
    status = status_of("--model", model, code=0 if model == "linear-svc" else 1)
    assert ("optimal" if model == "linear-svc" else "not separable") in status


@pytest.mark.parametrize("model", ["least-squares", "fisher", "lda", "qda", "linear-svc", "logistic"])
def test_a_column_whose_sum_overflows_by_name(tmp_path, model):
    """No traceback, no warning of NumPy, and no gradient of NaN that counts as small."""
    huge = 1.7e308 * np.random.default_rng(1).uniform(-1, 1, size=120)
    write(tmp_path / "t.csv", third=FIRST, huge=huge)
    status = status_of("--model", model, code=3)
    assert "column 'huge'" in status
    assert "standardise the columns first, with --standardise" in status
    assert "column 'huge'" not in status_of("--model", model, "--standardise")


SEARCHES = ("perceptron", "kozinec", "max-margin")
# The classes touch at the value 0 of the second column, which all three classifiers find hard to decide.
SECOND = np.where(np.arange(120) < 4, 0.0, RNG.normal(size=120))


def searched(path, model, labels=SECOND, **columns):
    """The status, or the complaint, of a search for a separating hyperplane; labels are signs."""
    labels = np.where(labels > 0, "yes", "no")
    rows = zip(*(column.tolist() for column in columns.values()), labels, strict=True)
    path.write_text(",".join([*columns, "y"]) + "\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    done = CliRunner().invoke(main, ["fit", str(path), "--target", "y", "--test-size", "0", "--model", model])
    return next((line for line in done.stdout.splitlines() if line.startswith("status:")), done.stderr)


@pytest.mark.parametrize("model", SEARCHES)
def test_a_search_names_the_column_whose_squares_leave_float64(tmp_path, model):
    for size in (1e200, 1e-200):
        told = searched(tmp_path / "t.csv", model, first=FIRST * size * 1e-3, second=SECOND * size)
        assert re.search(r"the largest entry of column 'second' is [\d.]+e[+-]\d+", told)
        assert "--standardise" in told


@pytest.mark.parametrize("model", SEARCHES)
def test_a_search_proves_overlap_far_from_zero(tmp_path, model):
    overlapping = SECOND + 0.3 * RNG.normal(size=120)
    told = searched(tmp_path / "t.csv", model, overlapping, first=FIRST, second=SECOND + 1e13)
    assert re.match(r"status: +not separable: \d rows prove it", told)


@pytest.mark.parametrize("model", SEARCHES)
def test_a_search_names_columns_that_are_nearly_collinear(tmp_path, model):
    told = searched(tmp_path / "t.csv", model, first=FIRST, second=FIRST + 1e-14 * SECOND)
    assert "column 'first', column 'second' are nearly collinear; leave one of them out" in told


@pytest.mark.parametrize("model", ["kozinec", "max-margin"])
def test_a_search_names_columns_of_very_different_sizes(tmp_path, model):
    away = SECOND + np.where(SECOND > 0, 1.0, -1.0) * 1e-3
    told = searched(tmp_path / "t.csv", model, first=FIRST * 1e14, second=away * 1e-2)
    assert re.search(
        r"the entries of column 'first' differ by about \d+e\+\d+, those of column 'second' by about", told
    )
    assert "with --standardise" in told
