"""What a recording is made of: links, and modules in one script; and what is refused."""

import re

import pytest

import separatrix as sx
from separatrix.core.base.errors import InputError, ParameterError
from separatrix.teach.lab.pages import Page
from separatrix.teach.lab.recorder import NEVER, bundled, embedded_texts, recorded_page
from tests.cli.running import complaint
from tests.cli.test_progress import drawn


@pytest.mark.parametrize(
    "link",
    [
        "#nowhere",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "#plane?m=<script>alert(1)</script>",
        "#plane?m=../../models",
        "#plane?m=lda,lda,lda,lda",
        "#plane?p=../outlier",
        "#plane?p=~AAAA",
        "#plane?p=outlier&d=99:1,1",
        "#plane?d=20:1e999,0",
        "#plane?colour=red",
        "#plane?f=7",
        "#plane?v=2",
        "#plane?C.2=</script>",
        "#step?p=three",
        "#step?m=lda",
        "#fisher?a=nan",
        "#losses?l=zero-one,<b>",
        "#losses?x=1,2",
        "#classes?m=lda",
        "#plane?" + "a=1&" * 200,
        "#plane?p=~" + "A" * 200_000,
    ],
)
def test_a_link_that_is_not_one_of_the_lab_is_refused(link, tmp_path):
    with pytest.raises(InputError):
        sx.lab.record(link, tmp_path / "page.html", places=(2, 2))
    assert list(tmp_path.iterdir()) == []


def test_texts_of_a_link_become_no_markup():
    page = recorded_page("#losses?l=squared&at=1")
    assert page.count("<script") == 2
    with pytest.raises(InputError):
        recorded_page('#plane?m=lda&p=outlier"><script>')


def test_the_modules_of_pages_without_a_server_make_no_markup():
    for text in embedded_texts().values():
        assert not re.search(r"https?://|innerHTML|eval\(|fetch\(", text)


def test_a_table_is_never_recorded(monkeypatch):
    monkeypatch.setattr("separatrix.teach.lab.pages.PAGES", [Page("data", "Your data")])
    with pytest.raises(ParameterError, match="the page data is not recorded"):
        recorded_page("#data")
    assert set(NEVER) == {"data"}


@pytest.mark.parametrize("options", [{"drag": 21}, {"drag": -1}, {"places": (1, 5)}, {"places": (5, 999)}])
def test_a_row_or_a_number_of_places_that_does_not_exist_is_refused(options, tmp_path):
    with pytest.raises(ParameterError, match=next(iter(options))):
        sx.lab.record("#plane", tmp_path / "page.html", **options)


def test_the_command_refuses_what_it_cannot_record(tmp_path):
    file = tmp_path / "page.html"
    said = complaint("lab", "--record", file, "--link", "#nowhere", code=2)
    assert "--link: the lab has no page 'nowhere'" in said
    assert "--record" in complaint("lab", "--record", tmp_path / "missing" / "page.html", code=2)
    assert "--record" in complaint("lab", "--link", "#step", code=2)
    assert not file.exists()


@pytest.mark.parametrize(
    ("link", "problem"),
    [
        ("#losses?l=", "losses: got ['']"),
        ("#losses?x=1,2", "x: it is not a list of places"),
        ("#fisher?p=three", "y"),
        ("#plane?p=nothing", "points: there is no preset 'nothing'"),
    ],
)
def test_a_link_whose_values_a_page_refuses_is_a_usage_error(link, problem, tmp_path):
    said = complaint("lab", "--record", tmp_path / "page.html", "--link", link, code=2)
    assert said.startswith(f"separatrix: --link: {problem}")


def test_progress_is_shown_on_a_terminal(tmp_path):
    code, shown = drawn("lab", "--record", str(tmp_path / "page.html"), "--places", "5", "4")
    assert code == 0
    assert re.search(r"answer \d+ of 21", shown)


def test_the_same_recording_has_the_same_bytes():
    options = {"places": (3, 2)}
    assert recorded_page("#plane?m=logistic", **options) == recorded_page("#plane?m=logistic", **options)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('import x from "./b.js";', "not handled"),
        ("export default 1;", "not handled"),
        ("export { a };", "not handled"),
        ("export let a = 1;", "not handled"),
        ('import { c } from "./b.js";', "does not export 'c'"),
        ('import { a } from "./a.js";', "import each other"),
        ("const end = '</SCRIPT>';", "inline script"),
    ],
)
def test_modules_in_forms_that_cannot_be_bundled_are_refused(text, match):
    with pytest.raises(ValueError, match=match):
        bundled({"a.js": text, "b.js": "export const b = 1;"}, "a.js")
