"""A portal that others than this machine reach: by TLS, or behind a proxy."""

import ssl
from contextlib import contextmanager, suppress
from http.client import HTTPSConnection

import pytest
import trustme
from gevent import socket

from crawler.portal.exposure import Exposure
from crawler.portal.portal_server import Portal

from .site.conftest import PASSWORD, QUICK, Client

NAME = "portal.example.org"
PROXY = {"X-Forwarded-Proto": "https", "X-Forwarded-Host": NAME, "X-Forwarded-For": "192.0.2.7"}
SIGN_IN = {"name": "admin", "password": PASSWORD}


@pytest.fixture
def started(tmp_path, monkeypatch):
    """Return a context with a portal of an exposure."""
    monkeypatch.setattr("crawler.portal.store.users.PasswordHasher", QUICK)

    @contextmanager
    def start(**exposed):
        portal = Portal(tmp_path / "portal", tmp_path, exposure=Exposure(**exposed))
        portal._visitors.users.add("admin", PASSWORD, "admin")
        portal.start()
        try:
            yield portal
        finally:
            portal.stop()

    return start


@pytest.fixture
def authority():
    return trustme.CA()


@pytest.fixture
def certificate(authority, tmp_path):
    """The certificate of the portal with its key, in one file."""
    path = tmp_path / "site.pem"
    authority.issue_cert(NAME).private_key_and_cert_chain_pem.write_to_path(path)
    return path


class Trusting(HTTPSConnection):
    """Connects to this machine, and checks the certificate of NAME."""

    def __init__(self, portal, context):
        super().__init__(NAME, portal._server.server_port, timeout=120, context=context)

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=120)
        self.sock = self._context.wrap_socket(plain, server_hostname=NAME)


def test_with_a_certificate_the_cookie_is_for_tls_only(started, authority, certificate):
    context = ssl.create_default_context()
    authority.configure_trust(context)
    with started(names=frozenset({NAME}), certificate=certificate) as portal:
        port = portal._server.server_port
        assert portal.url == f"https://{NAME}:{port}/"
        # One that says nothing, and one that speaks no TLS, keep nobody from the portal.
        silent = socket.create_connection(("127.0.0.1", port))
        with socket.create_connection(("127.0.0.1", port)) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\n\r\n")
            with suppress(ConnectionError):
                assert not plain.recv(1 << 16).startswith(b"HTTP")
        connection = Trusting(portal, context)
        form = f"name=admin&password={PASSWORD.replace(' ', '+')}"
        kind = {"Content-Type": "application/x-www-form-urlencoded"}
        own = {"Origin": f"https://{NAME}:{port}"}
        connection.request("POST", "/login", form, kind | own)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 303
        assert "; Secure" in answer.headers["Set-Cookie"]
        connection.request("POST", "/login", form, kind | {"Origin": f"http://{NAME}:{port}"})
        assert connection.getresponse().status == 403
        connection.close()
        silent.close()


def test_behind_a_proxy_its_words_are_believed(started):
    with started(names=frozenset({NAME}), behind_proxy=True) as portal:
        client, own = Client(portal), {"Origin": f"https://{NAME}"}
        answer = client.post("/login", SIGN_IN, **PROXY, **own)
        assert answer.status == 303
        assert "; Secure" in answer.headers["Set-Cookie"]
        assert client.post("/login", SIGN_IN, **PROXY, Origin=f"http://{NAME}").status == 403
        assert client.ask("/login", **PROXY | {"X-Forwarded-Host": "evil.test"}).status == 403
        # Guesses are counted for the address that the proxy names.
        client.post("/login", {"name": "x", "password": "y"}, **PROXY)
        [row] = portal._database.rows("SELECT address FROM guess")
        assert row["address"] == "192.0.2.7"


def test_without_the_option_nobody_is_a_proxy(started):
    with started() as portal:
        client = Client(portal)
        answer = client.post("/login", SIGN_IN, **PROXY)
        assert answer.status == 303
        assert "Secure" not in answer.headers["Set-Cookie"]
        assert client.ask("/login", Host=NAME, **PROXY).status == 403
        assert "--allow-host" in client.ask("/login", Host=NAME).text
        assert client.post("/login", {"name": "x", "password": "y"}, **PROXY).status == 401
        [row] = portal._database.rows("SELECT address FROM guess")
        assert row["address"] == "127.0.0.1"


@pytest.mark.parametrize(
    ("exposed", "words"),
    [
        ({"address": "0.0.0.0"}, "needs --tls-cert, or --behind-proxy"),
        ({"address": "portal.test", "names": {"x"}}, "needs --tls-cert, or --behind-proxy"),
        ({"address": "0.0.0.0", "behind_proxy": True}, "needs --allow-host"),
        ({"address": "::", "certificate": "c"}, "needs --allow-host"),
        ({"key": "k"}, "--tls-key needs --tls-cert"),
        ({"address": "::1"}, ""),
        ({"address": "0.0.0.0", "names": {"x"}, "behind_proxy": True}, ""),
        ({"address": "192.0.2.1", "names": {"x"}, "certificate": "c"}, ""),
    ],
    ids=str,
)
def test_other_addresses_need_protection(exposed, words):
    problem = Exposure(**exposed).problem()

    assert words in problem
    assert bool(problem) == bool(words)


def test_a_host_has_a_name_of_the_portal():
    portal = Exposure(names=frozenset({NAME}))

    for host in (NAME, NAME.upper(), f"{NAME}:8443", "127.0.0.1:8800", "localhost", "[::1]:8800"):
        assert portal.knows(host), host
    for host in ("", "evil.test", f"{NAME}.evil.test", f"evil.test:{NAME}", "192.0.2.1"):
        assert not portal.knows(host), host


def test_the_url_that_is_printed_can_be_opened():
    certificate = {"names": frozenset({NAME}), "certificate": "c"}

    assert Exposure(address="0.0.0.0", **certificate).url_host == NAME
    assert Exposure(address="0.0.0.0", behind_proxy=True).url_host == "127.0.0.1"
    assert Exposure(address="::1").url_host == "[::1]"
