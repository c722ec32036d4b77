import gc
import random

import gevent
import pytest
from gevent import Greenlet
from gevent.event import Event

from crawler.data import Request
from crawler.module import Downloader
from crawler.testing import Reply, Site

from ..cpu_time import is_idle
from .conftest import slowly

HOME = "http://site.test/"


def urls(number):
    return [f"{HOME}{n}" for n in range(number)]


def blank(request):
    return Site({request.url: ""})(request)


def item_of(response):
    yield {"url": response.url}


def test_a_blocked_parser_holds_the_downloads_back(build, tiny):
    site, reached, gate = Site({}), Event(), Event()

    def stuck(response):
        reached.set()
        gate.wait()
        return []

    scheduler = build(site, stuck, data=tiny, download_workers=2, analyze_workers=1)
    scheduler.start(urls(50))
    reached.wait()
    gevent.idle()
    gevent.idle()

    # One in the parser, one in the pool, one in each downloader.
    assert len(site.requests) == 4
    assert scheduler.summary().response_pool.total == 1
    gate.set()
    assert scheduler.join()
    assert len(site.requests) == 50


def test_a_blocked_pipeline_holds_the_parser_back(build, tiny):
    found, gate, reached = [], Event(), Event()

    def endless(response):
        for n in range(1000):
            found.append(n)
            yield {"n": n}

    def stuck(item):
        reached.set()
        gate.wait()
        return item

    scheduler = build(Site({"/": ""}), endless, processors=[stuck], data=tiny, pipeline_workers=1)
    scheduler.start(HOME)
    reached.wait()
    gevent.idle()
    gevent.idle()

    # One in the pipeline, one in the pool, one on its way.
    assert len(found) == 3
    gate.set()
    assert scheduler.join()
    assert scheduler.stop().items.processed == 1000


def test_capacity_one_and_one_worker_per_stage_finish_a_dense_site(crawl, page, tiny, balanced):
    paths = [f"/{n}" for n in range(40)]
    site = Site({path: page(*paths) for path in paths})

    def parse(response):
        for n, path in enumerate(paths):
            yield {"n": n}
            yield path

    summary, errors = crawl(
        site,
        parse,
        first=HOME + "0",
        data=tiny,
        download_workers=1,
        analyze_workers=1,
        pipeline_workers=1,
    )

    assert errors == []
    assert sorted(request.url for request in site.requests) == sorted(urls(40))
    assert summary.items.processed == 1600
    balanced(summary, pending=0)


@pytest.mark.parametrize("state", ["paused", "finished", "stuck", "no module"])
def test_a_started_scheduler_with_nothing_to_do_costs_no_cpu(build, state):
    gate = Event()

    def fetch(request):
        if state == "stuck":
            gate.wait()
        return blank(request)

    scheduler = build(fetch, download_workers=64, analyze_workers=16, pipeline_workers=16)
    if state == "no module":
        scheduler.registrar.unregister(scheduler.registrar.all(Downloader)[0].mid)
    scheduler.start(urls(100))
    if state == "paused":
        scheduler.pause()
    gevent.sleep(0.1)
    gc.collect()

    idle = is_idle()

    gate.set()
    assert idle


def test_idle_is_never_false_however_the_hand_overs_interleave(build, page, tiny, balanced, dice):
    happened = 0
    number = 30
    site = Site(
        {f"/{n}": page(f"/{(n + 1) % number}", f"/{n * 7 % number}") for n in range(number)}
    )

    def counting(function):
        def wrapped(datum):
            nonlocal happened
            happened += 1
            return function(datum)

        return slowly(dice, wrapped)

    def parse(response):
        yield from response.text.split('"')[1::2]
        yield {"url": response.url}

    scheduler = build(
        counting(site),
        counting(parse),
        processors=[counting(dict)],
        data=tiny,
        download_workers=dice.randint(1, 3),
        analyze_workers=dice.randint(1, 3),
        pipeline_workers=dice.randint(1, 3),
    )
    scheduler.start(HOME + "0")
    while not scheduler.idle:
        gevent.sleep(0)
    at_idle = happened

    assert scheduler.join(timeout=0)
    for _ in range(200):
        gevent.sleep(0)
    assert happened == at_idle == 3 * number
    balanced(scheduler.stop(), pending=0)


def test_a_request_is_outstanding_until_its_last_item_has_left_the_pipeline(build):
    reached, gate = Event(), Event()

    def process(item):
        reached.set()
        gate.wait()
        return item

    scheduler = build(Site({"/": ""}), item_of, processors=[process])
    scheduler.start(HOME)
    reached.wait()
    gevent.idle()

    summary = scheduler.summary()
    assert not scheduler.idle
    assert summary.urls.pending == 1
    assert (summary.request_pool.total, summary.response_pool.total, summary.item_pool.total) == (
        0,
        0,
        0,
    )
    gate.set()
    assert scheduler.join()


def test_stop_while_waiting_for_a_module_gives_the_requests_back(build, balanced):
    scheduler = build(Site({}))
    scheduler.registrar.unregister(scheduler.registrar.all(Downloader)[0].mid)
    scheduler.start(urls(10))
    gevent.idle()

    summary = scheduler.stop(timeout=0)

    balanced(summary, pending=10)


def test_a_keyboard_interrupt_reaches_the_main_greenlet_and_the_counts_balance(build, balanced):
    def fetch(request):
        raise KeyboardInterrupt

    scheduler = build(fetch)
    scheduler.start(HOME)

    with pytest.raises(KeyboardInterrupt):
        scheduler.join()

    balanced(scheduler.stop(), pending=0)


def greenlets_of(scheduler):
    return [*scheduler._run._workers, *scheduler._run._feeders]


@pytest.mark.parametrize("seed", range(8))
def test_stop_at_any_time_returns_what_is_left_as_pending(build, page, tiny, balanced, seed):
    dice = random.Random(seed)
    number = 40
    calls = []

    def slowly(function):
        def wrapped(datum):
            calls.append(datum)
            for _ in range(dice.randint(0, 4)):
                gevent.sleep(0)
            return function(datum)

        return wrapped

    site = Site({f"/{n}": page(f"/{n + 1}", f"/{n * 3 % number}") for n in range(number)})

    def parse(response):
        yield from response.text.split('"')[1::2]
        yield {"url": response.url}

    scheduler = build(
        slowly(site), slowly(parse), processors=[slowly(dict)], data=tiny if seed % 2 else None
    )
    scheduler.start(urls(number))
    for _ in range(dice.randint(0, 60)):
        gevent.sleep(0)

    summary = scheduler.stop(timeout=dice.choice([0, 0, 0.001]))
    happened = len(calls)
    for _ in range(50):
        gevent.sleep(0)

    assert len(calls) == happened
    assert repr(scheduler._run.frontier).endswith(f"{summary.urls.pending} waiting, 0 taken>")
    assert summary.urls.done <= len(site.requests)
    assert scheduler.idle == (summary.urls.pending == 0)
    assert scheduler.summary() == summary
    assert summary.urls.done + summary.urls.pending == summary.urls.admitted
    balanced(summary)


def test_stop_under_load_leaves_most_of_a_big_crawl_pending(build, balanced):
    def fetch(request):
        gevent.sleep(0.001)
        return blank(request)

    scheduler = build(fetch)
    scheduler.start(urls(1000))
    while scheduler.summary().urls.done < 20:
        gevent.sleep(0)

    summary = scheduler.stop()

    # Requests in flight are finished, waiting ones are given back.
    assert 900 < summary.urls.pending < 1000
    assert summary.urls.pending + summary.urls.done == 1000
    assert summary.request_pool.total == 0
    balanced(summary)


def test_stop_gives_back_what_waits_in_every_pool(build, tiny, balanced):
    reached = Event()

    def parse(response):
        for n in range(5):
            yield {"n": n}

    def stuck(item):
        reached.set()
        Event().wait()

    site = Site({})
    scheduler = build(site, parse, processors=[stuck], data=tiny)
    scheduler.start(urls(30))
    reached.wait()
    gevent.idle()
    gevent.idle()
    before = scheduler.summary()
    pools = (before.request_pool, before.response_pool, before.item_pool)
    assert [pool.total for pool in pools] == [0, 1, 1], "only a free worker makes one be taken"

    summary = scheduler.stop(timeout=0)

    assert repr(scheduler._run.frontier) == "<Frontier closed, 30 waiting, 0 taken>"
    assert summary.urls.done == 0
    balanced(summary, pending=30)


def test_a_killed_feeder_gives_back_what_it_could_not_hand_on(build, tiny, balanced):
    gate = Event()
    site = Site({})

    def fetch(request):
        gate.wait()
        return site(request)

    scheduler = build(fetch, data=tiny, download_workers=1)
    scheduler.start(urls(10))
    gevent.idle()
    for _ in range(3):
        gevent.killall(list(scheduler._run._feeders), timeout=120)
        gevent.idle()
    gate.set()

    assert scheduler.join()
    assert sorted(request.url for request in site.requests) == urls(10)
    summary = scheduler.stop()
    assert summary.urls.done == 10
    balanced(summary, pending=0)


def test_items_that_stop_interrupts_are_pending_with_their_request(build, balanced):
    reached = Event()

    def parse(response):
        for n in range(10):
            yield {"n": n}

    def process(item):
        if item["n"] == 5:
            reached.set()
            Event().wait()
        return item

    scheduler = build(Site({"/": ""}), parse, processors=[process], pipeline_workers=1)
    scheduler.start(HOME)
    reached.wait()

    summary = scheduler.stop(timeout=0.02)

    assert summary.urls.pending == 1
    assert (summary.items.found, summary.items.processed, summary.items.failed) == (10, 5, 0)
    balanced(summary)


@pytest.mark.parametrize("stage", ["download", "analyze", "pipeline"])
def test_stop_reaches_into_every_stage(build, balanced, stage):
    reached, ended = Event(), []

    def at(name, result):
        if name == stage:
            reached.set()
            try:
                Event().wait()
            finally:
                ended.append(name)
        return result

    scheduler = build(
        lambda request: at("download", blank(request)),
        lambda response: at("analyze", [{"an": "item"}]),
        processors=[lambda item: at("pipeline", item)],
    )
    scheduler.start(HOME)
    reached.wait()

    summary = scheduler.stop(timeout=0)

    assert ended == [stage]
    balanced(summary, pending=1)


def test_a_url_is_fetched_once_however_often_and_however_written_it_is_found(crawl, page):
    spellings = ["/a", "/a#top", "http://SITE.test/a", "http://site.test:80/a", "/b/../a", "/%61"]
    site = Site({"/": page(*spellings, "/"), "/a": page(*spellings)})

    summary, _ = crawl(site)

    assert len(site.requests) == 2
    assert summary.urls.turned_away == {"seen": len(spellings) - 1 + 1 + len(spellings)}


def test_a_post_to_a_seen_url_is_another_request(crawl):
    def parse(response):
        if response.request.method == "GET":
            yield Request(HOME, method="POST", body=b"a")
            yield Request(HOME, method="POST", body=b"b")
            yield Request(HOME, method="POST", body=b"a")

    site = Site({"/": ""})

    summary, _ = crawl(site, parse)

    asked = sorted((request.method, request.body) for request in site.requests)
    assert asked == [("GET", b""), ("POST", b"a"), ("POST", b"b")]
    assert summary.urls.turned_away == {"seen": 1}


def test_dont_filter_lets_a_seen_url_in_again(crawl):
    def parse(response):
        if response.depth < 3:
            yield Request(HOME, dont_filter=True)

    site = Site({"/": ""})

    summary, _ = crawl(site, parse)

    assert len(site.requests) == 4
    assert summary.urls.done == 4


def test_breadth_first_whatever_order_the_links_have(crawl, tiny):
    tree = {"": ["a", "b"], "a": ["aa", "ab"], "b": ["ba", "bb"], "aa": ["aaa"]}

    def parse(response):
        return ["/" + name for name in tree.get(response.url.removeprefix(HOME), [])]

    site = Site({})

    crawl(site, parse, data=tiny, download_workers=1, analyze_workers=1)

    depths = [request.depth for request in site.requests]
    assert depths == sorted(depths)


def test_a_page_found_again_at_a_smaller_depth_gets_that_depth(build):
    # /deep is found at depth 3 through /a, then at depth 1; only then may its child be fetched.
    found = {"/": ["/a"], "/a": ["/b"], "/b": ["/deep"], "/near": ["/deep"], "/deep": ["/child"]}
    far, near = Event(), Event()

    def parse(response):
        path = "/" + response.url.removeprefix(HOME)
        if path == "/b":
            scheduler.pause()
        if path == "/near":
            far.wait()
        yield from found.get(path, [])
        {"/b": far, "/near": near}.get(path, Event()).set()

    site = Site({})
    scheduler = build(site, parse, max_depth=3)
    scheduler.start([HOME, HOME + "near"])
    near.wait()
    scheduler.resume()
    assert scheduler.join()

    depths = {request.url.removeprefix(HOME): request.depth for request in site.requests}
    assert depths["deep"] == 1
    assert depths["child"] == 2


def test_priority_comes_before_depth(crawl, tiny):
    def parse(response):
        if response.url == HOME:
            yield "/one"
            yield "/two"
            yield "/three"
            yield Request(HOME + "urgent", priority=5)

    site = Site({})

    crawl(site, parse, data=tiny, download_workers=1, analyze_workers=1)

    order = [request.url.removeprefix(HOME) for request in site.requests]
    assert order[:2] == ["", "urgent"]


def to(location, status=302):
    return Reply(status, {"location": location})


def test_a_redirect_is_followed_hop_by_hop_and_is_one_request(crawl, balanced):
    seen = []

    def parse(response):
        seen.append((response.url, response.request.redirects, response.depth))
        return []

    site = Site(
        {"/": to("/a"), "/a": to("http://www.site.test/b", 301), "http://www.site.test/b": ""}
    )

    summary, errors = crawl(site, parse)

    assert seen == [("http://www.site.test/b", (HOME, HOME + "a"), 0)]
    assert errors == []
    assert (summary.urls.admitted, summary.urls.done) == (1, 1)
    assert summary.status_codes == {200: 1, 301: 1, 302: 1}
    assert len({request.id for request in site.requests}) == 1
    balanced(summary, pending=0)


@pytest.mark.parametrize(
    ("pages", "reason"),
    [
        ({"/": to("/")}, "302 to '/', which has redirected here"),
        (
            {"/": to("/1")} | {f"/{n}": to(f"/{n + 1}") for n in range(1, 20)},
            "302 to '/11', after 10 redirects (setting: max_redirects)",
        ),
    ],
)
def test_redirects_that_are_not_followed_say_why(crawl, pages, reason):
    _, errors = crawl(Site(pages))

    assert [error.reason for error in errors] == [reason]


@pytest.mark.parametrize(
    ("pages", "outcome"),
    [
        ({"/": to("http://other.test/")}, {"refused": {"domain": 1}}),
        ({"/": to("ftp://site.test/")}, {"refused": {"scheme": 1}}),
        ({"/": to("http://[")}, {"refused": {"invalid": 1}}),
        ({"/": to("")}, {"failed": {"redirect_loop": 1}}),
        ({"/": to("#top")}, {"failed": {"redirect_loop": 1}}),
        ({"/": to("/")}, {"failed": {"redirect_loop": 1}}),
        ({"/": to("/a"), "/a": to("/b"), "/b": to("/a")}, {"failed": {"redirect_loop": 1}}),
        ({"/": to("/1")} | {f"/{n}": to(f"/{n + 1}") for n in range(1, 20)},
         {"failed": {"redirect_limit": 1}}),
        ({"/": Reply(302)}, {"done": 1}),
        ({"/": Reply(304, {"location": "/a"})}, {"done": 1}),
    ],
)  # fmt: skip
def test_a_redirect_that_leads_nowhere_ends_with_its_reason(crawl, balanced, pages, outcome):
    site = Site(pages)

    summary, _ = crawl(site)

    for name, figures in outcome.items():
        assert getattr(summary.urls, name) == figures
    assert len(site.requests) == len({request.url for request in site.requests}) <= 11
    balanced(summary, pending=0)


def test_the_target_of_a_redirect_is_seen_by_links_and_by_other_redirects(crawl, page):
    site = Site({"/": to("/target"), "/target": page("/target", "/other"), "/other": to("/target")})

    summary, _ = crawl(site)

    assert sorted(request.url for request in site.requests) == [
        HOME,
        HOME + "other",
        HOME + "target",
    ]
    assert summary.urls.done == 1
    assert summary.urls.refused == {"seen": 1}
    assert summary.urls.turned_away == {"seen": 1}


def test_a_form_that_redirects_to_itself_is_then_fetched(crawl):
    def page(request):
        return to("/form", 303) if request.method == "POST" else "thank you"

    site = Site({"/form": page})

    summary, _ = crawl(site, first=Request(HOME + "form", method="POST", body=b"a=1"))

    assert [request.method for request in site.requests] == ["POST", "GET"]
    assert summary.urls.done == 1


def test_a_stop_between_two_hops_leaves_the_request_pending(build, balanced):
    reached, gate = Event(), Event()

    def slow(request):
        reached.set()
        gate.wait()
        return to("/next")

    scheduler = build(Site({"/": slow, "/next": ""}))
    scheduler.start(HOME)
    reached.wait()
    scheduler.pause()
    gate.set()
    gevent.idle()

    summary = scheduler.stop()

    assert (summary.urls.admitted, summary.responses) == (1, 1)
    balanced(summary, pending=1)


def test_every_greenlet_of_a_run_ends_with_it(build):
    scheduler = build(Site({}))
    scheduler.start(urls(10))
    greenlets = greenlets_of(scheduler)
    assert len(greenlets) == 4 + 2 + 1 + 2 + 1
    assert all(isinstance(greenlet, Greenlet) for greenlet in greenlets)

    scheduler.stop()

    assert all(greenlet.dead for greenlet in greenlets)
    assert greenlets_of(scheduler) == []
