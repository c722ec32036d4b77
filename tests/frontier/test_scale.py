"""The frontier at size: nothing is overlooked, memory stays small, sick hosts slow no others."""

import random
import tracemalloc

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler import CurlFetch
from crawler.data import Link, Request, Response
from crawler.fetch import Limits
from crawler.frontier import DONE, Frontier, Politeness, Retries, Scope
from crawler.frontier.hosts.host import Address
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.headers import Headers
from crawler.testing import LoopbackSite, Reply, faults

from ..cpu_time import costs_at_most
from .conftest import running
from .hosts.scheduling import EXACT, begin, drain, request, unpark

FOUND_ON = "http://site.test/"


@pytest.fixture(autouse=True)
def deadline():
    """A deadlock is a red test, not a hung run."""
    with gevent.Timeout(120):
        yield


# -- nothing is overlooked ----------------------------------------------------------------------


def opens_at(hosts, host):
    """When a request of *host* may begin, found out the long way; None if time is not enough."""
    if host.paused or host.in_flight >= hosts._politeness.limit_of(host) or not host.has_work:
        return None
    if host.address is None:
        return host.due()
    if host.address.in_flight >= hosts._politeness.address_limit:
        return None
    return max(host.due(), host.address.ready_at)


@given(seed=st.integers(0, 2**32), addresses=st.integers(0, 2), delay=st.sampled_from([0.0, 1.0]))
def test_whatever_happens_to_hosts_no_one_that_is_due_is_overlooked(seed, addresses, delay):
    dice = random.Random(seed)
    hosts = HostSchedule(
        Politeness(per_host=2, delay=delay, per_ip=2 if addresses else None, ip_delay=0.3, **EXACT)
    )
    shared = [Address() for _ in range(addresses)]
    now, in_flight = 0.0, []

    def any_host():
        host = hosts.table.find_or_add(f"h{dice.randrange(8)}")
        if shared and host.address is None:
            host.address = dice.choice([*shared, None])
        return host

    def put():
        host = any_host()
        hosts.put(host, request(host.name, priority=dice.choice([0, 0, 3])), now)

    def put_later():
        host = any_host()
        hosts.put_later(host, request(host.name), now + dice.random() * 20, now)

    def end():
        if in_flight:
            host = in_flight.pop(dice.randrange(len(in_flight)))
            host.failures = dice.choice([0, 0, 0, 5])
            if dice.random() < 0.2:
                hosts.rest(host, now, dice.random() * 30, "503")
            hosts.end(host, now, latency=0.1)

    def park():
        hosts.park(any_host(), "robots.txt")

    def unpark_any():
        unpark(hosts, any_host(), now)

    def pause():
        hosts.pause(any_host(), now, paused=dice.random() < 0.4)

    def drain_any():
        if dice.random() < 0.1:
            drain(hosts, any_host(), now)

    for _ in range(300):
        dice.choice(
            [
                put,
                put,
                put,
                put_later,
                end,
                end,
                end,
                park,
                unpark_any,
                unpark_any,
                pause,
                drain_any,
            ]
        )()
        now += dice.choice([0.0, 0.0, 0.1, 2.0])
        if dice.random() < 0.5:
            continue
        got = hosts.ready(now)
        if got is not None:
            assert opens_at(hosts, got) <= now
            if got.queue:
                hosts.pull(got)
                hosts.begin(got, now)
                in_flight.append(got)
            else:
                hosts.schedule(got, now)
            continue
        times = [t for host in hosts if (t := opens_at(hosts, host)) is not None]
        assert not times or min(times) > now
        first = hosts.first()
        assert first is None or first[0] > now, "whoever sleeps until then does not spin"
        assert not times or first[0] <= min(times)
        assert all(0 <= host.in_flight <= 2 for host in hosts)
        assert hosts.queued == sum(host.queued for host in hosts)


# -- structures stay small ----------------------------------------------------------------------


def test_a_waiting_link_takes_little_more_than_its_url():
    links, hosts = 10_000, 250

    def fill():
        frontier = Frontier(Scope(["site.test"], max_depth=None), politeness=Politeness.off())
        text = 0
        for n in range(links):
            url = f"http://host-{n % hosts}.site.test/section/page-{n // hosts}.html"
            text += len(url) + 49
            frontier.admit(Link(url, 1, FOUND_ON))
        return frontier, text

    fill()  # and with it the caches of URLs and names, which all frontiers share
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    frontier, text = fill()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert len(frontier.view) == links
    assert (after - before - text) / links < 100, "bytes besides the text of the URL"


def test_what_is_settled_takes_no_memory():
    frontier = Frontier(
        Scope(["site.test"], max_depth=3), politeness=Politeness.off(), retries=Retries(1)
    )

    def visit(number):
        for n in range(number, number + 1_000):
            frontier.admit(Request(f"http://host-{n % 100}.site.test/{n}"))
        while len(frontier.view):
            taken = frontier.take()
            response = Response(taken.request.url, 200, Headers(), b"", taken)
            frontier.fetched(taken, response)
            frontier.settle(taken, DONE)

    tracemalloc.start()
    for number in range(0, 4_000, 1_000):
        visit(number)  # until as many depths are remembered as ever will be
    before, _ = tracemalloc.get_traced_memory()
    for number in range(4_000, 8_000, 1_000):
        visit(number)
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert frontier.view.idle
    assert not frontier.view.hosts()
    assert after - before < 100_000, "4,000 requests more have left nothing behind"


# -- sick hosts and a good one ------------------------------------------------------------------


def crawl_a_good_host(pages, sick=()):
    """Crawl a good host of so many *pages*, with *sick* URLs beside.

    Return its pages a second, and how many URLs were still pending when it was done.
    """
    good = {f"/{n}": Reply(body=f'<a href="/{n + 1}">x</a>', delay=0.005) for n in range(pages)}
    good |= {"/": "".join(f'<a href="/{n}">x</a>' for n in range(0, pages, 10))}
    # No sick one is given up in time, however long the good pages take.
    patient = CurlFetch(limits=Limits(connect=100, total=100))
    polite = {"robots": False, "delay": 0.005, "per_host": 2}
    with LoopbackSite(good) as site, patient as fetch:
        first = [site.url("/"), *sick]
        with running(first, fetch=fetch, workers=128, **polite) as (scheduler, _):
            while len(site.requests) < pages + 1:
                gevent.sleep(0.01)
            pending = scheduler.summary().urls.pending
        at = [hit.at for hit in site.requests]
    return pages / (at[-1] - at[0]), pending


def sick_urls(stalled):
    port = stalled.url().rpartition(":")[2]
    urls = [f"http://{address}:{port}{n}" for address in stalled.addresses for n in (1, 2)]
    return urls + [f"http://dead-{n}.invalid/" for n in range(20)]


def crawl_beside_sick_ones(pages):
    """Crawl a good host beside 50 that drip or are silent, and 20 dead names."""
    drip = faults.drip(b"x" * 100_000, every=0.2)
    pages_of_stalled = {"/1": drip, "/2": faults.silence()}
    addresses = [f"127.0.2.{n}" for n in range(1, 51)]
    with LoopbackSite(pages_of_stalled, addresses=addresses) as stalled:
        return crawl_a_good_host(pages, sick_urls(stalled))


def test_slow_and_dead_hosts_do_not_slow_a_good_one():
    _, pending = crawl_beside_sick_ones(pages=100)

    assert pending >= 100, "the good host is done before any of the slow ones is given up"


@pytest.mark.long
def test_slow_and_dead_hosts_leave_a_good_one_its_rate():
    def share():
        alone, _ = crawl_a_good_host(pages=500)
        beside, _ = crawl_beside_sick_ones(pages=500)
        return beside / alone

    assert max(share() for _ in range(3)) >= 0.9


# -- flat cost ----------------------------------------------------------------------------------


def test_a_request_among_many_hosts_costs_about_what_it_does_among_few():
    def take_all(number):
        hosts, now = HostSchedule(Politeness(per_host=1, delay=1.0, **EXACT)), 0.0
        for n in range(5_000):
            name = f"h{n % number}"
            hosts.put(hosts.table.find_or_add(name), request(name, n), now)
        for _ in range(5_000):
            while (got := begin(hosts, now)) is None:
                now = hosts.first()[0]
            hosts.end(got[0], now)

    # A scan of all hosts would take a hundred times as long.
    assert costs_at_most(4, lambda: take_all(5_000), lambda: take_all(50))
