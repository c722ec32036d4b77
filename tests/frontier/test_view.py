"""What the frontier says about hosts that have as many requests in flight as they may have."""

import gevent
import pytest

from crawler import Request
from crawler.frontier import Frontier, Politeness, Scope

from .steps import Clock, answer, fail, take


@pytest.fixture
def frontier():
    politeness = Politeness(per_host=2, delay=0, latency_factor=0, jitter=0, backoff=1.0)
    return Frontier(Scope(["a.test"]), politeness=politeness, clock=Clock())


def admit(frontier, number):
    for n in range(number):
        frontier.admit(Request(f"http://a.test/{n}"))


def answer_robots(frontier, text):
    taken = take(frontier)
    assert taken.is_robots
    answer(frontier, taken, body=text.encode())


def test_a_crawl_delay_is_why_a_host_gets_one_request_at_a_time(frontier):
    admit(frontier, 5)
    answer_robots(frontier, "User-agent: *\nCrawl-delay: 3")
    frontier._parts.clock.now += 3

    assert take(frontier) is not None
    assert take(frontier) is None

    assert frontier.view.next_wake() is None
    assert frontier.view.resting() == "crawl-delay"


def test_a_host_with_the_usual_number_of_requests_has_no_other_reason(frontier):
    admit(frontier, 5)
    answer_robots(frontier, "")

    assert take(frontier) is not None
    assert take(frontier) is not None

    assert take(frontier) is None
    assert frontier.view.next_wake() is None
    assert frontier.view.resting() == ""


def test_failures_are_why_a_host_gets_one_request_at_a_time(frontier):
    admit(frontier, 9)
    answer_robots(frontier, "")
    for _ in range(3):
        frontier._parts.clock.now += 100
        fail(frontier, take(frontier))
    frontier._parts.clock.now += 100

    assert take(frontier) is not None
    assert take(frontier) is None

    assert frontier.view.resting() == "connect"


def test_retries_are_counted_by_what_had_failed(frontier):
    admit(frontier, 2)
    answer_robots(frontier, "")
    answer(frontier, take(frontier), status=500)
    frontier._parts.clock.now += 100
    fail(frontier, take(frontier))

    assert frontier.view.retries == {"http_500": 1, "connect": 1}


def test_retries_of_a_job_of_an_older_version_are_of_no_kind(frontier):
    frontier.view.recall({"retried": 3})
    assert frontier.view.retries == {"": 3}


def test_hosts_are_counted_by_what_they_do():
    names = ("busy", "ready", "resting", "paused", "idle")
    politeness = Politeness(delay=5, latency_factor=0, jitter=0, robots=False)
    scope = Scope([f"{name}.test" for name in names])
    frontier = Frontier(scope, politeness=politeness, clock=Clock())
    for name in ("idle", "resting", "busy"):
        frontier.admit(Request(f"http://{name}.test/"))
        taken = take(frontier)
        if name != "busy":
            answer(frontier, taken)
    for name in ("resting", "ready", "paused"):
        frontier.admit(Request(f"http://{name}.test/more"))
    frontier.pause("paused.test")

    states = frontier.view.host_states()

    assert states == {"in_flight": 1, "ready": 1, "resting": 1, "waiting": 1, "idle": 1}


def test_others_run_while_many_hosts_are_counted():
    frontier = Frontier(Scope(["*"]), politeness=Politeness.off())
    for number in range(2500):
        frontier.admit(Request(f"http://h{number}.test/"))
    counting = gevent.spawn(frontier.view.host_states)
    turns = 0
    while not counting.ready():
        gevent.sleep(0)
        turns += 1

    assert turns > 2
    assert counting.get()["ready"] == 2500
