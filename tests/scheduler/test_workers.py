import random
import weakref
from contextlib import suppress

import gevent
import pytest
from gevent import GreenletExit
from gevent.event import Event
from gevent.pool import Group

from crawler.buffer import Pool
from crawler.data import Request
from crawler.frontier import Frontier, Politeness, Retries, Scope, Taken
from crawler.frontier.hosts.host import Host
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.scheduler.memory_guard import Memory
from crawler.scheduler.visits import Visit, Visits
from crawler.scheduler.workers import Workers, keep_running
from crawler.testing import Site


class Bench:
    """Workers of one pool; each test brings the stage that they carry out."""

    def __init__(self, time_limit=60.0):
        self.pool = Pool(20, 1)
        self.visits = Visits(Frontier(Scope(accepted_domains=["site.test"])), Memory(), downloads=9)
        self.abandoned = []
        self.workers = Workers(self.visits, time_limit, do=self.do, abandon=self.abandon)

    def do(self, stage, visit, datum, timer):
        stage(visit, datum, timer)

    def abandon(self, _, visit):
        self.abandoned.append(visit)
        visit.taken.is_over = True

    def put(self, *data):
        visit = Visit(Taken(Request("http://site.test/"), Host("site.test")))
        visit.open = 10
        for datum in data:
            self.pool.put((visit, datum))
        return visit


@pytest.fixture
def bench():
    made = []

    def build(*args):
        made.append(Bench(*args))
        return made[-1]

    with gevent.Timeout(120):
        yield build
    for bench in made:
        bench.visits.ending = True
        bench.pool.close()
        bench.workers.kill(timeout=1)


def test_a_worker_that_is_killed_is_replaced_until_the_end(bench):
    one, done = bench(), []
    one.workers.start(one.pool, lambda _visit, datum, _timer: done.append(datum), 2)
    gevent.sleep(0)

    gevent.killall(list(one.workers))
    one.put("a", "b")
    gevent.sleep(0.01)
    assert (done, len(one.workers)) == (["a", "b"], 2)

    one.visits.ending = True
    gevent.killall(list(one.workers))
    gevent.sleep(0.01)
    assert len(one.workers) == 0


def test_the_only_worker_has_a_substitute_while_it_waits(bench):
    one, done, go_on = bench(), [], Event()

    def stage(_visit, datum, timer):
        if datum == "waits":
            with timer, one.workers.waiting():
                go_on.wait()
        done.append(datum)

    one.workers.start(one.pool, stage, 1)
    one.put("waits", "a", "b")
    gevent.sleep(0.01)
    assert done == ["a", "b"]

    go_on.set()
    gevent.sleep(0.01)
    assert done == ["a", "b", "waits"]
    assert len(one.workers) == 1


def test_a_greenlet_that_is_not_a_worker_waits_without_a_substitute(bench):
    one = bench()

    with one.workers.waiting():
        assert len(one.workers) == 0
    assert one.workers.own_visit is None


def test_a_worker_that_swallows_its_limit_is_left_behind(bench):
    one, done, forever = bench(0.02), [], Event()

    def stage(_visit, datum, timer):
        with timer:
            while datum == "stubborn" and not forever.is_set():
                with suppress(BaseException):
                    forever.wait()
        done.append(datum)

    one.workers.start(one.pool, stage, 1)
    visit = one.put("stubborn", "next")
    while "next" not in done:
        gevent.sleep(0.01)

    assert one.abandoned == [visit]
    forever.set()


def test_working_on_returns_the_request_of_the_running_greenlet(bench):
    one, seen = bench(), []

    def stage(visit, _datum, _timer):
        seen.append(one.workers.working_on() is visit.request)
        seen.append(one.workers.own_visit is visit)

    one.workers.start(one.pool, stage, 2)
    one.put("a")
    one.put("b")
    gevent.sleep(0.01)

    assert seen == [True] * 4
    assert one.workers.working_on() is None


def test_a_worker_that_fails_at_once_is_restarted_after_a_pause():
    """Without a pause there would be thousands of starts, and a busy core."""
    begun = []

    def fail():
        begun.append(1)
        raise ValueError("always")

    group, bench = Group(), Bench()
    keep_running(group, bench.visits, fail)
    gevent.sleep(0.35)
    bench.visits.ending = True
    group.kill(timeout=120)

    assert 1 <= len(begun) <= 5


HOME = "http://site.test/"


def urls(number):
    return [f"{HOME}{n}" for n in range(number)]


def blank(request):
    return Site({request.url: ""})(request)


class Crowd:
    """Counts the callers inside at the same time, and holds them until *size* are inside."""

    def __init__(self, size):
        self.size = size
        self.inside = self.most = 0
        self.full = Event()

    def __call__(self):
        self.inside += 1
        self.most = max(self.most, self.inside)
        if self.inside == self.size:
            self.full.set()
        try:
            assert self.full.wait(120)
            gevent.sleep(0)
        finally:
            self.inside -= 1


@pytest.mark.parametrize("stage", ["download", "analyze", "pipeline"])
def test_each_stage_works_on_as_many_data_at_a_time_as_it_has_workers(crawl, stage):
    crowd = Crowd(7)

    def inside(name, result):
        if name == stage:
            crowd()
        return result

    summary, errors = crawl(
        lambda request: inside("download", blank(request)),
        lambda response: inside("analyze", [{"an": "item"}]),
        processors=[lambda item: inside("pipeline", item)],
        first=urls(30),
        download_workers=7,
        analyze_workers=7,
        pipeline_workers=7,
    )

    assert errors == []
    assert crowd.most == 7
    assert summary.urls.done == 30
    assert summary.items.processed == 30


def test_no_greenlet_per_datum(build, living):
    reached, gate = Event(), Event()
    before = living()

    def parse(response):
        reached.set()
        gate.wait()
        return [f"/{response.depth}/{n}" for n in range(5)]

    scheduler = build(Site({}), parse, max_depth=3)
    scheduler.start(urls(100))
    reached.wait()
    gevent.idle()

    # 4 downloads, 2 analyses and 1 of large pages, 2 pipelines, and the greenlet that feeds them.
    assert living() - before == 4 + 2 + 1 + 2 + 1
    gate.set()
    scheduler.join()
    assert living() - before == 4 + 2 + 1 + 2 + 1


def greenlets_of(scheduler):
    return [*scheduler._run._workers, *scheduler._run._feeders]


def test_a_killed_fetch_is_a_failure_and_its_worker_is_replaced(build, balanced):
    reached = Event()

    def fetch(request):
        if request.url == HOME + "0":
            reached.set()
            Event().wait()
        return blank(request)

    scheduler = build(fetch, download_workers=1)
    errors = gevent.spawn(list, scheduler.error_chan())
    scheduler.start(urls(5))
    reached.wait()
    gevent.killall(greenlets_of(scheduler), timeout=120)

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.done == 4
    assert summary.urls.failed == {"killed": 1}
    [error] = errors.get(timeout=120)
    assert (error.kind, error.request.url) == ("killed", HOME + "0")
    assert isinstance(error.__cause__, GreenletExit)
    balanced(summary, pending=0)


@pytest.mark.parametrize("stage", ["analyze", "hand", "pipeline", "module"])
def test_a_killed_worker_never_upsets_the_item_counts(build, tiny, balanced, stage):
    reached, gate = Event(), Event()

    def parse(response):
        for n in range(6):
            if stage == "analyze" and n == 3 and not reached.is_set():
                reached.set()
                gate.wait()
            yield {"n": n}

    def process(item):
        if stage in ("pipeline", "hand") and not reached.is_set():
            reached.set()
            gate.wait()
        return item

    scheduler = build(Site({}), parse, processors=[process], data=tiny, pipeline_workers=1)
    [pipeline] = scheduler.registrar.all(Pipeline)
    if stage == "module":
        scheduler.registrar.unregister(pipeline.mid)
        gevent.spawn_later(0.02, reached.set)
    scheduler.start(urls(3))
    reached.wait()
    gevent.idle()
    gevent.killall(greenlets_of(scheduler), timeout=120)
    gate.set()
    if stage == "module":
        scheduler.registrar.register(pipeline)

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.failed["killed"] >= 1
    balanced(summary, pending=0)


@pytest.mark.parametrize("seed", range(6))
def test_killing_any_greenlet_at_any_time_neither_stops_nor_unbalances_the_crawl(
    build, tiny, page, balanced, seed
):
    dice = random.Random(seed)
    number = 60

    def slowly(function):
        def wrapped(datum):
            for _ in range(dice.randint(0, 3)):
                gevent.sleep(0)
            return function(datum)

        return wrapped

    site = Site(
        {f"/{n}": page(f"/{n * 2 % number}", f"/{n * 2 % number + 1}") for n in range(number)}
    )

    def parse(response):
        for n in range(3):
            gevent.sleep(0)
            yield {"n": n}
        yield from response.text.split('"')[1::2]

    scheduler = build(
        slowly(site),
        slowly(parse),
        processors=[slowly(dict)],
        data=tiny if seed % 2 else None,
        download_workers=3,
    )
    scheduler.start(urls(number))
    killed = 0
    while not scheduler.idle:
        victim = dice.choice(greenlets_of(scheduler))
        victim.kill(block=False)
        killed += 1
        for _ in range(dice.randint(1, 12)):
            gevent.sleep(0)

    assert killed > 5
    assert scheduler.join(timeout=0)
    summary = scheduler.stop()
    assert summary.urls.admitted == number
    assert summary.urls.done > 0
    balanced(summary, pending=0)


def test_a_worker_that_will_not_end_never_touches_the_next_run(build, args, balanced, monkeypatch):
    monkeypatch.setattr("crawler.scheduler.run._UNWIND", 0.02)
    gate, reached = Event(), Event()

    def stubborn(request):
        reached.set()
        while not gate.is_set():
            with suppress(GreenletExit):
                gate.wait()
        return blank(request)

    def links_and_items(response):
        yield {"from": "the old run"}
        yield "/from-the-old-run"

    scheduler = build(stubborn, links_and_items)
    scheduler.start(HOME)
    reached.wait()
    assert scheduler.stop(timeout=0).urls.pending == 1
    site, found = Site({}), []
    scheduler.init(*args(site, lambda response: [], processors=[found.append]))
    scheduler.start(urls(3))
    gate.set()

    assert scheduler.join()
    gevent.idle()
    assert sorted(request.url for request in site.requests) == urls(3)
    assert found == []
    summary = scheduler.stop()
    assert summary.urls.done == summary.urls.admitted == summary.responses == 3
    balanced(summary, pending=0)


def test_the_work_in_flight_is_spread_over_the_modules():
    crowd = Crowd(12)

    def fetch(request):
        crowd()
        return blank(request)

    downloaders = [Downloader(fetch) for _ in range(4)]
    modules = ModuleArgs(
        downloaders, [Analyzer(lambda response: [])], [Pipeline()], download_workers=12
    )
    with Scheduler() as scheduler:
        scheduler.init(
            RequestArgs(politeness=Politeness.off(), retries=Retries(1)), DataArgs(), modules
        )
        scheduler.start(urls(12))
        crowd.full.wait()
        handling = [downloader.counts.handling for downloader in downloaders]
        scheduler.join()

    assert handling == [3, 3, 3, 3]


def test_many_workers_finding_one_url_at_the_same_time_fetch_it_once(crawl):
    crowd = Crowd(8)

    def parse(response):
        if response.depth == 0:
            crowd()
            yield "/same"

    site = Site({})

    crawl(site, parse, first=urls(8), analyze_workers=8, download_workers=8)

    assert len(site.requests) == 9


def test_a_worker_that_waits_keeps_nothing_of_the_last_page(bench):
    """Of sixteen workers that did, each would keep a page and its tree."""

    class Page:
        pass

    bench = bench()
    page = Page()
    kept = weakref.ref(page)
    bench.put(page)
    bench.workers.start(bench.pool, lambda *_: None, 1)
    del page
    gevent.sleep(0.01)

    assert not len(bench.pool)
    assert kept() is None
