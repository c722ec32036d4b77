"""DueTimer: it calls once, at the time that was set last."""

from time import monotonic

import gevent
import pytest
from gevent.event import Event

from crawler.fetch.curl.due_timer import DueTimer

#: Long enough that no call of another timer comes later, short enough to wait for.
SOON = 0.02


class Loop:
    """The hub's loop, which notes the timers that are made."""

    def __init__(self):
        self.made = []

    def timer(self, seconds):
        self.made.append(seconds)
        return gevent.get_hub().loop.timer(seconds)


@pytest.fixture
def timed():
    """A timer, the event that it sets, and its loop."""
    loop, called = Loop(), Event()
    timer = DueTimer(loop, called.set)
    yield timer, called, loop
    timer.cancel()


def test_it_calls_once_when_the_time_has_come(timed):
    timer, called, loop = timed
    began = monotonic()
    timer.set(SOON)

    assert called.wait(120)

    assert monotonic() - began >= SOON
    assert len(loop.made) == 1
    called.clear()
    assert not called.wait(2 * SOON)


def test_a_time_that_is_put_off_makes_no_new_timer_until_the_first_has_fired(timed):
    timer, called, loop = timed
    timer.set(SOON)
    began = monotonic()
    for _ in range(100):
        timer.set(2 * SOON)
    assert len(loop.made) == 1

    assert called.wait(120)

    assert monotonic() - began >= 2 * SOON


def test_an_earlier_time_holds(timed):
    timer, called, loop = timed
    timer.set(1000)
    timer.set(SOON)

    assert called.wait(120)

    assert loop.made[0] > 900 > loop.made[1]


def test_after_cancel_nothing_is_called_and_a_time_can_be_set_again(timed):
    timer, called, _ = timed
    timer.set(SOON)
    timer.cancel()
    assert not called.wait(2 * SOON)

    timer.set(0)

    assert called.wait(120)
