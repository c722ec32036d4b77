"""The links of a page are admitted alike, whether it is analysed here or in another process."""

import json
from functools import partial

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.analysis.spider_analyzer import analyzer_of
from crawler.analysis.worker.handshake import command, greeting
from crawler.data import Item, Links, Request, Response
from crawler.errors import AnalyzeError
from crawler.frontier import Frontier, Politeness, Scope
from crawler.headers import Headers
from crawler.middleware.spider.chain import SpiderChain
from crawler.module import MID, Address, RemoteAnalyzer
from crawler.module.remote.child_process import ChildProcess
from crawler.spider import Spider

URL = "http://a.test/"
PLAIN = Headers({"Content-Type": "text/plain"})


class Listed(Spider):
    """Finds what the page lists: text is a URL, a list the arguments of a request."""

    def parse(self, response):
        for found in json.loads(response.body):
            if found == "fail":
                raise LookupError("as listed")
            yield Request(found[0], **found[1]) if isinstance(found, list) else found


def no_fetch(request):
    raise AssertionError(f"{request} must not be fetched")


@pytest.fixture(scope="module")
def analyzers():
    """One that works in this process and one that works in another."""
    mid = MID("A", 1, Address("local", 1))
    remote = RemoteAnalyzer(
        partial(ChildProcess, command()), greeting(Listed(), []), no_fetch, mid=mid
    )
    yield analyzer_of(SpiderChain([], Listed())), remote
    remote.close()


class Crawl:
    """A frontier with what an analyzer has found."""

    def __init__(self, analyzer, max_depth):
        self.analyzer = analyzer
        scope = Scope(["a.test"], max_depth, exclude=["drop"])
        self.frontier = Frontier(scope, politeness=Politeness(robots=False, delay=0.0))
        self.items, self.failures = [], []

    def visit(self, page, depth, findings):
        request = Request(page, depth=depth)
        response = Response(page, 200, PLAIN, json.dumps(findings), request)
        try:
            for found in self.analyzer.analyze(response):
                if isinstance(found, Links):
                    self.frontier.admit_many(found)
                elif isinstance(found, Item):
                    self.items.append(found.value)
                else:
                    self.frontier.admit(found)
        except AnalyzeError as error:
            self.failures.append((error.kind, error.reason))

    def state(self):
        """Return all counts, the waiting requests in order, items and failures."""
        counts, waiting = self.frontier.view.counts(), []
        with gevent.Timeout(120):
            while len(self.frontier.view):
                taken = self.frontier.take()
                request = taken.request
                waiting.append((request.url, request.depth, request.found_on, request.callback))
                self.frontier.fetched(taken, Response(request.url, 200, request=request))
        return counts, waiting, self.items, self.failures


urls = st.sampled_from(
    [
        *(
            "http://a.test/1",
            "http://a.test/2",
            "http://a.test/2#part",
            "http://b.test/",
            "/1",
            "2",
        ),
        *("http://a.test/drop", "mailto:x", "http://[", "http://a.test/" + "x" * 3000, "", "?q"),
    ]
)
findings = st.one_of(
    urls,
    urls,
    urls.filter(bool).map(lambda url: [url, {}]),
    urls.filter(bool).map(lambda url: [url, {"callback": "parse"}]),
    urls.filter(bool).map(lambda url: [url, {"priority": 1, "depth": 7}]),
    st.fixed_dictionaries({"n": st.integers(0, 9)}),
    st.none(),
    st.just("fail"),
)
pages = st.tuples(
    st.sampled_from([URL, URL + "folder/page"]), st.integers(0, 3), st.lists(findings, max_size=12)
)


@given(st.lists(pages, max_size=6), st.sampled_from([None, 2]))
def test_a_crawl_has_the_same_results_with_a_local_and_a_remote_analyzer(
    analyzers, visits, max_depth
):
    local, remote = (Crawl(analyzer, max_depth) for analyzer in analyzers)

    with gevent.Timeout(120):
        for page, depth, found in visits:
            local.visit(page, depth, found)
            remote.visit(page, depth, found)

    assert local.state() == remote.state()


def test_known_links_are_counted_and_only_new_ones_wait_with_either_analyzer(analyzers):
    known = [f"http://a.test/{n}" for n in range(250)]
    for analyzer in analyzers:
        crawl = Crawl(analyzer, None)
        crawl.visit(URL, 0, known)

        crawl.visit(URL + "again", 0, [*known, "/new"])

        assert crawl.frontier.view.counts().turned_away == {"seen": 250}
        assert crawl.state()[1][-1][0] == "http://a.test/new"
