import heapq
import itertools
import random

from hypothesis import given
from hypothesis import strategies as st

from crawler.frontier.hosts.host import Address
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.politeness import Politeness

from .scheduling import EXACT, begin, drain, filled, request, unpark


def test_a_host_rests_from_the_end_of_its_last_request():
    hosts = HostSchedule(Politeness(per_host=1, delay=2.0, **EXACT))
    host = filled(hosts, "a", 2)

    begin(hosts, now=0.0)
    hosts.end(host, now=5.0)

    assert begin(hosts, now=6.9) is None
    assert hosts.first()[0] == 7.0
    assert begin(hosts, now=7.0)[1].url == "http://a/1"


def test_requests_in_flight_at_once_do_not_start_at_once():
    hosts = HostSchedule(Politeness(per_host=2, delay=2.0, **EXACT))
    filled(hosts, "a", 3)

    assert begin(hosts, now=0.0)
    assert begin(hosts, now=1.0) is None
    assert begin(hosts, now=2.0)
    assert begin(hosts, now=9.0) is None, "two are in flight"


def test_other_hosts_go_on_while_one_rests():
    hosts = HostSchedule(Politeness(per_host=1, delay=10.0, **EXACT))
    filled(hosts, "a", 5)
    filled(hosts, "b", 1)

    assert [begin(hosts, now=0.0)[0].name for _ in range(2)] == ["a", "b"]
    assert begin(hosts, now=0.0) is None


def test_a_host_drained_and_refilled_keeps_its_distance():
    hosts = HostSchedule(Politeness(per_host=1, delay=3.0, **EXACT))
    host = filled(hosts, "a", 1)
    begin(hosts, now=0.0)
    hosts.end(host, now=1.0)

    hosts.put(hosts.table.find_or_add("a"), request("a", "again"), now=1.5)

    assert begin(hosts, now=3.9) is None
    assert begin(hosts, now=4.0)


def test_a_crawl_delay_is_obeyed_however_long_and_one_at_a_time():
    hosts = HostSchedule(Politeness(per_host=8, delay=0.0, **EXACT))
    host = filled(hosts, "a", 3)
    host.crawl_delay = 100_000.0

    assert begin(hosts, now=0.0)
    assert begin(hosts, now=100_001.0) is None, "one is in flight"
    hosts.end(host, now=100_001.0)
    assert begin(hosts, now=200_000.9) is None
    assert begin(hosts, now=200_001.0)


def test_within_a_host_priority_then_depth_then_age_decide():
    hosts = HostSchedule(Politeness.off())
    host = hosts.table.find_or_add("a")
    for n, (priority, depth) in enumerate([(0, 2), (0, 1), (5, 3), (0, 1), (5, 1)]):
        hosts.put(host, request("a", n, priority=priority, depth=depth), now=0.0)

    order = [begin(hosts, now=0.0)[1].url[-1] for _ in range(5)]

    assert order == ["4", "2", "1", "3", "0"]


def test_priority_buys_time_but_does_not_starve_other_hosts():
    hosts = HostSchedule(Politeness.off(per_host=1))
    filled(hosts, "plain", 1, now=0.0)
    filled(hosts, "urgent", 1, now=3.0, priority=5)
    filled(hosts, "late", 1, now=20.0, priority=5)

    names = [begin(hosts, now=20.0)[0].name for _ in range(3)]

    assert names == ["urgent", "plain", "late"]


def test_a_retry_waits_its_time_while_others_of_its_host_go_on():
    hosts = HostSchedule(Politeness.off())
    host = filled(hosts, "a", 1)
    hosts.put_later(host, request("a", "retry"), due=10.0, now=0.0)

    assert begin(hosts, now=1.0)[1].url == "http://a/0"
    assert begin(hosts, now=9.9) is None
    assert hosts.first()[0] == 10.0
    assert begin(hosts, now=10.0)[1].url == "http://a/retry"


def test_a_parked_host_hands_out_robots_requests_only():
    hosts = HostSchedule(Politeness.off())
    host = filled(hosts, "a", 1)
    hosts.park(host, "robots.txt")
    hosts.schedule(host, now=0.0)
    assert hosts.ready(0.0) is None

    host.robots_requests = [request("a", "robots.txt")]
    hosts.schedule(host, now=0.0)
    assert hosts.ready(0.0) is host
    host.robots_requests.pop()
    hosts.begin(host, 0.0)
    hosts.end(host, 1.0)
    assert hosts.ready(1.0) is None

    unpark(hosts, host, 1.0)
    assert begin(hosts, now=1.0)[1].url == "http://a/0"


def test_a_paused_host_holds_nothing_up():
    hosts = HostSchedule(Politeness.off())
    host = filled(hosts, "a", 1)
    filled(hosts, "b", 1)
    hosts.pause(host, now=0.0, paused=True)

    assert begin(hosts, now=0.0)[0].name == "b"
    assert begin(hosts, now=0.0) is None
    hosts.pause(host, now=0.0, paused=False)
    assert begin(hosts, now=0.0)[0].name == "a"


def test_a_failing_host_is_asked_one_request_at_a_time():
    hosts = HostSchedule(Politeness.off(per_host=4, probe_after=2))
    host = filled(hosts, "a", 4)
    host.failures = 2

    assert begin(hosts, now=0.0)
    assert begin(hosts, now=0.0) is None


def test_draining_takes_out_all_requests():
    hosts = HostSchedule(Politeness.off())
    host = filled(hosts, "a", 3)
    hosts.put_later(host, request("a", "retry"), due=10.0, now=0.0)

    assert len(drain(hosts, host, now=0.0)) == 4

    assert hosts.queued == 0
    assert hosts.ready(20.0) is None
    assert len(hosts) == 0


@given(
    seed=st.integers(0, 2**32),
    per_host=st.integers(1, 3),
    delay=st.sampled_from([0.0, 0.5, 2.0]),
    names=st.integers(1, 6),
    addresses=st.integers(0, 3),
)
def test_no_host_is_ever_hit_harder_than_it_allows(seed, per_host, delay, names, addresses):
    """A simulated crawl with retries, pauses, refills and shared addresses, checked at every start."""
    dice = random.Random(seed)
    hosts = HostSchedule(
        Politeness(per_host=per_host, delay=delay, per_ip=2 if addresses else None, **EXACT)
    )
    shared = [Address() for _ in range(addresses)]
    now, put, done = 0.0, 0, 0
    flying = []  # (end, n, host)
    last_start, last_end, in_flight = {}, {}, {}

    def put_some(number):
        nonlocal put
        for _ in range(number):
            name = f"h{dice.randrange(names)}"
            host = hosts.table.find_or_add(name)
            if shared and host.address is None:
                host.address = shared[hash(name) % len(shared)]
            hosts.put(host, request(name, put, depth=dice.randrange(3)), now)
            put += 1

    put_some(20)
    for _ in range(400):
        got = begin(hosts, now)
        if got is not None:
            host, _ = got
            name = host.name
            in_flight[name] = in_flight.get(name, 0) + 1
            assert in_flight[name] <= per_host
            assert now - last_start.get(name, -99) >= delay - 1e-9
            assert now - last_end.get(name, -99) >= delay - 1e-9
            assert host.address is None or 0 < host.address.in_flight <= 2
            last_start[name] = now
            heapq.heappush(flying, (now + dice.random() * 3, next(hosts._numbers), host))
            continue
        due = hosts.first()
        end = flying[0][0] if flying else None
        times = [t for t in (due and due[0], end) if t is not None]
        if not times:
            break
        now = max(now, min(times))
        if end is not None and end <= now:
            _, _, host = heapq.heappop(flying)
            in_flight[host.name] -= 1
            last_end[host.name] = now
            done += 1
            again = dice.random() < 0.2 and put < 60
            hosts.end(host, now, latency=0.1)
            if again:
                hosts.put_later(host, request(host.name, put), now + dice.random() * 4, now)
                put += 1
            if dice.random() < 0.3 and put < 60:
                put_some(dice.randrange(4))

    assert done == put
    assert hosts.queued == 0


# -- batches ----------------------------------------------------------------------------------


def taken_in_order(hosts, number):
    """Begin and end that many requests, one after the other; return the names of their hosts."""
    names = []
    for now in range(number):
        host, _ = begin(hosts, float(now))
        hosts.end(host, float(now))
        names.append(host.name)
    return names


def test_a_host_that_needs_no_rest_has_a_batch_and_then_the_others_have_theirs():
    hosts = HostSchedule(Politeness(per_host=1, delay=0.0, **EXACT))
    for name in "abc":
        filled(hosts, name, 40)

    batches = [(name, len(list(run))) for name, run in itertools.groupby(taken_in_order(hosts, 96))]

    assert batches == [("a", 16), ("b", 16), ("c", 16)] * 2


def test_hosts_that_rest_alternate_one_request_at_a_time():
    hosts = HostSchedule(Politeness(per_host=1, delay=1.5, **EXACT))
    for name in "ab":
        filled(hosts, name, 9)

    assert taken_in_order(hosts, 8) == ["a", "b"] * 4


def test_a_batch_goes_on_after_the_request_for_robots_txt():
    hosts = HostSchedule(Politeness(per_host=1, delay=0.0, **EXACT))
    first, second = (filled(hosts, name, 3) for name in "ab")
    assert hosts.ready(0.0) is first
    hosts.park(first, "robots.txt")
    hosts.begin(first, 0.0)
    assert begin(hosts, 0.0)[0] is second

    for host in (second, first):
        hosts.end(host, 0.0)
    unpark(hosts, first, 0.0)

    assert taken_in_order(hosts, 5) == ["a", "a", "a", "b", "b"]


@given(st.lists(st.integers(1, 60), min_size=2, max_size=8))
def test_whatever_waits_elsewhere_each_host_has_its_batch_in_time(sizes):
    hosts = HostSchedule(Politeness(per_host=1, delay=0.0, **EXACT))
    for number, size in enumerate(sizes):
        filled(hosts, str(number), size)

    order = taken_in_order(hosts, sum(sizes))

    for name in map(str, range(len(sizes))):
        places = [place for place, taken in enumerate(order) if taken == name]
        assert len(places) == sizes[int(name)]
        assert places[0] <= 16 * (len(sizes) - 1)
        assert all(b - a <= 1 + 16 * (len(sizes) - 1) for a, b in itertools.pairwise(places))
