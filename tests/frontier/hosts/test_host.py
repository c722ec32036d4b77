import pytest

from crawler.data import Request
from crawler.frontier.hosts.host import NEVER, Host, HostFigures
from crawler.frontier.hosts.origins import FailingOrigin


def request(n=0, **rest):
    return Request(f"http://a.test/{n}", **rest)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("parked", "robots.txt"),
        ("paused", True),
        ("waits_for_address", True),
        ("in_flight", 1),
        ("delay", 0.0),
        ("stored", 1),
    ],
)
def test_a_host_that_somebody_relies_on_is_never_forgotten(name, value):
    host = Host("a.test")
    host.ready_at = 5.0
    assert host.forgettable_at == 5.0

    setattr(host, name, value)

    assert host.forgettable_at == NEVER


def test_failures_are_remembered_after_a_rest():
    host = Host("a.test")
    host.ready_at, host.failing = 5.0, {"http://a.test": FailingOrigin()}
    assert 5.0 < host.forgettable_at < NEVER

    before = host.forgettable_at
    host.failing["http://a.test"].rest(100.0, "connect")
    assert host.forgettable_at == before + 95.0


def test_what_is_ripe_goes_before_its_rank_and_the_rest_waits():
    host = Host("a.test")
    host.queue.put(request(0))
    host.retries = [(1.0, 1, request(1)), (9.0, 2, request(2))]

    host.move_due_retries(5.0)

    assert [host.queue.get().url for _ in range(2)] == ["http://a.test/1", "http://a.test/0"]
    assert host.queued == 1
    assert host.due() == 9.0


def test_the_figures_tell_the_strongest_reason_to_wait():
    host = Host("a.test")
    host.queue.put(request())
    host.ready_at, host.why = 5.0, "delay"
    assert HostFigures.of(host, delay=1.0, now=2.0).why == "delay"
    assert HostFigures.of(host, delay=1.0, now=2.0).due_in == 3.0
    assert HostFigures.of(host, delay=1.0, now=6.0).why == ""

    host.parked = "robots.txt"
    assert HostFigures.of(host, delay=1.0, now=2.0).why == "robots.txt"
    host.paused = True
    assert HostFigures.of(host, delay=1.0, now=2.0).why == "paused"
    assert HostFigures.of(host, delay=1.0, now=2.0).due_in is None
