import time

import gevent
import pytest
from gevent import socket
from gevent.event import Event

from crawler.testing import End, LoopbackSite, Wire, faults


@pytest.fixture(autouse=True)
def _patience():
    with gevent.Timeout(120):
        yield


def talk(site, *requests, address=""):
    """Send bytes over one connection; return what came until it closed or fell silent."""
    with socket.create_connection((address or "127.0.0.1", site.port)) as sock:
        sock.settimeout(1.0)
        received = b""
        try:
            for request in requests:
                sock.sendall(request)
            while data := sock.recv(65536):
                received += data
        except TimeoutError:
            return received, "open"
        except ConnectionResetError:
            return received, "reset"
        return received, "closed"


GET = b"GET / HTTP/1.1\r\nHost: x\r\nX-A: 1\r\n\r\n"


def test_a_loopback_site_speaks_http_and_keeps_connections():
    with LoopbackSite({"/": "hello"}) as site:
        received, state = talk(site, GET, GET)

    assert received.count(b"HTTP/1.1 200 OK\r\n") == 2
    assert received.endswith(b"content-length: 5\r\n\r\nhello")
    assert (state, site.connections, len(site.requests)) == ("open", 1, 2)


def test_requests_are_recorded_as_they_came():
    with LoopbackSite({}) as site:
        talk(site, b"POST /a?b=c HTTP/1.1\r\nX-A: 1\r\nContent-Length: 4\r\n\r\nbody")

    [hit] = site.requests
    assert (hit.method, hit.path, hit.headers["x-a"], hit.body) == ("POST", "/a?b=c", "1", b"body")
    assert hit.peer[0] == hit.address == "127.0.0.1"
    assert time.monotonic() - hit.at < 10


def test_a_loopback_site_may_listen_on_several_addresses():
    with LoopbackSite({"/": "hello"}, addresses=["127.0.0.1", "127.0.0.2"]) as site:
        talk(site, GET, address="127.0.0.2")

    assert site.requests[0].address == "127.0.0.2"
    assert site.url("/a", "127.0.0.2") == f"http://127.0.0.2:{site.port}/a"


@pytest.mark.parametrize(
    ("page", "ends"),
    [
        (faults.reset(10), "reset"),
        (faults.truncated(), "closed"),
        (faults.silence(), "open"),
        (Wire(b"raw"), "open"),
        (Wire(b"raw", End.CLOSE), "closed"),
        (KeyError("x"), "reset"),
    ],
)
def test_a_fault_ends_as_it_says(page, ends):
    with LoopbackSite({"/": page}) as site:
        assert talk(site, GET)[1] == ends


def test_a_page_that_fails_says_why(capsys):
    with LoopbackSite({"/": lambda request: request.colour}) as site:
        received, _ = talk(site, GET)

    assert received.startswith(b"HTTP/1.1 500 Internal Server Error\r\n")
    assert b"AttributeError: 'Request' object has no attribute 'colour'" in received
    assert "in <lambda>" in capsys.readouterr().err


def test_a_page_may_raise_to_reset_its_connection(capsys):
    def page(request):
        raise ConnectionResetError

    with LoopbackSite({"/": page, "/also": lambda request: KeyError("x")}) as site:
        assert talk(site, GET)[1] == "reset"
        assert talk(site, GET.replace(b"/ ", b"/also ", 1))[1] == "reset"
    assert capsys.readouterr().err == ""


def test_a_stopped_site_ends_its_connections():
    with LoopbackSite({"/": faults.silence()}) as site:
        job = gevent.spawn(talk, site, GET)
        while not site.requests:
            gevent.sleep(0.001)

    assert job.get(timeout=120)[1] in {"closed", "reset"}
    assert repr(site) == "<LoopbackSite stopped, 1 requests>"


def test_a_proxied_request_has_its_own_url():
    web = {"http://a.test/": "A", "http://b.test/x": lambda request: request.url}

    with LoopbackSite(web) as site:
        first, _ = talk(site, b"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n\r\n")
        second, _ = talk(site, b"GET http://b.test/x?q=1 HTTP/1.1\r\nHost: b.test\r\n\r\n")

    assert first.endswith(b"\r\n\r\nA")
    assert second.endswith(b"\r\n\r\nhttp://b.test/x?q=1")


def test_a_page_that_takes_long_can_see_that_its_client_has_left():
    release = Event()
    with LoopbackSite({"/": lambda _: release.wait(120) and "late"}) as site:
        client = socket.create_connection(("127.0.0.1", site.port))
        client.sendall(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
        while not site.requests:
            gevent.sleep(0.005)
        assert not site.requests[0].is_abandoned

        client.close()
        with gevent.Timeout(120):
            while not site.requests[0].is_abandoned:
                gevent.sleep(0.005)
        release.set()
