"""Files that are not as they were written: every altered byte, every cut, and what was never a model file."""

import hashlib
import json
import os
from contextlib import suppress

import pytest

from separatrix import LogisticRegression, load, save
from separatrix.classifiers.model_file import FORMAT, VERSION, from_bytes, read
from separatrix.cli import main
from separatrix.core.base import checksummed_json
from separatrix.core.base.errors import ModelFileError, ParameterError

OTHER_VERSION = f"and this separatrix reads version {VERSION}: fit the model again, and save it with this separatrix"


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.json"
    save(LogisticRegression().fit([[0.0], [1.0]], ["no", "yes"]), path)
    return path


def unsealed(data):
    return checksummed_json.checked_content(FORMAT, VERSION, data)


def accepted(data, values):
    """The changes of one byte, to a value of ``values(place)``, that leave a file which is still read."""
    found = []
    altered = bytearray(data)
    for place, own in enumerate(data):
        for value in values(place):
            altered[place] = value
            if value != own:
                with suppress(ModelFileError):
                    from_bytes(bytes(altered))
                    found.append((place, chr(value)))
        altered[place] = own
    return found


def some_values(place):
    """Flipped bits, digits, and what shapes JSON; others by turns, so that every value is tried somewhere."""
    return {*b'0123456789aAeE",:.-+[]{} \n\t', *range(place % 8, 256, 8)}


def test_a_changed_byte_is_seen(small):
    sound = small.read_bytes()
    assert len(sound) < 2000
    from_bytes(sound)
    assert accepted(sound, some_values) == []


@pytest.mark.slow
def test_all_255_other_values_of_every_byte_are_seen(small):
    assert accepted(small.read_bytes(), lambda place: range(256)) == []


def test_every_cut_and_every_addition_is_seen(small):
    sound = small.read_bytes()
    for length in range(len(sound)):
        with pytest.raises(ModelFileError):
            unsealed(sound[:length])
        with pytest.raises(ModelFileError):
            unsealed(sound[length + 1 :])
    for more in (b" ", b"\n", b"{}", b"\0", b"}\n"):
        with pytest.raises(ModelFileError):
            unsealed(sound + more)


def test_an_altered_file_names_the_check(small):
    sound, now = small.read_bytes(), b'"version": %d' % VERSION
    for old, new, part in [
        (b'"C":1.0', b'"C":1.1', "checksum"),
        (b'"yes"', b'"yet"', "checksum"),
        *((now, b'"version": %d' % other, f"version is {other}, {OTHER_VERSION}$") for other in (0, 2, 8, 10**8)),
        (b'{"format"', b' {"format"', "altered or reformatted"),
        (b"separatrix-model", b"separatrix-mobel", 'lacks "format": "separatrix-model"'),
    ]:
        assert old in sound
        small.write_bytes(sound.replace(old, new, 1))
        with pytest.raises(ModelFileError, match=rf"small\.json: .*{part}"):
            read(small)
    small.write_bytes(sound[:-1])
    with pytest.raises(ModelFileError, match="incomplete"):
        read(small)


def test_the_digest_is_of_all_bytes_but_its_own(small):
    data = small.read_bytes()
    digest = json.loads(data)["sha256"].encode()
    assert hashlib.sha256(data.replace(digest, b"")).hexdigest().encode() == digest


def test_the_same_meaning_in_other_words_is_refused(small):
    small.write_text(json.dumps(json.loads(small.read_text())))
    with pytest.raises(ModelFileError, match="altered or reformatted"):
        read(small)


def resealed(content: bytes, version=VERSION):
    """A file with this content, whatever it is, and the right digest."""
    before = f'{{"format": "{FORMAT}",\n"version": {version},\n"sha256": "'.encode()
    after = b'",\n"content": ' + content + b"}\n"
    return before + hashlib.sha256(before + after).hexdigest().encode() + after


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "it is empty"),
        (b"a,b\n1,2\n", "not JSON"),
        (b"\x80\x04pickle", "not JSON"),
        ("é".encode(), "not JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"[]", '"format"'),
        (b'{"format": "other"}', '"format"'),
        (b'{"format": "separatrix-model"}', "version is None, and this separatrix"),
        (b'{"format": "separatrix-model", "version": 9}', "version is 9, and this separatrix"),
        (b'{"format": "separatrix-model", "version": true}', "version is True, and this separatrix"),
        (resealed(b"{}"), "lacks the key"),
        (resealed(b"[]"), "not an object"),
        (resealed(b'{"a": 1} '), "lacks the key"),
        (resealed(b'{"a": 1}, {}'), "not JSON"),
        (resealed(b'{"a": 1, "b": 2, "a": 1}'), "the key 'a' occurs twice"),
        (resealed(b'{"b": {"a": 1, "a": 1}}'), "the key 'a' occurs twice"),
        (resealed(b'{"a": 1e999}'), "not finite"),
        (resealed(b'{"a": NaN}'), "NaN is not JSON"),
        (resealed(b'{"a": -Infinity}'), "-Infinity is not JSON"),
        (resealed(b'{"a": ' + b"1" * 5000 + b"}"), "not JSON"),
        (resealed(b'{"a": ' + b"[" * 100 + b"]" * 100 + b"}"), "nested more than 64"),
        (resealed(b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"), "nested too deeply"),
        (resealed(b"{}", 2), "version is 2, and this separatrix"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else value,
)
def test_what_is_no_model_file(tmp_path, data, part):
    (tmp_path / "model.json").write_bytes(data)
    with pytest.raises(ModelFileError, match=r"model\.json: ") as caught:
        read(tmp_path / "model.json")
    assert part in str(caught.value)


LONG = b"x" * 1_000_000


@pytest.mark.parametrize(
    "data",
    [
        b'{"format": "separatrix-model", "version": "' + LONG + b'"}',
        b'{"format": "separatrix-model", "version": ' + b"9" * 4_000 + b"}",
        b'{"format": "separatrix-model", "version": 9, "content": {"separatrix": "' + LONG + b'"}}',
        b'{"' + LONG + b'": 1, "' + LONG + b'": 1}',
        resealed(b'{"' + LONG + b'": 1}'),
        resealed(b'{"a": 1e' + b"9" * 1_000_000 + b"}"),
    ],
    ids=["version", "number", "writer", "twice", "key", "float"],
)
def test_what_a_file_says_is_quoted_in_part(tmp_path, data):
    (tmp_path / "model.json").write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        read(tmp_path / "model.json")
    assert len(str(caught.value)) < 500


def test_a_bad_model_file_is_exit_code_4(small, capsys):
    small.write_bytes(small.read_bytes().replace(b"yes", b"yet", 1))
    with pytest.raises(SystemExit) as ended:
        main(["show", str(small)])
    assert ended.value.code == 4
    assert "checksum" in capsys.readouterr().err


def test_paths(tmp_path, small, monkeypatch):
    with pytest.raises(ModelFileError, match="no such file"):
        read(tmp_path / "absent.json")
    with pytest.raises(ModelFileError, match="folder"):
        read(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read(tmp_path / "pipe")

    def forbidden(*_):
        raise PermissionError(13, "Permission denied")

    with monkeypatch.context() as patched:  # the tests may run as a user whom nothing is forbidden
        patched.setattr(type(small), "open", forbidden)
        with pytest.raises(ModelFileError, match=r"cannot be opened \(Permission denied\)"):
            read(small)
    monkeypatch.setattr(checksummed_json, "LARGEST_FILE", 100)
    with pytest.raises(ModelFileError, match="larger"):
        read(small)


def test_a_failed_write_leaves_the_old_file_and_nothing_else(small, monkeypatch):
    before = small.read_bytes()
    model = load(small)

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(ParameterError, match="No space left"):
        save(model, small)
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        save(model, small)
    assert [path.name for path in small.parent.iterdir()] == [small.name]
    assert small.read_bytes() == before


def test_a_file_is_on_the_disk_before_it_has_its_name(small, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda number: (done.append("fsync"), fsync(number)))
    monkeypatch.setattr(os, "replace", lambda old, new: (done.append(str(old)), replace(old, new)))
    save(load(small), small)
    assert done[0] == "fsync"
    assert os.path.dirname(done[1]) == str(small.parent)


def test_writing_follows_links_and_makes_no_folders(tmp_path, small):
    model = load(small)
    (tmp_path / "link.json").symlink_to(small)
    save(model, tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    for path in (tmp_path, tmp_path / "absent" / "model.json"):
        with pytest.raises(ParameterError, match="path"):
            save(model, path)
