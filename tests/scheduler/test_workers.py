from contextlib import suppress

import gevent
import pytest
from gevent.event import Event
from gevent.pool import Group

from crawler.buffer import Pool
from crawler.data import Request
from crawler.frontier import Frontier, Scope, Taken
from crawler.frontier.hosts.host import Host
from crawler.scheduler.memory_guard import Memory
from crawler.scheduler.visits import Visit, Visits
from crawler.scheduler.workers import Workers, keep


class Bench:
    """Workers at one pool; what they do is done by the stage of a test."""

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

    with gevent.Timeout(30):
        yield build
    for bench in made:
        bench.visits.ending = True
        bench.pool.close()
        bench.workers.kill(timeout=1)


def test_a_worker_that_is_killed_is_replaced_until_the_end(bench):
    one, done = bench(), []
    one.workers.pump(one.pool, lambda _visit, datum, _timer: done.append(datum), 2)
    gevent.sleep(0)

    gevent.killall(list(one.workers))
    one.put("a", "b")
    gevent.sleep(0.01)
    assert (done, len(one.workers)) == (["a", "b"], 2)

    one.visits.ending = True
    gevent.killall(list(one.workers))
    gevent.sleep(0.01)
    assert len(one.workers) == 0


def test_the_only_worker_is_stood_in_for_while_it_waits(bench):
    one, done, go_on = bench(), [], Event()

    def stage(_visit, datum, timer):
        if datum == "waits":
            with timer, one.workers.waiting(one.pool, stage):
                go_on.wait()
        done.append(datum)

    one.workers.pump(one.pool, stage, 1)
    one.put("waits", "a", "b")
    gevent.sleep(0.01)
    assert done == ["a", "b"]

    go_on.set()
    gevent.sleep(0.01)
    assert done == ["a", "b", "waits"]
    assert len(one.workers) == 1


def test_whoever_is_no_worker_waits_without_one_in_its_place(bench):
    one = bench()

    with one.workers.waiting(one.pool, one.do):
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

    one.workers.pump(one.pool, stage, 1)
    visit = one.put("stubborn", "next")
    while "next" not in done:
        gevent.sleep(0.01)

    assert one.abandoned == [visit]
    forever.set()


def test_what_is_worked_on_is_the_datum_of_whoever_runs(bench):
    one, seen = bench(), []

    def stage(visit, _datum, _timer):
        seen.append(one.workers.working_on() is visit.request)
        seen.append(one.workers.own_visit is visit)

    one.workers.pump(one.pool, stage, 2)
    one.put("a")
    one.put("b")
    gevent.sleep(0.01)

    assert seen == [True] * 4
    assert one.workers.working_on() is None


def test_a_worker_that_fails_at_once_is_not_begun_anew_without_a_pause():
    """Without one there would be thousands by then, and a busy core."""
    begun = []

    def fail():
        begun.append(1)
        raise ValueError("always")

    group, bench = Group(), Bench()
    keep(group, bench.visits, fail)
    gevent.sleep(0.35)
    bench.visits.ending = True
    group.kill(timeout=5)

    assert 1 <= len(begun) <= 5
