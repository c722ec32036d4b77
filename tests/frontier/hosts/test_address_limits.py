import itertools

import pytest

from crawler.frontier.hosts.host import Address
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.politeness import Politeness

from .scheduling import begin, entries, filled, request


def test_hosts_of_one_address_share_its_limit_and_alternate():
    hosts = HostSchedule(Politeness.off(per_ip=2, ip_delay=1.0))
    address = Address()
    for name in "abcdef":
        hosts.table.find_or_add(name).address = address
        filled(hosts, name, 2)

    taken, now, in_flight = [], 0.0, []
    while len(taken) < 12:
        assert now < 100
        got = begin(hosts, now)
        if got is None:
            for host in in_flight[:1]:
                hosts.end(host, now)
            in_flight = in_flight[1:]
            now += 0.25
            continue
        taken.append((now, got[0].name))
        in_flight.append(got[0])
        assert len(in_flight) <= 2

    starts = [start for start, _ in taken]
    assert all(later - earlier >= 1.0 for earlier, later in itertools.pairwise(starts))
    assert sorted(name for _, name in taken) == sorted("abcdef" * 2)
    assert len({name for _, name in taken[:6]}) == 6, "each host once before any twice"


def test_thousands_of_hosts_of_one_address_are_all_served_in_order():
    hosts = HostSchedule(Politeness.off(per_ip=4, ip_delay=0.1))
    address, now, taken = Address(), 0.0, []
    for n in range(3_000):
        host = hosts.table.find_or_add(f"h{n}")
        host.address = address
        hosts.put(host, request(host.name), now)

    while len(taken) < 3_000:
        got = begin(hosts, now)
        if got is None:
            now = max(now, hosts.first()[0])
        else:
            taken.append(got[0].name)
            hosts.end(got[0], now)
            assert entries(hosts) <= 2 * 3_000 + 200

    assert taken == [f"h{n}" for n in range(3_000)]
    assert now == pytest.approx(0.1 * 2_999)
