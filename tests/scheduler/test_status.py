import random

import gevent
import pytest
from gevent.event import Event

from crawler.errors import StateError
from crawler.scheduler import Scheduler, Status
from crawler.scheduler.status import Life

# Rows: the status; columns: the wanted status, in the same order; x: the transition is allowed.
TABLE = """
    uninitialized  . x . . . . .
    initializing   . . x . . . .
    initialized    . x . x . . .
    starting       . . . . x . .
    started        . . . . . x .
    stopping       . . . . . . x
    stopped        . x . x . . .
"""
NAMES = [line.split()[0] for line in TABLE.strip().splitlines()]
PAIRS = [
    (now, wanted, mark == "x")
    for line in TABLE.strip().splitlines()
    for now, *marks in [line.split()]
    for wanted, mark in zip(NAMES, marks, strict=True)
]


@pytest.mark.parametrize(("now", "wanted", "allowed"), PAIRS)
def test_each_pair_of_states_is_as_the_table_says(now, wanted, allowed):
    life = Life(Status(now))

    if allowed:
        life.check(Status(wanted))
    else:
        with pytest.raises(StateError, match=f"not possible while the scheduler is {now}"):
            life.check(Status(wanted))

    assert life.status is Status(now)


def test_there_are_seven_states_and_they_read_as_words():
    assert [str(status) for status in Status] == NAMES
    assert len(PAIRS) == 49


def test_a_step_goes_through_and_arrives():
    life = Life(Status.INITIALIZED)

    with life.step(Status.STARTING, Status.STARTED):
        assert life.status is Status.STARTING

    assert life.status is Status.STARTED


@pytest.mark.parametrize("failure", [ValueError, gevent.GreenletExit, KeyboardInterrupt])
def test_a_step_that_fails_leads_back(failure):
    life = Life(Status.STOPPED)

    with pytest.raises(failure), life.step(Status.STARTING, Status.STARTED):
        raise failure

    assert life.status is Status.STOPPED


def test_a_step_may_lead_elsewhere_when_it_fails():
    life = Life(Status.STARTED)

    with (
        pytest.raises(ValueError),
        life.step(Status.STOPPING, Status.STOPPED, on_error=Status.STOPPED),
    ):
        raise ValueError

    assert life.status is Status.STOPPED


def test_a_forbidden_step_changes_nothing_for_the_one_under_way():
    life = Life(Status.INITIALIZED)

    with life.step(Status.STARTING, Status.STARTED):
        with pytest.raises(StateError), life.step(Status.STARTING, Status.STARTED):
            pytest.fail("two starts at a time")
        assert life.status is Status.STARTING

    assert life.status is Status.STARTED


def test_an_error_names_the_call_the_state_and_the_remedy():
    life = Life(Status.STARTING)

    with pytest.raises(
        StateError,
        match=r"add\(\) is not possible while the scheduler is starting: wait for start\(\) first",
    ):
        life.need("add()", Status.STARTED, Status.STOPPED)
    with pytest.raises(StateError, match=r"start\(\) is not possible .*: call init\(\) first"):
        Scheduler().start("http://a.test/")
    with pytest.raises(StateError, match=r"join\(\) is not possible .*: call init\(\) first"):
        Scheduler().join()


def test_wait_returns_at_once_when_it_is_there():
    Life(Status.STARTED).wait(Status.STOPPED, Status.STARTED)


def test_wait_is_woken_even_by_a_state_that_has_passed():
    life = Life(Status.INITIALIZED)
    waiter = gevent.spawn(life.wait, Status.STARTING)
    gevent.idle()

    with life.step(Status.STARTING, Status.STARTED):
        pass

    waiter.get(timeout=120)
    assert life.status is Status.STARTED


def test_wait_does_not_wake_for_other_states():
    life = Life(Status.UNINITIALIZED)
    waiter = gevent.spawn(life.wait, Status.STARTED)
    gevent.idle()

    with life.step(Status.INITIALIZING, Status.INITIALIZED):
        gevent.idle()

    assert not waiter.ready()
    waiter.kill()


def test_a_waiter_that_gives_up_leaves_nothing_behind():
    life = Life()
    waiters = [gevent.spawn(life.wait, Status.STARTED) for _ in range(5)]
    gevent.idle()

    gevent.killall(waiters, timeout=120)

    assert life._waiters == []


def test_calls_from_many_greenlets_cannot_wedge_it():
    random.seed(29)
    life = Life()
    steps = [
        (Status.INITIALIZING, Status.INITIALIZED),
        (Status.STARTING, Status.STARTED),
        (Status.STOPPING, Status.STOPPED),
    ]
    inside = []
    refused = Event()

    def meddle():
        for _ in range(200):
            through, to = random.choice(steps)
            try:
                with life.step(through, to):
                    inside.append(through)
                    assert len(inside) == 1
                    gevent.sleep(0)
                    assert life.status is through
                    inside.remove(through)
                    if random.random() < 0.3:
                        raise ZeroDivisionError
            except StateError:
                refused.set()
                gevent.sleep(0)
            except ZeroDivisionError:
                pass

    gevent.joinall([gevent.spawn(meddle) for _ in range(10)], timeout=120, raise_error=True)

    assert refused.is_set()
    assert life.status in (Status.INITIALIZED, Status.STARTED, Status.STOPPED)
