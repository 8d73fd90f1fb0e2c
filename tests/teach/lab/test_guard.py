"""Who may talk to the server, asked over real HTTP."""

import http.client
from urllib.parse import urlsplit

import pytest


@pytest.fixture
def port(address):
    return urlsplit(address).port


@pytest.fixture
def token(address):
    return urlsplit(address).query.removeprefix("token=")


def asked(port, path, headers=(), host=None):
    """The status, headers and content of a response, for exactly these headers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in [("Host", host or f"127.0.0.1:{port}"), *headers]:
        connection.putheader(name, value)
    connection.endheaders()
    response = connection.getresponse()
    content = "" if response.status == 101 else response.read().decode()
    found = response.status, dict(response.getheaders()), content
    connection.close()
    return found


def cookie(port, token):
    return "Cookie", f"separatrix_lab_{port}={token}"


def socket_headers(origin):
    key = [("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="), ("Sec-WebSocket-Version", "13")]
    return [("Connection", "Upgrade"), ("Upgrade", "websocket"), *key, *([("Origin", origin)] if origin else [])]


def test_the_token_is_exchanged_for_a_cookie_that_other_sites_cannot_use(port, token):
    status, headers, _ = asked(port, f"/?token={token}")
    assert (status, headers["location"]) == (303, "/")
    assert "HttpOnly" in headers["set-cookie"]
    assert "SameSite=lax" in headers["set-cookie"]
    assert asked(port, "/", [cookie(port, token)])[0] == 200


@pytest.mark.parametrize("path", ["/", "/?token=guessed", "/main.js", "/opening.json", "/theme.css"])
def test_nothing_is_given_without_the_token(port, path):
    status, _, content = asked(port, path)
    assert status == 403
    assert "address that `separatrix lab` has printed" in content


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:{port}.evil.example"])
def test_another_host_is_refused_even_with_the_token(port, token, host):
    assert asked(port, "/", [cookie(port, token)], host=host.format(port=port))[0] == 421


def test_two_host_headers_are_refused(port, token):
    assert asked(port, "/", [cookie(port, token), ("Host", "evil.example")])[0] in (400, 421)


@pytest.mark.parametrize("origin", [None, "null", "http://evil.example", "https://127.0.0.1:{port}"])
def test_a_websocket_of_another_origin_is_refused(port, token, origin):
    headers = socket_headers(origin and origin.format(port=port))
    assert asked(port, "/socket", [*headers, cookie(port, token)])[0] == 403


def test_a_websocket_needs_the_token(port, token):
    own = f"http://127.0.0.1:{port}"
    assert asked(port, "/socket", socket_headers(own))[0] == 403
    assert asked(port, "/socket", [*socket_headers(own), cookie(port, token)])[0] == 101


@pytest.mark.parametrize("path", ["/../pyproject.toml", "/..%2fapp.py", "/static/main.js", "/app.py", "/%00"])
def test_only_the_files_of_the_front_end_are_served(port, token, path):
    assert asked(port, path, [cookie(port, token)])[0] == 404


def test_every_response_has_a_strict_policy(port, token):
    for path in ("/", "/main.js", "/nothing"):
        headers = asked(port, path, [cookie(port, token)])[1]
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert headers["x-content-type-options"] == "nosniff"
