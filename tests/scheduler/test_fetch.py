"""Scheduler.fetch(): another page, fetched from inside a parser."""

import gevent
import pytest
from gevent.event import Event

from crawler.errors import DownloadError, FetchError, Refusal
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def test_a_parser_gets_another_page_and_continues(build):
    site = Site({"/": "home", "/more": "more"})
    texts = []

    def parse(response):
        texts.append(response.text)
        texts.append(scheduler.fetch(HOME + "more").text)
        return []

    scheduler = build(site, parse)
    scheduler.start(HOME)

    assert scheduler.join()
    assert texts == ["home", "more"]
    assert scheduler.stop().urls.done == 2


@pytest.mark.parametrize("pages", [1, 20])
def test_with_every_worker_waiting_the_crawl_still_ends(build, tiny, pages):
    site = Site({f"/{n}": f'<a href="/{n}/a">a</a>' for n in range(pages)})
    fetched = []

    def parse(response):
        if response.url.endswith("a"):
            return
        for part in ("x", "y"):
            answer = scheduler.fetch(f"{response.url}/{part}")
            fetched.append(answer.url)
            yield {"url": answer.url}
        yield f"{response.url}/a"

    one = {"download_workers": 1, "analyze_workers": 1, "pipeline_workers": 1}
    scheduler = build(site, parse, data=tiny, **one)
    scheduler.start(f"{HOME}{n}" for n in range(pages))

    assert scheduler.join()
    summary = scheduler.stop()
    assert len(fetched) == 2 * pages
    assert summary.urls.done == 4 * pages
    assert summary.items.processed == 2 * pages


def test_a_page_that_fails_raises_where_it_was_asked_for(build):
    site = Site({"/": "home", "/broken": FetchError("tls", "no")})
    caught = []

    def parse(response):
        try:
            scheduler.fetch(HOME + "broken")
        except DownloadError as error:
            caught.append(error.kind)
        return []

    scheduler = build(site, parse)
    scheduler.start(HOME)

    assert scheduler.join()
    assert caught == ["tls"]
    assert scheduler.stop().urls.failed == {"tls": 1}


@pytest.mark.parametrize(
    ("url", "reason"), [("http://other.test/", "domain"), ("ftp://site.test/", "scheme")]
)
def test_what_may_not_be_fetched_is_refused_there(build, url, reason):
    caught = []

    def parse(response):
        try:
            scheduler.fetch(url)
        except Refusal as refusal:
            caught.append(refusal.reason)
        return []

    scheduler = build(Site({}), parse)
    scheduler.start(HOME)

    assert scheduler.join()
    assert caught == [reason]


def test_a_redirect_is_followed_for_a_parser_that_waits(build):
    site = Site({"/": "home", "/old": Reply(302, {"Location": "/new"}), "/new": "new"})
    texts = []

    def parse(response):
        texts.append(scheduler.fetch(HOME + "old").text)
        return []

    scheduler = build(site, parse)
    scheduler.start(HOME)

    assert scheduler.join()
    assert texts == ["new"]


def test_the_time_a_parser_waits_is_not_held_against_it(build):
    def parse(response):
        scheduler.pause("site.test")
        gevent.spawn_later(0.3, scheduler.resume, "site.test")
        yield {"text": scheduler.fetch(HOME + "more").text}

    scheduler = build(Site({"/": "home", "/more": "more"}), parse, time_limit=0.1)
    scheduler.start(HOME)

    assert scheduler.join()
    assert scheduler.stop().urls.done == 2


def test_all_waiters_get_a_refusal_when_the_crawl_is_cut_off(build):
    waiting = Event()
    caught = []

    def parse(response):
        waiting.set()
        try:
            scheduler.fetch(HOME + "never")
        except Refusal as refusal:
            caught.append(refusal.reason)
        return []

    scheduler = build(Site({}), parse)
    scheduler.start(HOME)
    scheduler.pause("site.test")
    scheduler.resume("site.test")
    while not scheduler._run.meter.responses:
        gevent.sleep(0)
    scheduler.pause("site.test")
    waiting.wait()
    gevent.idle()

    scheduler._run.frontier.cut_off("time_limit")

    assert scheduler.join()
    assert caught == ["time_limit"]


def test_it_works_from_outside_the_crawl_too(build):
    gate = Event()

    def parse(response):
        gate.wait()
        return []

    scheduler = build(Site({"/": "home", "/more": "more"}), parse)
    scheduler.start(HOME)

    assert scheduler.fetch(HOME + "more").text == "more"
    gate.set()
    assert scheduler.join()
