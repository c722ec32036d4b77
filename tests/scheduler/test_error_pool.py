import gc
import weakref

import gevent
import pytest
from gevent.event import Event

from crawler.buffer import PoolFigures
from crawler.errors import (
    AnalyzeError,
    CrawlerError,
    DownloadError,
    FetchError,
    PipelineError,
)
from crawler.scheduler.error_pool import ErrorPool
from crawler.scheduler.visits import Visit
from crawler.testing import Site

HOME = "http://site.test/"


def errors(*numbers):
    return [CrawlerError(str(number)) for number in numbers]


def read(generator):
    return [str(error) for error in generator]


@pytest.fixture
def pool():
    return ErrorPool(2, 2)


def report(pool, *numbers):
    for error in errors(*numbers):
        pool.report(error)


def test_what_nobody_has_read_waits_for_the_first_consumer(pool):
    report(pool, 1, 2)

    consumer = pool.consume()
    report(pool, 3)
    pool.close()

    assert read(consumer) == ["1", "2", "3"]


def test_a_further_consumer_gets_everything_from_its_call_on(pool):
    report(pool, 1)
    first = pool.consume()
    second = pool.consume()
    report(pool, 2)
    third = pool.consume()
    report(pool, 3)
    pool.close()

    assert [read(each) for each in (first, second, third)] == [["1", "2", "3"], ["2", "3"], ["3"]]


def test_a_consumer_waits_and_ends_when_the_pool_is_closed(pool):
    consumers = [gevent.spawn(read, pool.consume()) for _ in range(3)]
    gevent.idle()
    report(pool, 1)
    gevent.idle()
    assert not any(consumer.ready() for consumer in consumers)

    pool.close()

    gevent.joinall(consumers, timeout=120)
    assert [consumer.value for consumer in consumers] == [["1"]] * 3


def test_reporting_never_waits_and_the_oldest_are_dropped_and_counted(pool):
    report(pool, *range(10))

    assert (pool.reported, pool.dropped) == (10, 6)
    assert pool.figures() == PoolFigures(2, 2, 2, 4)
    pool.close()
    assert read(pool.consume()) == ["6", "7", "8", "9"]


def test_a_consumer_that_reads_nothing_costs_the_others_nothing(pool):
    lazy = pool.consume()
    busy = gevent.spawn(read, pool.consume())
    for number in range(10):
        report(pool, number)
        gevent.sleep(0)
    pool.close()

    assert busy.get(timeout=120) == [str(n) for n in range(10)]
    assert read(lazy) == ["6", "7", "8", "9"]
    assert pool.dropped == 6


def test_figures_are_those_of_the_consumer_furthest_behind(pool):
    ahead = pool.consume()
    behind = pool.consume()
    report(pool, 1, 2)

    assert str(next(ahead)) == "1"

    assert pool.figures().total == 2
    behind.close()


def test_a_consumer_may_leave_and_the_others_go_on(pool):
    leaving, staying = pool.consume(), pool.consume()
    report(pool, 1)
    assert str(next(leaving)) == "1"

    leaving.close()
    report(pool, *range(2, 6))

    assert pool.dropped == 1
    pool.close()
    assert read(staying) == ["2", "3", "4", "5"]
    assert read(leaving) == []


def test_the_last_consumer_to_leave_gives_back_what_it_has_not_read(pool):
    report(pool, 1, 2)
    leaving = pool.consume()
    assert str(next(leaving)) == "1"

    leaving.close()
    report(pool, 3)
    next_one = pool.consume()
    pool.close()

    assert read(next_one) == ["2", "3"]


@pytest.mark.parametrize("begun", [True, False])
def test_a_consumer_that_is_forgotten_has_left(pool, begun):
    consumer = pool.consume()
    if begun:
        report(pool, 0)
        next(consumer)
    report(pool, 1)

    del consumer
    gc.collect()
    report(pool, 2)

    assert pool.dropped == 0
    pool.close()
    assert read(pool.consume()) == ["1", "2"]


def test_a_consumer_that_is_killed_has_left(pool):
    consumer = gevent.spawn(read, pool.consume())
    gevent.idle()

    consumer.kill(timeout=120)
    report(pool, 1)
    pool.close()

    assert read(pool.consume()) == ["1"]


def test_after_the_end_the_first_gets_the_rest_and_the_next_nothing(pool):
    report(pool, 1, 2)
    pool.close()
    pool.close()

    assert read(pool.consume()) == ["1", "2"]
    assert read(pool.consume()) == []
    assert pool.figures().total == 0


def test_two_consumers_that_both_leave_leave_one_mailbox(pool):
    consumers = [pool.consume() for _ in range(5)]
    report(pool, 1)
    for consumer in consumers:
        consumer.close()

    report(pool, 2)
    pool.close()

    assert read(pool.consume()) == ["1", "2"]


# -- through a scheduler ------------------------------------------------------------------------


def failing_everywhere():
    def fetch(request):
        if request.url.endswith("fetch"):
            raise ConnectionError("refused")
        return Site({request.url: ""})(request)

    def parse(response):
        yield {"url": response.url}
        if response.url.endswith("parse"):
            raise LookupError("nothing there")

    def process(item):
        if item["url"].endswith("process"):
            raise ArithmeticError("no sum")
        return item

    return fetch, parse, process


def test_each_stage_has_its_own_type_and_keeps_the_cause(build):
    fetch, parse, process = failing_everywhere()
    scheduler = build(fetch, parse, processors=[process])
    channel = scheduler.error_chan()

    scheduler.start([HOME + "fetch", HOME + "parse", HOME + "process", HOME + "fine"])
    scheduler.join()
    summary = scheduler.stop()

    found = {type(error): error for error in channel}
    assert {kind: type(error.__cause__) for kind, error in found.items()} == {
        DownloadError: ConnectionError,
        AnalyzeError: LookupError,
        PipelineError: ArithmeticError,
    }
    assert {error.module[0] for error in found.values()} == {"D", "A", "P"}
    assert summary.urls.failed == {"download": 1, "parse": 1, "process": 1}
    assert summary.errors.reported == 3


def test_every_consumer_gets_every_error_and_ends_after_the_stop(build):
    scheduler = build(Site({f"/{n}": OSError(n) for n in range(20)}))
    consumers = [gevent.spawn(list, scheduler.error_chan()) for _ in range(2)]

    scheduler.start(f"{HOME}{n}" for n in range(20))
    scheduler.join()
    assert not any(consumer.ready() for consumer in consumers)
    scheduler.stop()

    one, two = (consumer.get(timeout=120) for consumer in consumers)
    assert len(one) == 20
    assert one == two


def test_a_consumer_that_stops_reading_never_holds_the_crawl(build, tiny):
    scheduler = build(Site({f"/{n}": OSError(n) for n in range(50)}), data=tiny)
    lazy = scheduler.error_chan()

    scheduler.start(f"{HOME}{n}" for n in range(50))
    next(lazy)

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.failed == {"download": 50}
    assert summary.errors.reported == 50
    assert summary.errors.dropped >= 48
    assert len(list(lazy)) == 1


def test_the_last_errors_before_a_stop_are_flushed(build):
    reached, gate = Event(), Event()

    def fetch(request):
        reached.set()
        gate.wait()
        raise ConnectionError

    scheduler = build(fetch)
    scheduler.start(HOME)
    reached.wait()
    stopping = gevent.spawn(scheduler.stop)
    gevent.idle()
    gate.set()
    stopping.get(timeout=120)

    assert [type(error) for error in scheduler.error_chan()] == [DownloadError]
    assert list(scheduler.error_chan()) == []


def test_a_channel_opened_before_the_start_serves_the_run(build):
    scheduler = build(Site({"/": OSError}))
    channel = scheduler.error_chan()

    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()

    assert len(list(channel)) == 1


def test_a_second_init_ends_the_old_channels(build, args):
    scheduler = build(Site({}))
    consumer = gevent.spawn(list, scheduler.error_chan())
    gevent.idle()

    scheduler.init(*args(Site({})))

    assert consumer.get(timeout=120) == []


def test_a_new_run_has_errors_of_its_own(build):
    scheduler = build(Site({"/": OSError}))
    for _ in range(3):
        scheduler.start(HOME)
        scheduler.join()
        summary = scheduler.stop()

        assert summary.errors.reported == 1
        assert len(list(scheduler.error_chan())) == 1


class Large:
    """Something that a failed page needed."""


def look_up(large):
    raise KeyError(large)


def test_what_came_before_an_error_keeps_no_local_variables(pool):
    large = Large()
    kept = weakref.ref(large)

    def parse(given):
        try:
            look_up(given)
        except KeyError as error:
            error.args = ()
            raise ValueError("no such key") from None

    try:
        parse(large)
    except ValueError as cause:
        error = CrawlerError("failed")
        error.__cause__ = cause
        pool.report(error)
    del large
    gc.collect()

    assert error.__cause__.__context__ is not None
    assert kept() is None


def test_failed_fetches_keep_no_visits(build):
    def fetch(request):
        raise FetchError("reset", "the connection was reset")

    scheduler = build(fetch)
    scheduler.start([f"http://failed.test/{number}" for number in range(20)])
    scheduler.join()
    scheduler.stop()
    errors = list(scheduler.error_chan())
    gc.collect()

    assert len(errors) == 20
    assert {error.__cause__.kind for error in errors} == {"reset"}
    visits = (kept for kept in gc.get_objects() if type(kept) is Visit)
    assert not [visit for visit in visits if "failed.test" in visit.request.url]
