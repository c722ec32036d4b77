import re
import time

import gevent
import pytest
from gevent import socket

from crawler import Request
from crawler.testing import End, LoopbackSite, Reply, Site, Wire, faults, generated_site


@pytest.fixture(autouse=True)
def _patience():
    with gevent.Timeout(20):
        yield


# a web in a dict


def test_a_site_answers_from_its_dict():
    site = Site(
        {"/": "<h1>Grüße</h1>", "/bytes": b"\xff", "/busy": Reply(503, {"Retry-After": "1"})}
    )

    home = site(Request("http://site.test/"))
    busy = site(Request("http://site.test/busy"))

    assert (home.status, home.text) == (200, "<h1>Grüße</h1>")
    assert home.headers["content-type"] == "text/html; charset=utf-8"
    assert site(Request("http://site.test/bytes")).body == b"\xff"
    assert (busy.status, busy.headers["retry-after"], busy.body) == (503, "1", b"")


def test_a_missing_page_is_a_404():
    site = Site({"/": "home"})

    assert site(Request(site.url("/missing"))).status == 404
    assert site(Request("http://elsewhere.test/")).status == 404


def test_a_site_may_have_several_hosts():
    site = Site({"/": "home", "http://other.test/": "other"})

    assert site(Request("http://other.test/")).body == b"other"


def test_a_page_with_a_query_is_found_with_it_or_without():
    site = Site({"/list": "all", "/list?page=2": "second"})

    assert site(Request(site.url("/list?page=2"))).body == b"second"
    assert site(Request(site.url("/list?page=3#top"))).body == b"all"


def test_a_page_may_be_an_exception_or_a_function():
    site = Site(
        {"/fails": KeyError("x"), "/also": KeyError, "/echo": lambda r: Reply(201, body=r.method)}
    )

    for path in ("/fails", "/also"):
        with pytest.raises(KeyError):
            site(Request(site.url(path)))
    assert site(Request(site.url("/echo"), "PUT")).body == b"PUT"
    assert [request.url for request in site.requests] == [
        site.url(p) for p in ("/fails", "/also", "/echo")
    ]


def test_a_delay_is_waited_for():
    site = Site({"/": Reply(delay=0.05)})
    began = time.monotonic()

    site(Request(site.url()))

    assert time.monotonic() - began >= 0.05


def test_a_site_without_a_wire_breaks_none():
    with pytest.raises(TypeError, match="LoopbackSite"):
        Site({"/": faults.silence()})(Request("http://site.test/"))


# a site of known shape


@pytest.mark.parametrize(("pages", "links"), [(1, 1), (50, 1), (100, 7), (300, 10)])
def test_every_generated_page_is_reachable(pages, links):
    site = generated_site(pages=pages, links=links, size=2000)
    reached, waiting = {"/"}, ["/"]

    while waiting:
        for path in re.findall(r'href="([^"]+)"', site[waiting.pop()]):
            if path not in reached:
                reached.add(path)
                waiting.append(path)

    assert reached == set(site)
    assert len(site) == pages


def test_generated_pages_have_the_links_and_size_asked_for_every_time():
    site = generated_site(pages=40, links=9, size=13_000)

    assert {page.count("<a ") for page in site.values()} == {9}
    assert {len(page) for page in site.values()} == {13_000}
    assert site == generated_site(pages=40, links=9, size=13_000)


# a real server


def talk(site, *requests, address=""):
    """Send bytes over one connection; return what came until it closed or fell silent."""
    with socket.create_connection((address or "127.0.0.1", site.port)) as sock:
        sock.settimeout(0.3)
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


def test_a_stopped_site_ends_its_connections():
    with LoopbackSite({"/": faults.silence()}) as site:
        job = gevent.spawn(talk, site, GET)
        gevent.sleep(0.05)

    assert job.get(timeout=30)[1] in {"closed", "reset"}
    assert repr(site) == "<LoopbackSite stopped, 1 requests>"
