"""What cannot fit into memory is refused before it is allocated."""

import pytest

from separatrix.core.base import machine
from separatrix.core.base.errors import InputError


@pytest.fixture
def stated(monkeypatch, tmp_path):
    """A system that states 3 GB as available, in a control group that is limited to 2 GB."""
    (tmp_path / "meminfo").write_text("MemTotal: 9000000 kB\nMemAvailable: 3000000 kB\n")
    (tmp_path / "max").write_text("2000000000\n")
    monkeypatch.setattr(machine, "MEMORY_INFORMATION", tmp_path / "meminfo")
    monkeypatch.setattr(machine, "GROUP_LIMIT", tmp_path / "max")
    monkeypatch.setattr(machine, "GROUP_USE", tmp_path / "stat")
    return tmp_path


def test_the_smallest_limit_counts(stated):
    assert machine.available_bytes() == 2e9
    (stated / "max").write_text("max\n")
    assert machine.available_bytes() == 3_072_000_000


def test_what_the_control_group_uses_is_not_available(stated):
    (stated / "stat").write_text("file 900000000\nanon 500000000\n")
    assert machine.available_bytes() == 1.5e9
    (stated / "stat").write_text("anon 2100000000\n")
    assert machine.available_bytes() == 0


def test_what_the_process_uses_is_not_available(stated, monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (1_000_000_000, resource.RLIM_INFINITY))
    (stated / "statm").write_text("1000 10 10 1 0 10 0\n")
    monkeypatch.setattr(machine, "PROCESS_USE", stated / "statm")
    assert machine.available_bytes() == 1_000_000_000 - 1000 * machine.os.sysconf("SC_PAGE_SIZE")


def test_without_what_linux_states_all_memory_counts(stated, monkeypatch):
    for name in ("meminfo", "max"):
        (stated / name).unlink()
    monkeypatch.setattr(machine.os, "sysconf", {"SC_PHYS_PAGES": 1000, "SC_PAGE_SIZE": 4096}.__getitem__, raising=False)
    assert machine.available_bytes() == 4_096_000
    monkeypatch.delattr(machine.os, "sysconf")
    assert machine.available_bytes() > 1e9


def test_a_refusal_names_both_sizes(stated):
    machine.refuse_too_large("X", "these columns", 2e8, "use fewer")
    with pytest.raises(
        InputError, match=r"X: these columns need about 2.4 GB of memory, and 2 GB are available; use f"
    ):
        machine.refuse_too_large("X", "these columns", 3e8, "use fewer")
