import pytest

from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.politeness import Politeness

from .scheduling import EXACT, begin, entries, request


@pytest.mark.parametrize("number", [1_000, 5_000])
def test_the_heaps_have_about_one_entry_for_each_host(number):
    hosts = HostSchedule(Politeness(per_host=2, delay=1.0, **EXACT))
    now, in_flight = 0.0, []
    for n in range(number):
        for page in range(3):
            hosts.put(hosts.table.find_or_add(f"h{n}"), request(f"h{n}", page), now)
    most = 0

    for _ in range(3 * number):
        while (got := begin(hosts, now)) is None:
            now = hosts.first()[0]
        in_flight.append(got[0])
        if len(in_flight) > 50:
            hosts.end(in_flight.pop(0), now, latency=0.01)
        most = max(most, entries(hosts))

    assert hosts.queued == 0
    assert most <= 2 * number + 200
    for host in in_flight:
        hosts.end(host, now)
    assert hosts.ready(now + 10) is None
    assert len(hosts) == entries(hosts) == 0


def test_a_retry_far_ahead_leaves_no_trail_of_entries():
    hosts = HostSchedule(Politeness.off())
    host = hosts.table.find_or_add("a")
    hosts.put_later(host, request("a", "retry"), due=1e6, now=0.0)

    for n in range(5_000):
        hosts.put(host, request("a", n), float(n))
        begin(hosts, float(n))
        hosts.end(host, float(n))

    assert entries(hosts) < 300
    assert hosts.first()[0] == 1e6


def test_steering_leaves_no_trail_of_entries():
    hosts = HostSchedule(Politeness.off(delay=5.0))
    for n in range(10):
        hosts.put(hosts.table.find_or_add(f"h{n}"), request(f"h{n}"), 0.0)

    for now in range(5_000):
        host = hosts.table.find_or_add(f"h{now % 10}")
        hosts.pause(host, float(now), paused=True)
        hosts.pause(host, float(now), paused=False)
        hosts.put(host, request(host.name, priority=now), float(now))

    assert entries(hosts) < 300
