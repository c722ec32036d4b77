"""Callbacks that raise, hang, spin or yield without end cost only their own page."""

import gc
import logging
import time
from collections import Counter

import gevent
import pytest

from crawler import Request
from crawler.data import Response
from crawler.scheduler.memory_guard import MIB, resident_size
from crawler.testing import Reply, Site


class Unprintable(Exception):
    def __str__(self):
        raise RuntimeError("no text")

    __repr__ = __str__


class Own(BaseException):
    pass


RAISED = [
    lambda: ValueError("plain"),
    lambda: Own("base"),
    lambda: SystemExit(3),
    GeneratorExit,
    StopIteration,
    lambda: gevent.Timeout(1),
    gevent.GreenletExit,
    Unprintable,
    MemoryError,
    RecursionError,
    lambda: ExceptionGroup("several", [ValueError(1), KeyError(2)]),
    lambda: BaseExceptionGroup("several", [Own(1), SystemExit(2)]),
    lambda: UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
    lambda: KeyError("\ud800"),
]


def number(url):
    return int(url.rpartition("/")[2])


@pytest.mark.parametrize("when", ["at once", "after an item"])
def test_a_thousand_of_two_thousand_raise_and_the_others_are_all_there(visit, quiet, when):
    def parse(spider, page):
        n = number(page.url)
        if when == "after an item":
            yield {"n": n}
        if n % 2:
            raise RAISED[n // 2 % len(RAISED)]()  # noqa: RSE102 - it makes one
        if when == "at once":
            yield {"n": n}

    site = Site({f"/{n}": "" for n in range(2000)})
    result = visit_site(visit, parse, site, 2000)

    expected = range(0, 2000, 2) if when == "at once" else range(2000)
    assert sorted(item["n"] for item in result.items) == list(expected)
    assert result.summary.urls.done == 1000
    assert sum(result.summary.urls.failed.values()) == 1000
    assert Counter(number(error.request.url) for error in result.errors) == Counter(
        range(1, 2000, 2)
    )
    for error in result.errors:
        str(error)


def test_callbacks_that_are_no_generators_may_raise_anything_too(visit, quiet):
    def parse(spider, page):
        n = number(page.url)
        if n % 2:
            raise RAISED[n // 2 % len(RAISED)]()  # noqa: RSE102 - it makes one
        return [{"n": n}]

    result = visit_site(visit, parse, Site({f"/{n}": "" for n in range(100)}), 100)

    assert sorted(item["n"] for item in result.items) == list(range(0, 100, 2))
    assert sum(result.summary.urls.failed.values()) == 50


def test_twenty_hang_and_five_spin_and_the_others_are_all_there(visit, caplog, monkeypatch):
    """Every second one of the twenty swallows all exceptions that it can."""
    monkeypatch.setattr("crawler.scheduler.run._UNWIND", 0.1)
    caplog.set_level(logging.ERROR)
    spins = {100, 101, 102, 103, 104}
    swallowed = (BaseException, Exception)

    def messages():
        return [r.getMessage() for r in caplog.records if "does not yield" in r.getMessage()]

    def reported():
        return {number(each.partition("at work on ")[2].split()[0]) for each in messages()}

    def parse(spider, page):
        n = number(page.url)
        if n < 20:
            while True:
                try:
                    gevent.sleep(60)
                except swallowed[n % 2]:
                    continue
        if n in spins:
            spin(until=lambda: n in reported())
        yield {"n": n}

    result = visit_site(visit, parse, Site({f"/{n}": "" for n in range(200)}), 200, time_limit=0.25)

    hung = set(range(20))
    # A callback that spins is not interrupted; when it yields at last, its time is over.
    assert {item["n"] for item in result.items} >= set(range(200)) - hung - spins
    failed = {number(error.request.url) for error in result.errors if error.kind == "timeout"}
    assert hung <= failed <= hung | spins
    assert all("in spin" in each for each in messages())
    assert reported() == spins


def spin(until):
    end = time.monotonic() + 120
    while not until():
        assert time.monotonic() < end


JUNK = [5, b"bytes", object(), Site, [1], (Request("http://a.test/"),), print, 1.5, ValueError("x")]


def test_junk_is_a_type_error_that_names_the_callback(visit, quiet):
    def parse(spider, page):
        yield {"n": 1}
        yield JUNK[number(page.url)]
        yield {"n": 2}

    result = visit_site(visit, parse, Site({f"/{n}": "" for n in range(len(JUNK))}), len(JUNK))

    assert len(result.items) == 2 * len(JUNK)
    assert result.summary.urls.failed == {"parse": len(JUNK)}
    assert all("TypeError" in str(error) and "parse" in str(error) for error in result.errors)


def test_ten_thousand_junk_objects_are_one_short_error(visit):
    def parse(spider, page):
        yield from range(10_000)
        yield {"n": 1}

    gc.collect()
    before = resident_size() or 0
    result = visit_site(visit, parse, Site({"/0": ""}), 1)

    assert len(result.items) == 1
    [error] = result.errors
    assert len(str(error)) < 5000
    assert (resident_size() or 0) - before < 100 * MIB


def test_a_callback_that_pours_out_requests_does_not_keep_the_hub(visit):
    """The crawl goes on meanwhile: the first links are fetched before the last is found."""
    fetched_while_pouring = []
    poured = []

    def parse(spider, page):
        if page.url.endswith("/start"):
            for n in range(20_000):
                yield f"/{n}"
            poured.append(True)
        elif not poured:
            fetched_while_pouring.append(page.url)
        yield {"n": 1}

    def answer(request):
        return Response(request.url, 200, request=request)

    result = visit_site(visit, parse, answer, first="start", max_pages=500, time_limit=20)

    assert fetched_while_pouring
    assert result.summary.urls.met == 20_001


@pytest.mark.long
@pytest.mark.timeout(600)
def test_a_million_requests_from_one_callback(visit):
    def parse(spider, page):
        yield from (f"/{n}" for n in range(1_000_000))

    before = resident_size()
    result = visit_site(
        visit, parse, Site({"/start": ""}), first="start", max_pages=2, max_links_per_page=None
    )

    assert result.summary.urls.met == 1_000_001
    assert resident_size() - before < 600 * MIB


def test_errors_do_not_keep_the_pages_that_caused_them(visit):
    """A 404 with a large body, a callback that raises with a large page in hand: 200 of each."""
    body = "x" * 500_000
    site = Site({f"/{n}": Reply(404 if n % 2 else 200, body=body) for n in range(400)})

    def parse(spider, page):
        text = page.text
        error = ValueError(len(text))
        error.__cause__ = error
        raise error

    gc.collect()
    before = resident_size() or 0
    result = visit_site(visit, parse, site, 400)

    assert len(result.errors) == 400
    assert (resident_size() or 0) - before < 60 * MIB


def visit_site(visit, parse, site, pages=1, first=None, **settings):
    from crawler import Spider, crawl

    from .conftest import FAST, balanced

    urls = [f"http://site.test/{first}"] if first else []
    urls = urls or [f"http://site.test/{n}" for n in range(pages)]
    kind = type("Visitor", (Spider,), {"start_urls": urls, "max_depth": None, "parse": parse})
    result = crawl(kind(), fetch=site, **{**FAST, "retries": 1, **settings})
    balanced(result.summary)
    return result
