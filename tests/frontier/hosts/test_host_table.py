from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.politeness import Politeness

from .scheduling import EXACT, begin, entries, filled, request


def test_a_host_that_has_rested_and_has_nothing_is_forgotten():
    hosts = HostSchedule(Politeness(per_host=1, delay=3.0, **EXACT))
    host = filled(hosts, "a", 1)
    begin(hosts, now=0.0)
    hosts.end(host, now=1.0)
    assert begin(hosts, now=3.9) is None
    assert len(hosts) == 1

    assert begin(hosts, now=4.0) is None

    assert len(hosts) == 0


def test_many_hosts_that_rest_with_nothing_to_do_are_not_in_the_way():
    hosts = HostSchedule(Politeness(per_host=1, delay=0.0, **EXACT))
    for n in range(5_000):
        host = hosts.table.find_or_add(f"ill{n}")
        hosts.put(host, request(host.name), 0.0)
        begin(hosts, 0.0)
        host.failures = 1
        hosts.rest(host, 0.0, 3600.0, "503")
        hosts.end(host, 0.0)

    assert len(hosts) == 5_000
    assert not hosts._due._resting
    assert not hosts._due._ready
    assert hosts.first() is None
    hosts.ready(3600.0 + 1801.0)
    assert len(hosts) == entries(hosts) == 0
