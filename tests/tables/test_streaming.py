"""What is learned from batches of a table is what is learned from the table in memory."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from separatrix.core.base.errors import InputError
from separatrix.core.rows.hold_out import held_out
from separatrix.tables.formats import batched as batched_module
from separatrix.tables.formats.batched import batched
from separatrix.tables.formats.demos import DEMOS
from separatrix.tables.formats.opening import open_source
from separatrix.tables.formats.source import Spelling
from separatrix.tables.read_table import read_raw
from separatrix.tables.selection import selected
from separatrix.tables.streamed_table import streamed_table
from separatrix.tables.text import TextSettings
from tests.campaigns import seeds

# A few cells of everything that tables hold, spelled as people do.
CELLS = {
    "numbers": ["1", "2", "3.5", "-4e2", " 5 ", "0"],
    "holes": ["", "NA", "?", "null", " "],
    "truths": ["true", "false", "TRUE", "False"],
    "days": ["2024-01-01", "2024-02-03T04:05", "1999-12-31", "2024-01-01T00:00Z"],
    "foreign days": ["31.12.2024", "01.02.2024", "3.4.2023"],
    "commas": ["1,5", "2,25", "3"],
    "money": ["$1", "2 %", "1 000"],
    "words": ["red", "green", "blue ", " blue", "Red", "-"],
    "prose": ["the cat sat on the mat", "a dog ran after the cat", "it rained all day long", "nobody was at home"],
    "marks": ["-", "..", "n/a"],
    "large": ["1e308", "-1e308", "123456789012345678", "inf"],
}
LABELS = [["a", "b"], ["+", "-"], ["1", "0", "2"], ["yes", "yes ", "no", "NA"], ["-", "a", "b"]]


def hostile_column(rng, n):
    """Cells of one kind, with a few of another, sometimes only at the end: a late surprise."""
    kinds = rng.choice(list(CELLS), 2)
    cells = rng.choice(CELLS[kinds[0]], n).astype(object)
    if rng.random() < 0.3 and kinds[0] == "numbers":
        cells = np.arange(n).astype(str).astype(object)
    share = rng.choice([0.0, 0.02, 0.3])
    odd = rng.random(n) < share
    if rng.random() < 0.5:
        odd &= np.arange(n) > 0.9 * n
    cells[odd] = rng.choice(CELLS[kinds[1]], odd.sum())
    if rng.random() < 0.3:
        cells[rng.random(n) < 0.1] = ""
    return cells


def write(path, columns):
    names = list(columns)
    lines = [",".join(names)] + [",".join(f'"{cell}"' for cell in row) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def told(error):
    return type(error).__name__, str(error)


def in_memory(data, held=None, standardise=False, **how):
    raw = read_raw(data, **how)
    if held is None:
        return raw.learned(standardise=standardise), raw
    codes = np.unique(raw.y, return_inverse=True)[1]
    rule = held_out(codes, raw.rows - 1, *held)
    return raw.learned(~rule.held(codes, raw.rows - 1), standardise=standardise), raw


def streamed(data, held=(0.0, 0), standardise=False, missing="error", unseen="average", **how):
    spelling = Spelling(**{name: how.pop(name) for name in ("na", "date_format", "decimal") if name in how})
    asked = selected(data, how.pop("target", None), how.pop("drop", ()), how.pop("schema", None), spelling, **how)
    source = batched(asked.source)
    table = streamed_table(asked, source, missing, unseen)
    rule, _ = table.held_out(*held)
    return table, table.learned(rule, standardise)[0]


def same(data, held=None, standardise=False, **how):
    """Compare the outcome of both ways: encoders, notes, schemas and scales, or the error."""
    try:
        theirs, raw = in_memory(data, held, standardise, **how)
    except InputError as error:
        refusal = error
    else:
        refusal = None
    if refusal is not None:
        with pytest.raises(InputError) as ours:
            streamed(data, held or (0.0, 0), standardise, **how)
        assert told(ours.value) == told(refusal)
        return str(refusal)
    table, found = streamed(data, held or (0.0, 0), standardise, **how)
    assert table.schema == raw.schema
    assert found.encoder.names == theirs.encoder.names
    for ours, other in zip(found.encoder.columns, theirs.encoder.columns, strict=True):
        assert replace(ours, fill=()) == replace(other, fill=())
        np.testing.assert_allclose(ours.fill, other.fill, rtol=1e-12, atol=1e-300)
    assert (found.encoder.missing, found.encoder.unseen) == (theirs.encoder.missing, theirs.encoder.unseen)
    # Texts without a word are not counted: that would take the n-grams of all rows.
    assert list(found.notes) == [note for note in theirs.notes if "no n-gram of the model" not in note]
    if standardise:
        np.testing.assert_allclose(found.scaling.center, theirs.scaling.center, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.scaling.scale, theirs.scaling.scale, rtol=1e-9)
    assert table.labels.classes.tolist() == np.unique(theirs.y).tolist() or len(np.unique(theirs.y)) < len(
        table.labels.classes
    )
    return "read"


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    """Batches of a few rows, so that small tables have many."""
    monkeypatch.setattr(batched_module, "ROWS_PER_BATCH", 17)
    monkeypatch.setattr(batched_module, "BYTES_PER_BATCH", 700)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name == "digits" else ()) for name in DEMOS]
)
def test_demo_tables(name, tmp_path):
    source = open_source(f"demo:{name}")
    columns = source.read(source.names)
    pq.write_table(columns, tmp_path / "demo.parquet")
    for held in (None, (0.25, 0)):
        for missing in ("error", "impute", "indicator", "drop"):
            how = {"target": source.target, "missing": missing, "standardise": True, "held": held}
            assert same(str(tmp_path / "demo.parquet"), **how)


@pytest.mark.parametrize("seed", seeds(30, 60))
def test_random_tables_with_hostile_cells(seed, tmp_path):
    rng = np.random.default_rng(seed)
    n = int(rng.choice([3, 25, 150, 400]))
    y = rng.choice(LABELS[rng.integers(len(LABELS))], n)
    columns = {f"c{j}": hostile_column(rng, n) for j in range(int(rng.choice([1, 3])))}
    if seed % 3 == 0:
        columns["id"] = rng.permutation(n).astype(str)
    data = write(tmp_path / "t.csv", {**columns, "y": y})
    missing = str(rng.choice(["error", "impute", "indicator", "drop"]))
    held = None if seed % 2 else (0.25, seed)
    same(data, target="y", missing=missing, held=held, standardise=bool(seed % 5 == 0))
    for name in columns:  # A column that cannot be used hides the others.
        others = [other for other in columns if other != name]
        same(data, target="y", missing=missing, held=held, drop=others)


def test_settings_of_a_table(tmp_path):
    rng = np.random.default_rng(1)
    n = 300
    columns = {
        "day": rng.choice(["31.12.2024", "01.02.2023", "-"], n),
        "code": rng.choice(["1", "2", "3"], n),
        "size": rng.choice(["s", "m", "l", ""], n),
        "x": rng.standard_normal(n).round(3).astype(str),
        "y": rng.choice(["no", "yes", ""], n),
    }
    data = write(tmp_path / "t.csv", columns)
    how = {"target": "y", "missing": "impute", "na": "-", "date_format": {"day": "%d.%m.%Y"}}
    assert same(data, held=(0.3, 1), category="code", reference={"size": "m"}, **how) == "read"
    assert "has no level 'xl'" in same(data, category="code", reference={"size": "xl"}, **how)
    assert "not a date" in same(data, target="y", missing="impute", date_format={"day": "%d.%m.%Y"})
    assert "not a number" in same(data, number="size", **how)
    assert same(data, text={"size": TextSettings(hashed=True, max_features=8)}, **how) == "read"


def test_folders_of_several_types(tmp_path):
    for k, kind in enumerate((pa.int64(), pa.float64())):
        x = pa.array([1, 2, 3, 4], kind)
        pq.write_table(pa.table({"x": x, "c": ["u", "v", "u", None], "y": [0, 1, 0, 1]}), tmp_path / f"{k}.parquet")
    assert same(str(tmp_path), target="y", missing="indicator") == "read"
    assert "row" in same(str(tmp_path), target="c", missing="error")


def test_more_texts_than_are_kept(tmp_path, monkeypatch):
    from separatrix.tables import seen_cells as seen_texts

    monkeypatch.setattr(seen_texts, "MOST_TEXTS_KEPT", 60)
    n = 400
    rng = np.random.default_rng(0)
    y = rng.choice(["a", "b"], n)
    numbers = [f"{k}.5" for k in range(n - 1)]
    late = write(tmp_path / "late.csv", {"x": [*numbers, "oops"], "y": y})
    assert "row 400 is 'oops'" in same(late, target="y")
    fine = write(tmp_path / "fine.csv", {"x": [*numbers, "7"], "y": y})
    assert same(fine, target="y") == "read"
    comma = write(tmp_path / "comma.csv", {"x": [*numbers, "7,5"], "y": y})
    assert "such as '7,5'; write them without thousands separators" in same(comma, target="y")
    for name, cells in {"thousands": "1,234", "pointed": "7,5", "both": "1.234,5"}.items():
        other = write(tmp_path / f"{name}.csv", {"x": [*map(str, range(n - 1)), cells], "z": [*numbers, "7.5"], "y": y})
        assert f"such as {cells!r}" in same(other, target="y")
    days = [f"{1 + k % 28:02}.{1 + k // 28:02}.2024" for k in range(300)]
    foreign = write(tmp_path / "days.csv", {"x": days, "y": y[:300]})
    assert "%d.%m.%Y" in same(foreign, target="y")
    names = write(tmp_path / "names.csv", {"x": [f"n{k}" for k in range(n)], "y": y})
    with pytest.raises(InputError, match="more than 60 different texts"):
        streamed(names, target="y")


def test_strays_among_dates_and_truth_values(tmp_path, monkeypatch):
    """Streams refuse the same cells as in memory, also where more texts occur than are kept."""
    from separatrix.tables import seen_cells as seen_texts

    n = 400
    y = np.random.default_rng(0).choice(["a", "b"], n)
    days = [str(np.datetime64("2021-01-01") + k) for k in range(n)]
    truths = ["true", "False"] * (n // 2)
    for most in (seen_texts.MOST_TEXTS_KEPT, 60):
        monkeypatch.setattr(seen_texts, "MOST_TEXTS_KEPT", most)
        for name, values, strays in (
            ("bad", days, {3: "2021-02-30"}),
            ("late", days, {399: "2021-02-30", 398: "unknown", 397: ""}),
            ("number", days, {k: f"{k}.5" for k in range(20)}),
            ("ture", truths, {70: "ture", 80: "?"}),
            ("fine", days, {70: "NA"}),
        ):
            cells = [strays.get(k, value) for k, value in enumerate(values)]
            data = write(tmp_path / f"{name}.csv", {"x": cells, "z": np.arange(n) % 7, "y": y})
            told = same(data, target="y", missing="impute")
            assert ("where nearly all others are" in told) == (name != "fine")


def test_damaged_text(tmp_path):
    """NUL bytes, unclosed quotes, ragged rows and other encodings are refused as in memory; long rows are read."""
    rows = [f"{k % 7},{'long' if k % 2 else 'short'},{'u' if k % 3 else 'v'}" for k in range(300)]
    rows[60] = f"1,{'x' * 3000},u"
    (tmp_path / "long.csv").write_text("\n".join(["a,b,y", *rows, ""]))
    assert same(str(tmp_path / "long.csv"), target="y") == "read"
    for name, row in {"nul": b"1,\0,u", "ragged": b"1,2,3,u", "latin": b"1,caf\xe9,u", "quote": b'1,"z,u'}.items():
        lines = [b"a,b,y", *(one.encode() for one in rows)]
        lines[200] = row
        (tmp_path / f"{name}.csv").write_bytes(b"\n".join([*lines, b'1,"w",u', b""]))
        assert "csv: " in same(str(tmp_path / f"{name}.csv"), target="y")
