"""Transfers that wait for a connection: none waits for ever, and never too many run."""

from unittest import mock

import gevent
import pycurl
import pytest
from gevent import get_hub
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits, any_address
from crawler.fetch.curl import multi
from crawler.fetch.curl.handle import Handle
from crawler.fetch.curl.kept_connections import KeptConnections
from crawler.testing import LoopbackSite, Reply, faults


class Visited:
    """A page that counts its open requests, and calls *on_hit* for each."""

    def __init__(self):
        self.now = self.most = 0
        self.on_hit = lambda: None

    def __call__(self, request):
        self.now += 1
        self.most = max(self.most, self.now)
        self.on_hit()
        gevent.sleep(float(request.url.partition("?")[2] or 0))
        self.now -= 1
        return Reply()


@pytest.fixture(scope="module")
def visited():
    return Visited()


@pytest.fixture(scope="module")
def site(visited):
    def silent(_):
        visited.on_hit()
        return faults.silence()

    with LoopbackSite({"/": visited, "/silent": silent}) as site:
        yield site


def fetch_all(fetch, site, delays):
    return [gevent.spawn(fetch, Request(site.url(f"/?{delay}"))) for delay in delays]


delays = st.lists(st.sampled_from([0, 0.001, 0.003]), min_size=1, max_size=12)


@settings(max_examples=40)
@given(delays, st.integers(1, 4), delays, st.integers(1, 3), st.integers(0, 5))
def test_a_server_never_has_more_open_requests_than_the_limit_of_connections(
    site, visited, first, most, second, fewer, after
):
    with CurlFetch(max_connections=most, allow_address=any_address) as fetch:
        visited.now = visited.most = 0
        jobs = fetch_all(fetch, site, first)
        for _ in range(after):
            gevent.sleep(0.001)
        if fetch._multi is not None:
            fetch._multi.lower(min(fewer, most))
        assert len(gevent.joinall(jobs, timeout=120)) == len(jobs)
        assert visited.most <= most

        most = most if fetch._multi is None else fetch._multi.max_connections
        visited.most = 0
        jobs += fetch_all(fetch, site, second)
        assert len(gevent.joinall(jobs, timeout=120)) == len(jobs)
        assert visited.most <= most

    assert {job.get().status for job in jobs} == {200}


class Script:
    """Runs steps on a CurlFetch, and checks the number of running transfers throughout."""

    def __init__(self, site, most):
        self.site = site
        self.fetch = CurlFetch(max_connections=most, allow_address=any_address)
        self.most = most
        self.jobs = []
        self.too_many = ""
        #: For each Multi, how many may run: after lower(), only those that ran before.
        self.ceilings = {}

    def play(self, step):
        if isinstance(step, str):
            getattr(self, step)()
        else:
            getattr(self, step[0])(step[1])
        self.look()

    def look(self):
        multi = self.fetch._multi
        if multi is not None:
            ceiling = self.ceilings.get(multi, self.most)
            if len(multi) > ceiling:
                self.too_many = f"{len(multi)} of {ceiling}"
            self.ceilings[multi] = max(multi.max_connections, min(ceiling, len(multi)))

    def _begin(self, path, seconds=None):
        self.jobs.append(gevent.spawn(self._run, Request(self.site.url(path)), seconds))

    def _run(self, request, seconds):
        with gevent.Timeout(seconds, False):
            return self.fetch(request)

    def quick(self):
        self._begin("/")

    def slow(self):
        self._begin("/?0.002")

    def silent(self):
        self._begin("/silent")

    def in_time(self):
        self._begin("/silent", 0.002)

    def kill(self, number):
        if self.jobs:
            self.jobs[number % len(self.jobs)].kill(block=False)

    def lower(self, number):
        multi = self.fetch._multi
        if multi is not None:
            multi.lower(min(number, multi.max_connections))

    def close(self):
        self.fetch.close()

    def tick(self):
        gevent.sleep(0)

    def rest(self):
        gevent.sleep(0.003)

    @property
    def alive(self):
        return sum(not job.ready() for job in self.jobs)

    def nobody_waits_beside_a_free_connection(self):
        multi = self.fetch._multi
        if multi is None:
            return not self.alive
        return len(multi) == self.alive or len(multi) >= multi.max_connections


def eventually(is_so):
    with gevent.Timeout(120, False):
        while not is_so():
            gevent.sleep(0.001)
    return is_so()


steps = st.one_of(
    st.sampled_from(["quick", "slow", "silent", "in_time", "tick", "rest"]),
    st.tuples(st.just("kill"), st.integers(0, 30)),
    st.tuples(st.just("kill"), st.integers(0, 30)),
    st.tuples(st.just("lower"), st.integers(1, 3)),
    st.just("close"),
)
HELD = ["silent", "silent", "silent", "rest"]


@given(st.lists(steps, max_size=40), st.integers(1, 4), st.integers(1, 3))
@example([*HELD, ("kill", 0)], 1, 9)
@example([*HELD, ("kill", 0), ("kill", 1)], 1, 9)
@example([*HELD, ("kill", 1), ("kill", 0)], 1, 9)
@example([*HELD, "close", ("kill", 0), ("kill", 1)], 1, 9)
@example([*HELD, ("kill", 1), "close", "quick"], 1, 9)
@example([*HELD, "silent", ("lower", 1), ("kill", 0), "rest", ("kill", 1)], 2, 9)
@example(["quick", "quick", "silent", "silent", ("kill", 1), "rest"], 1, 9)
@example(["quick", "tick", "quick", ("kill", 1), "tick", "close"], 4, 9)
@example(["silent", "rest", "silent"], 1, 9)
def test_no_transfer_waits_for_ever_whatever_happens_to_the_others(
    site, visited, script, most, together
):
    with mock.patch.object(multi, "BATCH_SIZE", together):
        play(Script(site, most), script, visited)


def play(played, script, visited):
    visited.on_hit = played.look
    try:
        for step in script:
            played.play(step)
        played.rest()  # all pending transfers have started, and are closed
        assert eventually(played.nobody_waits_beside_a_free_connection), repr(played.fetch)
    finally:
        played.close()
    assert eventually(lambda: not played.alive)

    assert not played.too_many
    for job in played.jobs:
        assert job.exception is None or "closed" in str(job.exception)
        assert isinstance(job.exception, FetchError | None)
    assert played.fetch(Request(played.site.url())).status == 200
    played.close()


def new_handle():
    return Handle({}, Limits(), any_address, KeptConnections())


def test_a_transfer_that_cannot_start_fails_and_the_others_continue(site):
    elsewhere, handle = pycurl.CurlMulti(), new_handle()
    elsewhere.add_handle(handle.easy)
    with CurlFetch(allow_address=any_address) as fetch, gevent.Timeout(120):
        fetch(Request(site.url()))
        failing = gevent.spawn(fetch._multi.perform, handle)
        going = gevent.spawn(fetch, Request(site.url()))

        assert failing.get()[0] == pycurl.E_FAILED_INIT
        assert going.get().status == 200
    elsewhere.remove_handle(handle.easy)


def test_a_transfer_that_is_cancelled_before_it_starts_never_starts(site, visited):
    hits = []
    visited.on_hit = lambda: hits.append(1)
    handle = new_handle()
    handle.prepare(Request(site.url()))
    with CurlFetch(allow_address=any_address) as fetch, gevent.Timeout(120):
        fetch(Request(site.url()))
        waiting = gevent.spawn(fetch._multi.perform, handle)
        get_hub().loop.run_callback(waiting.throw, gevent.GreenletExit)  # in the same iteration
        waiting.join()
        fetch(Request(site.url()))

    assert len(hits) == 2


def test_names_are_looked_up_beside_connections_that_come_and_go(site):
    closing = {"/": Reply(headers={"Connection": "close"}), "/silent": faults.silence()}
    with (
        LoopbackSite(closing) as other,
        CurlFetch(allow_address=any_address) as fetch,
        gevent.Timeout(120),
    ):
        held = gevent.spawn(fetch, Request(other.url("/silent")))
        for number in range(10):
            assert fetch(Request(other.url())).status == 200
            with pytest.raises(FetchError) as caught:
                fetch(Request(f"http://name-{number}.invalid/"))
            assert caught.value.kind == "dns"
        held.kill()
