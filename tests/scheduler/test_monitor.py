import logging
import time

import gevent
import pytest
from gevent.event import Event

from crawler.errors import Refused
from crawler.scheduler import Monitor, Scheduler, Status
from crawler.testing import Site

from ..cpu_time import is_idle

HOME = "http://site.test/"


class Records:
    """Keeps the summaries and errors of a monitor."""

    def __init__(self):
        self.summaries = []
        self.errors = []
        self.changed = Event()

    def summary(self, summary):
        self.summaries.append(summary)
        self.changed.set()

    def error(self, error):
        self.errors.append(error)
        self.changed.set()


@pytest.fixture
def records():
    return Records()


@pytest.fixture
def watch(records):
    """Return a function that watches a scheduler; at the end it is cancelled."""
    monitors = []

    def make(scheduler, **options):
        callbacks = {"on_summary": records.summary, "on_error": records.error}
        monitors.append(Monitor(scheduler, **(callbacks | options)))
        return monitors[-1]

    yield make
    for monitor in monitors:
        monitor.cancel()


@pytest.mark.parametrize("wrong", [None, "scheduler", object()])
def test_watches_a_scheduler_and_nothing_else(wrong):
    with pytest.raises(ValueError, match="watches a Scheduler"):
        Monitor(wrong)


@pytest.mark.parametrize("interval", [0, -1, float("nan")])
def test_refuses_an_interval_of_nothing(build, interval):
    with pytest.raises(ValueError, match="interval must be more than 0 seconds"):
        Monitor(build(Site({})), interval=interval)


@pytest.mark.parametrize("when", ["before init", "before start", "after start", "after the end"])
def test_stops_a_finished_crawl_and_records_its_end(args, watch, records, when):
    scheduler = Scheduler()
    site = Site({"/": '<a href="/lost">', "/lost": OSError})
    monitor = watch(scheduler) if when == "before init" else None
    gevent.idle()
    scheduler.init(*args(site))
    monitor = watch(scheduler) if when == "before start" else monitor
    gevent.idle()
    scheduler.start(HOME)
    monitor = watch(scheduler) if when == "after start" else monitor
    if when == "after the end":
        scheduler.join()
    monitor = monitor or watch(scheduler)

    assert monitor.join(timeout=120)

    assert scheduler.status is Status.STOPPED
    assert records.summaries[-1] == scheduler.summary()
    assert records.summaries[-1].status == "stopped"
    assert records.summaries[-1].urls.done == 1
    assert len(records.errors) == 1


def test_stops_at_once_when_nothing_is_outstanding(build, watch):
    scheduler = build(Site({"/": ""}))
    monitor = watch(scheduler, interval=60)
    began = time.monotonic()

    scheduler.start(HOME)

    assert monitor.join(timeout=120)
    assert time.monotonic() - began < 30


def test_without_auto_stop_it_watches_until_stop_is_called(build, watch, records):
    scheduler = build(Site({"/": ""}))
    monitor = watch(scheduler, auto_stop=False)
    scheduler.start(HOME)
    scheduler.join()
    gevent.idle()
    assert not monitor.join(timeout=0.02)
    assert scheduler.status is Status.STARTED

    scheduler.stop()

    assert monitor.join(timeout=120)
    assert records.summaries[-1].status == "stopped"


def test_a_stop_by_another_caller_is_reported_with_its_errors(build, watch, records):
    reached = Event()

    def fetch(request):
        if request.url == HOME:
            raise OSError
        reached.set()
        Event().wait()

    scheduler = build(fetch)
    monitor = watch(scheduler)
    scheduler.start([HOME, HOME + "hang"])
    reached.wait()

    scheduler.stop(timeout=0)

    assert monitor.join(timeout=120)
    assert records.summaries[-1] == scheduler.summary()
    assert records.summaries[-1].urls.pending == 1
    assert len(records.errors) == 1


def test_a_start_that_fails_is_not_the_end_of_the_watch(build, watch, records):
    scheduler = build(Site({"/": ""}))
    monitor = watch(scheduler)
    with pytest.raises(Refused):
        scheduler.start("ftp://site.test/")
    assert not monitor.join(timeout=0.02)
    assert records.summaries == []

    scheduler.start(HOME)

    assert monitor.join(timeout=120)
    assert records.summaries[-1].urls.done == 1


def test_a_second_init_does_not_lose_the_errors(build, args, watch, records):
    scheduler = build(Site({}))
    monitor = watch(scheduler)
    gevent.idle()
    scheduler.init(*args(Site({"/": OSError})))
    gevent.idle()
    scheduler.init(*args(Site({"/": OSError})))
    scheduler.start(HOME)

    assert monitor.join(timeout=120)
    assert len(records.errors) == 1


def test_between_a_stop_and_a_start_it_waits_for_the_next_run(build, watch, records):
    scheduler = build(Site({"/": OSError}))
    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()
    monitor = watch(scheduler)
    gevent.idle()
    assert not monitor.join(timeout=0.02)
    assert records.errors == []

    scheduler.start(HOME)

    assert monitor.join(timeout=120)
    assert len(records.errors) == 1
    assert records.summaries[-1].status == "stopped"


def test_while_a_restart_is_under_way_it_waits_and_does_not_spin(build, watch, records):
    scheduler = build(Site({"/": OSError}))
    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()
    gate = Event()

    def later():
        gate.wait()
        yield HOME

    starting = gevent.spawn(scheduler.start, later())
    gevent.idle()
    assert scheduler.status is Status.STARTING
    monitor = watch(scheduler)
    gevent.idle()
    gate.set()
    starting.get(timeout=120)

    assert monitor.join(timeout=120)
    assert len(records.errors) == 1


def test_a_run_right_after_the_watched_one_is_left_alone(build, watch, records):
    scheduler = build(Site({"/": OSError}))
    monitor = watch(scheduler)
    scheduler.start(HOME)
    scheduler.pause()
    gevent.idle()
    scheduler.stop()
    scheduler.start(HOME + "next")
    scheduler.pause()

    assert monitor.join(timeout=120)
    gevent.idle()
    assert scheduler.status is Status.STARTED


def test_cancelling_ends_the_watch_and_not_the_crawl(build, watch, records, living):
    gate = Event()

    def fetch(request):
        gate.wait()
        raise OSError

    scheduler = build(fetch)
    before = living()
    monitor = watch(scheduler)
    scheduler.start(HOME)
    gevent.idle()

    monitor.cancel()
    monitor.cancel()

    assert monitor.join(timeout=0)
    assert scheduler.status is Status.STARTED
    gate.set()
    scheduler.join()
    assert scheduler.status is Status.STARTED
    assert records.errors == []
    scheduler.stop()
    # Errors without a reader wait for the next consumer.
    assert len(list(scheduler.error_chan())) == 1
    assert living() == before


def test_cancelled_before_it_began_it_leaves_the_errors_to_others(build, watch):
    scheduler = build(Site({"/": OSError}))
    watch(scheduler).cancel()

    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()

    assert len(list(scheduler.error_chan())) == 1


def test_a_callback_that_fails_is_logged_and_the_watch_continues(build, watch, caplog):
    def fail(_):
        raise ZeroDivisionError

    scheduler = build(Site({f"/{n}": OSError for n in range(3)}))
    monitor = watch(scheduler, on_summary=fail, on_error=fail)

    scheduler.start(f"{HOME}{n}" for n in range(3))

    assert monitor.join(timeout=120)
    assert scheduler.status is Status.STOPPED
    assert len([record for record in caplog.records if record.exc_info]) == 4


def test_a_callback_may_stop_the_crawl(build, watch, records):
    def stop(error):
        records.error(error)
        scheduler.stop(timeout=0)

    reached = Event()

    def fetch(request):
        if request.url == HOME:
            reached.wait()
            raise OSError
        reached.set()
        Event().wait()

    scheduler = build(fetch)
    monitor = watch(scheduler, on_error=stop)
    scheduler.start([HOME, HOME + "hang"])

    assert monitor.join(timeout=120)
    assert len(records.errors) == 1
    assert records.summaries[-1].urls.pending == 1


def test_summaries_come_only_when_something_has_changed(build, watch, records):
    gate = Event()

    def fetch(request):
        gate.wait()
        return Site({request.url: ""})(request)

    scheduler = build(fetch)
    monitor = watch(scheduler, interval=0.01)
    scheduler.start(HOME)
    records.changed.wait()
    gevent.sleep(0.1)
    assert len(records.summaries) <= 2

    gate.set()

    assert monitor.join(timeout=120)
    assert records.summaries[-1].urls.done == 1
    assert all(a != b for a, b in zip(records.summaries, records.summaries[1:], strict=False))


def test_without_callbacks_it_logs(build, caplog):
    caplog.set_level(logging.INFO, "crawler.scheduler.monitor")
    scheduler = build(Site({"/": OSError("gone")}))
    monitor = Monitor(scheduler)

    scheduler.start(HOME)

    assert monitor.join(timeout=120)
    assert "0 done, 1 failed, 0 pending" in caplog.text
    assert "gone" in caplog.text


def test_watching_an_idle_crawl_costs_no_cpu(build, watch):
    scheduler = build(Site({"/": ""}))
    watch(scheduler, auto_stop=False)
    scheduler.start(HOME)
    scheduler.join()
    gevent.sleep(0.05)

    assert is_idle()


def test_several_monitors_each_report_everything(build, watch, records):
    other = Records()
    scheduler = build(Site({"/": OSError}))
    monitors = [watch(scheduler), watch(scheduler, on_error=other.error, on_summary=other.summary)]

    scheduler.start(HOME)

    assert all(monitor.join(timeout=120) for monitor in monitors)
    assert len(records.errors) == len(other.errors) == 1
    assert records.summaries[-1] == other.summaries[-1]
