import gevent
import pytest
from gevent.event import Event

from crawler.data import Request
from crawler.errors import (
    AnalyzeError,
    DownloadError,
    DropItem,
    FetchError,
    ModuleError,
    NoModule,
    PipelineError,
)
from crawler.frontier import Politeness, Retries
from crawler.module import Analyzer, Downloader, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler
from crawler.testing import Site

HOME = "http://site.test/"


def urls(number):
    return [f"{HOME}{n}" for n in range(number)]


def blank(request):
    return Site({request.url: ""})(request)


def broken(request):
    """Fail because of the page: a failure of the host would make the host rest."""
    raise FetchError("bad_encoding", "not gzip")


def item_of(response):
    yield {"url": response.url}


@pytest.mark.parametrize("kind", [Downloader, Analyzer, Pipeline])
def test_data_wait_for_a_module_to_be_registered_and_none_is_lost(build, kind, balanced):
    scheduler = build(Site({}), item_of)
    errors = gevent.spawn(list, scheduler.error_chan())
    [module] = scheduler.registrar.all(kind)
    scheduler.registrar.unregister(module.mid)
    scheduler.start(urls(20))
    gevent.sleep(0.05)
    assert not scheduler.idle
    assert scheduler.summary().errors.reported == 0

    scheduler.registrar.register(module)

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.done == 20
    assert summary.items.processed == 20
    assert errors.get(timeout=120) == []
    balanced(summary, pending=0)


@pytest.mark.parametrize("kind", [Downloader, Analyzer, Pipeline])
def test_data_that_waited_too_long_for_a_module_fail_once(build, kind, balanced, monkeypatch):
    monkeypatch.setattr("crawler.scheduler.stages._MODULE_WAIT", 0.02)
    site = Site({})
    scheduler = build(site, item_of)
    errors = gevent.spawn(list, scheduler.error_chan())
    scheduler.registrar.unregister(scheduler.registrar.all(kind)[0].mid)

    scheduler.start(urls(10))

    assert scheduler.join()
    summary = scheduler.stop()
    assert summary.urls.failed == {"no_module": 10}
    assert len(errors.get(timeout=120)) == 10
    assert all(isinstance(error.__cause__, NoModule) for error in errors.value)
    assert len({error.request.url for error in errors.value}) == 10
    assert len(site.requests) == (0 if kind is Downloader else 10)
    balanced(summary, pending=0)


FAILURES = [
    ValueError("bad"),
    SystemExit(3),
    GeneratorExit(),
    gevent.Timeout(3),
    StopIteration(),
    RecursionError(),
    MemoryError(),
]


MODULES = {"download": "downloaders", "analyze": "analyzers", "pipeline": "pipelines"}


@pytest.mark.parametrize("failure", FAILURES, ids=lambda failure: type(failure).__name__)
@pytest.mark.parametrize(
    ("stage", "kind"),
    [("download", DownloadError), ("analyze", AnalyzeError), ("pipeline", PipelineError)],
)
def test_whatever_user_code_raises_is_one_error_with_its_story(
    crawl, balanced, stage, kind, failure
):
    def at(name, result):
        if name == stage:
            raise failure
        return result

    summary, [error] = crawl(
        lambda request: at("download", blank(request)),
        lambda response: at("analyze", [{"an": "item"}]),
        processors=[lambda item: at("pipeline", item)],
        first=Request(HOME, meta={"who": "me"}),
    )

    assert type(error) is kind
    assert error.request.url == HOME
    assert error.request.depth == 0
    assert error.request.meta["who"] == "me"
    assert error.module == getattr(summary, MODULES[stage])[0].id
    cause = error.__cause__
    while isinstance(cause, BaseExceptionGroup):
        [cause] = cause.exceptions
    assert cause is failure or isinstance(cause, RuntimeError)  # a StopIteration in a generator
    assert error.__cause__.__traceback__ is not None
    assert summary.urls.failed == {
        "timeout" if isinstance(failure, gevent.Timeout) else error.kind: 1
    }
    balanced(summary, pending=0)


def test_a_fetch_error_is_counted_by_its_kind(crawl):
    site = Site({"/0": FetchError("dns", "no such host"), "/1": FetchError("tls", "expired")})

    summary, errors = crawl(site, first=urls(2))

    assert summary.urls.failed == {"dns": 1, "tls": 1}
    assert sorted(error.kind for error in errors) == ["dns", "tls"]


def test_what_a_parser_found_before_it_failed_counts(crawl, page, balanced):
    def parse(response):
        yield {"an": "item"}
        if response.url == HOME:
            yield "/next"
            raise ValueError

    site = Site({"/": "", "/next": ""})

    summary, errors = crawl(site, parse)

    assert summary.items.processed == 2
    assert summary.urls.done == 1
    assert summary.urls.failed == {"parse": 1}
    assert len(errors) == 1
    balanced(summary, pending=0)


def test_items_are_processed_failed_or_dropped(crawl, balanced):
    def parse(response):
        for n in range(30):
            yield {"n": n}

    def process(item):
        if item["n"] % 3 == 0:
            raise DropItem
        if item["n"] % 3 == 1:
            raise ValueError
        return item

    summary, errors = crawl(Site({"/": ""}), parse, processors=[process])

    assert (summary.items.found, summary.items.processed) == (30, 10)
    assert (summary.items.failed, summary.items.dropped) == (10, 10)
    assert len(errors) == 10
    assert summary.urls.failed == {"process": 1}
    balanced(summary, pending=0)


def test_a_dropped_item_is_not_a_failure(crawl):
    def drop(item):
        raise DropItem

    summary, errors = crawl(Site({"/": ""}), item_of, processors=[drop])

    assert errors == []
    assert summary.urls.done == 1


def test_links_to_impossible_hosts_do_not_end_the_crawl(crawl, page):
    site = Site({"/": page("http://bing.net/", "http://www.bing.net/x", "/next"), "/next": ""})

    summary, errors = crawl(site)

    assert errors == []
    assert summary.urls.done == 2
    assert summary.urls.turned_away == {"domain": 2}


def test_links_that_are_not_urls_are_turned_away_and_counted(crawl, page):
    hrefs = ["http://", "mailto:x@y", "javascript:void(0)", "http://[", "data:,x", "//", "\ud800"]

    def parse(response):
        return hrefs if response.depth == 0 else []

    summary, errors = crawl(Site({}), parse)

    assert errors == []
    assert summary.urls.met == summary.urls.admitted + sum(summary.urls.turned_away.values())
    assert summary.urls.turned_away["scheme"] >= 3
    assert summary.urls.turned_away["invalid"] >= 1


def test_a_score_that_raises_fails_the_datum_and_not_the_crawl(balanced):
    def score(counts):
        raise ZeroDivisionError

    downloaders = [Downloader(blank, score=score), Downloader(blank)]
    modules = ModuleArgs(downloaders, [Analyzer(item_of)], [Pipeline()], download_workers=2)
    scheduler = Scheduler()
    scheduler.init(
        RequestArgs(politeness=Politeness.off(), retries=Retries(1)), DataArgs(), modules
    )
    errors = gevent.spawn(list, scheduler.error_chan())

    scheduler.start(urls(3))

    assert scheduler.join()
    with pytest.raises(ZeroDivisionError):
        scheduler.summary()
    scheduler.registrar.unregister(downloaders[0].mid)
    balanced(scheduler.stop(), pending=0)
    assert [type(error.__cause__) for error in errors.get(timeout=120)] == [ZeroDivisionError] * 3


def test_a_module_error_names_its_module_and_request_in_its_text(crawl):
    summary, [error] = crawl(Site({"/": KeyError("lost")}))

    assert isinstance(error, ModuleError)
    assert str(error).startswith(f"{summary.downloaders[0].id} failed on {HOME} [")
    assert "KeyError" in str(error)


def test_failed_downloads_go_to_the_analyzer_that_recovers_and_pages_to_both(build, balanced):
    recovered = []
    by_both = [], []

    def fetch(request):
        gevent.sleep(0)
        if "/bad/" in request.url:
            return broken(request)
        return blank(request)

    def seen_by(analyzer):
        def parse(response):
            by_both[analyzer].append(response.url)
            gevent.sleep(0)
            yield {"url": response.url}

        return parse

    def recover(error):
        recovered.append(error.request.url)
        gevent.sleep(0)
        yield {"lost": error.request.url}

    good = [f"{HOME}good/{n}" for n in range(100)]
    bad = [f"{HOME}bad/{n}" for n in range(100)]
    scheduler = build(fetch, seen_by(0), download_workers=16, analyze_workers=8)
    scheduler.registrar.register(Analyzer(seen_by(1), recover=recover))
    errors = gevent.spawn(list, scheduler.error_chan())
    scheduler.start([url for pair in zip(good, bad, strict=True) for url in pair])
    assert scheduler.join()
    summary = scheduler.stop()

    reported = errors.get(timeout=120)
    assert not [error for error in reported if "NoneType" in str(error)]
    assert sorted(recovered) == sorted(bad)
    assert sorted(by_both[0] + by_both[1]) == sorted(good)
    assert all(by_both)
    assert sorted(error.request.url for error in reported) == sorted(bad)
    assert {type(error) for error in reported} == {DownloadError}
    assert (summary.urls.done, summary.urls.failed) == (100, {"bad_encoding": 100})
    assert summary.items.processed == 200
    balanced(summary, pending=0)


def test_failures_of_downloads_end_without_an_analyzer_that_recovers(crawl, balanced):
    summary, errors = crawl(broken, item_of, first=urls(20))

    assert summary.urls.failed == {"bad_encoding": 20}
    assert {type(error) for error in errors} == {DownloadError}
    assert not summary.items.found
    balanced(summary, pending=0)


def test_failures_that_wait_for_a_removed_analyzer_are_reported_once_more(build, balanced):
    started, go_on = Event(), Event()

    def hold(error):
        started.set()
        go_on.wait()
        yield {"lost": error.request.url}

    scheduler = build(broken, item_of, analyze_workers=1)
    recovering = Analyzer(item_of, recover=hold)
    scheduler.registrar.register(recovering)
    errors = gevent.spawn(list, scheduler.error_chan())
    scheduler.start(urls(3))
    assert started.wait(120)
    scheduler.registrar.unregister(recovering.mid)
    go_on.set()
    assert scheduler.join()
    summary = scheduler.stop()

    assert summary.urls.failed == {"bad_encoding": 3}
    assert summary.items.processed == 1
    kinds = sorted(error.kind for error in errors.get(timeout=120))
    assert kinds == ["bad_encoding"] * 3 + ["no_module"] * 2
    balanced(summary, pending=0)


def test_a_failed_download_waits_for_an_analyzer_to_be_registered(build, balanced):
    def recover(error):
        yield {"lost": error.request.url}

    scheduler = build(broken)
    [removed] = scheduler.registrar.all(Analyzer)
    scheduler.registrar.unregister(removed.mid)
    scheduler.start(urls(6))
    gevent.idle()
    scheduler.registrar.register(Analyzer(item_of, recover=recover))
    assert scheduler.join()
    summary = scheduler.stop()

    assert summary.urls.failed == {"bad_encoding": 6}
    assert summary.items.processed == 6
    balanced(summary, pending=0)


def test_a_page_whose_worker_was_left_behind_is_not_under_analysis(build):
    """Else a suspect would wait for it, and all others for the suspect, for ever."""
    released = Event()

    def parse(response):
        while not released.is_set():
            try:
                released.wait()
            except BaseException:
                continue
        yield from ()

    scheduler = build(Site({}), parse, time_limit=0.02)
    scheduler.start(urls(1))
    assert scheduler.join(timeout=120)
    running = set(scheduler._run._visits.analyses._running)
    released.set()
    scheduler.stop()

    assert scheduler.summary().urls.failed == {"timeout": 1}
    assert running == set()


# -- requests that fail while they wait -----------------------------------------------------------


@pytest.fixture
def blocked():
    """Return a started scheduler for pages whose robots.txt is at a blocked address."""
    site = Site({"/": "home", "/robots.txt": FetchError("blocked_address", "10.0.0.1")})
    scheduler = Scheduler()

    def start(*first, **parts):
        analyzer = Analyzer(item_of, recover=parts.pop("recover", None))
        processors = parts.pop("processors", ())
        scheduler.init(
            RequestArgs(max_depth=1, politeness=Politeness.off(robots=True), retries=Retries(1)),
            DataArgs(),
            ModuleArgs([Downloader(site)], [analyzer], [Pipeline(*processors)], **parts),
        )
        errors = gevent.spawn(list, scheduler.error_chan())
        scheduler.start(first)
        return scheduler, errors

    yield start
    if scheduler.status.value == "started":
        scheduler.stop(timeout=0)


def test_each_is_reported_and_recovered_from_and_settled_once(blocked, balanced):
    items = []

    def recover(error):
        yield {"kind": error.kind, "url": error.request.url}

    def keep(item):
        items.append(item)
        return item

    scheduler, errors = blocked(*urls(30), recover=recover, processors=[keep])

    assert scheduler.join()
    summary = scheduler.stop()

    assert summary.urls.failed == {"blocked_address": 30}
    assert summary.items.processed == 30
    assert sorted(item["url"] for item in items) == sorted(urls(30))
    assert sorted(error.request.url for error in errors.get(timeout=120)) == sorted(urls(30))
    assert all(isinstance(error, DownloadError) for error in errors.get())
    balanced(summary, pending=0)


def test_one_that_a_caller_waits_for_raises_there(blocked):
    scheduler, _ = blocked(HOME, analyze_workers=1)

    with pytest.raises(DownloadError, match=r"robots\.txt: FetchError: blocked_address"):
        scheduler.fetch(f"{HOME}awaited")


def test_one_that_is_not_settled_at_a_stop_stays_pending(blocked, balanced):
    started = Event()

    def recover(error):
        started.set()
        gevent.sleep(60)
        return []

    scheduler, _ = blocked(*urls(5), recover=recover, analyze_workers=1)
    started.wait()

    summary = scheduler.stop(timeout=0)

    assert summary.urls.pending == 5
    balanced(summary)
