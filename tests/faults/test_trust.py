"""No page leads to a private address: only the user does, who names it."""

from contextlib import ExitStack

import gevent
import pytest
from gevent import monkey
from gevent.event import Event

from crawler import (
    Analyzer,
    CrawlerError,
    CurlFetch,
    DataArgs,
    Downloader,
    ModuleArgs,
    Pipeline,
    Request,
    RequestArgs,
    Scheduler,
    SessionFetch,
    Spider,
    crawl,
    stream,
)
from crawler.fetch import AddressGuard
from crawler.frontier import Politeness
from crawler.spider import SitemapSpider
from crawler.testing import LoopbackSite, Reply

from ..fetch.dns_server import NameServer
from .conftest import FAST

#: The address that the user names, and one that only pages name.
OWN, INNER = "127.0.0.2", "127.0.0.3"
#: Names that a name server of an attacker resolves to the inner address.
NAMES = ("inner.test", "start.test")
GUARDED = FAST | {
    "allow_private": False,
    "domains": [INNER, *NAMES],
    "retries.attempts": 1,
    "politeness.give_up_after": 1,
}
QUICK = Politeness(delay=0, robots=False, latency_factor=0, jitter=0)
ROBOTS = pytest.mark.parametrize("robots", [True, False], ids=["robots", "no robots"])
TARGETS = pytest.mark.parametrize("target", [INNER, "inner.test"])


class Two(LoopbackSite):
    """A site at both addresses; its pages may name the inner one."""

    def __init__(self):
        super().__init__({}, addresses=[OWN, INNER])

    def at(self, host, path="/secret"):
        return f"http://{host}:{self.port}{path}"

    @property
    def leaked(self):
        return [hit.path for hit in self.requests if hit.address == INNER]


@pytest.fixture
def site():
    with Two() as site:
        site.pages = {"/": "start", "/secret": "the secret", "/robots.txt": ""}
        yield site


@pytest.fixture
def client():
    """Make a CurlFetch for which the names have the inner address."""
    with ExitStack() as stack:
        names = stack.enter_context(NameServer({name: [INNER] for name in NAMES}))

        def client(**options):
            fetch = stack.enter_context(CurlFetch(**options))
            fetch._name_options = names.options
            return fetch

        yield client


def visit(fetch, parse, *start_urls, **settings):
    kind = type("Visitor", (Spider,), {"start_urls": start_urls, "parse": parse})
    return crawl(kind(), fetch=fetch, **GUARDED | settings)


def nothing(_spider, _page):
    return ()


@ROBOTS
@TARGETS
@pytest.mark.parametrize("status", [302, 307])
def test_a_start_page_that_redirects(site, client, robots, target, status):
    site.pages = {"/": Reply(status, {"location": site.at(target)}), "/secret": "the secret"}

    result = visit(client(), nothing, site.url(), robots=robots)

    assert site.leaked == []
    assert sum(result.summary.urls.failed.values()) == 1


@ROBOTS
@TARGETS
def test_a_link(site, client, robots, target):
    result = visit(client(), lambda *_: [site.at(target)], site.url(), robots=robots)

    assert site.leaked == []
    assert sum(result.summary.urls.failed.values()) == 1


@TARGETS
def test_a_robots_txt_that_redirects(site, client, target):
    site.pages = {"/robots.txt": Reply(302, {"location": site.at(target, "/robots.txt")})}

    visit(client(), nothing, site.url(), robots=True)

    assert site.leaked == []


@ROBOTS
@TARGETS
def test_a_sitemap(site, client, robots, target):
    listed = f"<urlset><url><loc>{site.at(target)}</loc></url></urlset>"
    site.pages = {
        "/robots.txt": f"Sitemap: {site.at(target, '/sitemap.xml')}\nSitemap: /moved.xml\n"
        f"Sitemap: /listed.xml",
        "/moved.xml": Reply(302, {"location": site.at(target, "/sitemap.xml")}),
        "/listed.xml": listed,
        "/sitemap.xml": listed,
    }

    class Maps(SitemapSpider):
        sitemap_urls = [site.url("/robots.txt")]

    result = crawl(Maps(), fetch=client(), **GUARDED | {"robots": robots})

    assert site.leaked == []
    assert result.summary.urls.done == 2


@ROBOTS
@TARGETS
@pytest.mark.parametrize("spawned", [True, False], ids=["spawned", "in the callback"])
def test_a_page_that_a_callback_fetches(site, client, robots, target, spawned):
    caught = []

    def parse(spider, _page):
        fetch = (lambda url: gevent.spawn(spider.fetch, url).get()) if spawned else spider.fetch
        try:
            fetch(site.at(target))
        except CrawlerError as error:
            caught.append(error)
        return ()

    result = visit(client(), parse, site.url(), robots=robots)

    assert site.leaked == []
    assert len(caught) == 1
    assert result.summary.urls.done == 1


class Fetching(Spider):
    """Fetches in a child process what its page names."""

    def parse(self, page):
        try:
            yield {"text": self.fetch(page.text).text}
        except CrawlerError as error:
            yield {"kind": getattr(error, "kind", "")}


@pytest.mark.parametrize(
    ("host", "items"),
    [(INNER, [{"kind": "blocked_address"}]), (OWN, [{"text": "the secret"}])],
)
def test_a_page_that_a_callback_in_another_process_fetches(site, host, items):
    site.pages |= {"/": site.at(host)}

    result = crawl(Fetching(start_urls=[site.url()]), analyzers=1, **GUARDED)

    assert result.items == items
    assert site.leaked == []


def test_links_of_a_page_that_start_has_fetched(site, client):
    site.pages |= {"/": site.at(INNER)}

    class Led(Spider):
        start_urls = [site.url()]

        def start(self):
            yield self.fetch(site.url()).text
            yield site.url("/own")

    result = crawl(Led(), fetch=client(), **GUARDED)

    assert site.leaked == []
    assert result.summary.urls.failed == {"blocked_address": 1, "http_404": 1}


def test_start_urls_are_named_before_start_fetches(site, client):
    class Opened(Spider):
        def open(self):
            self.start_urls = [site.url()]
            self.fetch(site.url("/secret"))

        def start(self):
            yield from self.start_urls

        def parse(self, page):
            return ()

    result = crawl(Opened(), fetch=client(), **GUARDED)

    assert result.summary.urls.done == 1
    assert [hit.path for hit in site.requests] == ["/secret", "/"]


def test_what_start_fetches_itself(site, client):
    class Led(Spider):
        def start(self):
            yield site.url()
            self.fetch(site.url("/secret"))
            self.fetch(site.at(INNER))

    with pytest.raises(CrawlerError, match="blocked_address"):
        crawl(Led(), fetch=client(), **GUARDED)

    assert [hit.path for hit in site.requests] == ["/secret"]


def test_a_request_that_is_added_while_the_crawl_runs(site, client):
    def parse(spider, page):
        result.scheduler.add(site.at(INNER))
        return ()

    kind = type("Visitor", (Spider,), {"start_urls": [site.url()], "parse": parse})
    result = stream(kind(), fetch=client(), **GUARDED)
    assert list(result) == []

    assert site.leaked == []
    assert result.summary.urls.failed == {"blocked_address": 1}


def test_a_client_that_another_crawl_has_used(site, client):
    fetch = client()
    visit(fetch, nothing, site.at(INNER))
    assert site.leaked == ["/secret"]

    result = visit(fetch, lambda *_: [site.at(INNER, "/more")], site.url())

    assert site.leaked == ["/secret"]
    assert result.summary.urls.failed == {"blocked_address": 1}


def test_a_start_name_with_a_private_address_needs_the_setting_that_the_error_names(site, client):
    url = site.at("start.test")

    refused = visit(client(), nothing, url)
    allowed = visit(client(allow_address=AddressGuard(["start.test"])), nothing, url)

    [error] = refused.errors
    assert error.kind == "blocked_address"
    assert str(error).endswith("add 'start.test' to the setting allow_addresses")
    assert refused.exit_code == 1
    assert allowed.summary.urls.done == 1
    assert site.leaked == ["/secret"]


@pytest.mark.parametrize("host", ["localhost", "a.localhost"])
def test_localhost_is_trusted_and_its_other_names_are_not(host):
    with LoopbackSite({}) as site:
        others = ["127.0.0.1", "localhost", "a.localhost", "b.a.localhost"]
        links = [f"http://{name}:{site.port}/{name}" for name in others]
        site.pages = {f"/{name}": "there" for name in ["", *others]}

        result = visit(
            None, lambda *_: links, f"http://{host}:{site.port}/", domains=others, depth=1
        )

        assert [hit.path for hit in site.requests] == ["/", f"/{host}"]
        assert result.summary.urls.failed == {"blocked_address": 3}


# -- a crawl of several parts ----------------------------------------------------------------------


def test_all_downloaders_of_a_crawl_trust_the_same_hosts(site):
    pages = {f"/{n}": f"/{n + 1}" for n in range(20)}
    site.pages |= pages | {"/20": site.at(INNER)}
    early, late = [Downloader(CurlFetch()), Downloader(CurlFetch())], Downloader(CurlFetch())

    def parse(response):
        if response.url.endswith("/3"):
            scheduler.registrar.register(late)
        return [response.text] if "/" in response.text else []

    args = RequestArgs(accepted_domains=[INNER], max_depth=None, politeness=QUICK)
    modules = ModuleArgs(early, [Analyzer(parse)], [Pipeline()])
    with Scheduler() as scheduler:
        scheduler.init(args, DataArgs(), modules)
        scheduler.start(site.url("/0"))
        assert scheduler.join(120)
        urls = scheduler.stop().urls
        assert (urls.done, urls.failed) == (21, {"blocked_address": 1})
        assert all(module.counts.completed for module in (*early, late))
        assert site.leaked == []

        scheduler.start(Request(site.at(INNER)))
        assert scheduler.join(120)
        assert scheduler.stop().urls.done == 1


def test_a_resumed_job_trusts_its_start_hosts_again(site, client, tmp_path):
    gate = Event()
    site.pages = {"/": "", "/secret": "the secret"} | dict.fromkeys(
        ["/a", "/b"], lambda _: "page" if gate.wait(120) else ""
    )

    class Few(Spider):
        start_urls = [site.url()]

        def parse(self, page):
            if page.url == site.url():
                yield from (site.url("/a"), site.url("/b"), site.at(INNER))
            yield {"url": page.url}

    result = stream(Few(), fetch=client(), job=tmp_path / "job", **GUARDED)
    items = iter(result)
    assert next(items) == {"url": site.url()}
    result.stop(timeout=0)
    gate.set()

    result = crawl(Few(), fetch=client(), job=tmp_path / "job", **GUARDED)

    assert {item["url"] for item in result.items} >= {site.url("/a"), site.url("/b")}
    assert site.leaked == []


# -- sessions --------------------------------------------------------------------------------------


@pytest.fixture
def session():
    requests = pytest.importorskip("requests")
    if not monkey.is_module_patched("socket"):
        pytest.skip("requests blocks the hub unless patched")
    with requests.Session() as session:
        session.trust_env = False
        yield session


@ROBOTS
def test_a_session_is_guarded_as_well(site, session, robots):
    site.pages |= {
        "/moved": Reply(302, {"location": site.at(INNER)}),
        "/robots.txt": "",
        "/page": "page",
    }
    links = [site.url("/moved"), site.url("/page"), site.at(INNER, "/link")]

    result = visit(SessionFetch(session), lambda *_: links, site.url(), robots=robots, depth=1)

    assert site.leaked == []
    assert result.summary.urls.done == 2
    assert sum(result.summary.urls.failed.values()) == 2
