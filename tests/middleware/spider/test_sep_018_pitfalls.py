"""The sixteen places where SEP-018 contradicts itself or leaves a gap, and our decisions."""

import os
from dataclasses import dataclass
from pathlib import Path

import gevent
import pytest
from gevent.event import Event

from crawler import Analyzer, DataArgs, Downloader, ModuleArgs, Pipeline, RequestArgs, Scheduler
from crawler.data import Request, Response
from crawler.errors import FetchError
from crawler.frontier import Politeness, Retries
from crawler.middleware import (
    CallbackRules,
    CanonicalizeUrl,
    Depth,
    Duplicates,
    HttpError,
    Offsite,
    RegexLinkExtractor,
    RobotsTxt,
    SpiderChain,
    SpiderMiddleware,
    UrlLength,
)
from crawler.middleware.spider.contract import succeeded
from crawler.testing import Reply, Site

from .chains import Spider, collect, opened, passed

HOME = "http://site.test/"
PAGE = Response(HOME, 200)
NO_SECRETS = Reply(body="User-agent: *\nDisallow: /secret")


@dataclass(frozen=True)
class Product:
    name: str

    def __iter__(self):
        return iter(self.name)


def passes(chain, url):
    return passed(chain, url) is not None


def link(*hrefs):
    return "".join(f'<a href="{href}">.</a>' for href in hrefs)


def crawled(site, *middlewares, domains=()):
    """Crawl *site* with a spider that follows every link; return the chain and the summary."""
    scheduler = Scheduler()
    chain = SpiderChain([*middlewares, RegexLinkExtractor([""])], Spider(fetch=scheduler.fetch))
    scheduler.init(
        RequestArgs(
            domains,
            None,
            politeness=Politeness.off(backoff=0.01, throttle=0.01),
            retries=Retries(3, wait=0.01),
        ),
        DataArgs(),
        ModuleArgs(
            [Downloader(site)],
            [Analyzer(lambda response: chain.response(response, chain.spider.parse))],
            [Pipeline()],
            analyze_workers=2,
        ),
    )
    chain.open()
    with scheduler:
        scheduler.start(HOME)
        assert scheduler.join(timeout=120)
        summary = scheduler.stop()
    chain.close()
    return chain, summary


def asked(site):
    return sorted(request.url for request in site.requests)


ONE = {"name": "x", "url": "y"}


@pytest.mark.parametrize(
    ("make", "found"),
    [
        (lambda: None, []),
        (lambda: ONE, [ONE]),
        (lambda: Product("x"), [Product("x")]),
        (lambda: HOME, [HOME]),
        (lambda: Request(HOME), [Request(HOME)]),
        (lambda: [ONE, HOME], [ONE, HOME]),
        (lambda: (each for each in (ONE, None, HOME)), [ONE, HOME]),
        (lambda: {HOME: ONE}.values(), [ONE]),
    ],
)
def test_pitfall_01_return_shapes(make, found):
    """
    A hook or callback returns None, one request, URL or item, or any iterable of them.

    A mapping, a text or a dataclass is one element, even if it is iterable.
    """

    class Gives(SpiderMiddleware):
        def process_response(self, response, request, spider):
            return make()

    assert list(opened(Gives).response(PAGE, lambda _: None)) == found
    alone = opened().response(PAGE, lambda _: make())
    assert [one for one in alone if one is not None] == found


def test_pitfall_02_one_hook_for_first_requests():
    """
    There is no process_start_request: first requests pass process_request without a response.

    process_response gets the request, as the API section says.
    """
    seen = []

    class Look(SpiderMiddleware):
        def process_start_request(self, request, spider):
            raise AssertionError("nobody calls it")

        def process_request(self, request, response, spider):
            seen.append((request.url, response))
            return request

        def process_response(self, response, request, spider):
            seen.append(request)

    chain = opened(Look)
    chain.request(HOME)
    list(chain.response(PAGE, lambda _: "/a"))

    assert seen == [(HOME, None), PAGE.request, (HOME + "a", PAGE)]


class FoundOn(SpiderMiddleware):
    def process_request(self, request, response, spider):
        return request.replace(meta={"page": response.url}) if response else request


def test_pitfall_03_robots_does_not_restart_the_chain():
    """
    A request waits for its robots.txt inside process_request; it is not parked and released.

    So each request passes every hook once, with the page it was found on: that and its
    depth are right, and a Duplicates even below RobotsTxt does not drop it.
    """
    site = Site(
        {
            "/": link("http://other.test/1", "http://other.test/2", "http://other.test/secret"),
            "/robots.txt": Reply(404),
            "http://other.test/robots.txt": Reply(body=NO_SECRETS.body, delay=0.02),
            "http://other.test/1": "1",
            "http://other.test/2": "2",
        }
    )

    chain, summary = crawled(
        site, RobotsTxt(), Duplicates(), FoundOn(), Depth(), domains=["other.test"]
    )

    others = {r.url: r for r in site.requests if "other" in r.url}
    assert sorted(others) == [f"http://other.test/{name}" for name in ("1", "2", "robots.txt")]
    for name in "12":
        request = others[f"http://other.test/{name}"]
        assert (request.meta["page"], request.depth) == (HOME, 1)
    assert chain.figures["FoundOn", "process_request"].calls == 3
    assert chain.figures["RobotsTxt", "process_request"].drops == 1
    assert not summary.urls.failed


@pytest.mark.parametrize(
    ("answer", "are_allowed"),
    [
        (FetchError("dns", "no such host"), False),
        (TimeoutError("too long"), False),
        (Reply(503), False),
        (Reply(404), True),
    ],
)
def test_pitfall_04_robots_failure_releases_those_who_wait(answer, are_allowed):
    """
    However the fetch of a robots.txt ends, all requests that wait for it go on.

    As RFC 9309 says: 4xx allows everything; 5xx and no response allow nothing.
    """
    gate = Event()

    def late(request):
        gate.wait()
        return answer

    chain = opened(RobotsTxt(fetch=Site({"/robots.txt": late})))
    waiting = [gevent.spawn(passes, chain, f"/{n}") for n in range(5)]
    gevent.idle()
    gate.set()

    assert [greenlet.get(timeout=120) for greenlet in waiting] == [are_allowed] * 5


def test_pitfall_05_internal_requests_are_not_filtered():
    """
    What a middleware fetches for itself goes by spider.fetch(), past all process_request hooks.

    So a robots.txt is fetched whatever the limits and filters of the chain are.
    """
    seen = []

    class Nosy(SpiderMiddleware):
        def process_request(self, request, response, spider):
            seen.append(request.url)
            return request

    site = Site({"/": link("/a"), "/a": link("/"), "/robots.txt": NO_SECRETS})

    crawled(site, Nosy, Duplicates(), RobotsTxt(), Offsite(["site.test"]), Depth(5), UrlLength(19))

    assert asked(site) == [HOME, HOME + "a", HOME + "robots.txt"]
    assert seen == [HOME + "a", HOME]
    assert opened(RobotsTxt(fetch=site)).request(HOME + "robots.txt") is not None


def test_pitfall_06_duplicates_come_last():
    """
    The order of filters: canonical URLs nearest to the spider, Duplicates first in the list.

    Then a request that another filter dropped is not seen yet, and may pass later.
    """
    site = Site({"/robots.txt": NO_SECRETS})

    class Moody(SpiderMiddleware):
        is_open = False

        def process_request(self, request, response, spider):
            return request if self.is_open else None

    moody = Moody()
    chain = opened(Duplicates(), RobotsTxt(fetch=site), moody, CanonicalizeUrl(["sort-query-args"]))

    assert not passes(chain, "/?b=2&a=1")
    moody.is_open = True
    assert passes(chain, "/?b=2&a=1")
    assert not passes(chain, "/?a=1&b=2")
    assert not passes(chain, "/secret")


def test_pitfall_07_seen_is_not_done():
    """
    A request is marked as seen when it passes; its retries do not pass the chain again.

    The frontier retries a failed request, under the same identity and behind the chain; its
    own set survives a crash, the set of the middleware does not.
    """
    answers = [Reply(503), Reply(503), Reply(body="at last")]
    site = Site({"/": link("/a"), "/a": lambda request: answers.pop(0)})

    chain, summary = crawled(site, Duplicates())

    assert not answers
    assert summary.urls.done == 2
    assert chain.figures["Duplicates", "process_request"].calls == 1


def test_pitfall_08_the_first_of_the_list_is_nearest_to_the_engine():
    """A list begins at the engine side; the crawl's middlewares are above the spider's."""

    class Mark(SpiderMiddleware):
        def __init__(self, name):
            self.name = name

        def process_response(self, response, request, spider):
            return {"way": [], "by": self.name}

        def process_item(self, item, response, spider):
            return item | {"way": [*item["way"], self.name]}

    of_the_crawl, of_the_spider = [Mark("G2"), Mark("G1")], [Mark("S2"), Mark("S1")]

    found = list(opened(*of_the_crawl, *of_the_spider).response(PAGE, lambda _: None))

    assert [item["by"] for item in found] == ["G2", "G1", "S2", "S1"]
    assert all(item["way"] == ["S1", "S2", "G1", "G2"] for item in found)


def test_pitfall_09_instances_of_a_class_body_share_nothing():
    """
    A list may contain classes, instances, and functions that make an instance.

    An instance serves every spider of its class; ours keep the state of one spider from
    open_spider to close_spider. Classes and functions make an instance for every crawl.
    """

    class Careful(Spider):
        middlewares = [Duplicates(), Offsite]

    first = SpiderChain(Careful.middlewares, Careful(allowed_domains=["site.test"]))
    second = SpiderChain(Careful.middlewares, Careful(allowed_domains=["other.test"]))
    for chain in (first, second):
        chain.open()

    assert first.middlewares[0] is second.middlewares[0]
    assert first.middlewares[1] is not second.middlewares[1]
    assert passes(first, "/a")
    assert not passes(first, "/a")
    assert not passes(second, "/a")
    assert passes(second, "http://other.test/a")

    first.close()
    assert not passes(second, "http://other.test/a")


def test_pitfall_10_success_is_every_2xx():
    """Success is 200 to 299, and handle_httpstatus_list of the request or else of the spider."""

    def is_success(status, listed=(), **meta):
        response = Response(HOME, status, request=Request(HOME, meta=meta))
        return succeeded(response, Spider(handle_httpstatus_list=listed))

    assert is_success(200)
    assert is_success(206)
    assert not is_success(404)
    assert is_success(404, [404])
    assert is_success(404, handle_httpstatus_list=[404])
    assert not is_success(404, [404], handle_httpstatus_list=[403])
    assert HttpError(PAGE.replace(status=404)).kind == "http_404"


def test_pitfall_11_next_request_of_several():
    """
    They are asked from the top, the spider last; the first request counts; none means idle.

    A request that the chain drops does not count.
    """

    class Source(SpiderMiddleware):
        def __init__(self, *paths):
            self.paths = list(paths)

        def next_request(self, spider):
            return HOME + self.paths.pop(0) if self.paths else None

    chain = opened(Source("a"), Duplicates(), Source("a", "b"))

    assert [chain.next_request().url for _ in range(2)] == [HOME + "a", HOME + "b"]
    assert chain.next_request() is None


def test_pitfall_12_what_a_hook_raises(caplog):
    """
    A hook that fails loses its own output, or the one element that it was given.

    Everything else goes on; the page is reported as failed, with the name of the hook, and
    every close_spider runs.
    """
    closed = []

    class Bad(SpiderMiddleware):
        def process_response(self, response, request, spider):
            yield {"n": "before"}
            raise KeyError("down")

        def process_item(self, item, response, spider):
            if item["n"] == 2:
                raise KeyError("up")
            return item

        def close_spider(self, spider):
            closed.append(type(self).__name__)
            raise KeyError("shut")

    class Worse(Bad):
        pass

    chain = opened(Bad, Worse)

    found, error = collect(chain.response(PAGE, lambda _: [{"n": n} for n in (1, 2, 3)]))
    chain.close()

    assert [item["n"] for item in found] == ["before", "before", 1, 3]
    assert sorted(str(each) for each in error.exceptions) == [
        "Bad.process_response: KeyError: 'down'",
        "Worse.process_item: KeyError: 'up'",
        "Worse.process_response: KeyError: 'down'",
    ]
    assert chain.figures["Worse", "process_item"].failures == 1
    assert closed == ["Worse", "Bad"]
    assert "Bad.close_spider failed" in caplog.text


def test_pitfall_13_hooks_are_called_by_keyword():
    """The order in which a hook names its arguments makes no difference."""

    class Mixed(SpiderMiddleware):
        def process_response(self, spider, request, response):
            return {"url": response.url, "asked": request.url, "spider": spider}

        def process_item(self, spider, response, item):
            return item | {"again": response.url}

    chain = opened(Mixed)

    assert list(chain.response(PAGE, lambda _: None)) == [
        {"url": HOME, "asked": HOME, "spider": chain.spider, "again": HOME}
    ]


def resident():
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("number", [50_000, pytest.param(1_000_000, marks=pytest.mark.long)])
def test_pitfall_14_generators_are_read_as_needed(number):
    """A generator makes its next finding when the last has been taken: memory stays constant."""
    made = 0

    def generous(response):
        nonlocal made
        for n in range(number):
            made += 1
            yield Request(f"{HOME}{n}", depth=1)

    taken = 0
    before = resident()
    for _ in opened(UrlLength()).response(PAGE, generous):
        taken += 1
        assert made == taken

    assert taken == number
    assert resident() - before < 8_000_000


def test_pitfall_15_redirects_do_not_escape():
    """
    Redirects and retries do not pass spider middlewares; the frontier checks their targets.

    Scope, robots.txt and the seen set apply at admission and at every hop: a spider
    middleware may narrow them, but the crawl does not depend on it to stay inside.
    """
    site = Site(
        {
            "/": link("/away", "http://other.test/linked"),
            "/away": Reply(302, {"location": "http://other.test/redirected"}),
        }
    )

    chain, summary = crawled(site, Offsite(["site.test"]))

    assert asked(site) == [HOME, HOME + "away"]
    assert chain.figures["Offsite", "process_request"].drops == 1
    assert summary.urls.refused == {"domain": 1}


def test_pitfall_16_callback_rules_and_parse():
    """
    Rules choose the callback when a request is found; they do not add one to parse().

    A page is handled once: by the callback that the request names, else by the first
    matching rule, else by parse().
    """
    handled = []

    class Shop(Spider):
        callback_rules = {"/product": "parse_product"}

        def parse(self, response):
            handled.append(("parse", response.url))
            return ["/product", Request(HOME + "product?own", callback="parse")]

        def parse_product(self, response):
            handled.append(("parse_product", response.url))

    spider = Shop()
    chain = SpiderChain([CallbackRules], spider)
    chain.open()
    waiting = [chain.request(HOME)]
    while waiting:
        request = waiting.pop(0)
        response = Response(request.url, 200, request=request)
        method = getattr(spider, request.callback or "parse")
        if request.depth < 2:
            waiting += chain.response(response, method)

    assert handled[:3] == [
        ("parse", HOME),
        ("parse_product", HOME + "product"),
        ("parse", HOME + "product?own"),
    ]
    assert chain.figures["Shop", "parse_product"].calls == 1
