from contextlib import suppress

import gevent
import pytest
from gevent.event import Event
from gevent.monkey import get_original

from crawler.errors import TimeLimit
from crawler.scheduler.time_limit import ModuleTimer
from crawler.testing import Reply, Site

HOME = "http://site.test/"


def urls(number):
    return [f"{HOME}{n}" for n in range(number)]


def blank(request):
    return Site({request.url: ""})(request)


def hang(_):
    Event().wait()


def hang_and_swallow_exceptions(_):
    while True:
        with suppress(Exception):
            Event().wait()


def hang_and_swallow_all_but_the_third(_):
    for _ in range(2):
        with suppress(BaseException):
            Event().wait()
    Event().wait()


@pytest.mark.parametrize(
    "hanging", [hang, hang_and_swallow_exceptions, hang_and_swallow_all_but_the_third]
)
@pytest.mark.parametrize("stage", ["download", "analyze", "pipeline"])
def test_a_module_that_hangs_is_interrupted(crawl, balanced, stage, hanging):
    def at(name, datum, result):
        if name == stage and datum == "hang":
            hanging(datum)
        return result

    def name_of(url):
        return "hang" if url == HOME + "1" else ""

    summary, [error] = crawl(
        lambda request: at("download", name_of(request.url), blank(request)),
        lambda response: at("analyze", name_of(response.url), [{"name": name_of(response.url)}]),
        processors=[lambda item: at("pipeline", item["name"], item)],
        first=urls(3),
        time_limit=0.05,
    )

    assert isinstance(error.__cause__, TimeLimit)
    assert error.request.url == HOME + "1"
    assert summary.urls.done == 2
    assert summary.urls.failed == {"timeout": 1}
    balanced(summary, pending=0)


def test_each_datum_has_the_whole_time_to_itself(crawl):
    site = Site({f"/{n}": Reply(delay=0.4) for n in range(5)})

    summary, errors = crawl(site, first=urls(5), download_workers=1, time_limit=1.8)

    assert errors == []
    assert summary.urls.done == 5


def test_no_download_is_charged_with_the_time_of_a_callback(crawl):
    site = Site({"/0": "", **{f"/{n}": Reply(delay=1.7) for n in range(1, 5)}})
    begun = []

    def download(request):
        begun.append(request.url)
        return site(request)

    def parse(response):
        if response.url == HOME + "0":
            while len(begun) < 5:
                gevent.sleep(0)
            get_original("time", "sleep")(1.6)
        return []

    summary, errors = crawl(download, parse, first=urls(5), time_limit=1.2)

    assert errors == []
    assert summary.urls.done == 5


def test_time_spent_waiting_for_room_is_not_the_parsers(crawl, tiny):
    def parse(response):
        for n in range(5):
            yield {"n": n}

    def slow(item):
        gevent.sleep(0.3)
        return item

    summary, errors = crawl(
        Site({"/": ""}), parse, processors=[slow], data=tiny, pipeline_workers=1, time_limit=1.2
    )

    assert errors == []
    assert summary.items.processed == 5


def test_a_time_limit_holds_inside_and_never_outside():
    timer = ModuleTimer(0.02)

    def work():
        with timer:
            pass
        gevent.sleep(0.05)
        with pytest.raises(TimeLimit), timer:
            gevent.sleep(5)
        with timer, timer.paused():
            gevent.sleep(0.05)
        return "done"

    assert gevent.spawn(work).get(timeout=120) == "done"
    timer.close()
