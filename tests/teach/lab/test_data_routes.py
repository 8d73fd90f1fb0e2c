"""Who may send a file to the page Your data and fetch what it made, asked over real HTTP; and the argument DATA."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from separatrix.teach.lab.uploaded_tables import LARGEST_UPLOAD
from tests.cli.running import SEPARATED, complaint

from .test_guard import asked, cookie

TABLE = b"a,y\n1,u\n2,v\n3,u\n4,v\n"


def sent(port, headers, content=TABLE, host=None, name="x.csv", length=None):
    """The status and the content of the response to an upload with exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("POST", f"/tables?name={quote(name)}", skip_host=True)
    given = [("Host", host or f"127.0.0.1:{port}"), ("Content-Length", str(length or len(content))), *headers]
    for key, value in given:
        connection.putheader(key, value)
    connection.endheaders()
    connection.send(content)
    response = connection.getresponse()
    found = response.status, response.read().decode()
    connection.close()
    return found


@pytest.fixture
def port(address):
    return urlsplit(address).port


@pytest.fixture
def token(address):
    return urlsplit(address).query.removeprefix("token=")


def origin(port):
    return "Origin", f"http://127.0.0.1:{port}"


def test_a_table_is_taken_with_the_cookie_from_the_own_page(port, token):
    status, content = sent(port, [cookie(port, token), origin(port)])
    assert status == 200
    assert len(json.loads(content)["id"]) >= 16


def test_another_host_may_not_send_a_file(port, token):
    assert sent(port, [cookie(port, token), origin(port)], host="evil.example")[0] == 421


def test_a_file_needs_the_token(port):
    assert sent(port, [origin(port)])[0] == 403
    assert sent(port, [("Cookie", f"separatrix_lab_{port}=guessed"), origin(port)])[0] == 403


@pytest.mark.parametrize(
    "other", [None, "null", "http://evil.example", "https://127.0.0.1:{port}", "http://localhost:{port}"]
)
def test_a_file_of_another_origin_is_refused(port, token, other):
    headers = [] if other is None else [("Origin", other.format(port=port))]
    status, content = sent(port, [cookie(port, token), *headers])
    assert status == 403
    assert "own page only" in content


def test_a_file_above_the_limit_is_refused_before_it_is_read(port, token):
    assert sent(port, [cookie(port, token), origin(port)], length=LARGEST_UPLOAD + 1)[0] == 413


def test_only_the_extension_of_the_name_is_used(port, token):
    known = [cookie(port, token), origin(port)]
    assert "id" in json.loads(sent(port, known, name="../../x.csv")[1])
    assert "extension '.py' is unknown" in json.loads(sent(port, known, name="../../x.py")[1])["error"]


def test_made_files_need_the_guard_and_an_id_that_exists(port, token):
    assert asked(port, "/made/guessed")[0] == 403
    assert asked(port, "/made/guessed", [cookie(port, token)], host="evil.example")[0] == 421
    assert asked(port, "/made/guessed", [cookie(port, token)])[0] == 404
    assert asked(port, "/made/..%2f..%2fapp.py", [cookie(port, token)])[0] == 404
    assert asked(port, "/tables", [cookie(port, token)])[0] in (404, 405)


@pytest.fixture
def started(tmp_path):
    """A function that starts ``separatrix lab`` with these words, and returns the process and its address."""
    servers = []

    def starts(*words):
        source = Path(__file__).parents[3] / "src"
        environment = {**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONPATH": str(source), "TMPDIR": str(tmp_path)}
        command = [sys.executable, "-m", "separatrix", "lab", *map(str, words), "--port", "0", "--no-browser"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        servers.append(server)
        return server, re.search(r"http\S+", server.stdout.readline())[0]

    yield starts
    for server in servers:
        server.kill()
        server.wait()
        server.stdout.close()


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_uploaded_files_are_private_and_deleted_when_the_server_ends(started, tmp_path, how):
    server, address = started()
    port, token = urlsplit(address).port, urlsplit(address).query.removeprefix("token=")
    assert sent(port, [cookie(port, token), origin(port)])[0] == 200
    (folder,) = tmp_path.glob("separatrix-lab-*")
    (file,) = folder.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert file.stat().st_mode & 0o077 == 0
    assert file.read_bytes() == TABLE
    server.send_signal(how)
    server.wait(30)
    assert list(tmp_path.iterdir()) == []


def test_the_argument_opens_the_page_on_that_table(started, browser, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    for name in ("one.csv", "two.csv"):
        (folder / name).write_text("a,b,y\n" + "".join(f"{i % 7},{i % 5},{'uv'[i * i % 3 % 2]}\n" for i in range(40)))
    _, address = started(folder, "--target", "y")
    assert re.search(r"#data\?t=\S{16}$", address)
    page = browser.new_context().new_page()
    page.goto(address)
    page.wait_for_selector("#stage[data-drawn]", timeout=120_000)
    assert page.get_by_label("Column to predict").input_value() == "y"
    assert page.locator("#size").inner_text() == "80 rows, 2 columns to learn from"
    assert str(folder) in page.locator("pre").inner_text()
    page.context.close()


def test_a_table_that_cannot_be_opened_is_refused_before_the_server_starts(tmp_path):
    (tmp_path / "t.csv").write_text(SEPARATED)
    assert "there is no such file" in complaint("lab", tmp_path / "missing.csv", code=3)
    assert "it has no column 'z'" in complaint("lab", tmp_path / "t.csv", "--target", "z", code=3)
    assert "there is no DATA" in complaint("lab", "--target", "y", code=2)
    assert "standard input" in complaint("lab", "-", code=2)
