import itertools
import random

import gevent
import pytest
from gevent.event import Event

from crawler.data import Request
from crawler.errors import NoModule, Refused, StateError
from crawler.frontier import Politeness, Retries
from crawler.module import Analyzer, Downloader, Module, Pipeline
from crawler.scheduler import DataArgs, ModuleArgs, RequestArgs, Scheduler, Status
from crawler.testing import Reply, Site

HOME = "http://site.test/"
S = Status

# -- every call in every state ------------------------------------------------------------------

CALLS = {
    "start": (lambda s: s.start(HOME), {S.INITIALIZED, S.STOPPED}),
    "stop": (lambda s: s.stop(timeout=0), {S.STARTED}),
    "add": (lambda s: s.add(HOME + "more"), {S.STARTED}),
    "pause": (lambda s: s.pause(), {S.STARTED}),
    "resume": (lambda s: s.resume(), {S.STARTED}),
    "pause a host": (lambda s: s.pause("a.test"), {S.STARTED}),
    "resume a host": (lambda s: s.resume("a.test"), {S.STARTED}),
    "set_delay": (lambda s: s.set_delay("a.test", 1.0), {S.STARTED}),
    "hosts": (lambda s: s.hosts(), set(S) - {S.UNINITIALIZED, S.INITIALIZING}),
    "host_states": (lambda s: s.host_states(), set(S) - {S.UNINITIALIZED, S.INITIALIZING}),
    "join": (lambda s: s.join(timeout=0), {S.STARTED, S.STOPPING, S.STOPPED}),
    "error_chan": (lambda s: s.error_chan(), set(S) - {S.UNINITIALIZED, S.INITIALIZING}),
    "summary": (lambda s: s.summary(), set(S) - {S.UNINITIALIZED, S.INITIALIZING}),
    "status": (lambda s: s.status, set(S)),
    "idle": (lambda s: s.idle, set(S)),
    "paused": (lambda s: s.paused, set(S)),
    "repr": (repr, set(S)),
    "registrar": (lambda s: s.registrar.all(Module), set(S)),
    "wait": (lambda s: s.wait(s.status), set(S)),
}


@pytest.mark.parametrize("status", S, ids=str)
@pytest.mark.parametrize("call", CALLS)
def test_each_call_in_each_state_works_or_names_the_remedy(in_state, call, status):
    scheduler = in_state(status)
    function, allowed = CALLS[call]

    if status in allowed:
        function(scheduler)
    else:
        remedy = rf"not possible while the scheduler is {status}: (?:call|wait for) \w+\(\) first"
        with pytest.raises(StateError, match=remedy):
            function(scheduler)
        assert scheduler.status is status


@pytest.mark.parametrize("status", S, ids=str)
def test_init_works_where_nothing_runs(in_state, args, status):
    scheduler = in_state(status)

    if status in (S.UNINITIALIZED, S.INITIALIZED, S.STOPPED):
        scheduler.init(*args(Site({})))
        assert scheduler.status is S.INITIALIZED
    else:
        with pytest.raises(
            StateError, match=rf"init\(\) is not possible while the scheduler is {status}"
        ):
            scheduler.init(*args(Site({})))
        assert scheduler.status is status


@pytest.mark.parametrize(
    ("status", "shown"),
    [
        (S.UNINITIALIZED, "<Scheduler uninitialized>"),
        (S.INITIALIZED, "<Scheduler initialized, 0 pending, 0 done, <Registrar D"),
        (S.STARTED, "<Scheduler started, 1 pending, 0 done, <Registrar D"),
        (S.STOPPED, "<Scheduler stopped, 1 pending, 0 done, <Registrar D"),
    ],
)
def test_repr_shows_where_it_stands(in_state, status, shown):
    assert repr(in_state(status)).startswith(shown)


def test_the_states_follow_each_other_in_the_documented_order(args):
    scheduler = Scheduler()
    site = Site({"/": ""})
    for too_early in (lambda: scheduler.start(HOME), scheduler.stop):
        with pytest.raises(StateError, match="uninitialized"):
            too_early()

    scheduler.init(*args(site))
    scheduler.init(*args(site))
    with pytest.raises(
        StateError, match=r"stop\(\) is not possible .* initialized: call start\(\) first"
    ):
        scheduler.stop()
    scheduler.start(HOME)
    with pytest.raises(
        StateError, match=r"start\(\) is not possible .* started: call stop\(\) first"
    ):
        scheduler.start(HOME)
    with pytest.raises(
        StateError, match=r"init\(\) is not possible .* started: call stop\(\) first"
    ):
        scheduler.init(*args(site))
    scheduler.stop()
    with pytest.raises(
        StateError, match=r"stop\(\) is not possible .* stopped: call start\(\) first"
    ):
        scheduler.stop()
    scheduler.init(*args(site))

    assert scheduler.status is S.INITIALIZED


# -- init ---------------------------------------------------------------------------------------


def test_init_registers_the_modules(build):
    scheduler = build(Site({}))

    kinds = [type(module) for module in scheduler.registrar.all(Module)]

    assert kinds == [Downloader, Analyzer, Pipeline]


@pytest.mark.parametrize("number", [0, 1, 2])
def test_init_refuses_an_argument_of_the_wrong_type_by_its_name(args, number):
    scheduler = Scheduler()
    given = list(args(Site({})))
    given[number] = None
    name = ("request_args", "data_args", "module_args")[number]

    with pytest.raises(ValueError, match=f"{name} must be a "):
        scheduler.init(*given)

    assert scheduler.status is S.UNINITIALIZED
    assert scheduler.idle


def test_a_failed_init_leaves_everything_as_it_was(build, args):
    class Broken(ModuleArgs):
        @property
        def modules(self):
            return [*super().modules, *super().modules]

    scheduler = build(Site({"/": ""}))
    before, modules = scheduler.summary(), scheduler.registrar.all(Module)
    errors = scheduler.error_chan()
    _, data, good = args(Site({}))
    broken = Broken(good.downloaders, good.analyzers, good.pipelines)

    with pytest.raises(ValueError, match="registered already"):
        scheduler.init(RequestArgs(["other.test"], 9), data, broken)

    assert scheduler.summary() == before
    assert scheduler.registrar.all(Module) == modules
    scheduler.start(HOME)
    assert scheduler.join()
    assert scheduler.stop().urls.done == 1
    assert list(errors) == []


def test_a_second_init_replaces_modules_and_arguments(build, args):
    old, new = Site({"/": ""}), Site({"/": ""})
    scheduler = build(old)
    scheduler.start(HOME)
    scheduler.join()
    scheduler.stop()

    scheduler.init(*args(new, max_depth=7))
    scheduler.start(HOME)
    scheduler.join()

    assert (len(old.requests), len(new.requests)) == (1, 1)
    assert scheduler.summary().request_args["max_depth"] == 7
    assert [module.called for module in scheduler.summary().downloaders] == [1]


# -- start --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first",
    [
        HOME,
        Request(HOME),
        [HOME],
        (Request(HOME),),
        iter([HOME]),
        {HOME: "a mapping"},
        [HOME, HOME],
        [HOME, HOME + "#top", "HTTP://SITE.TEST:80"],
        [HOME, "ftp://site.test/", "mailto:x"],
    ],
)
def test_start_takes_a_request_a_url_or_several(build, first):
    site = Site({"/": ""})
    scheduler = build(site)

    scheduler.start(first)

    assert scheduler.join()
    assert scheduler.summary().urls.admitted == 1
    assert scheduler.summary().urls.done == 1


@pytest.mark.parametrize("first", [None, 7, b"http://site.test/", [None], [HOME, 7], "", [""]])
def test_start_refuses_what_is_not_a_request(build, first):
    scheduler = build(Site({}))

    with pytest.raises(ValueError):
        scheduler.start(first)

    assert scheduler.status is S.INITIALIZED


@pytest.mark.parametrize(
    ("first", "reason"),
    [
        ("ftp://site.test/", "scheme"),
        ("mailto:me@site.test", "scheme"),
        ("site.test", "invalid"),
        ("http://", "invalid"),
        (HOME + "x" * 3000, "length"),
        (Request(HOME, depth=4), "depth"),
    ],
)
def test_start_says_why_nothing_was_admitted(build, first, reason):
    scheduler = build(Site({}), max_depth=3)
    url = first if isinstance(first, str) else first.url

    with pytest.raises(Refused, match=reason) as error:
        scheduler.start(first)

    assert error.value.reasons == {url: reason}
    assert scheduler.status is S.INITIALIZED


def test_start_names_every_reason(build):
    with pytest.raises(Refused) as error:
        build(Site({})).start(["ftp://a.test/", "nonsense"])

    assert error.value.reasons == {"ftp://a.test/": "scheme", "nonsense": "invalid"}


def test_start_with_nothing_is_refused(build):
    with pytest.raises(Refused, match="there was none"):
        build(Site({})).start([])


def test_a_start_that_fails_leaves_no_greenlet_and_no_accepted_domain(build, living):
    site = Site({"/": '<a href="http://other.test/x">', "http://other.test/x": ""})
    scheduler = build(site)
    before = living()
    with pytest.raises(Refused):
        scheduler.start(["ftp://other.test/"])
    with pytest.raises(Refused):
        scheduler.start(Request("http://other.test/", depth=0, method="GET").replace(url="bad"))
    assert living() == before

    scheduler.start(HOME)
    scheduler.join()

    assert scheduler.summary().urls.turned_away == {"domain": 1}


def test_an_exception_from_the_first_requests_passes_and_restores_the_state(build):
    def broken():
        yield HOME
        raise ZeroDivisionError

    scheduler = build(Site({"/": ""}))

    with pytest.raises(ZeroDivisionError):
        scheduler.start(broken())

    assert scheduler.status is S.INITIALIZED
    assert scheduler.summary().urls.admitted == 0
    scheduler.start(HOME)
    assert scheduler.join()


def test_copies_of_one_request_are_requests_of_their_own(build, balanced):
    site = Site({f"/{n}": Reply(302, {"location": f"/to{n}"}) for n in range(5)})
    scheduler = build(site)
    model = Request(HOME)

    scheduler.start([model.replace(url=f"{HOME}{n}") for n in range(4)])
    scheduler.add(model.replace(url=f"{HOME}4"))

    assert scheduler.join(timeout=120)
    summary = scheduler.stop()
    assert summary.urls.done == 5
    balanced(summary, pending=0)


# -- the domains of the first requests ----------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "link", "followed"),
    [
        ("http://site.test/", "http://www.site.test/x", True),
        ("http://cn.bing.com/", "http://www.bing.com/x", True),
        ("http://cn.bing.com/", "http://bing.net/x", False),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/x", True),
        ("http://127.0.0.1/", "http://127.0.0.2/x", False),
        ("http://localhost/", "http://localhost/x", True),
        ("http://[::1]/", "http://[::1]/x", True),
        ("http://www.bbc.co.uk/", "http://news.bbc.co.uk/x", True),
        ("http://www.bbc.co.uk/", "http://other.co.uk/x", False),
        ("http://WWW.SITE.TEST./", "http://site.test/x", True),
    ],
)
def test_the_domain_of_the_first_request_is_accepted_and_no_more(
    crawl, page, first, link, followed
):
    site = Site({first: page(link), link: ""})

    summary, _ = crawl(site, first=first)

    assert [request.url for request in site.requests] == [first, link][: 1 + followed]
    assert summary.urls.turned_away == ({} if followed else {"domain": 1})


def test_accepted_domains_are_accepted_too(crawl, page):
    site = Site(
        {"/": page("http://a.other.test/", "http://third.test/"), "http://a.other.test/": ""}
    )

    summary, _ = crawl(site, accepted_domains=["other.test"])

    assert summary.urls.done == 2
    assert summary.urls.turned_away == {"domain": 1}


def test_a_host_header_does_not_smuggle_a_url_in(crawl):
    def smuggle(response):
        yield Request("http://evil.test/", headers={"Host": "site.test"})
        yield Request("http://site.test/x", headers={"Host": "evil.test"})

    site = Site({"/": "", "/x": ""})

    summary, _ = crawl(site, smuggle)

    assert [request.url for request in site.requests] == [HOME, HOME + "x"]
    assert summary.urls.turned_away == {"domain": 2, "seen": 1}


@pytest.mark.parametrize(("depth", "pages"), [(0, 1), (1, 2), (2, 3), (None, 5)])
def test_a_page_at_the_maximum_depth_is_fetched_and_none_beyond(crawl, page, depth, pages):
    chain = {f"/{n}": page(f"/{n + 1}") for n in range(4)} | {"/4": ""}
    site = Site(chain)

    summary, _ = crawl(site, first=HOME + "0", max_depth=depth)

    assert summary.urls.done == pages
    assert [request.depth for request in site.requests] == list(range(pages))
    assert summary.urls.turned_away == ({} if depth is None else {"depth": 1})


# -- restart ------------------------------------------------------------------------------------


def test_a_restart_gives_the_same_result_as_a_fresh_scheduler(build, page):
    site = Site({"/": page("/a", "/b"), "/a": page("/b", "/c"), "/b": "", "/c": ""})
    scheduler = build(site)
    runs = []

    for _ in range(3):
        scheduler.start(HOME)
        assert scheduler.join()
        runs.append((sorted(r.url for r in site.requests), scheduler.stop().urls))
        site.requests.clear()

    assert len(runs[0][0]) == 4
    assert runs[0] == runs[1] == runs[2]


def test_a_start_counts_from_zero(build, page):
    scheduler = build(Site({"/": page("/missing"), "/missing": KeyError}))
    for _ in range(2):
        scheduler.start(HOME)
        scheduler.join()
        summary = scheduler.stop()

    [downloader] = summary.downloaders
    assert (downloader.called, downloader.completed, downloader.handling) == (2, 1, 0)
    assert summary.responses == 1
    assert summary.errors.reported == 1


def test_a_start_after_a_stop_under_load_is_a_new_run(build, page, balanced):
    pages = {f"/{n}": lambda request: gevent.sleep(0) or "" for n in range(50)}
    site = Site({"/": page(*pages)} | pages)
    scheduler = build(site, download_workers=1)
    scheduler.start(HOME)
    while len(site.requests) < 10:
        gevent.sleep(0)
    left = scheduler.stop(timeout=0)
    assert left.urls.pending > 0
    balanced(left)
    site.requests.clear()

    scheduler.start(HOME)
    assert scheduler.join()

    assert len(site.requests) == 51
    balanced(scheduler.stop(), pending=0)


# -- calls from several greenlets ---------------------------------------------------------------


def test_of_two_stops_at_a_time_one_wins_and_both_end(in_state):
    scheduler = in_state(S.STARTED)

    stops = [gevent.spawn(scheduler.stop, 0.01) for _ in range(5)]
    gevent.joinall(stops, timeout=120)

    failures = [stop.exception for stop in stops if stop.exception is not None]
    assert len(failures) == 4
    assert all(isinstance(failure, StateError) for failure in failures)
    assert scheduler.status is S.STOPPED


def test_no_mix_of_calls_can_wedge_the_status(build, args, balanced):
    random.seed(29)
    site = Site({"/": ""})
    scheduler = build(site)
    calls = [
        lambda: scheduler.start(HOME),
        lambda: scheduler.stop(timeout=0.01),
        lambda: scheduler.init(*args(site)),
        lambda: scheduler.add(HOME + "x"),
        lambda: scheduler.pause(),
        lambda: scheduler.resume(),
        lambda: scheduler.summary(),
        lambda: scheduler.start("ftp://nowhere/"),
    ]

    def meddle():
        for _ in range(60):
            try:
                random.choice(calls)()
            except (StateError, Refused):
                gevent.sleep(0)

    gevent.joinall([gevent.spawn(meddle) for _ in range(8)], timeout=120, raise_error=True)

    assert scheduler.status in (S.INITIALIZED, S.STARTED, S.STOPPED)
    if scheduler.status is S.STARTED:
        scheduler.stop()
    scheduler.init(*args(site))
    scheduler.start(HOME)
    assert scheduler.join()
    balanced(scheduler.stop(), pending=0)


# -- stop ---------------------------------------------------------------------------------------


def test_stop_finishes_what_is_in_flight(build, page):
    reached, gate = Event(), Event()

    def slow(request):
        reached.set()
        gate.wait()
        return Site({"/": page("/next")})(request)

    scheduler = build(slow, find_item, processors=[lambda item: item])
    scheduler.start(HOME)
    reached.wait()
    stopping = gevent.spawn(scheduler.stop, 10)
    gevent.idle()
    assert scheduler.status is S.STOPPING
    gate.set()
    summary = stopping.get(timeout=120)

    assert summary.status == "stopped"
    assert summary.urls.done == 1
    assert summary.items.processed == 1
    assert summary.urls.pending == 0


def find_item(response):
    yield {"url": response.url}


def test_stop_cancels_what_outlasts_its_deadline(build, balanced):
    reached, ended = Event(), Event()

    def hang(request):
        reached.set()
        try:
            Event().wait()
        finally:
            ended.set()

    scheduler = build(hang)
    scheduler.start(HOME)
    reached.wait()

    summary = scheduler.stop(timeout=0.05)

    assert ended.is_set()
    assert summary.urls.pending == 1
    assert summary.downloaders[0].handling == 0
    balanced(summary)


def test_a_stop_that_is_interrupted_still_stops(build, living):
    before = living()
    reached = Event()

    def hang(request):
        reached.set()
        Event().wait()

    scheduler = build(hang)
    scheduler.start(HOME)
    reached.wait()

    with pytest.raises(gevent.Timeout), gevent.Timeout(0.05):
        scheduler.stop(timeout=20)

    assert scheduler.status is S.STOPPED
    assert living() == before
    scheduler.start(HOME)
    scheduler.stop(timeout=0)


def test_stop_leaves_no_greenlet_and_no_descriptor(build, page, living, descriptors):
    site = Site({"/": page(*(f"/{n}" for n in range(20)))} | {f"/{n}": "" for n in range(20)})
    scheduler = build(site)
    before = living(), descriptors()

    scheduler.start(HOME)
    gevent.sleep(0)
    scheduler.stop(timeout=0)

    assert (living(), descriptors()) == before


@pytest.mark.parametrize("call", ["stop", "join"])
@pytest.mark.parametrize("where", ["fetch", "parse", "process"])
def test_waiting_for_itself_is_refused_inside_a_module(build, call, where):
    caught = []

    def inside(_):
        try:
            getattr(scheduler, call)()
        except StateError as error:
            caught.append(str(error))

    def fetch(request):
        return (where == "fetch" and inside(request)) or Site({"/": ""})(request)

    def parse(response):
        if where == "parse":
            inside(response)
        yield {"an": "item"}

    def process(item):
        if where == "process":
            inside(item)
        return item

    scheduler = build(fetch, parse, processors=[process])
    scheduler.start(HOME)

    assert scheduler.join(timeout=120)
    assert caught
    assert all("inside a module would wait for itself" in text for text in caught)
    assert scheduler.status is S.STARTED


def test_a_module_may_have_the_crawl_stopped_from_outside(build, page):
    def parse(response):
        gevent.spawn(scheduler.stop)
        return []

    scheduler = build(Site({"/": ""}), parse)
    scheduler.start(HOME)

    scheduler.wait(S.STOPPED)

    assert scheduler.summary().urls.done == 1


def test_a_with_block_stops_at_its_end(args):
    with Scheduler() as scheduler:
        scheduler.init(*args(Site({"/": ""})))
        scheduler.start(HOME)
        scheduler.join()

    assert scheduler.status is S.STOPPED


def test_a_with_block_waits_for_a_stop_under_way(args):
    with Scheduler() as scheduler:
        scheduler.init(*args(Site({"/": Reply(delay=0.05)})))
        scheduler.start(HOME)
        gevent.idle()
        stopping = gevent.spawn(scheduler.stop)
        gevent.idle()

    assert scheduler.status is S.STOPPED
    stopping.get(timeout=120)


def test_a_with_block_may_end_before_anything_began():
    with Scheduler() as scheduler:
        pass

    assert scheduler.status is S.UNINITIALIZED


# -- add, pause, join, idle ---------------------------------------------------------------------


def test_add_revives_a_crawl_that_has_finished(build):
    site = Site({"/": "", "/more": ""})
    scheduler = build(site)
    scheduler.start(HOME)
    assert scheduler.join()

    assert scheduler.add(HOME + "more") is True
    assert not scheduler.idle
    assert scheduler.add(HOME + "more") is False
    assert scheduler.add("http://other.test/") is False
    assert scheduler.join()

    assert scheduler.stop().urls.turned_away == {"seen": 1, "domain": 1}
    assert len(site.requests) == 2


@pytest.mark.parametrize("wrong", [None, 7, "", [], [HOME, HOME + "x"]])
def test_add_takes_one_request(build, wrong):
    scheduler = build(Site({"/": ""}))
    scheduler.start(HOME)

    with pytest.raises(ValueError):
        scheduler.add(wrong)


def test_paused_takes_no_request_and_resumed_continues(build):
    site = Site({})
    scheduler = build(site)
    scheduler.start(HOME)
    scheduler.join()
    scheduler.pause()
    scheduler.pause()

    for n in range(20):
        scheduler.add(f"{HOME}{n}")
    assert not scheduler.join(timeout=0.02)
    assert scheduler.paused
    assert scheduler.summary().paused
    assert repr(scheduler).startswith("<Scheduler paused, 20 pending")
    assert len(site.requests) == 1

    scheduler.resume()
    assert scheduler.join()
    assert not scheduler.paused
    assert len(site.requests) == 21


def test_what_is_in_flight_is_finished_while_paused(build, page):
    reached, gate = Event(), Event()

    def slow(request):
        reached.set()
        gate.wait()
        return Site({"/": page("/next")})(request)

    scheduler = build(slow)
    scheduler.start(HOME)
    reached.wait()
    scheduler.pause()
    gate.set()
    while scheduler.summary().urls.done == 0:
        gevent.sleep(0)

    gevent.idle()
    assert scheduler.summary().urls.pending == 1
    assert scheduler.summary().responses == 1


def test_a_paused_scheduler_can_be_stopped_and_starts_unpaused(build):
    scheduler = build(Site({"/": ""}))
    scheduler.start(HOME)
    scheduler.pause()
    scheduler.stop()
    assert not scheduler.paused

    scheduler.start(HOME)

    assert not scheduler.paused
    assert scheduler.join()


def test_join_gives_up_after_its_timeout(in_state):
    scheduler = in_state(S.STARTED)

    assert scheduler.join(timeout=0.01) is False
    assert not scheduler.idle


def test_join_ends_when_the_scheduler_stops_and_says_that_something_is_left(in_state):
    scheduler = in_state(S.STARTED)
    waiter = gevent.spawn(scheduler.join)
    gevent.idle()

    scheduler.stop(timeout=0)

    assert waiter.get(timeout=120) is False
    assert scheduler.join() is False
    assert not scheduler.idle


def test_idle_before_anything_began():
    assert Scheduler().idle


# -- modules that come and go -------------------------------------------------------------------


def test_a_downloader_registered_while_running_takes_part(build, page):
    first, second = Event(), Event()

    def busy(request):
        first.set()
        second.wait()
        return Site({"/": page("/a")})(request)

    def helper(request):
        second.set()
        return Site({"/a": ""})(request)

    scheduler = build(busy)
    scheduler.start([HOME, HOME + "b"])
    first.wait()
    scheduler.registrar.register(Downloader(helper))
    scheduler.add(HOME + "a")

    assert scheduler.join(timeout=120)
    assert [module.called for module in scheduler.summary().downloaders][1] >= 1


def test_a_removed_module_finishes_what_it_has_in_hand(build):
    reached, gate = Event(), Event()

    def slow(request):
        reached.set()
        gate.wait()
        return Site({"/": ""})(request)

    scheduler = build(slow)
    scheduler.start(HOME)
    reached.wait()
    [old] = scheduler.registrar.all(Downloader)
    scheduler.registrar.unregister(old.mid)
    with pytest.raises(NoModule):
        scheduler.registrar.get(Downloader)
    gate.set()

    assert scheduler.join()
    assert old.counts.completed == 1
    assert scheduler.stop().urls.done == 1


def test_modules_with_equal_load_take_turns(args):
    calls = []
    site = Site({f"/{n}": "" for n in range(12)})

    def fetch_as(name):
        def fetch(request):
            calls.append(name)
            return site(request)

        return fetch

    modules = ModuleArgs(
        [Downloader(fetch_as(name)) for name in "abc"],
        [Analyzer(lambda response: [])],
        [Pipeline()],
        download_workers=1,
    )
    with Scheduler() as scheduler:
        scheduler.init(
            RequestArgs(politeness=Politeness.off(), retries=Retries(1)), DataArgs(), modules
        )
        scheduler.start(f"{HOME}{n}" for n in range(12))
        assert scheduler.join()

    assert sorted(calls) == sorted("abc" * 4)
    assert all(a != b for a, b in itertools.pairwise(calls))
