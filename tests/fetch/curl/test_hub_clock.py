"""The time for which the hub does not run is our own: no server and no limit is charged with it."""

import time

import gevent
import pytest
from gevent import get_hub
from gevent.monkey import get_original

from crawler import CurlFetch, FetchError, Request
from crawler.fetch import Limits, any_address
from crawler.fetch.curl.hub_clock import HubClock
from crawler.testing import faults

from ..thread_server import ThreadServer

PAGE = faults.head("content-length: 4") + b"page"
block = get_original("time", "sleep")


@pytest.fixture
def clock():
    clock = HubClock(get_hub().loop)
    yield clock
    clock.close()


def test_what_happens_while_the_hub_does_not_run_may_have_happened_when_it_began(clock):
    gevent.sleep(0.01)
    before = time.monotonic()
    block(0.2)
    gevent.sleep(0)  # the hub looks, and does not sleep

    assert clock.looked <= before


def test_what_wakes_the_hub_has_just_happened(clock):
    for _ in range(50):  # on a busy machine the process may sleep before the hub does
        before = time.monotonic()
        gevent.sleep(0.02)
        if clock.looked > before + 0.01:
            return
    pytest.fail("an event never wakes the hub")


def test_a_closed_clock_does_not_run(clock):
    gevent.sleep(0.01)
    clock.close()
    looked = clock.looked
    gevent.sleep(0.01)

    assert clock.looked == looked


def blocked(jobs, until, seconds):
    """As soon as *until* is true, let the hub not run for *seconds*; return what *jobs* return."""
    while not until():
        gevent.sleep(0)
    block(seconds)
    return [job.get(timeout=120) for job in jobs]


def test_neither_a_server_nor_a_limit_is_charged_with_the_time_of_a_callback(stack):
    quick, slow = (stack.enter_context(ThreadServer(PAGE, delay)) for delay in (0.1, 3.1))
    limits = {Limits(): quick, Limits(total=2.5): slow, Limits(stall=2): slow}
    began = time.monotonic()
    jobs = [
        gevent.spawn(
            stack.enter_context(CurlFetch(limits=limit, allow_address=any_address)),
            Request(server.url),
        )
        for limit, server in limits.items()
    ]

    responses = blocked(jobs, lambda: (quick.asked, slow.asked) == (1, 2), 3)

    assert [response.body for response in responses] == [b"page"] * 3
    took = time.monotonic() - began
    assert 0 < responses[0].elapsed < took - 2.9


def test_the_limit_to_connect_is_not_charged_with_the_time_of_a_callback(stack):
    first, server = (stack.enter_context(ThreadServer(PAGE)) for _ in range(2))
    fetch = stack.enter_context(CurlFetch(limits=Limits(connect=1.2), allow_address=any_address))
    fetch(Request(first.url))
    sockets = len(fetch._multi._sockets)
    jobs = [gevent.spawn(fetch, Request(server.url))]

    [response] = blocked(jobs, lambda: len(fetch._multi._sockets) > sockets, 1.8)

    assert response.body == b"page"


def test_the_time_of_the_server_counts(serve):
    site = serve({"/": faults.drip(b"page", every=0.05)})

    with CurlFetch(allow_address=any_address) as fetch:
        assert fetch(Request(site.url())).elapsed > 0.1


def test_a_limit_holds_after_the_hub_did_not_run(serve):
    site = serve({"/": faults.silence(), "/page": "page"})

    with CurlFetch(limits=Limits(total=0.3), allow_address=any_address) as fetch:
        job = gevent.spawn(fetch, Request(site.url()))
        with pytest.raises(FetchError) as caught:
            blocked([job], lambda: site.requests, 0.5)
        assert fetch(Request(site.url("/page"), timeout=100)).body == b"page"

        assert not fetch._idle[0].ends_at
    assert caught.value.kind == "timeout"


@pytest.fixture
def full():
    """The URL of a server that accepts no further connection, and does not refuse it."""
    new_socket = get_original("socket", "socket")
    with new_socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        waiting = [new_socket() for _ in range(4)]
        for client in waiting:
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        for client in waiting:
            client.close()


def test_a_limit_holds_for_a_connection_that_was_made_while_the_hub_did_not_run(full, stack):
    fetch = stack.enter_context(
        CurlFetch(limits=Limits(connect=0.3, total=0.6), allow_address=any_address)
    )
    job = gevent.spawn(fetch, Request(full))

    with pytest.raises(FetchError) as caught:
        blocked([job], lambda: fetch._multi and fetch._multi._sockets, 0.8)

    assert caught.value.kind == "timeout"
