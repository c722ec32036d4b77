"""The conservation laws, over random small sites with random faults and random yields."""

import gc
import json
import random
import resource
from dataclasses import dataclass

import gevent
import pytest
from gevent import Greenlet
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.errors import DropItem
from crawler.frontier import Politeness, Retries
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler, Status
from crawler.testing import Reply, Site

BASE = "http://site.test"


@dataclass(frozen=True)
class Page:
    """The content of a page of a random site; it has at most one fault."""

    links: tuple[int, ...] = ()
    items: tuple[str, ...] = ()
    fault: str = ""
    target: int = 0


pages = st.builds(
    Page,
    links=st.lists(st.integers(0, 9), max_size=5).map(tuple),
    items=st.lists(st.sampled_from(["good", "bad", "drop"]), max_size=4).map(tuple),
    fault=st.sampled_from(["", "", "", "fetch", "parse", "redirect", "exit"]),
    target=st.integers(0, 9),
)


@dataclass(frozen=True)
class Shape:
    """How a scheduler is built."""

    capacity: int = 1
    buffers: int = 1
    workers: tuple[int, int, int] = (1, 1, 1)
    seed: int = 0


shapes = st.builds(
    Shape,
    capacity=st.integers(1, 3),
    buffers=st.integers(1, 3),
    workers=st.tuples(*[st.integers(1, 3)] * 3),
    seed=st.integers(0, 2**16),
)


class Model:
    """A random site, the modules that crawl it, and the expected results."""

    def __init__(self, site, shape):
        self.pages = site
        self.shape = shape
        self.dice = random.Random(shape.seed)
        self.site = Site({f"/{n}": self._reply(page) for n, page in enumerate(site)})
        self.processed = []

    def _reply(self, page):
        if page.fault == "redirect":
            return Reply(302, {"location": f"/{page.target}"})
        if page.fault in ("fetch", "exit"):
            return ConnectionError if page.fault == "fetch" else SystemExit
        return json.dumps({"links": page.links, "items": page.items, "fault": page.fault})

    def pause(self):
        for _ in range(self.dice.choice([0, 0, 1, 2])):
            gevent.sleep(0)

    def fetch(self, request):
        self.pause()
        try:
            return self.site(request)
        finally:
            self.pause()

    def parse(self, response):
        if response.status != 200:
            return
        page = json.loads(response.body)
        for kind in page["items"]:
            self.pause()
            yield {"kind": kind}
        for link in page["links"]:
            self.pause()
            yield f"/{link}"
        if page["fault"] == "parse":
            raise LookupError

    def process(self, item):
        self.pause()
        if item["kind"] == "bad":
            raise ValueError
        if item["kind"] == "drop":
            raise DropItem
        self.processed.append(item)
        return item

    def scheduler(self):
        size = (self.shape.capacity, self.shape.buffers)
        scheduler = Scheduler()
        scheduler.init(
            RequestArgs(max_depth=None, politeness=Politeness.off(), retries=Retries(1)),
            DataArgs(*size * 4),
            ModuleArgs(
                [Downloader(self.fetch)],
                [Analyzer(self.parse)],
                [Pipeline(self.process)],
                *self.shape.workers,
            ),
        )
        return scheduler

    def page(self, number):
        return self.pages[number] if number < len(self.pages) else Page()

    def reachable(self):
        found, queue = {0}, [0]
        while queue:
            page = self.page(queue.pop())
            nexts = {"redirect": [page.target], "fetch": [], "exit": []}.get(page.fault, page.links)
            fresh = set(nexts) - found
            found |= fresh
            queue += fresh
        return found

    def items(self):
        analyzed = [self.page(n) for n in self.reachable()]
        kinds = [kind for p in analyzed if p.fault in ("", "parse") for kind in p.items]
        return {kind: kinds.count(kind) for kind in ("good", "bad", "drop")}

    def fetched(self):
        return sorted(request.url for request in self.site.requests)


def check_balance(summary):
    urls, items = summary.urls, summary.items
    ended = urls.done + sum(urls.failed.values()) + sum(urls.refused.values())
    assert urls.admitted == ended + urls.pending
    assert urls.met == urls.admitted + sum(urls.turned_away.values())
    assert items.found >= items.processed + items.failed + items.dropped
    assert urls.done <= summary.status_codes.get(200, 0) + summary.status_codes.get(404, 0)


quick = settings(max_examples=40)
sites = st.lists(pages, min_size=1, max_size=10)


@quick
@given(sites, shapes)
def test_every_reachable_page_is_fetched_once_and_every_figure_adds_up(site, shape):
    model = Model(site, shape)
    scheduler = model.scheduler()

    with gevent.Timeout(120):
        errors = gevent.spawn(list, scheduler.error_chan())
        scheduler.start(f"{BASE}/0")
        assert scheduler.join()
        assert scheduler.idle
        summary = scheduler.stop()
        errors.join()

    items = model.items()
    assert model.fetched() == sorted(f"{BASE}/{n}" for n in model.reachable())
    check_balance(summary)
    assert summary.urls.pending == 0
    assert summary.items.found == sum(items.values())
    assert summary.items.processed == items["good"] == len(model.processed)
    assert summary.items.failed == items["bad"]
    assert summary.items.dropped == items["drop"]
    assert len(errors.value) + summary.errors.dropped == summary.errors.reported
    pools = (summary.request_pool, summary.response_pool, summary.item_pool)
    assert [pool.total for pool in pools] == [0, 0, 0]


@quick
@given(sites, shapes, st.integers(0, 80), st.sampled_from([0, 0.0005, 5]))
def test_stopped_at_any_moment_every_figure_adds_up_and_a_restart_is_whole(
    site, shape, steps, timeout
):
    model = Model(site, shape)
    scheduler = model.scheduler()

    with gevent.Timeout(120):
        scheduler.start(f"{BASE}/0")
        for _ in range(steps):
            gevent.sleep(0)
        left = scheduler.stop(timeout)
        cut_short = model.fetched()
        model.site.requests.clear()
        scheduler.start(f"{BASE}/0")
        assert scheduler.join()
        whole = scheduler.stop()

    check_balance(left)
    assert len(cut_short) == len(set(cut_short))
    assert set(cut_short) <= {f"{BASE}/{n}" for n in model.reachable()}
    check_balance(whole)
    assert whole.urls.pending == 0
    assert model.fetched() == sorted(f"{BASE}/{n}" for n in model.reachable())


@quick
@given(sites, shapes, st.lists(st.tuples(st.integers(1, 9), st.integers(0, 99)), max_size=12))
def test_whichever_greenlets_are_killed_the_crawl_ends_and_every_figure_adds_up(
    site, shape, victims
):
    model = Model(site, shape)
    scheduler = model.scheduler()

    with gevent.Timeout(120):
        scheduler.start(f"{BASE}/0")
        for steps, victim in victims:
            for _ in range(steps):
                gevent.sleep(0)
            greenlets = [*scheduler._run._workers, *scheduler._run._feeders]
            if greenlets:
                greenlets[victim % len(greenlets)].kill(block=False)
        assert scheduler.join()
        summary = scheduler.stop()

    items = summary.items
    check_balance(summary)
    assert summary.urls.pending == 0
    assert items.found == items.processed + items.failed + items.dropped
    fetched = model.fetched()
    assert len(fetched) == len(set(fetched))


@quick
@given(sites, shapes, st.lists(st.integers(0, 9), max_size=10))
def test_paused_resumed_and_added_to_at_random_it_still_finishes(site, shape, added):
    model = Model(site, shape)
    scheduler = model.scheduler()

    with gevent.Timeout(120):
        scheduler.start(f"{BASE}/0")
        for number in added:
            scheduler.pause()
            scheduler.add(f"{BASE}/{number}")
            model.pause()
            scheduler.resume()
            model.pause()
        assert scheduler.join()
        summary = scheduler.stop()

    check_balance(summary)
    assert summary.urls.pending == 0
    assert set(model.fetched()) >= {f"{BASE}/{number}" for number in added}
    assert len(model.fetched()) == len(set(model.fetched()))


@given(st.integers(2, 6), st.integers(0, 2**16))
@settings(max_examples=25)
def test_the_same_site_gives_the_same_pages_with_any_number_of_workers(workers, seed):
    dice = random.Random(seed)
    site = [Page(links=tuple(dice.choices(range(30), k=3))) for _ in range(30)]
    fetched = []

    for number in (1, workers):
        model = Model(site, Shape(3, 3, (number, number, number), seed))
        scheduler = model.scheduler()
        with gevent.Timeout(120):
            scheduler.start(f"{BASE}/0")
            assert scheduler.join()
            scheduler.stop()
        fetched.append(model.fetched())

    assert fetched[0] == fetched[1]


# -- leaks --------------------------------------------------------------------------------------


def greenlets():
    gc.collect()
    return sum(isinstance(thing, Greenlet) for thing in gc.get_objects())


def live_through(cycles, descriptors):
    """Start and stop an idle scheduler *cycles* times; return the growth of counts and memory."""
    site = Site({"/": ""})
    scheduler = Scheduler()
    modules = ModuleArgs([Downloader(site)], [Analyzer(lambda _: [])], [Pipeline()], 2, 1, 1)
    scheduler.init(
        RequestArgs(politeness=Politeness.off(), retries=Retries(1)), DataArgs(), modules
    )

    def cycle():
        scheduler.start(f"{BASE}/")
        scheduler.join()
        site.requests.clear()
        scheduler.stop()
        list(scheduler.error_chan())

    for _ in range(50):
        cycle()
    before = greenlets(), descriptors(), len(gc.get_objects())
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(cycles):
        cycle()
    after = greenlets(), descriptors(), len(gc.get_objects())
    grown = [now - then for now, then in zip(after, before, strict=True)]
    return *grown, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory


def test_300_lives_leave_nothing_behind(descriptors):
    living, open_files, objects, kilobytes = live_through(300, descriptors)

    assert (living, open_files) == (0, 0)
    assert objects < 200
    assert kilobytes < 20_000


@pytest.mark.long
@pytest.mark.timeout(900)
def test_10000_lives_leave_nothing_behind(descriptors):
    living, open_files, objects, kilobytes = live_through(10_000, descriptors)

    assert (living, open_files) == (0, 0)
    assert objects < 200
    assert kilobytes < 20_000


def test_a_scheduler_that_is_forgotten_is_freed():
    gevent.idle()
    before = greenlets()
    schedulers = sum(isinstance(thing, Scheduler) for thing in gc.get_objects())

    model = Model([Page(links=(1,)), Page()], Shape())
    scheduler = model.scheduler()
    scheduler.start(f"{BASE}/0")
    scheduler.join()
    scheduler.stop()
    del scheduler, model
    gevent.idle()

    assert greenlets() <= before
    assert sum(isinstance(thing, Scheduler) for thing in gc.get_objects()) == schedulers


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_long_crawl_with_faults_everywhere_adds_up():
    dice = random.Random(1)
    faults = ["", "", "", "", "", "fetch", "parse", "redirect"]
    site = [
        Page(
            tuple(dice.choices(range(20_000), k=8)),
            tuple(dice.choices(["good", "bad", "drop"], k=2)),
            dice.choice(faults) if n else "",
            dice.randrange(20_000),
        )
        for n in range(20_000)
    ]
    model = Model(site, Shape(3, 3, (8, 4, 4), 1))
    scheduler = model.scheduler()

    with gevent.Timeout(280):
        scheduler.start(f"{BASE}/0")
        assert scheduler.join()
        summary = scheduler.stop()

    assert scheduler.status is Status.STOPPED
    assert model.fetched() == sorted(f"{BASE}/{n}" for n in model.reachable())
    assert summary.items.processed == model.items()["good"]
    check_balance(summary)
