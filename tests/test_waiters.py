import time
import weakref

import gevent
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler._waiters import Waiters


@pytest.fixture
def waiters():
    return Waiters()


def spawn(waiters, number):
    greenlets = [gevent.spawn(waiters.wait) for _ in range(number)]
    gevent.idle()
    assert len(waiters.asleep) == number
    return greenlets


def test_wakes_the_greenlet_that_waited_longest(waiters):
    greenlets = spawn(waiters, 3)

    waiters.wake()
    gevent.idle()

    assert [greenlet.ready() for greenlet in greenlets] == [True, False, False]
    assert len(waiters.asleep) == 2
    gevent.killall(greenlets, timeout=120)


def test_wakes_another_each_time_also_before_the_first_has_run(waiters):
    greenlets = spawn(waiters, 3)

    waiters.wake()
    waiters.wake()
    gevent.idle()

    assert [greenlet.ready() for greenlet in greenlets] == [True, True, False]
    gevent.killall(greenlets, timeout=120)


def test_wakes_all(waiters):
    greenlets = spawn(waiters, 20)

    waiters.wake()
    waiters.wake_all()

    assert len(gevent.joinall(greenlets, timeout=120)) == 20
    assert all(greenlet.value is True for greenlet in greenlets)


def test_a_wake_up_without_waiters_is_not_kept(waiters):
    waiters.wake()
    waiters.wake_all()

    assert waiters.wait(timeout=0) is False


def test_returns_false_when_the_time_is_over(waiters):
    assert waiters.wait(timeout=0.01) is False
    assert not waiters.asleep


def test_a_wake_up_before_the_time_is_over_counts_though_the_hub_comes_to_both_late(waiters):
    waiter = gevent.spawn(waiters.wait, 0.001)
    gevent.idle()

    waiters.wake()
    time.sleep(0.01)

    assert waiter.get(timeout=120) is True
    assert not waiters.asleep


def test_a_waiter_that_dies_after_it_was_woken_leaves_that_to_the_next(waiters):
    first, second = spawn(waiters, 2)

    waiters.wake()
    first.kill(block=False)
    gevent.idle()

    assert second.ready() or first.value is True
    gevent.killall([first, second], timeout=120)


def test_a_waiter_that_was_killed_is_freed_at_once(waiters):
    (greenlet,) = spawn(waiters, 1)
    killed = weakref.ref(greenlet)
    greenlet.kill(timeout=120)
    del greenlet
    gevent.idle()

    assert killed() is None


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["take", "take in time", "give", "yield"]),
            st.tuples(st.just("kill"), st.integers(0, 40)),
        ),
        max_size=60,
    )
)
def test_no_greenlet_sleeps_while_there_is_a_datum_to_take(steps):
    """The loop in which every user waits: takers start, end, are killed and time out."""
    waiters, given_, taken, takers = Waiters(), [], [], []

    def take(timeout=None):
        while not given_:
            if not waiters.wait(timeout):
                return
        taken.append(given_.pop())

    def give():
        given_.append(1)
        if waiters.asleep:
            waiters.wake()

    for step in steps:
        if step == "give":
            give()
        elif step == "yield":
            gevent.sleep(0)
        elif step == "take":
            takers.append(gevent.spawn(take))
        elif step == "take in time":
            takers.append(gevent.spawn(take, 0.0001))
        elif takers:
            takers[step[1] % len(takers)].kill(block=False)
    gevent.sleep(0.001)
    gevent.idle()
    asleep = [taker for taker in takers if not taker.ready()]
    gevent.killall(takers, timeout=120)

    assert not (asleep and given_)
    assert len(given_) + len(taken) == steps.count("give")
    assert not waiters.asleep
