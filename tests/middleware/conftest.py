from contextlib import ExitStack, suppress

import gevent
import pytest
from gevent import socket
from gevent.pool import Pool
from gevent.server import StreamServer

from crawler import Analyzer, DataArgs, Downloader, ModuleArgs, Pipeline, RequestArgs, Scheduler
from crawler.frontier import Politeness, Retries
from crawler.middleware import Middlewares
from crawler.spider import links
from crawler.testing import LoopbackSite


@pytest.fixture(autouse=True)
def _patience():
    with gevent.Timeout(120):
        yield


@pytest.fixture
def stack():
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def serve(stack):
    """Start a LoopbackSite that ends with the test."""
    return lambda pages, **options: stack.enter_context(LoopbackSite(pages, **options))


class Clock:
    """A clock that is set by the test."""

    def __init__(self):
        self.now = 1_700_000_000.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def crawl():
    """Crawl to the end through middlewares; return the summary and the errors."""

    def crawl(first, fetch, *middlewares, parse=links, domains=(), attempts=3, **limits):
        politeness = Politeness.off(**({"backoff": 0.01, "throttle": 0.01} | limits))
        errors = []
        with Scheduler() as scheduler:
            scheduler.init(
                RequestArgs(
                    domains,
                    None,
                    politeness=politeness,
                    retries=Retries(attempts=attempts, wait=0.01),
                ),
                DataArgs(),
                ModuleArgs(
                    [Downloader(Middlewares(fetch, middlewares))], [Analyzer(parse)], [Pipeline()]
                ),
            )
            reader = gevent.spawn(errors.extend, scheduler.error_chan())
            scheduler.start(first)
            assert scheduler.join(timeout=120)
            summary = scheduler.stop()
            reader.join(timeout=120)
        urls = summary.urls
        assert urls.met == urls.admitted + sum(urls.turned_away.values())
        assert urls.admitted == urls.done + sum(urls.failed.values()) + sum(urls.refused.values())
        return summary, errors

    return crawl


class Proxy:
    """A proxy that forwards plain requests, opens tunnels, and keeps the heads of requests."""

    def __init__(self):
        self.heads = []
        self._server = StreamServer(("127.0.0.1", 0), self._serve, spawn=Pool())

    def __enter__(self):
        self._server.start()
        return self

    def __exit__(self, *_):
        self._server.stop(timeout=0)

    def url(self, user=""):
        return f"http://{user}127.0.0.1:{self._server.server_port}"

    def _serve(self, client, _peer):
        head = _head_of(client)
        self.heads.append(head.decode())
        method, target, _ = head.decode().split(" ", 2)
        host, _, port = target.removeprefix("http://").partition("/")[0].partition(":")
        with socket.create_connection((host, int(port))) as server:
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                pumps = [gevent.spawn(_pump, client, server), gevent.spawn(_pump, server, client)]
                gevent.joinall(pumps, count=1)
            else:
                client.sendall(_forwarded(head, target, server))

    def __repr__(self):
        return f"<Proxy, {len(self.heads)} requests>"


def _head_of(sock):
    head = b""
    while b"\r\n\r\n" not in head:
        data = sock.recv(65536)
        if not data:
            raise ConnectionError("the peer has left")
        head += data
    return head


def _forwarded(head, target, server):
    """Return the whole response, marked as the last of its connection."""
    path = "/" + target.split("/", 3)[3]
    lines = head.replace(target.encode(), path.encode(), 1).split(b"\r\n")
    own = (b"proxy-", b"connection")
    server.sendall(b"\r\n".join(each for each in lines if not each.lower().startswith(own)))
    answer, _, body = _head_of(server).partition(b"\r\n\r\n")
    length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
    while len(body) < length:
        body += server.recv(65536)
    return answer + b"\r\nconnection: close\r\n\r\n" + body


def _pump(source, sink):
    with suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)


@pytest.fixture
def proxy(stack):
    """Start a proxy that ends with the test."""
    return lambda: stack.enter_context(Proxy())
