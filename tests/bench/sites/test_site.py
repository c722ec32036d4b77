"""The sites that benchmarks crawl: what is in them, and who serves them."""

import re
import resource
import socket
import tempfile
import time
import urllib.request
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.bench.crawl import Contender, sample
from crawler.bench.measuring.child import BenchError, Child
from crawler.bench.sites import nginx
from crawler.bench.sites import served_site as sites
from crawler.bench.sites.shape import FEWEST_LINKS, OWN, Shape, path

HREF = re.compile(rb'<a href="([^"]*)"')


@settings(deadline=None)
@given(st.integers(1, 300), st.integers(FEWEST_LINKS, 100), st.booleans())
def test_every_page_can_be_reached_from_the_first(pages, links, absolute):
    shape = Shape(pages, 100, links, absolute=absolute, port=80)
    by_href = {shape.href(number).encode(): number for number in range(pages)}
    known, waiting = {0}, [0]

    while waiting:
        hrefs = HREF.findall(shape.page(waiting.pop()))
        assert len(hrefs) == links
        found = {by_href[href] for href in hrefs if href in by_href}
        waiting += found - known
        known |= found

    assert known == set(range(pages))


def test_pages_are_the_same_every_time_and_of_the_size_that_was_asked_for():
    one, other = Shape(2000), Shape(2000)

    sizes = [len(one.page(number)) for number in range(2000)]
    assert all(one.page(number) == other.page(number) for number in range(0, 2000, 100))
    assert sum(sizes) / len(sizes) == pytest.approx(13_000, rel=0.03)
    assert min(sizes) < 6000
    assert max(sizes) > 20_000


def test_each_host_has_a_run_of_pages():
    shape = Shape(100, hosts=10, absolute=True, port=80)

    hosts = [shape.url(number).split("/")[2] for number in range(100)]

    assert hosts == sorted(hosts, key=hosts.index)
    assert len(set(hosts)) == 10
    assert all(shape.url(number).startswith(OWN) for number in range(100))


@pytest.mark.parametrize("hosts", [0, 6])
def test_a_site_has_a_page_for_each_host_at_least(hosts):
    with pytest.raises(ValueError, match=f"from 1 to the 5 pages, not {hosts}"):
        Shape(5, hosts=hosts, absolute=True)


def test_fewer_links_than_lead_everywhere_are_refused():
    with pytest.raises(ValueError, match="links must be 31 or more, not 30"):
        Shape(5, links=30)


def test_several_hosts_need_whole_urls():
    with pytest.raises(ValueError, match="absolute"):
        Shape(5, hosts=2)


@pytest.fixture(params=["own server", "nginx"])
def site(request):
    """The same site, by every server there is."""
    if request.param == "nginx" and not nginx.executable():
        pytest.skip("nginx is not installed")
    with (
        mock.patch.object(sites, "kind", return_value=request.param),
        sites.served(Shape(40)) as it,
    ):
        assert it.kind == request.param
        yield it


def get(site, target):
    with urllib.request.urlopen(site.shape.url(0)[:-1] + target, timeout=5) as answer:
        return answer.read(), answer.headers["content-type"]


def test_serves_every_page_and_counts_them(site):
    for number in range(40):
        assert get(site, path(number)) == (site.shape.page(number), "text/html; charset=utf-8")
    get(site, "/page/7")

    assert site.counts() == (40, 41)
    assert site.counts() == (0, 0)


@pytest.mark.parametrize("target", ["/robots.txt", "/page/40", "/page/x", "/elsewhere"])
def test_what_is_no_page_is_missing(site, target):
    with pytest.raises(urllib.error.HTTPError, match="404"):
        get(site, target)

    assert site.counts() == (0, 0)


def test_our_server_goes_on_where_a_client_reads_slowly():
    with sites.OwnServer(Shape(10, size=4_000_000)) as site:
        request = b"GET /page/%d HTTP/1.1\r\nHost: x\r\n\r\n"
        with socket.create_connection(("127.0.0.1", site.shape.port), timeout=5) as client:
            client.sendall(b"".join(request % number for number in range(5)))
            assert get(site, "/page/9")[0] == site.shape.page(9)

            expected = [site.shape.page(number) for number in range(5)]
            received = client.makefile("rb")
            for body in expected:
                head = b"".join(iter(received.readline, b"\r\n"))
                assert b"Content-Length: %d" % len(body) in head
                assert received.read(len(body)) == body


def crawl_a_part(site, concurrency):
    """A contender that says it had every page, and fetched one."""
    urllib.request.urlopen(Shape(**site).url(0), timeout=5).close()
    return {"pages": site["pages"]}


def test_a_crawl_that_is_not_complete_is_no_row(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    cheat = Contender("cheat", f"{Path(__file__).stem}:crawl_a_part")

    with (
        sites.served(Shape(5)) as site,
        pytest.raises(
            BenchError, match=r"not comparable: of 5 pages cheat had 5; .* asked for 1, 1 times"
        ),
    ):
        sample(site, cheat, 1)


def test_a_child_that_fails_is_an_error_that_says_why():
    child = Child("crawler.bench.parts.pool:measure", {"number": "many", "repeats": 1})

    with pytest.raises(BenchError, match=r"pool:measure failed: .*TypeError"):
        child.run(20)


def test_an_error_has_what_the_server_says_too():
    class Ill:
        kind, shape = "nginx", Shape(1)

        def complaints(self):
            return "accept4() failed"

    with pytest.raises(BenchError, match=r"failed: .*TypeError.*; nginx says: accept4\(\) failed"):
        sites.visit(Ill(), "crawler.bench.parts.pool:measure", {}, 1)


def test_a_child_that_does_not_end_is_an_error():
    child = Child("crawler.bench.parts.pool:measure", {"number": 10**9, "repeats": 1})

    with pytest.raises(BenchError, match=r"did not end within 2 s"):
        child.run(2)


def test_a_child_tells_what_it_cost():
    cost = Child("crawler.bench.parts.pool:measure", {"number": 10, "repeats": 1}).run(20)

    assert cost["cpu"] > 0
    assert cost["seconds"] > 0
    assert cost["rss"] > 10


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the kernel tells nothing")
def test_the_memory_of_a_child_is_not_that_of_its_parent():
    much = bytearray(b"x") * 300_000_000

    cost = Child("crawler.bench.parts.pool:measure", {"number": 10, "repeats": 1}).run(20)

    assert cost["rss"] < len(much) / 1e6 / 2


def dawdle():
    tempfile.mkdtemp()
    time.sleep(60)


def test_a_child_that_is_killed_leaves_no_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    with pytest.raises(BenchError, match="did not end within 2 s"):
        Child(f"{Path(__file__).stem}:dawdle", patched=False).run(2)

    assert list(tmp_path.iterdir()) == []


# -- nginx --------------------------------------------------------------------------------------


def test_nginx_is_found_where_only_root_looks(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setattr(nginx, "_PLACES", (str(tmp_path),))
    assert sites.kind() == "own server"

    (tmp_path / "nginx").touch(0o755)

    assert nginx.executable() == str(tmp_path / "nginx")
    assert sites.kind() == "nginx"


def test_nginx_that_does_not_start_says_why(monkeypatch):
    if not nginx.executable():
        pytest.skip("nginx is not installed")
    monkeypatch.setattr(nginx, "_CONFIGURATION", "nonsense;")

    with (
        pytest.raises(BenchError, match=r'did not start: .*unknown directive "nonsense"'),
        nginx.Nginx.serving(Shape(1)),
    ):
        pass


@pytest.fixture
def few_descriptors():
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_descriptors")
def test_nginx_serves_more_pages_than_it_may_have_open_files():
    if not nginx.executable():
        pytest.skip("nginx is not installed")
    with nginx.Nginx.serving(Shape(200)) as site:
        for number in range(200):
            get(site, path(number))

        assert site.counts() == (200, 200)
        assert "Too many" not in site.complaints()
