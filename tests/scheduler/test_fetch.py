"""Scheduler.fetch(): another page, fetched from inside a parser."""

import gevent
import pytest
from gevent.event import Event

from crawler.errors import DownloadError, FetchError, Refusal
from crawler.scheduler import Status
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


@pytest.mark.parametrize("pages", [1, 20])
def test_a_processor_gets_other_pages_with_one_worker_and_room_for_one(build, tiny, pages):
    site = Site({f"/{n}": f'<a href="/{n}/a">a</a>' for n in range(pages)})

    def parse(response):
        if response.url.endswith("a"):
            return
        yield {"file": f"{response.url}/x"}
        yield {"file": f"{response.url}/y"}
        yield f"{response.url}/a"

    def process(item):
        return item | {"status": scheduler.fetch(item["file"]).status}

    one = {"download_workers": 1, "analyze_workers": 1, "pipeline_workers": 1}
    kept = []
    scheduler = build(
        site, parse, processors=[process, lambda i: kept.append(i) or i], data=tiny, **one
    )
    scheduler.start(f"{HOME}{n}" for n in range(pages))

    assert scheduler.join()
    summary = scheduler.stop()
    assert [item["status"] for item in kept] == [404] * 2 * pages
    assert summary.urls.done == 4 * pages
    assert summary.items.processed == 2 * pages


def test_other_items_are_processed_while_one_waits(build):
    site = Site({"/": "home", "/more": "more"})
    arrived, order = Event(), []

    def process(item):
        if item["n"] == 0:
            with scheduler.waiting():
                arrived.wait()
        order.append(item["n"])
        arrived.set()
        return item

    def parse(response):
        return [{"n": 0}, {"n": 1}]

    scheduler = build(site, parse, processors=[process], pipeline_workers=1)
    scheduler.start(HOME)

    assert scheduler.join()
    assert order == [1, 0]


@pytest.mark.parametrize("stage", ["parser", "processor"])
def test_a_worker_that_wants_a_page_while_the_scheduler_stops_leaves_its_own_pending(build, stage):
    site = Site({"/": "home", "/more": "more"})
    arrived, stopping = Event(), Event()

    def fetch_late():
        arrived.set()
        stopping.wait()
        scheduler.fetch(HOME + "more")

    def parse(response):
        if stage == "parser":
            fetch_late()
        return [{"n": 1}]

    def process(item):
        if stage == "processor":
            fetch_late()
        return item

    scheduler = build(site, parse, processors=[process])
    scheduler.start(HOME)
    arrived.wait()
    stop = gevent.spawn(scheduler.stop)
    scheduler.wait(Status.STOPPING)
    stopping.set()

    summary = stop.get()
    assert (summary.urls.pending, summary.urls.failed) == (1, {})
    assert summary.items.processed == 0
    assert [request.url for request in site.requests if "more" in request.url] == []


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


@pytest.mark.parametrize("stage", ["parser", "processor"])
def test_stopping_does_not_wait_for_a_worker_whose_page_is_not_fetched_any_more(build, stage):
    site = Site({"/": "home", "/more": "more"})
    arrived, paused, asks = Event(), Event(), Event()

    def ask():
        arrived.set()
        paused.wait()
        asks.set()
        scheduler.fetch(HOME + "more")

    def parse(response):
        if stage == "parser":
            ask()
        return [{"n": 1}]

    def process(item):
        if stage == "processor":
            ask()
        return item

    scheduler = build(site, parse, processors=[process])
    scheduler.start(HOME)
    with gevent.Timeout(120):
        arrived.wait()
        scheduler.pause()
        paused.set()
        asks.wait()
        summary = scheduler.stop(10_000)

    assert (summary.urls.pending, summary.urls.failed) == (2, {})
    assert summary.items.processed == 0


def test_a_page_in_flight_is_waited_for_and_the_parser_that_wants_it_goes_on(build):
    arrived, answer = Event(), Event()

    def fetch(request):
        if request.url.endswith("more"):
            arrived.set()
            answer.wait()
        return Site({"/": "", "/more": "more"})(request)

    def parse(response):
        yield {"text": scheduler.fetch(HOME + "more").text}

    scheduler = build(fetch, parse)
    scheduler.start(HOME)
    with gevent.Timeout(120):
        arrived.wait()
        stop = gevent.spawn(scheduler.stop, 10_000)
        scheduler.wait(Status.STOPPING)
        answer.set()
        summary = stop.get()

    assert (summary.urls.done, summary.urls.pending, summary.items.processed) == (2, 0, 1)
