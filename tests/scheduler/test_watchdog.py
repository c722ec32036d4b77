"""Callbacks that hang are ended; callbacks that spin are reported by a real thread."""

import logging
import re
import signal
import subprocess
import sys
import time

import gevent
import pytest
from gevent import monkey
from gevent.event import Event

from crawler import Analyzer, DataArgs, Downloader, ModuleArgs, Pipeline, RequestArgs, Scheduler
from crawler.errors import TimeLimit
from crawler.frontier import Politeness, Retries
from crawler.testing import Site

HOME = "http://site.test/"
really_sleep = monkey.get_original("time", "sleep")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    """The crawl does not wait for a callback that does not end."""
    monkeypatch.setattr("crawler.scheduler.run._UNWIND", 0.1)


def arguments(pages, parse, **modules):
    site = Site({f"/{n}": "" for n in range(pages)})
    return (
        RequestArgs(max_depth=0, politeness=Politeness.off(), retries=Retries(1)),
        DataArgs(),
        ModuleArgs([Downloader(site)], [Analyzer(parse)], [Pipeline()], **modules),
    )


def run(parse, pages=6, **modules):
    """Crawl some pages to the end; return the summary and the errors."""
    scheduler = Scheduler()
    scheduler.init(*arguments(pages, parse, **modules))
    errors = gevent.spawn(list, scheduler.error_chan())
    scheduler.start([f"{HOME}{n}" for n in range(pages)])
    assert scheduler.join(timeout=120)
    summary = scheduler.stop()
    return summary, errors.get(timeout=120)


def hang():
    Event().wait()


def hang_and_catch_exceptions():
    while True:
        try:
            Event().wait()
        except Exception:
            continue


def hang_in_cleaning_up():
    try:
        Event().wait()
    finally:
        Event().wait()


def never_give_in():
    while True:
        try:
            Event().wait()
        except:  # noqa: E722 - the very thing
            continue


@pytest.mark.parametrize(
    "hanging", [hang, hang_and_catch_exceptions, hang_in_cleaning_up, never_give_in]
)
def test_a_callback_that_hangs_ends_at_its_limit_and_the_others_go_on(hanging):
    def parse(response):
        if response.url.endswith(("/1", "/3")):
            hanging()
        yield {"url": response.url}

    summary, errors = run(parse, analyze_workers=1, time_limit=0.05)

    assert (summary.urls.done, summary.urls.failed) == (4, {"timeout": 2})
    assert summary.items.processed == 4
    assert {error.request.url for error in errors} == {f"{HOME}1", f"{HOME}3"}
    assert all(isinstance(error.__cause__, TimeLimit) for error in errors)


def test_what_was_left_behind_counts_for_nothing_when_it_comes_back():
    """It swallowed three time limits and was settled: its later findings are dropped."""
    late, back = Event(), Event()

    def parse(response):
        if response.url.endswith("/1"):
            while not late.is_set():
                try:
                    late.wait()
                except BaseException:
                    continue
            back.set()
        yield {"url": response.url}

    scheduler = Scheduler()
    scheduler.init(*arguments(5, parse, analyze_workers=2, time_limit=0.1))
    scheduler.start([f"{HOME}{n}" for n in range(5)])
    assert scheduler.join(timeout=120)
    late.set()
    assert back.wait(timeout=120)
    gevent.idle()
    summary = scheduler.stop()

    assert (summary.urls.done, summary.urls.failed) == (4, {"timeout": 1})
    assert summary.items.found == 4


@pytest.mark.parametrize("stage", ["download", "pipeline"])
def test_other_modules_that_never_give_in_are_left_behind_too(stage):
    def fetch(request):
        if stage == "download" and request.url.endswith("/1"):
            never_give_in()
        return site(request)

    def process(item):
        if stage == "pipeline" and item["url"].endswith("/1"):
            never_give_in()
        return item

    site = Site({f"/{n}": "" for n in range(5)})
    scheduler = Scheduler()
    scheduler.init(
        RequestArgs(max_depth=0, politeness=Politeness.off(), retries=Retries(1)),
        DataArgs(),
        ModuleArgs(
            [Downloader(fetch)],
            [Analyzer(lambda response: [{"url": response.url}])],
            [Pipeline(process)],
            download_workers=1,
            pipeline_workers=1,
            time_limit=0.05,
        ),
    )
    scheduler.start([f"{HOME}{n}" for n in range(5)])
    assert scheduler.join(timeout=120)
    summary = scheduler.stop()

    assert (summary.urls.done, summary.urls.failed) == (4, {"timeout": 1})
    assert summary.items.found == summary.items.processed + summary.items.failed


# -- spinning -----------------------------------------------------------------------------------


def spin_in_python(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def spin_until(holds):
    """Spin until the watching thread has acted, however little of the CPU it gets."""
    end = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < end


def sleep_for_real(holds):
    spin_until(lambda: holds() or really_sleep(0.2))


def match_for_long(holds):
    """Spin without releasing the interpreter, for longer than the limit at a time."""
    spin_until(lambda: holds() or re.match(r"(a+)+b", "a" * 22))


def spin_reports(caplog):
    return [r.getMessage() for r in caplog.records if "does not yield" in r.getMessage()]


@pytest.mark.parametrize("spin", [spin_until, sleep_for_real, match_for_long])
def test_a_callback_that_spins_is_reported_once_with_its_stack_and_url(caplog, spin):
    caplog.set_level(logging.ERROR)

    def parse(response):
        if response.url.endswith("/1"):
            spin(of_the_page)
        yield {"url": response.url}

    def of_the_page():
        return [text for text in spin_reports(caplog) if f"at work on {HOME}1 " in text]

    summary, _ = run(parse, time_limit=0.1)

    [report] = of_the_page()
    assert f"in {spin.__name__}" in report
    assert summary.items.processed >= 5


def test_each_spin_is_reported(caplog):
    caplog.set_level(logging.ERROR)

    def parse(response):
        spin_until(lambda: any(f"{response.url} " in report for report in spin_reports(caplog)))
        yield {"url": response.url}

    run(parse, pages=3, time_limit=0.1)

    assert sorted(re.findall(r"at work on (\S+)", " ".join(spin_reports(caplog)))) == [
        f"{HOME}0",
        f"{HOME}1",
        f"{HOME}2",
    ]


def test_after_a_switch_it_is_still_the_right_page(caplog):
    caplog.set_level(logging.ERROR)

    def parse(response):
        gevent.sleep(0.02 if response.url.endswith("/0") else 0)
        if response.url.endswith("/0"):
            spin_until(lambda: spin_reports(caplog))
        yield {"url": response.url}

    run(parse, pages=4, time_limit=0.3)

    assert [f"{HOME}0 " in report for report in spin_reports(caplog)] == [True]


def test_a_slow_crawl_that_yields_is_not_reported(caplog):
    caplog.set_level(logging.ERROR)

    def parse(response):
        # Not sleep(0): the hub runs up to 50 of those before it looks at its timers.
        for _ in range(50):
            spin_in_python(0.02)
            gevent.sleep(0.001)
        yield {"url": response.url}

    with_a_short_limit, _ = run(parse, pages=2, time_limit=1.0)

    assert spin_reports(caplog) == []
    assert with_a_short_limit.urls.failed == {"timeout": 2}


STOPPED = """
import gevent, logging, select, sys
from crawler import Request
from crawler.scheduler.watchdog import Watchdog

logging.basicConfig(stream=sys.stdout)
watchdog = Watchdog(0.5, lambda request=Request("http://site.test/"): request)
watchdog.start()
print("at work", flush=True)
while not select.select([sys.stdin], [], [], 0)[0]:
    gevent.sleep(0.01)
watchdog.stop()
"""


def test_a_process_that_was_stopped_is_not_reported():
    """As by Ctrl-Z and fg: the module did not run, so it could not yield."""
    child = subprocess.Popen(
        [sys.executable, "-c", STOPPED], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "at work\n"
        child.send_signal(signal.SIGSTOP)
        gevent.sleep(1.6)
        child.send_signal(signal.SIGCONT)
        gevent.sleep(0.5)
        said, _ = child.communicate("end\n", timeout=120)
    finally:
        child.kill()

    assert (said, child.returncode) == ("", 0)


def test_who_is_stuck_for_good_is_told_to_whoever_asked_once():
    stuck = []

    def parse(response):
        if response.url.endswith("/2"):
            spin_until(lambda: stuck)
        yield {"url": response.url}

    run(parse, pages=4, time_limit=0.3, on_stuck=lambda request: stuck.append(request.url))

    assert stuck == [f"{HOME}2"]


def test_the_request_being_analysed_is_known_through_waits():
    seen = {}
    scheduler = Scheduler()

    def parse(response):
        before = scheduler._run.analysing
        scheduler.fetch(f"{response.url}/more")
        gevent.sleep(0.01)
        seen[response.url] = (before.url, scheduler._run.analysing.url)
        yield {}

    def site(request):
        gevent.sleep(0)
        return Site({f"/{n}{more}": "" for n in range(3) for more in ("", "/more")})(request)

    scheduler.init(
        RequestArgs(max_depth=0, politeness=Politeness.off(), retries=Retries(1)),
        DataArgs(),
        ModuleArgs([Downloader(site)], [Analyzer(parse)], [Pipeline()]),
    )
    scheduler.start([f"{HOME}{n}" for n in range(3)])
    assert scheduler._run.analysing is None
    assert scheduler.join(timeout=120)
    scheduler.stop()

    assert seen == {f"{HOME}{n}": (f"{HOME}{n}",) * 2 for n in range(3)}


def test_the_thread_ends_with_the_run():
    before = set(sys._current_frames())

    run(lambda response: [], time_limit=0.1)

    with gevent.Timeout(120):
        while set(sys._current_frames()) - before:
            gevent.sleep(0.02)
