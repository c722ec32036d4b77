import dataclasses
import json
import random

import gevent
import pytest
from gevent.event import Event

from crawler.errors import StateError
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def test_there_is_none_before_init():
    with pytest.raises(StateError, match=r"call init\(\) first"):
        Scheduler().summary()


@pytest.fixture
def initialized():
    scheduler = Scheduler()
    scheduler.init(
        RequestArgs(["b.test", "a.test"], 3),
        DataArgs(1, 2, 3, 4, 5, 6, 7, 8),
        ModuleArgs(
            [Downloader(Site({}), mid=mid) for mid in ("D10", "D2")],
            [Analyzer(lambda response: [], mid=mid) for mid in ("A3", "A1")],
            [Pipeline(mid="P1", fail_fast=True)],
            *(8, 4, 2),
            time_limit=5.0,
        ),
    )
    return scheduler


def module(mid, **extra):
    figures = dict.fromkeys(("called", "accepted", "completed", "handling"), 0)
    return {"id": mid, **figures, "score": 0.0, "extra": extra}


def test_contains_all_figures_of_an_initialized_scheduler(initialized):
    assert json.loads(str(initialized.summary())) == {
        "status": "initialized",
        "reason": "",
        "paused": False,
        "request_args": {
            "accepted_domains": ["a.test", "b.test"],
            "max_depth": 3,
            "include": [],
            "exclude": [],
            "per_host": 2,
            "delay": 0.1,
            "robots": True,
        },
        "data_args": {
            "req_buffer_cap": 1,
            "req_max_buffer_number": 2,
            "resp_buffer_cap": 3,
            "resp_max_buffer_number": 4,
            "item_buffer_cap": 5,
            "item_max_buffer_number": 6,
            "error_buffer_cap": 7,
            "error_max_buffer_number": 8,
        },
        "module_args": {
            "downloader_list_size": 2,
            "analyzer_list_size": 2,
            "pipeline_list_size": 1,
            "download_workers": 8,
            "analyze_workers": 4,
            "pipeline_workers": 2,
            "time_limit": 5.0,
        },
        "downloaders": [module("D2"), module("D10")],
        "analyzers": [module("A1", parser_number=1), module("A3", parser_number=1)],
        "pipelines": [module("P1", fail_fast=True, processor_number=0, dropped=0)],
        "request_pool": pool(1, 2),
        "response_pool": pool(3, 4),
        "item_pool": pool(5, 6),
        "error_pool": pool(7, 8),
        "urls": {
            "met": 0,
            "admitted": 0,
            "pending": 0,
            "done": 0,
            "failed": {},
            "refused": {},
            "turned_away": {},
            "found_nearer": 0,
        },
        "retried": 0,
        "retries": {},
        "samples": {},
        "moved": 0,
        "items": {"found": 0, "processed": 0, "failed": 0, "dropped": 0},
        "errors": {"reported": 0, "dropped": 0, "kinds": {}},
        "error_lines": [],
        "responses": 0,
        "bytes": 0,
        "in_flight_bytes": 0,
        "status_codes": {},
        "unsuccessful_starts": 0,
        "latency": {
            "p50": 0.0,
            "p90": 0.0,
            "p99": 0.0,
            "max": 0.0,
            "total": 0.0,
            "histogram": {},
        },
        "waiting_for": "nothing: all is settled",
        "next_wake": None,
        "queued": 0,
        "resting": "",
        "commits": {},
        "cpu": 0.0,
        "rate": 0.0,
        "elapsed": 0.0,
    }


def pool(cap, number):
    return {"buffer_cap": cap, "max_buffer_number": number, "buffer_number": 1, "total": 0}


def test_its_text_is_its_dict_as_json(initialized):
    summary = initialized.summary()

    assert json.loads(str(summary)) == json.loads(json.dumps(summary.to_dict()))
    assert str(summary).startswith('{\n    "status": "initialized",')


def test_is_frozen(initialized):
    summary = initialized.summary()

    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.responses = 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        summary.urls.done = 7


def test_a_snapshot_does_not_change_with_the_crawl(build):
    scheduler = build(Site({"/": OSError}))
    before = scheduler.summary()
    shown = str(before)

    scheduler.start(HOME)
    scheduler.join()

    assert str(before) == shown
    assert before != scheduler.summary()


@pytest.mark.parametrize(
    "name",
    [
        "status",
        "paused",
        "request_args",
        "data_args",
        "module_args",
        "downloaders",
        "analyzers",
        "pipelines",
        "request_pool",
        "response_pool",
        "item_pool",
        "error_pool",
        "urls",
        "items",
        "errors",
        "error_lines",
        "responses",
        "bytes",
        "status_codes",
        "latency",
    ],
)
def test_differs_when_any_figure_does(initialized, name):
    summary = initialized.summary()
    assert summary == initialized.summary()

    assert summary != dataclasses.replace(summary, **{name: None})
    assert dataclasses.replace(summary, **{name: None}) != summary


@pytest.mark.parametrize("name", ["rate", "elapsed", "waiting_for", "next_wake"])
def test_what_changes_by_itself_does_not_count(initialized, name):
    summary = initialized.summary()

    assert summary == dataclasses.replace(summary, **{name: 99.0})


def test_ids_sort_as_numbers(initialized):
    for serial in (1, 3, 20, 100):
        initialized.registrar.register(Downloader(Site({}), mid=f"D{serial}"))
    initialized.registrar.register(Downloader(Site({}), mid="D3|10.0.0.5:9000"))

    ids = [downloader.id for downloader in initialized.summary().downloaders]

    assert ids == ["D1", "D2", "D3", "D3|10.0.0.5:9000", "D10", "D20", "D100"]


def test_counts_bytes_statuses_and_latency(crawl):
    site = Site(
        {
            "/0": "12345",
            "/1": Reply(404, body="123"),
            "/2": Reply(500, delay=0.05),
            "/3": OSError,
        }
    )

    summary, _ = crawl(site, first=[f"{HOME}{n}" for n in range(4)])

    assert (summary.responses, summary.bytes) == (3, 8)
    assert summary.status_codes == {200: 1, 404: 1, 500: 1}
    assert list(summary.status_codes) == [200, 404, 500]
    assert summary.latency.max == 0.05
    assert summary.elapsed > 0.05
    assert summary.rate == pytest.approx(3 / summary.elapsed)


def test_time_stands_still_once_stopped(build):
    scheduler = build(Site({"/": ""}))
    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()

    one = scheduler.summary()
    gevent.sleep(0.02)

    assert scheduler.summary().elapsed == one.elapsed
    assert scheduler.summary().rate == one.rate


def test_shows_what_waits_where(build, tiny):
    reached, gate = Event(), Event()

    def parse(response):
        reached.set()
        gate.wait()
        return []

    scheduler = build(Site({}), parse, data=tiny, download_workers=1, analyze_workers=1)
    scheduler.start(f"{HOME}{n}" for n in range(9))
    reached.wait()
    gevent.idle()
    gevent.idle()
    summary = scheduler.summary()
    gate.set()

    assert summary.response_pool.total == 1
    assert summary.request_pool.total == 0, "nothing is taken before a worker is free for it"
    assert summary.analyzers[0].handling == 1
    assert summary.urls.pending == 9


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_itself_at_every_moment_of_a_crawl(build, page, seed):
    dice = random.Random(seed)

    def slowly(function):
        def wrapped(datum):
            gevent.sleep(0)
            if dice.random() < 0.1:
                raise ZeroDivisionError
            return function(datum)

        return wrapped

    site = Site({f"/{n}": page(f"/{n + 1}", f"/{n * 2}") for n in range(60)})

    def parse(response):
        yield {"url": response.url}
        yield from response.text.split('"')[1::2]

    scheduler = build(slowly(site), parse, processors=[slowly(dict)], max_depth=9)
    scheduler.start([HOME + "1", HOME + "2", HOME + "3"])
    last = scheduler.summary()
    while not scheduler.idle:
        gevent.sleep(0)
        now = scheduler.summary()
        urls, items = now.urls, now.items
        ended = urls.done + sum(urls.failed.values()) + sum(urls.refused.values())
        assert urls.admitted == ended + urls.pending
        assert urls.met == urls.admitted + sum(urls.turned_away.values())
        assert items.found >= items.processed + items.failed + items.dropped
        assert now.responses == sum(now.status_codes.values()) <= urls.admitted
        assert now.urls.met >= last.urls.met
        last = now
