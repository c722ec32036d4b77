"""No CR, LF or NUL from outside is sent unescaped, and none makes another request."""

import pytest
from gevent.server import StreamServer

from crawler import CurlFetch, FetchError, Request, SessionFetch, Spider, crawl
from crawler.data import Response
from crawler.fetch import any_address
from crawler.middleware import Cookies

from .conftest import FAST

EVIL = "\r\nX-Injected: yes\r\n\r\nGET /second HTTP/1.1\r\nHost: x\r\n\r\n"
BREAKS = ["\r\n", "\n", "\r", "\0", "\r\n ", "\u010d\u010a", "\u560d\u560a", "%0d%0a", "\t", "\x0b"]


class Recorder:
    """A server that answers every request, and keeps every byte that it receives."""

    def __init__(self):
        self.raw = b""
        self.server = StreamServer(("127.0.0.1", 0), self._serve)

    def _serve(self, sock, _peer):
        with sock:
            while data := sock.recv(65536):
                self.raw += data
                if b"\r\n\r\n" in data:
                    sock.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def lines(self):
        return self.raw.split(b"\r\n")


@pytest.fixture
def recorder():
    recorder = Recorder()
    recorder.server.start()
    yield recorder
    recorder.server.stop(timeout=0)


@pytest.fixture(params=["curl", "session"])
def fetch(request):
    if request.param == "curl":
        with CurlFetch(allow_address=any_address) as fetch:
            yield fetch
    else:
        requests = pytest.importorskip("requests")
        with requests.Session() as session:
            session.trust_env = False
            yield SessionFetch(session, allow_address=any_address)


def harmless(recorder):
    """Fail if the server got an injected line, or another request."""
    raw = recorder.raw
    assert b"\0" not in raw
    assert b"\n" not in raw.replace(b"\r\n", b"")
    assert b"\r" not in raw.replace(b"\r\n", b"")
    assert not any(line.lower().startswith(b"x-injected") for line in recorder.lines())
    assert b"GET /second" not in raw
    assert raw.count(b" HTTP/1.1\r\n") == raw.count(b"\r\n\r\n")


PLACES = {
    "url": lambda evil, url: Request(url + evil),
    "query": lambda evil, url: Request(f"{url}?q={evil}"),
    "user": lambda evil, url: Request(url.replace("//", f"//a{evil}b@")),
    "header": lambda evil, url: Request(url, headers={"X-A": f"a{evil}b"}),
    "header name": lambda evil, url: Request(url, headers={f"X-A{evil}b": "a"}),
    "method": lambda evil, url: Request(url, f"GET{evil}"),
    "cookie": lambda evil, url: Request(url, cookies={"a": f"b{evil}c"}),
    "cookie name": lambda evil, url: Request(url, cookies={f"a{evil}b": "c"}),
    "proxy": lambda evil, url: Request("http://a.test/", proxy=url + evil),
    "proxy user": lambda evil, url: Request(
        "http://a.test/", proxy=url.replace("//", f"//a{evil}b@")
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_request_of_ones_own_is_refused_or_made_harmless(fetch, recorder, place):
    for evil in (EVIL, *(f"{mark}X-Injected: yes" for mark in BREAKS)):
        try:
            fetch(PLACES[place](evil, recorder.url()))
        except (ValueError, FetchError):
            continue

    harmless(recorder)


@pytest.mark.parametrize("place", PLACES)
def test_a_request_of_a_spider_is_refused_or_made_harmless(recorder, place, quiet):
    def requests():
        for evil in (EVIL, *(f"{mark}X-Injected: yes" for mark in BREAKS)):
            try:
                yield PLACES[place](evil, recorder.url())
            except ValueError:
                continue
        yield Request(recorder.url("/fine"))

    class Evil(Spider):
        start = lambda self: requests()

        def parse(self, page):
            yield {"url": page.url}

    result = crawl(Evil(), **{**FAST, "retries": 1, "depth": None})

    harmless(recorder)
    assert b"GET /fine HTTP/1.1" in recorder.raw
    assert result.summary.urls.pending == 0


@pytest.mark.parametrize("way", ["link", "location", "set-cookie"])
def test_what_a_page_sends_is_harmless(recorder, serve, way, quiet):
    evil = [recorder.url("/a") + mark + "X-Injected: yes" for mark in (EVIL, *BREAKS)]
    evil += [f"/b{mark}X-Injected: yes" for mark in BREAKS]
    base = recorder.url()

    def answer(request):
        """A fetch for headers that a real network would not transmit."""
        if request.url.startswith(base):
            return fetch(request)
        number = int(request.url.rpartition("/")[2] or 0)
        links = "".join(f'<a href="{one}">' for one in evil) if way == "link" else ""
        headers = {"content-type": "text/html"}
        if way == "location":
            return Response(request.url, 302, {"location": evil[number % len(evil)]}, b"", request)
        if way == "set-cookie":
            headers["set-cookie"] = f"a=b{EVIL}; domain=127.0.0.1"
            links = f'<a href="{base}c">'
        return Response(request.url, 200, headers, links.encode(), request)

    class Follow(Spider):
        start_urls = [f"http://127.0.0.1:1/{n}" for n in range(len(evil))]
        accepted_domains = ["127.0.0.1"]
        max_depth = 2
        download_middlewares = [Cookies]

        def parse(self, page):
            yield from page.links()

    with CurlFetch(allow_address=any_address) as fetch:
        result = crawl(Follow(), fetch=answer, **{**FAST, "retries": 1})

    harmless(recorder)
    assert result.summary.urls.pending == 0
    assert recorder.raw
