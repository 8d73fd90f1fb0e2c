"""A fit that ends at the limits of float64 names the column that is the cause, and the way out."""

import numpy as np

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
