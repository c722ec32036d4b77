import gevent
import pytest

from crawler.frontier.hosts.wakeup import Wakeup


@pytest.fixture
def wakeup():
    return Wakeup()


@pytest.fixture
def sleep(wakeup):
    """Start a greenlet that sleeps until a time, far in the future or None."""
    started = []

    def sleep(until=1e6):
        started.append(gevent.spawn(wakeup.sleep, 0.0, until))
        gevent.sleep(0)
        return started[-1]

    yield sleep
    gevent.killall(started)


def is_asleep(greenlet):
    for _ in range(3):
        gevent.sleep(0)
    return not greenlet.dead


@pytest.mark.parametrize("until", [-5.0, 0.0, 0.001])
def test_it_sleeps_until_its_time(wakeup, until):
    with gevent.Timeout(120):
        wakeup.sleep(0.0, until)


def test_what_is_due_earlier_wakes_it_and_what_is_due_later_does_not(wakeup, sleep):
    greenlet = sleep(until=100.0)

    wakeup.wake_before(100.0)
    assert is_asleep(greenlet)

    wakeup.wake_before(99.9)
    assert not is_asleep(greenlet)


def test_without_a_time_whatever_is_due_wakes_it(wakeup, sleep):
    greenlet = sleep(until=None)
    assert is_asleep(greenlet)

    wakeup.wake_before(1e9)

    assert not is_asleep(greenlet)


def test_all_that_sleep_are_woken(wakeup, sleep):
    greenlets = [sleep() for _ in range(3)]

    wakeup.wake()

    assert not any(map(is_asleep, greenlets))


def test_a_wake_before_the_sleep_does_not_shorten_it(wakeup, sleep):
    wakeup.wake_before(-1e9)
    wakeup.wake()

    assert is_asleep(sleep())


def test_a_time_that_has_passed_wakes_nobody_later(wakeup, sleep):
    with gevent.Timeout(120):
        wakeup.sleep(0.0, 0.001)
    greenlet = sleep(until=None)
    gevent.sleep(0.01)

    assert is_asleep(greenlet)


def test_who_is_woken_early_leaves_no_timer(wakeup, sleep):
    greenlet = sleep(until=0.01)
    wakeup.wake()
    greenlet.join(120)
    other = sleep(until=None)
    gevent.sleep(0.05)

    assert greenlet.dead
    assert is_asleep(other)
