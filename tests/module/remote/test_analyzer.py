"""RemoteAnalyzer over child processes."""

import os
from functools import partial
from pathlib import Path

import gevent
import gevent.event
import gevent.pool
import pytest

from crawler.analysis.worker.handshake import command, greeting
from crawler.data import Item, Link, Request, Response
from crawler.errors import AnalyzeError, DownloadError, FetchError, TimeLimit
from crawler.headers import Headers
from crawler.module import MID, Address, Analyzer, ChildError, Registrar, RemoteAnalyzer
from crawler.module.remote.child_process import ChildProcess
from crawler.module.remote.transport import IN_FLIGHT
from crawler.spider import Spider

from ..conftest import each

URL = "http://site.test/"
HTML = Headers([("Content-Type", "text/html")])


@pytest.fixture(autouse=True)
def deadline():
    with gevent.Timeout(120):
        yield


@pytest.fixture
def make():
    """Make analyzers for a spider; their workers end with the test."""
    made = []

    def make(spider, number=1, fetch=None):
        frame = greeting(spider, [])
        mids = [MID("A", n, Address("local", n)) for n in range(1, number + 1)]
        connect = partial(ChildProcess, command())
        made.extend(RemoteAnalyzer(connect, frame, fetch or no_fetch, mid=mid) for mid in mids)
        return made[0] if number == 1 else made

    yield make
    for analyzer in made:
        analyzer.close()


def no_fetch(request):
    raise AssertionError(f"{request} must not be fetched")


def page(path="", body="", **fields):
    return Response(URL + path, 200, HTML, body, Request(URL + path, **fields))


def ended(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


class Finder(Spider):
    def parse(self, response):
        yield "a b"
        yield Request(URL + "post", method="POST", body=b"\xff", callback="other", meta={"n": 1})
        yield {"n": len(response.body), "by": os.getpid(), "meta": dict(response.meta)}

    def errback(self, error):
        yield {"kind": error.kind, "cause": str(error.__cause__), "url": error.request.url}
        yield "again"


def test_findings_are_those_of_an_analyzer_in_this_process(make):
    analyzer = make(Finder())
    response = page("dir/", "x" * 300_000, depth=4, meta={"shop": 7})

    link, request, item = each(analyzer.analyze(response))

    assert link == Link(URL + "dir/a%20b", 5, URL + "dir/")
    assert (request.url, request.method, request.body) == (URL + "post", "POST", b"\xff")
    assert (request.depth, request.found_on, request.meta) == (5, URL + "dir/", {"n": 1})
    assert isinstance(item, Item)
    assert item.request is response.request
    pid = analyzer.summary().extra["pid"]
    assert item.value == {"n": 300_000, "by": pid, "meta": {"shop": 7}}
    assert pid != os.getpid()


def test_bodies_of_every_size_reach_the_worker(make):
    analyzer = make(Finder())

    for size in (0, 1, 1 << 20, 2 << 20, (2 << 20) + 1, 5_000_000, 1):
        *_, item = analyzer.analyze(page(body=os.urandom(size)))
        assert item.value["n"] == size


def test_the_error_of_a_failed_download_is_analysed(make):
    error = DownloadError("D1", Request(URL, depth=1), "no such host", "dns")
    error.__cause__ = FetchError("dns", "no such host")
    analyzer = make(Finder())

    item, link = each(analyzer.recover(error))

    assert analyzer.recovers
    assert item.value == {"kind": "dns", "cause": "dns: no such host", "url": URL}
    assert link == Link(URL + "again", 2, URL)


def test_requests_that_a_middleware_found_are_passed_on_once(make):
    response = page().replace(found=(Request(URL + "found"),))

    found, *rest = each(make(Finder()).analyze(response))

    assert (found.url, found.depth) == (URL + "found", 1)
    assert len(rest) == 3


class Linking(Spider):
    """Finds links, some of them twice; the first time, ends its process halfway."""

    mark = ""

    def parse(self, response):
        for n in range(300):
            yield f"/{n % 200}"
            if n == 250 and not Path(self.mark).exists():
                Path(self.mark).touch()
                os._exit(3)


def test_links_are_passed_on_once_although_the_worker_dies(make, tmp_path):
    found = list(each(make(Linking(mark=str(tmp_path / "died"))).analyze(page())))

    assert (tmp_path / "died").exists()
    assert [link.url for link in found] == [f"{URL}{n % 200}" for n in range(300)]


class Failing(Spider):
    def parse(self, response):
        yield {"before": 1}
        raise LookupError("no table")


def test_a_failure_has_the_reason_it_would_have_in_this_process_and_the_traceback_of_the_worker(
    make,
):
    analyzer = make(Failing())
    findings = analyzer.analyze(page())

    assert next(findings).value == {"before": 1}
    with pytest.raises(AnalyzeError, match="LookupError: no table") as caught:
        next(findings)

    assert (caught.value.kind, caught.value.module) == ("parse", "A1|local:1")
    assert caught.value.reason == "LookupError: no table"
    assert isinstance(caught.value.__cause__, ChildError)
    assert 'raise LookupError("no table")' in str(caught.value.__cause__)
    counts = analyzer.counts
    assert (counts.called, counts.completed, counts.handling) == (1, 0, 0)
    assert counts.failing > 0


class Asking(Spider):
    def parse(self, response):
        yield {"got": self.fetch(URL + "more").text}


def test_a_callbacks_fetch_runs_in_the_greenlet_that_waits_for_its_page(make):
    fetchers = []

    def fetch(request):
        fetchers.append(gevent.getcurrent())
        return Response(request.url, 200, HTML, "more" * 100_000, request)

    [item] = make(Asking(), fetch=fetch).analyze(page())

    assert item.value == {"got": "more" * 100_000}
    assert fetchers == [gevent.getcurrent()]


def test_a_page_can_be_sent_while_the_one_before_waits_for_a_fetch(make):
    asked, go_on = gevent.event.Event(), gevent.event.Event()

    def fetch(request):
        asked.set()
        go_on.wait()
        return Response(request.url, 200, HTML, "ok", request)

    analyzer = make(Asking(), fetch=fetch)
    first = gevent.spawn(lambda: list(analyzer.analyze(page())))
    asked.wait()
    second = gevent.spawn(lambda: list(analyzer.analyze(page(body="x" * 100_000))))
    gevent.idle()
    go_on.set()

    assert [item.value for item in first.get() + second.get()] == [{"got": "ok"}] * 2


class Sleeping(Spider):
    def parse(self, response):
        import time

        time.sleep(float(response.text))
        yield {"slept": response.text}


def test_an_abandoned_call_ends_the_worker_and_other_calls_get_a_new_one(make):
    analyzer = make(Sleeping())
    analyzer.start()
    pid = analyzer.summary().extra["pid"]
    findings = analyzer.analyze(page(body="100"))
    behind = gevent.spawn(lambda: [item.value for item in analyzer.analyze(page(body="0"))])
    gevent.idle()

    findings.close()

    assert behind.get() == [{"slept": "0"}]
    assert ended(pid)
    assert analyzer.restarts == 1
    assert analyzer.counts.handling == 0


def test_a_call_abandoned_after_the_worker_has_finished_does_not_end_it(make):
    analyzer = make(Finder())
    findings = analyzer.analyze(page())
    next(findings)
    pid = analyzer.summary().extra["pid"]

    findings.close()

    assert not ended(pid)
    assert len(list(analyzer.analyze(page()))) == 3
    assert (analyzer.restarts, analyzer.counts.handling) == (0, 0)


def test_a_slow_reader_of_findings_does_not_delay_other_pages(make):
    analyzer = make(Finder())
    slow = []
    for _ in range(2 * IN_FLIGHT):
        slow.append(analyzer.analyze(page()))
        next(slow[-1])

    assert len(list(analyzer.analyze(page()))) == 3
    assert [len(list(findings)) for findings in slow] == [2] * len(slow)


def test_a_time_limit_ends_the_worker_that_exceeded_it(make):
    analyzer = make(Sleeping())
    findings = analyzer.analyze(page(body="100"))

    with pytest.raises(AnalyzeError) as caught, gevent.Timeout(0.2, TimeLimit(0.2)):
        next(findings)

    assert caught.value.kind == "timeout"
    assert [item.value for item in analyzer.analyze(page(body="0"))] == [{"slept": "0"}]


def test_the_registrar_distributes_pages_over_workers(make):
    registrar = Registrar()
    for analyzer in make(Finder(), 2):
        registrar.register(analyzer)

    def analyse(_):
        *_, item = registrar.get(Analyzer).analyze(page())
        return item.value["by"]

    pids = gevent.pool.Pool(8).map(analyse, range(16))

    assert len(set(pids)) == 2
    # The first eight are split evenly; the faster worker gets more of the others.
    assert min(pids.count(pid) for pid in set(pids)) >= 4


def test_a_closed_analyzer_starts_no_worker(make):
    analyzer = make(Finder())
    list(analyzer.analyze(page()))
    pid = analyzer.summary().extra["pid"]

    analyzer.close()

    assert ended(pid)
    with pytest.raises(AnalyzeError, match="has been closed"):
        analyzer.analyze(page())


def test_a_value_that_is_not_a_response_is_refused(make):
    analyzer = make(Finder())

    with pytest.raises(TypeError, match="takes a Response"):
        analyzer.analyze("text")

    assert (analyzer.counts.called, analyzer.counts.accepted) == (1, 0)
