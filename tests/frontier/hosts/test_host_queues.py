import gevent
import pytest

from crawler.data import Link, Request
from crawler.frontier.hosts.host_queues import HostQueues
from crawler.frontier.hosts.host_schedule import HostSchedule
from crawler.frontier.hosts.nearest_depth import NearestDepth
from crawler.frontier.hosts.politeness import Politeness
from crawler.frontier.hosts.wakeup import Wakeup

FOUND_ON = "http://a.test/"


def make(**limits):
    politeness = Politeness.off(**limits)
    nearest = NearestDepth(matters=True)
    return HostQueues(politeness, HostSchedule(politeness), nearest, Wakeup(), clock=lambda: 0.0)


@pytest.fixture
def queues():
    return make()


@pytest.fixture
def host(queues):
    return queues.host_named("a.test")


def found_twice(queues, host):
    """Let one URL wait at depth 3, and be found again at depth 1; let another wait at depth 2."""
    queues.put(host, Link("http://a.test/twice", 3, FOUND_ON))
    queues.put(host, Link("http://a.test/once", 2, FOUND_ON))
    queues.put(host, queues.nearer(Link("http://a.test/twice", 1, FOUND_ON)))


def test_each_host_has_a_record_of_its_own(queues):
    assert queues.host_of("http://a.test/1") is queues.host_of("https://a.test:81/2")
    assert queues.host_of("http://a.test/") is not queues.host_of("http://www.a.test/")


def test_hosts_of_a_domain_share_a_record_if_asked_to():
    queues = make(share="domain")

    assert queues.host_of("http://a.example.org/") is queues.host_of("http://b.example.org/")
    assert queues.record("WWW.Example.ORG").name == "example.org"


def test_an_origin_is_given_up_and_no_other_of_its_host(queues):
    assert not queues.is_dead("http://a.test:81/")

    queues.dead.add("http://a.test:81", "no connection")

    assert queues.is_dead("http://a.test:81/x")
    assert not queues.is_dead("http://a.test:811/x")
    assert not queues.is_dead("https://a.test:81/x")


def test_a_url_found_twice_counts_and_is_handed_out_once(queues, host):
    found_twice(queues, host)

    assert len(queues) == 2
    pulled = [queues.pull(host) for _ in range(3)]

    assert [(r.url[-4:], r.depth) for r in pulled[:2]] == [("wice", 1), ("once", 2)]
    assert pulled[2] is None
    assert len(queues) == 0


def test_draining_leaves_out_what_is_stale(queues, host):
    found_twice(queues, host)
    queues.put_later(host, Request("http://a.test/retry"), due=10.0, now=0.0)

    drained = sorted(request.url for request in queues.drain(host))

    assert drained == [f"http://a.test/{name}" for name in ("once", "retry", "twice")]
    assert len(queues) == 0


def test_a_stale_request_that_is_dropped_did_not_count(queues, host):
    for request in (Request("http://a.test/1", depth=3), Request("http://a.test/2", depth=2)):
        queues.put(host, request)
    queues.put(host, queues.nearer(Link("http://a.test/1", 1, FOUND_ON)))

    counted = [queues.forget_last(host, host.queue.last()) for _ in range(2)]

    assert counted == [False, True]
    assert len(queues) == 1


def test_a_parked_host_hands_out_nothing(queues, host):
    queues.put(host, Request("http://a.test/"))
    host.parked = "robots.txt"

    assert queues.pull(host) is None

    queues.unpark(host)
    assert queues.pull(host).url == "http://a.test/"


def put(queues):
    queues.put(queues.host_named("b.test"), Request("http://b.test/"))


def put_later(queues):
    queues.put_later(queues.host_named("b.test"), Request("http://b.test/"), due=9.0, now=0.0)


def ask(queues):
    queues.ask(Request("http://b.test/robots.txt"), now=0.0)


def unpark(queues):
    queues.unpark(queues.host_named("a.test"))


def end_of_fetch(queues):
    queues.wake_after(queues.host_named("b.test"))


@pytest.mark.parametrize(
    "change", [put, put_later, ask, unpark, end_of_fetch, HostQueues.wake, HostQueues.close]
)
def test_what_may_be_due_earlier_wakes_the_sleepers(queues, host, change):
    queues.put(host, Request("http://a.test/"))
    host.parked = "robots.txt"
    sleeping = gevent.spawn(queues.wakeup.sleep, 0.0, None)
    for _ in range(3):
        gevent.sleep(0)
    assert not sleeping.dead, "nothing is due while the host is parked"

    change(queues)

    sleeping.join(timeout=120)
    assert sleeping.dead


def test_nothing_is_due_before_there_is_bandwidth(queues, host):
    queues.put(host, Request("http://a.test/"))

    assert queues.next_due(0.0, 0.0) == 0.0
    assert queues.next_due(0.0, 1000.0) == 1000.0
