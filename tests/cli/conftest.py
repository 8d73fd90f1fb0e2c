"""Every test of the command line runs in a folder of its own, with two small tables in it."""

import pytest

from .running import OVERLAPPING, SEPARATED


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "separated.csv").write_text(SEPARATED)
    (tmp_path / "rows.csv").write_text(OVERLAPPING)
