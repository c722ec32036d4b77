"""Pages that take much more memory than their bodies, and a good host beside them."""

import gzip
import json
import subprocess
import sys
from time import monotonic

import gevent
import pytest
from gevent.event import Event

from crawler import Spider, stream
from crawler.scheduler.memory_guard import resident_size
from crawler.scheduler.page_size import LARGE, analysis_size
from crawler.testing import Reply

from .conftest import FAST, balanced

#: 0.8 MB with 64,000 links, of which 0.2 MB are sent.
LINKS = "".join(f"<a href={n:x}/>" for n in range(64_000)).encode()
ADDRESSES = [f"127.0.0.{n}" for n in range(2, 10)]


@pytest.fixture
def hostile(serve):
    """Eight hosts whose pages are all large."""
    page = Reply(headers={"content-encoding": "gzip"}, body=gzip.compress(LINKS))
    return serve({f"/{n}": page for n in range(50)}, addresses=ADDRESSES)


@pytest.fixture
def good(serve):
    return serve({f"/{n}": "small" for n in range(50)})


@pytest.fixture
def begin():
    """Begin a crawl with *parse* as the callback; it ends with the test."""
    begun = []

    def begin(parse, *first, **settings):
        kind = type("Visitor", (Spider,), {"start_urls": first, "max_depth": 0, "parse": parse})
        begun.append(stream(kind(), **{**FAST, **settings}))
        return begun[-1]

    yield begin
    for crawl in begun:
        crawl.stop(0)


def is_large(page):
    return len(page.body) > 1000


def test_large_pages_are_analysed_one_at_a_time_beside_small_ones(begin, good, hostile, quiet):
    assert analysis_size(LINKS) >= LARGE
    inside, together, held = set(), [], []

    def parse(spider, page):
        inside.add(page.url)
        gevent.sleep(0.002)
        together.append((sum("127.0.0.1:" not in url for url in inside), len(inside)))
        if is_large(page):
            held.append(crawl.scheduler._run.memory.held)
        yield {}
        inside.discard(page.url)

    first = [hostile.url(f"/{n}", address) for n in range(2) for address in ADDRESSES]
    crawl = begin(parse, *first, *(good.url(f"/{n}") for n in range(50)))
    crawl.wait()

    balanced(crawl.summary)
    assert crawl.summary.urls.done == 66
    assert max(large for large, _ in together) == 1
    assert max(number for _, number in together) > 1
    assert min(held) >= LARGE
    assert crawl.scheduler._run.memory.held == 0


def test_a_domain_whose_large_pages_wait_is_not_fetched_and_others_are(begin, good, hostile):
    """The large page under analysis stays there until all good pages are done."""
    go_on = Event()
    small, asked = [], []

    def parse(spider, page):
        if is_large(page):
            assert go_on.wait(120)
        else:
            small.append(page.url)
            if len(small) == 50:
                asked.append(len(hostile.requests))
                go_on.set()
        yield {}

    first = [hostile.url(f"/{n}", ADDRESSES[0]) for n in range(50)]
    crawl = begin(parse, *first, *(good.url(f"/{n}") for n in range(50)), per_host=2, max_pages=80)
    crawl.wait()

    assert crawl.summary.urls.done == 80
    # Four wait, and one more is on its way when the fourth arrives.
    assert asked[0] <= 5


def test_callbacks_of_large_pages_may_fetch_from_their_own_host(begin, hostile, quiet):
    def parse(spider, page):
        other = spider.fetch(page.url + "?again")
        yield {"size": len(page.body) + len(other.body)}

    crawl = begin(parse, *(hostile.url(f"/{n}") for n in range(12)), per_host=2)
    items = list(crawl)

    assert [item["size"] for item in items] == [2 * len(LINKS)] * 12


def test_a_crawl_that_stops_does_not_wait_for_the_rest_of_a_large_page(begin, serve, hostile):
    endless = serve({"/": lambda request: f"<a href='?{request.url[-9:]}x'>"})
    large = []

    def parse(spider, page):
        if is_large(page):
            large.append(page.url)
        else:
            yield from page.links()

    crawl = begin(parse, endless.url("/"), hostile.url("/0"), depth=None)
    pages = crawl.scheduler._run.stages.large_pages
    pages._seconds, pages._ended = 1000.0, monotonic()  # as if an analysis had taken so long
    while not pages.resting:
        gevent.sleep(0.005)
    gevent.sleep(0.05)
    assert not large

    crawl.stop(10)

    assert large == [hostile.url("/0")]


# -- the attack at full size ---------------------------------------------------------------------

SERVER = """
from gevent import monkey; monkey.patch_all()
import gzip, itertools, string, gevent
from crawler.testing import LoopbackSite, Reply

class Every(dict):
    def get(self, path, default=None):
        return default if "robots" in path else self["/"]

names = map("".join, itertools.product(string.ascii_lowercase, repeat=5))
links = "".join(f"<a href={name}/>" for name in itertools.islice(names, 690_000)).encode()
page = Reply(headers={"content-encoding": "gzip"}, body=gzip.compress(links))
small = lambda request: "".join(f"<a href='{request.url}{n}/'>x</a>" for n in (1, 2, 3))
sites = [LoopbackSite(Every({"/": page}), addresses=["127.0.0.2"]), LoopbackSite(Every({"/": small}))]
print(*(site.start().port for site in sites), flush=True)
gevent.sleep(600)
"""
CRAWL = """
from gevent import monkey; monkey.patch_all()
import json, resource, sys, gevent
from crawler import stream
from crawler.spider import PageSpider

seconds, *first = sys.argv[1:]
crawl = stream(PageSpider(start_urls=first), depth=None, allow_private=True)
counts = {"good": 0, "large": 0}
gevent.spawn_later(float(seconds), crawl.stop, 0)
for item in crawl:
    counts["large" if item["bytes"] > 1_000_000 else "good"] += 1
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
print(json.dumps([counts["good"], counts["large"], peak]))
"""


@pytest.fixture
def full_size():
    process = subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE)
    ports = process.stdout.readline().split()
    yield [f"http://127.0.0.2:{int(ports[0])}/", f"http://127.0.0.1:{int(ports[1])}/"]
    process.kill()
    process.wait(120)
    process.stdout.close()


def crawled(seconds, *first):
    """Return how many small and large pages a crawl has done, and its peak size in MiB."""
    command = [sys.executable, "-c", CRAWL, str(seconds), *first]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.skipif(resident_size() is None, reason="the system does not report sizes")
def test_pages_with_a_million_links_take_little_memory_and_leave_a_good_host_its_rate(full_size):
    hostile, good = full_size

    def share():
        alone, _, _ = crawled(60, good)
        beside, large, peak = crawled(60, good, hostile)
        assert large >= 1
        assert peak < 1024
        return beside / alone

    assert max(share() for _ in range(3)) >= 0.9


@pytest.mark.long
@pytest.mark.timeout(1500)
@pytest.mark.skipif(resident_size() is None, reason="the system does not report sizes")
def test_nothing_but_pages_with_a_million_links_takes_little_memory(full_size):
    _, large, peak = crawled(60, full_size[0])

    assert large > 1
    assert peak < 1024
