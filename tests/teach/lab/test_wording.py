"""Errors on the page Your data speak of what the page offers."""

import json

import pytest

pytest.importorskip("starlette")

from separatrix.core.base.errors import TableError
from separatrix.tables.encoder import MISSING as WAYS
from separatrix.tables.formats.opening import CalledFile
from separatrix.teach.lab.pages import requests
from separatrix.teach.lab.recorder import static_texts
from separatrix.teach.lab.requests import MISSING, Call, answered, error_on_page
from separatrix.teach.lab.uploaded_tables import TABLES

ELSEWHERE = "This page does not have the setting{}: change the file, or use the command separatrix fit."


@pytest.fixture
def error_about(tmp_path):
    """A function that gives the error of a request about an uploaded file with this content."""

    def asked(content, name="x.csv", request="data.columns", **payload):
        path = tmp_path / name
        path.write_bytes(content)
        table = TABLES.add(name, CalledFile(str(path), name))
        return json.loads(answered(Call(1, request, {"table": table.id, **payload}), requests()))["error"]

    yield asked
    TABLES.close()


def test_a_setting_that_the_page_lacks_is_said_to_be_lacking(error_about):
    said = error_about("a,y\n1,u\n2,v\n".encode("utf-16"))
    assert said.endswith(ELSEWHERE.format(" encoding"))
    assert error_about(b"a,y\n1\0,u\n2,v\n", request="data.check", target="y").endswith(ELSEWHERE.format(" encoding"))
    assert error_about("ä,y\n1,u\n".encode("latin-1")).endswith(ELSEWHERE.format(" encoding"))


def test_no_file_is_piped_into_a_page(error_about):
    said = error_about(b"1 1:0.5 2:3\n-1 1:2 2:4\n")
    assert said.endswith("give it a name that ends in .libsvm.")


@pytest.mark.parametrize(
    ("name", "remedy"),
    [("x.py", "text also with .gz or .zst."), ("x.xlsx", "save its first sheet as CSV, and give that file.")],
)
def test_a_file_of_an_unknown_kind(name, remedy):
    with pytest.raises(TableError) as refused:
        TABLES.uploaded(name)
    assert error_on_page(refused.value).endswith(remedy)


def test_missing_values_are_chosen_on_the_page(error_about):
    model = {"name": "logistic", "settings": {}}
    said = error_about(b"a,y\n1,u\n,v\n3,u\n4,v\n5,u\n6,v\n", request="data.fit", target="y", model=model)
    assert 'fit with "are filled", "are filled and marked" or "leave their row out" for Missing values.' in said
    assert "This page does not have" not in said


def test_the_words_for_missing_values_are_those_of_the_page():
    assert list(MISSING) == list(WAYS)
    page = static_texts()["data.js"]
    assert all(f'["{value}", "{words}"]' in page for value, words in MISSING.items())
