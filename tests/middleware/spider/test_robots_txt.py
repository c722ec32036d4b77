from contextlib import contextmanager
from types import SimpleNamespace

import gevent
import pytest
from gevent.event import Event

import crawler
from crawler.errors import FetchError, StateError
from crawler.middleware import RobotsTxt
from crawler.testing import Reply, Site

from .chains import HOME, opened, passed

NO_SECRETS = Reply(
    headers={"content-type": "text/plain"},
    body="User-agent: *\nDisallow: /secret\nUser-agent: friend\nAllow: /",
)


def obedient(site, **options):
    return opened(RobotsTxt(fetch=site, **options))


def test_what_robots_txt_forbids_is_dropped_and_the_file_fetched_once():
    site = Site({"/robots.txt": NO_SECRETS})
    chain = obedient(site)

    assert passed(chain, "/open").url == HOME + "open"
    assert passed(chain, "/secret/1") is None
    assert chain.request(HOME + "secret/2") is None
    assert [request.url for request in site.requests] == [HOME + "robots.txt"]


def test_the_rules_are_those_for_the_agent_of_the_spider():
    site = Site({"/robots.txt": NO_SECRETS})

    assert passed(obedient(site, agent="Friend/2.0"), "/secret") is not None
    assert passed(opened(RobotsTxt(fetch=site), user_agent="friend"), "/secret") is not None


def test_each_origin_has_its_own_rules():
    site = Site({"/robots.txt": NO_SECRETS, "http://site.test:8080/robots.txt": "Disallow:"})
    chain = obedient(site)

    assert passed(chain, "/secret") is None
    assert passed(chain, "http://site.test:8080/secret") is not None


def test_all_who_wait_for_one_origin_wait_for_one_fetch():
    gate = Event()

    def slow(request):
        gate.wait()
        return NO_SECRETS

    site = Site({"/robots.txt": slow, "http://other.test/robots.txt": "Disallow:"})
    chain = obedient(site)
    waiting = [gevent.spawn(passed, chain, path) for path in ("/a", "/secret", "/b", "/secret/x")]
    gevent.idle()

    assert passed(chain, "http://other.test/") is not None
    assert not any(greenlet.ready() for greenlet in waiting)
    gate.set()
    refusals = [greenlet.get() for greenlet in waiting]

    assert [refusal is not None for refusal in refusals] == [True, False, True, False]
    assert len(site.requests) == 2


def test_who_waits_lets_the_crawl_know():
    now = []

    @contextmanager
    def waiting():
        now.append("waits")
        yield
        now.append("goes on")

    site = Site({"/robots.txt": Reply(404, delay=0.01)})
    chain = opened(RobotsTxt(fetch=site), waiting=waiting)
    gevent.joinall([gevent.spawn(passed, chain, path) for path in ("/a", "/b")])

    assert now == ["waits", "goes on"]


def test_if_the_one_who_asks_is_ended_another_asks_instead():
    calls = []

    def held_once(request):
        calls.append(request)
        if len(calls) == 1:
            gevent.sleep(60)
        return NO_SECRETS

    chain = obedient(Site({"/robots.txt": held_once}))
    first, *others = [gevent.spawn(passed, chain, path) for path in ("/a", "/b", "/secret")]
    gevent.idle()
    first.kill()

    assert others[0].get().url == HOME + "b"
    assert others[1].get() is None
    assert len(calls) == 2


@pytest.mark.parametrize(
    ("answer", "is_allowed"),
    [
        (Reply(404), True),
        (Reply(403), True),
        (Reply(429), False),
        (Reply(500), False),
        (FetchError("dns", "no such host"), False),
        (ConnectionError("refused"), False),
        (Reply(301, {"location": "/other.txt"}), False),
        (Reply(301, {"location": "/robots.txt"}), True),
        (Reply(302, {"location": "http://["}), True),
    ],
)
def test_no_file_allows_all_and_no_answer_nothing(answer, is_allowed):
    site = Site({"/robots.txt": answer, "/other.txt": NO_SECRETS})
    chain = obedient(site)

    assert (passed(chain, "/secret") is not None) is is_allowed
    assert (passed(chain, "/secret") is not None) is is_allowed


def test_robots_txt_itself_and_what_is_not_http_need_no_leave():
    site = Site({})
    chain = obedient(site)

    for url in ("/robots.txt", "mailto:me@site.test", "http://["):
        assert passed(chain, url) is not None
    assert site.requests == []


def test_the_fetch_of_the_spider_is_used_unless_another_is_given():
    site = Site({"/robots.txt": NO_SECRETS})
    chain = opened(RobotsTxt, fetch=site)

    assert passed(chain, "/secret") is None
    [asked] = site.requests
    assert asked.dont_filter


def test_before_the_crawl_has_begun_nothing_is_decided():
    def not_yet(request):
        raise StateError("not yet")

    fetch = SimpleNamespace(now=not_yet)
    chain = opened(RobotsTxt, fetch=lambda request: fetch.now(request))

    with pytest.raises(Exception, match="not yet"):
        chain.request(HOME)
    fetch.now = Site({"/robots.txt": NO_SECRETS})

    assert chain.request(HOME) is not None


# -- in a crawl -----------------------------------------------------------------------------


class Everything(crawler.Spider):
    start_urls = ["http://site.test/"]
    middlewares = [RobotsTxt]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.links()


@pytest.mark.parametrize("workers", [(1, 1), (2, 1), (4, 2), (1, 4)])
def test_workers_that_wait_for_one_robots_txt_do_not_lock_the_crawl(workers):
    hosts = [f"http://h{n}.test" for n in range(3)]
    pages = {
        "http://site.test/": "".join(f'<a href="{h}/{n}">x</a>' for h in hosts for n in range(4))
    }
    for host in hosts:
        pages[f"{host}/robots.txt"] = Reply(body="User-agent: *\nDisallow: /3", delay=0.01)
        pages |= {f"{host}/{n}": f'<a href="{host}/{n}/more">x</a>' for n in range(4)}
    download, analyze = workers
    tiny = {
        f"pools.{kind}_{part}": 1
        for kind in ("req", "resp", "item")
        for part in ("buffer_cap", "max_buffer_number")
    }

    with gevent.Timeout(120):
        result = crawler.crawl(
            Everything(accepted_domains=[f"h{n}.test" for n in range(3)]),
            fetch=Site(pages),
            robots=False,
            delay=0.005,
            retries=1,
            concurrency=download,
            analyze_workers=analyze,
            **tiny,
        )

    fetched = {item["url"] for item in result.items}
    assert {f"{host}/{n}" for host in hosts for n in range(3)} <= fetched
    assert not any(url.endswith("/3") for url in fetched)


def test_of_too_many_files_the_oldest_are_forgotten(monkeypatch):
    monkeypatch.setattr("crawler.middleware.spider.robots_txt._MOST_BYTES", 1000)
    asked = []

    def fetch(request):
        asked.append(request.url.split("/")[2])
        return crawler.Response(request.url, 200, {}, NO_SECRETS.content, request)

    chain = obedient(fetch)
    for number in (*range(20), 19, 0):
        assert chain.request(f"http://host{number}.test/secret") is None

    assert asked == [*(f"host{number}.test" for number in range(20)), "host0.test"]
