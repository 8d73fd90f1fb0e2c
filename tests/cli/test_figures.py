"""``separatrix figures``."""

import errno
import os

from separatrix.teach.figures import FIGURES

from .running import complaint, run


def test_the_list_has_a_sentence_for_each():
    said = run("figures", "--list").stdout.splitlines()
    assert [line.split(":")[0] for line in said] == list(FIGURES)
    assert all(picture.sentence in line for line, picture in zip(said, FIGURES.values(), strict=True))
    assert run("figures", "--list", "v16").stdout.startswith("V16:")


def test_a_picture_is_written_four_times(tmp_path):
    done = run("figures", "v16", "V16", "--out", tmp_path / "new" / "folder", "--dpi", 30)
    assert done.stdout.startswith("1 picture in 4 files")
    names = sorted(path.name for path in (tmp_path / "new" / "folder").iterdir())
    assert names == ["V16-dark.png", "V16-dark.svg", "V16-light.png", "V16-light.svg"]
    assert FIGURES["V16"].sentence in (tmp_path / "new" / "folder" / "V16-dark.svg").read_text()


def test_a_full_disk_is_reported_for_the_option(tmp_path, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    said = complaint("figures", "V16", "--out", tmp_path / "new", "--dpi", 30, code=2)
    assert said.startswith("separatrix: --out: ")
    assert "No space left on device" in said
    assert list((tmp_path / "new").iterdir()) == []


def test_wrong_usage(tmp_path):
    (tmp_path / "file").write_text("")
    assert "--out" in complaint("figures", code=2)
    assert "V99" in complaint("figures", "V99", "--out", "x", code=2)
    assert "folder" in complaint("figures", "V3", "--out", tmp_path / "file", code=2)
