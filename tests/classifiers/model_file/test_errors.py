"""Saving and loading end in this package's own errors and exit codes: no bare OSError, no MemoryError."""

import io
import os
import sys

import pytest

from separatrix import LogisticRegression, load, save
from separatrix.classifiers.model_file import ModelFile
from separatrix.cli import main
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import InputError, ModelFileError, ParameterError, SeparatrixError


@pytest.fixture
def model():
    return LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"])


def short_of_memory(*_, **__):
    raise MemoryError


ODD = ["m" * 300, "absent/model.json", "model.json/inside", "loop", "a\0b", ""]


@pytest.mark.parametrize("name", ODD, ids=lambda name: name[:12])
def test_paths_that_are_none(tmp_path, model, name):
    save(model, tmp_path / "model.json")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    path = os.path.join(tmp_path, name)
    with pytest.raises(ModelFileError):
        load(path)
    with pytest.raises(ParameterError):
        save(model, path)


def test_a_disk_that_fails_while_it_is_read(tmp_path, model, monkeypatch):
    class Failing(io.BytesIO):
        def read(self, *_):
            raise OSError(5, "Input/output error")

    save(model, tmp_path / "model.json")
    monkeypatch.setattr(type(tmp_path), "open", lambda *_: Failing())
    with pytest.raises(ModelFileError, match=r"model\.json: it cannot be opened \(Input/output error\)"):
        load(tmp_path / "model.json")


@pytest.mark.parametrize("place", ["read_file", "_parsed", "_refuse_depth"])
def test_too_little_memory_to_load(tmp_path, model, monkeypatch, place, capsys):
    path = tmp_path / "model.json"
    save(model, path)
    monkeypatch.setattr(checksummed_json, place, short_of_memory)
    with pytest.raises(ModelFileError, match=r"model\.json: there is not enough memory to read it"):
        load(path)
    with pytest.raises(SystemExit) as ended:
        main(["show", str(path)])
    assert ended.value.code == 4
    assert capsys.readouterr().err.endswith("model.json: there is not enough memory to read it\n")


def test_too_little_memory_for_the_estimator(tmp_path, model, monkeypatch):
    save(model, tmp_path / "model.json")
    monkeypatch.setattr(ModelFile, "estimator", short_of_memory)
    with pytest.raises(ModelFileError, match="not enough memory"):
        load(tmp_path / "model.json")


@pytest.mark.parametrize("place", ["with_checksum", "canonical"])
def test_too_little_memory_to_save(tmp_path, model, monkeypatch, place):
    monkeypatch.setattr(checksummed_json, place, short_of_memory)
    with pytest.raises(InputError, match="model: there is not enough memory to write its file"):
        save(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk(tmp_path, model, monkeypatch):
    save(model, tmp_path / "model.json")
    before = (tmp_path / "model.json").read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ParameterError, match=r"cannot be written \(No space left on device\)"):
        save(model, tmp_path / "model.json")
    assert [path.name for path in tmp_path.iterdir()] == ["model.json"]
    assert (tmp_path / "model.json").read_bytes() == before


def test_a_model_on_standard_input_has_the_same_limit(model, monkeypatch, tmp_path, capsys):
    save(model, tmp_path / "model.json")
    monkeypatch.setattr(checksummed_json, "LARGEST_FILE", 100)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "model.json").read_bytes())))
    with pytest.raises(SystemExit) as ended:
        main(["show", "-"])
    assert ended.value.code == 4
    assert "standard input: it is larger than" in capsys.readouterr().err


def test_a_folder_that_is_closed(tmp_path, model, monkeypatch):
    """The tests may run as a user whom nothing is forbidden, so the refusal is the operating system's in name only."""
    save(model, tmp_path / "model.json")

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "stat", forbidden)
    for use in (load, lambda path: save(model, path)):
        with pytest.raises(SeparatrixError, match="Permission denied"):
            use(tmp_path / "model.json")
