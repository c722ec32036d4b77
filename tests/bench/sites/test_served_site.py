"""The sites that benchmarks crawl: what is in them, and who serves them."""

import socket
import urllib.request
from pathlib import Path
from unittest import mock

import pytest

from crawler.bench.crawl import Contender, sample
from crawler.bench.measuring.child import BenchError
from crawler.bench.sites import nginx
from crawler.bench.sites import served_site as sites
from crawler.bench.sites.shape import Shape, path


@pytest.fixture(params=["own server", "nginx"])
def site(request):
    """The same site, by every server there is."""
    if request.param == "nginx" and not nginx.executable():
        pytest.skip("nginx is not installed")
    with (
        mock.patch.object(sites, "server_name", return_value=request.param),
        sites.served(Shape(40)) as it,
    ):
        assert it.server == request.param
        yield it


def get(site, target):
    with urllib.request.urlopen(site.shape.url(0)[:-1] + target, timeout=120) as answer:
        return answer.read(), answer.headers["content-type"]


def test_serves_every_page_and_counts_them(site):
    for number in range(40):
        assert get(site, path(number)) == (site.shape.page(number), "text/html; charset=utf-8")
    get(site, "/page/7")

    assert site.counts() == (40, 41)
    assert site.counts() == (0, 0)


@pytest.mark.parametrize("target", ["/robots.txt", "/page/40", "/page/x", "/elsewhere"])
def test_an_unknown_path_is_a_404(site, target):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(site, target)

    assert site.counts() == (0, 0)


def test_our_server_continues_with_a_slow_client():
    with sites.OwnServer(Shape(10, size=4_000_000)) as site:
        request = b"GET /page/%d HTTP/1.1\r\nHost: x\r\n\r\n"
        with socket.create_connection(("127.0.0.1", site.shape.port), timeout=120) as client:
            client.sendall(b"".join(request % number for number in range(5)))
            assert get(site, "/page/9")[0] == site.shape.page(9)

            expected = [site.shape.page(number) for number in range(5)]
            received = client.makefile("rb")
            for body in expected:
                head = b"".join(iter(received.readline, b"\r\n"))
                assert b"Content-Length: %d" % len(body) in head
                assert received.read(len(body)) == body


def test_an_incomplete_crawl_is_an_error(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    cheat = Contender("cheat", "cheating:crawl_one_page")

    with (
        sites.served(Shape(5)) as site,
        pytest.raises(
            BenchError,
            match=r"not comparable: cheat should fetch 5 pages once; .* 1 pages in 1 requests",
        ),
    ):
        sample(site, cheat, 1)


def test_an_error_includes_the_errors_of_the_server():
    class Ill:
        server, shape = "nginx", Shape(1)

        def errors(self):
            return "accept4() failed"

    with pytest.raises(
        BenchError, match=r"failed: .*TypeError.*; nginx logged: accept4\(\) failed"
    ):
        sites.run_on(Ill(), "crawler.bench.parts.pool:measure", {}, 1)
