import time

import gevent

from crawler._give_way import give_way


def test_timers_have_their_turn_each_time():
    """With gevent.sleep(0) the hub would run the loop below to its end first."""
    turns = []

    def tick():
        while True:
            gevent.sleep(0.0001)
            turns.append(1)

    ticking = gevent.spawn(tick)
    gevent.sleep(0)
    for _ in range(50):
        busy_until = time.perf_counter() + 0.001
        while time.perf_counter() < busy_until:
            pass
        give_way()
    ticking.kill()

    assert len(turns) >= 40
