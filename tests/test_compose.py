"""crawl() and stream(): a spider from its first request to its last item."""

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import gevent
import pytest

from crawler import CrawlResult, Refused, Request, Response, Spider, __version__, crawl
from crawler.compose import fetch_with
from crawler.errors import DownloadError, FetchError
from crawler.job import Job, JobView
from crawler.middleware.spider.contract import HttpError, SpiderMiddleware
from crawler.settings import Settings
from crawler.spider import PageSpider
from crawler.testing import LoopbackSite, Reply, Site

from .sample_spider import FREE, SITE, AllLinks, ChoosyItems, Titles


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


def titles(result):
    return sorted(item["title"] for item in result.items)


def test_a_spider_is_crawled_to_the_end_and_its_items_collected():
    result = crawl(Titles(), fetch=Site(SITE), **FREE)

    assert isinstance(result, CrawlResult)
    assert titles(result) == ["A", "B", "Home"]
    assert (result.reason, result.exit_code) == ("finished", 0)
    assert result.summary.urls.done == 3
    assert not result.errors


def test_it_can_be_crawled_again_and_again():
    for _ in range(3):
        assert titles(crawl(Titles(), fetch=Site(SITE), **FREE)) == ["A", "B", "Home"]


def test_callbacks_are_methods_or_their_names():
    class Two(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            yield Request("http://site.test/a", callback=self.parse_a)
            yield response.follow("/b", "parse_b")

        def parse_a(self, response):
            yield {"a": response.url}

        def parse_b(self, response):
            yield {"b": response.url}

    items = crawl(Two(), fetch=Site(SITE), **FREE).items

    assert sorted(map(str, items)) == ["{'a': 'http://site.test/a'}", "{'b': 'http://site.test/b'}"]


@pytest.mark.parametrize("name", ["__init__", "nothing", "name"])
def test_only_a_method_of_the_spider_can_be_named(name):
    class Odd(Titles):
        def parse(self, response):
            yield Request("http://site.test/a", callback=name)

    result = crawl(Odd(), fetch=Site(SITE), **FREE)

    [error] = result.errors
    assert "has no callback" in str(error)
    assert result.exit_code == 1


def test_every_kind_of_item_is_welcome():
    @dataclass
    class Product:
        price: int

    class Shop(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            yield {"n": 1}
            yield Product(2)

    assert crawl(Shop(), fetch=Site(SITE), **FREE).items == [{"n": 1}, Product(2)]


def test_errback_gets_what_failed_and_may_ask_for_something_else():
    class Careful(Spider):
        start_urls = ["http://site.test/gone", "http://site.test/broken", "http://site.test/b"]

        def parse(self, response):
            yield {"ok": response.url[-1]}

        def errback(self, error):
            if isinstance(error, HttpError):
                yield {"status": error.response.status}
            elif isinstance(error, DownloadError):
                yield {"kind": error.kind}
                yield Request("http://site.test/a")

    site = Site(SITE | {"/broken": FetchError("tls", "no")})

    result = crawl(Careful(), fetch=site, **FREE)

    assert sorted(map(str, result.items)) == [
        "{'kind': 'tls'}",
        "{'ok': 'a'}",
        "{'ok': 'b'}",
        "{'status': 404}",
    ]
    assert result.summary.urls.failed == {"http_404": 1, "tls": 1}
    assert result.exit_code == 1


def test_a_status_that_is_listed_is_a_success():
    class Tolerant(Titles):
        start_urls = ["http://site.test/gone"]
        handle_httpstatus_list = [404]

        def parse(self, response):
            yield {"status": response.status}

    assert crawl(Tolerant(), fetch=Site({}), **FREE).items == [{"status": 404}]


def test_fetch_inside_a_callback():
    class Inline(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            for href in response.css("a::attr(href)").getall():
                page = self.fetch(response.urljoin(href))
                yield {"title": page.title, "home": response.title}

    result = crawl(Inline(), fetch=Site(SITE), **FREE, concurrency=1, analyze_workers=1)

    assert sorted(item["title"] for item in result.items) == ["A", "B"]


def test_open_and_close_are_called_whatever_happens():
    calls = []

    class Loud(Titles):
        def open(self):
            calls.append("open")

        def close(self):
            calls.append("close")

        def parse(self, response):
            raise ValueError("no")

    crawl(Loud(), fetch=Site(SITE), **FREE)
    with pytest.raises(Refused):
        crawl(Loud(start_urls=["ftp://site.test/"]), fetch=Site(SITE), **FREE)

    assert calls == ["open", "close"] * 2


def test_middlewares_of_the_crawl_are_above_those_of_the_spider():
    class Mark(SpiderMiddleware):
        def __init__(self, mark):
            self.mark = mark

        def process_item(self, item, response, spider):
            return item | {"marks": [*item.get("marks", []), self.mark]}

    class Marked(Titles):
        start_urls = ["http://site.test/b"]
        middlewares = [lambda: Mark("spider")]

    [item] = crawl(Marked(), fetch=Site(SITE), middlewares=[Mark("crawl")], **FREE).items

    assert item == {"title": "B", "marks": ["spider", "crawl"]}


def test_settings_come_from_the_spider_and_the_call():
    class Shallow(Titles):
        settings = {"depth": 0}

    assert len(crawl(Shallow(), fetch=Site(SITE), **FREE).items) == 1
    assert len(crawl(Shallow(), fetch=Site(SITE), **FREE, depth=1).items) == 3


def test_a_setting_that_does_not_exist_is_an_error_with_a_suggestion():
    with pytest.raises(ValueError, match="did you mean 'concurrency'"):
        crawl(Titles(), fetch=Site(SITE), concurency=3)


def test_start_may_be_a_generator_or_an_async_one():
    class Generated(Titles):
        def start(self):
            for name in "ab":
                yield Request(f"http://site.test/{name}", self.parse)

    class Awaited(Titles):
        async def start(self):
            for name in "ab":
                yield Request(f"http://site.test/{name}")

    class Old(Titles):
        def start_requests(self):
            return [Request("http://site.test/b")]

    assert titles(crawl(Generated(), fetch=Site(SITE), **FREE)) == ["A", "B", "Home"]
    assert titles(crawl(Awaited(), fetch=Site(SITE), **FREE)) == ["A", "B", "Home"]
    assert titles(crawl(Old(), fetch=Site(SITE), **FREE)) == ["B"]


def test_a_million_requests_from_one_callback_keep_memory_flat():
    import tracemalloc

    class Wide(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, response):
            for _ in range(200_000):
                yield "http://site.test/"

    tracemalloc.start()
    result = crawl(Wide(), fetch=Site(SITE), max_links_per_page=None, **FREE)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert result.summary.urls.turned_away == {"seen": 200_000}
    assert peak < 20_000_000


@pytest.mark.parametrize("patch", ["", "from gevent import monkey; monkey.patch_all()\n"])
def test_a_script_works_patched_or_not(patch, tmp_path):
    with LoopbackSite(SITE) as site:
        script = f"""{patch}
from crawler import Spider, crawl

class Titles(Spider):
    start_urls = [{site.url()!r}]

    def parse(self, response):
        yield {{"title": response.css("title::text").get()}}
        yield from response.follow_all(css="a")

for item in crawl(Titles(), delay=0).items:
    print(item["title"])
"""
        process = subprocess.Popen(
            [sys.executable, "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
        )
        while process.poll() is None:
            gevent.sleep(0.02)
        out, err = process.communicate()

    assert sorted(out.split()) == ["A", "B", "Home"], err


def test_a_failed_page_does_not_hide_the_others():
    site = Site(SITE | {"/a": Reply(500)})

    result = crawl(Titles(), fetch=site, **FREE)

    assert titles(result) == ["B", "Home"]
    assert result.summary.urls.failed == {"http_500": 1}


def test_a_dead_host_fails_with_its_reason():
    """Its robots.txt cannot be fetched either; the crawl does not wait minutes for it."""

    class Dead(Spider):
        start_urls = ("http://127.0.0.1:9/",)

    result = crawl(Dead, retries=1)

    assert result.summary.urls.failed == {"connect": 1}
    assert result.exit_code == 1
    assert "robots.txt" in str(result.errors[0])
    assert "http://127.0.0.1:9/" in str(result.errors[0])


def test_a_relative_request_is_resolved():
    class Relative(Spider):
        def parse(self, response):
            if response.url.endswith("/b"):
                yield {"found": True}
            else:
                yield Request("/b")

    with LoopbackSite({"/": "<p>", "/b": "<p>"}) as site:
        result = crawl(Relative(start_urls=[site.url()]), delay=0)

    assert result.items == [{"found": True}]


class Visitor(Spider):
    start_urls = ["http://site.test/"]
    settings = {"delay": 0}

    def parse(self, page):
        yield {"path": page.url.rpartition("/")[2], "status": page.status}
        yield from page.links()


class Door:
    """A site that lets in who has its cookie, and sends all others back with one."""

    def __init__(self, is_kind=True):
        self.is_kind = is_kind
        self.cookies = []

    def __call__(self, request):
        cookie = request.headers.get("Cookie", "")
        self.cookies.append(cookie)
        if "in=1" in cookie:
            return Response(
                request.url, 200, {"Content-Type": "text/html"}, '<a href="/a">', request
            )
        fields = {"Location": request.url}
        if self.is_kind:
            fields["Set-Cookie"] = "in=1; Path=/"
        return Response(request.url, 302, fields, b"", request)


def test_cookies_are_kept_by_default_and_a_way_back_with_a_cookie_is_no_loop():
    result = crawl(Visitor(), fetch=Door(), robots=False)

    assert sorted(item["path"] for item in result.items) == ["", "a"]
    assert crawl(Visitor(), fetch=Door(is_kind=False), robots=False).summary.urls.failed == {
        "redirect_loop": 1
    }


def test_cookies_can_be_turned_off():
    door = Door()

    result = crawl(Visitor(), fetch=door, robots=False, cookies=False)

    assert set(door.cookies) == {""}
    assert result.summary.urls.failed == {"redirect_limit": 1}


def test_a_resumed_job_has_its_cookies(tmp_path):
    first, second = Door(), Door()
    crawl(Visitor(), fetch=first, robots=False, job=tmp_path, max_pages=1)

    crawl(Visitor(), fetch=second, robots=False, job=tmp_path)

    assert second.cookies == ["in=1"]


def moved(request):
    if request.url.endswith("/new"):
        return Response(request.url, 200, {}, b"", request)
    return Response(request.url, 302, {"Location": "/new"}, b"", request)


def test_a_redirect_can_be_asked_for_as_a_response():
    class Asking(Visitor):
        def start(self):
            yield Request("http://site.test/old", meta={"max_redirects": 0})

    assert crawl(Asking(), fetch=moved, robots=False).items == [{"path": "old", "status": 302}]


def test_the_limit_of_redirects_is_a_setting():
    assert crawl(Visitor(), fetch=moved, robots=False).items == [{"path": "new", "status": 200}]

    class Strict(Visitor):
        handle_httpstatus_list = [302]

    result = crawl(Strict(), fetch=moved, robots=False, max_redirects=0)
    assert result.items == [{"path": "", "status": 302}]


class Fragments(Spider):
    """Follows links with fragments, by request and by link, and asks for a page itself."""

    def parse(self, response):
        page = response.request
        yield {"url": response.url, "request": page.url, "found_on": page.found_on}
        yield from response.links()
        if response.url.endswith("/"):
            yield Request("/b#two", callback=self.parse, errback=self.failed)
            yield Request("/gone#far", callback=self.parse, errback=self.failed)
            yield {"url": self.fetch(response.urljoin("/own#here")).url}

    def failed(self, error):
        yield {"failed": error.response.url}


def test_a_page_is_known_by_its_url_without_a_fragment_wherever_it_is_named(tmp_path):
    pages = {
        "/": '<a href="/a#one">a</a><a href="/moved#x">m</a><a href="http://elsewhere.test/#y">e</a>',
        "/a": '<a href="/a#two">a</a><a href="/b#three">b</a>',
        "/b": "b",
        "/own": "own",
        "/moved": Reply(302, {"location": "/to#part"}),
        "/to": '<a href="/last">l</a>',
        "/last": "l",
    }
    archive = str(tmp_path / "pages.warc")
    with LoopbackSite(pages) as site, Job(tmp_path / "job") as job:
        job.open_archive(archive)
        result = crawl(Fragments(start_urls=[site.url("/#top")]), job=job, depth=None, delay=0)
        referers = [hit.headers.get("referer", "") for hit in site.requests]
    texts = [str(result.items), str(result.summary), *referers, *map(str, result.errors)]
    texts += re.findall("^WARC-Target-URI:.*", Path(archive).read_text(), re.MULTILINE)
    with JobView(tmp_path / "job") as view:
        stories = {story.url: story for story in view.urls()}
        [asked] = view.why(site.url("/a#anything"))
    texts += map(str, stories.values())

    assert not [text for text in texts if "#" in text]
    assert asked.url == site.url("/a")
    assert stories[site.url("/moved")].redirects == (site.url("/to"),)
    assert {item["url"] for item in result.items if "url" in item} == {
        site.url(path) for path in pages if path != "/moved"
    }
    assert {"failed": site.url("/gone")} in result.items
    assert site.url("/to") in referers


class Choosy(SpiderMiddleware):
    def process_request(self, request, response, spider):
        return None if "drop" in request.url else request


class Dropping(Spider):
    start_urls = ["http://site.test/", "http://site.test/drop-first"]
    middlewares = [Choosy]

    def parse(self, page):
        yield "/drop-link#part"
        yield Request("http://user:word@site.test/drop-request", priority=1)
        yield "/kept"


@pytest.mark.parametrize("analyzers", [0, 1])
def test_a_request_that_a_middleware_drops_is_counted_and_why_knows_it(tmp_path, analyzers):
    pages, options = {"/": "", "/kept": ""}, {"depth": 0, "delay": 0, "robots": False}
    result = crawl(
        Dropping(), fetch=Site(pages), job=tmp_path / "job", analyzers=analyzers, **options
    )
    with JobView(tmp_path / "job") as view:
        [link] = view.why("http://site.test/drop-link")
        [first] = view.why("http://site.test/drop-first")
        urls = {story.url for story in view.urls()}

    assert result.summary.urls.turned_away == {"middleware": 3, "depth": 1}
    assert (link.reason, link.found_on, link.depth) == ("middleware", "http://site.test/", 1)
    assert (first.reason, first.found_on, first.depth) == ("middleware", None, 0)
    assert "http://site.test/drop-request" in urls


class Circle(Spider):
    """Each of three pages links to all of them."""

    start_urls = ["http://site.test/0", "http://site.test/0"]

    def parse(self, page):
        yield {"path": page.url[-1]}
        yield from page.links()


CIRCLE = {f"/{n}": "".join(f"<a href=/{m}>x</a>" for m in range(3)) for n in range(3)}


@pytest.mark.parametrize("kind", ["bloom", "exact", "mmap"])
def test_every_duplicate_filter_fetches_a_page_once_also_over_a_stop(tmp_path, kind):
    if kind == "mmap":
        pytest.importorskip("pybloomfilter")
    found, options = [], {"duplicate_filter": kind, "depth": None, "delay": 0, "robots": False}
    for pages in (2, 10, 10):
        result = crawl(
            Circle(), fetch=Site(CIRCLE), job=tmp_path / "job", max_pages=pages, **options
        )
        found += [item["path"] for item in result.items]

    assert sorted(found) == ["0", "1", "2"]
    assert not [path for path in (tmp_path / "job").iterdir() if "seen" in path.name]


def test_without_a_duplicate_filter_each_link_is_fetched_but_first_requests_once(tmp_path):
    options = {"duplicate_filter": "off", "depth": 2, "delay": 0, "robots": False}

    first = crawl(Circle(), fetch=Site(CIRCLE), job=tmp_path / "job", **options)
    again = crawl(Circle(), fetch=Site(CIRCLE), job=tmp_path / "job", **options)

    assert Counter(item["path"] for item in first.items) == {"0": 1 + 1 + 3, "1": 4, "2": 4}
    assert first.summary.urls.turned_away == {"seen": 1, "depth": 27}
    assert not again.items


def test_a_page_that_redirects_is_followed_again_without_a_duplicate_filter():
    class Twice(Spider):
        start_urls = ["http://site.test/"]

        def parse(self, page):
            yield {"path": page.url[-2:]}
            yield from page.links()

    pages = {"/": "<a href=/m1>x</a><a href=/m2>y</a>", "/to": ""}
    pages |= {path: Reply(302, {"location": "/to"}) for path in ("/m1", "/m2")}
    options = {"depth": 1, "delay": 0, "robots": False}

    assert len(crawl(Twice(), fetch=Site(pages), **options).items) == 2
    assert len(crawl(Twice(), fetch=Site(pages), duplicate_filter="off", **options).items) == 3


NOFOLLOW = {
    "http://site.test/": "<a rel=nofollow href=/a></a><a rel=nofollow href=/a></a><a href=/b></a>",
    "http://site.test/a": "<title>A</title>",
    "http://site.test/b": "<meta name=robots content=nofollow><a href=/c></a>",
    "http://site.test/c": "<title>C</title>",
}


@pytest.mark.parametrize("analyzers", [0, 1])
def test_links_with_nofollow_are_counted_as_turned_away(tmp_path, analyzers):
    result = crawl(AllLinks(), fetch=Site(NOFOLLOW), job=tmp_path, analyzers=analyzers, **FREE)

    urls = result.summary.urls
    assert (urls.done, urls.turned_away) == (2, {"nofollow": 2})
    assert urls.met == urls.admitted + 2
    with JobView(tmp_path) as view:
        (story,) = view.why("http://site.test/a")
        assert (story.status, story.reason) == ("turned_away", "nofollow")
        assert story.found_on == "http://site.test/"


OTHER_SCHEMES = {
    "http://site.test/": "<a href=mailto:a@site.test></a><a href=' JavaScript:go()'></a><a href=/b></a>"
    "<a href=tel:1 rel=nofollow></a><a href=mailto:a@site.test></a><a href=#top></a>"
    "<a href=ftp://site.test/></a>",
    "http://site.test/b": f"<meta name=robots content=nofollow><a href=data:,{'x' * 9_999}></a>",
}


@pytest.mark.parametrize("analyzers", [0, 1])
def test_links_of_other_schemes_are_counted_as_turned_away(tmp_path, analyzers):
    """Each once for a page; those that lead to no page have no record, and no long sample."""
    result = crawl(AllLinks(), fetch=Site(OTHER_SCHEMES), job=tmp_path, analyzers=analyzers, **FREE)

    urls = result.summary.urls
    assert (urls.done, urls.turned_away) == (2, {"scheme": 5})
    assert urls.met == urls.admitted + 5
    assert max(map(len, result.summary.samples["scheme"])) <= 200
    with JobView(tmp_path) as view:
        assert view.counts().turned_away == {"scheme": 5}
        assert view.why("mailto:a@site.test") == []


@pytest.mark.parametrize("analyzers", [0, 1])
def test_a_setting_lets_links_with_nofollow_be_followed(analyzers):
    result = crawl(AllLinks(), fetch=Site(NOFOLLOW), nofollow=False, analyzers=analyzers, **FREE)

    assert result.summary.urls.done == 4
    assert "nofollow" not in result.summary.urls.turned_away


def test_a_link_with_nofollow_may_be_admitted_by_another_page(tmp_path):
    class Deep(AllLinks):
        settings = {"depth": 1}

    site = Site(
        {
            "http://site.test/": "<a rel=nofollow href=/b></a><a href=/a></a>",
            "http://site.test/a": "<a href=/b></a>",
            "http://site.test/b": "B",
        }
    )
    crawl(Deep(), fetch=site, job=tmp_path, **FREE)
    result = crawl(Deep(), fetch=site, job=tmp_path, depth=2, **FREE)

    with JobView(tmp_path) as view:
        outcomes = [(story.status, story.reason) for story in view.why("http://site.test/b")]
    assert ("done", "") in outcomes
    assert result.summary.urls.done == 3


@pytest.mark.parametrize("analyzers", [0, 1])
def test_items_that_a_middleware_drops_or_fails_on_are_counted(analyzers):
    result = crawl(
        AllLinks(), fetch=Site(NOFOLLOW), middlewares=[ChoosyItems()], analyzers=analyzers, **FREE
    )

    items = result.summary.items
    assert (items.found, items.processed, items.failed, items.dropped) == (2, 0, 1, 1)


def test_the_header_fields_and_the_proxy_of_the_settings_go_with_every_request(tmp_path):
    class Two(Titles):
        def start(self):
            yield "http://site.test/"
            yield Request("http://site.test/a", headers={"x-a": "own"})

    site, sent = Site(SITE), []

    def fetch(request):
        sent.append(request)
        return site(request)

    proxy = "http://ann:s3cret@proxy.test:3128"
    crawl(Two(), fetch=fetch, headers={"X-A": "1"}, proxy=proxy, job=tmp_path / "job", **FREE)

    assert {request.proxy for request in sent} == {proxy}
    assert {(request.url, request.headers["X-A"]) for request in sent} >= {
        ("http://site.test/", "1"),
        ("http://site.test/a", "own"),
        ("http://site.test/b", "1"),
    }
    for file in (tmp_path / "job").iterdir():
        assert b"s3cret" not in file.read_bytes(), file


def test_every_request_names_the_contact():
    with LoopbackSite({"/": "x", "/robots.txt": "User-agent: crawler\nDisallow: /x"}) as site:
        crawl(PageSpider(start_urls=[site.url("/")]), contact="me@site.test", delay=0)
    agents = {hit.headers["user-agent"] for hit in site.requests}

    assert len(site.requests) == 2
    assert agents == {f"crawler/{__version__} (+me@site.test)"}


@pytest.mark.parametrize(
    "wrong", ["me", "me @site.test", "a@b) (c", "a@b\r\nX: y", "ftp://site.test"]
)
def test_a_contact_is_an_address_or_a_url(wrong):
    with pytest.raises(ValueError, match="contact: expected a mail address or a URL"):
        Settings.load(code={"contact": wrong})


def test_without_such_settings_a_request_is_sent_as_it_is():
    client = Site(SITE)
    request = Request("http://site.test/")

    assert fetch_with(client, Settings())(request).request is request
    assert "none" in repr(fetch_with(client, Settings(cookies=False)))


@pytest.mark.parametrize("wrong", ["https://example.org/", 3, None, dict, Site])
def test_anything_but_a_spider_is_refused_with_what_is_wanted(wrong):
    with pytest.raises(ValueError, match=r"a Spider, or a subclass of Spider, .*PageSpider\(start"):
        crawl(wrong)


def test_a_single_domain_needs_no_list():
    class Two(Spider):
        start_urls = "http://site.test/"
        allowed_domains = "other.test"

        def parse(self, page):
            yield {"url": page.url}
            yield "http://other.test/"

    pages = {"http://site.test/": "", "http://other.test/": ""}
    with LoopbackSite(pages) as web:
        result = crawl(Two(), proxy=web.url(), **FREE)

    assert [item["url"] for item in result.items] == [*pages]


@pytest.mark.parametrize("urls", [["http://site.test/", None], iter(["http://site.test/", None])])
def test_a_start_url_that_is_none_is_named_in_a_job_too(urls, tmp_path):
    class Ported(Spider):
        start_urls = urls

    with pytest.raises(ValueError, match=r"start\(\) may yield requests and URLs, not None"):
        crawl(Ported(), fetch=Site({"/": ""}), job=tmp_path / "job")


def test_a_job_does_not_use_up_the_urls_of_an_iterator(tmp_path):
    class Lazy(Spider):
        start_urls = iter(["http://site.test/"])

        def parse(self, page):
            yield {"url": page.url}

    assert crawl(Lazy(), fetch=Site({"/": ""}), job=tmp_path / "job").items
