"""Renewals: a native thread that proves to Redis that this process lives."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import gevent
from gevent import monkey
from gevent.event import Event
from gevent.threadpool import ThreadPool

from ..errors import ClusterError, RedisAway
from ..frontier.durable.durations import Durations
from .keys import Keys
from .leases import Renewal
from .redis import connect, errors_of
from .scripts import SCRIPTS

#: The part of a lease's time after which it is renewed.
PERIOD = 0.3
#: Seconds after which a hub that has not run counts as stuck: its leases are not renewed any more.
_STUCK = 60.0
#: Seconds between two tries to reach a server that is away.
_AWAY_WAIT = 0.2

#: Goes on while the machine sleeps, where the system has such a clock.
_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def boot_time() -> float:
    return time.clock_gettime(_CLOCK)


class Renewals:
    """
    Renews all leases in one call, in a thread with a connection of its own.

    So a callback that computes for long costs no lease. Each answer is given to *on_answer* in
    the hub, with the time at which the renewal was sent; None stands for a connection that was
    interrupted. *args* returns the id, the figures and the tokens; the thread calls it.
    *durations* get how long each call took.
    """

    def __init__(
        self,
        url: str,
        keys: Keys,
        ttl: float,
        args: Callable[[], tuple[str, str, list[str]]],
        on_answer: Callable[[Renewal | None, float], object],
        durations: Durations,
    ) -> None:
        self._url = url
        self._durations = durations
        self._keys = keys
        self._ttl = ttl
        self._args = args
        self._on_answer = on_answer
        self._answers: list[tuple[Renewal | None, float]] = []
        self._arrived = Event()
        self._hub_ran = boot_time()
        self.failure: ClusterError | None = None
        # A lock that blocks the thread itself: released, it ends or hurries the thread.
        self._pause = monkey.get_original("_thread", "allocate_lock")()
        self._pause.acquire()
        self._is_ending = False
        self._pool = ThreadPool(1)
        self._wake = gevent.get_hub().loop.async_()
        self._wake.start(self._arrived.set)
        self._handling = gevent.spawn(self._handle)
        self._pool.spawn(self._run)

    def hurry(self) -> None:
        """Renew now."""
        if self._pause.locked():
            self._pause.release()

    def close(self) -> None:
        self._is_ending = True
        self.hurry()
        self._handling.kill()
        self._pool.kill()
        # Not before the thread is done: it may be about to use it.
        self._wake.stop()
        self._wake.close()

    def _handle(self) -> None:
        while True:
            self._arrived.wait()
            self._arrived.clear()
            self._hub_ran = boot_time()
            while self._answers:
                self._on_answer(*self._answers.pop(0))

    # -- the thread ---------------------------------------------------------------------------

    def _run(self) -> None:
        client = connect(self._url, answer=max(1.0, self._ttl / 2))
        try:
            while not self._is_ending:
                wait = self._ttl * PERIOD
                if boot_time() - self._hub_ran < _STUCK:
                    wait = self._renew(client)
                self._pause.acquire(timeout=wait)
        except ClusterError as error:
            self.failure = error
            self._tell(None, 0.0)
        finally:
            client.close()
            # Here, since the pool does not wait for it: a thread that is inside its hub while the
            # interpreter ends crashes the process.
            gevent.get_hub().destroy()

    def _renew(self, client: Any) -> float:
        """Send one renewal; return the seconds until the next."""
        name, figures, tokens = self._args()
        keys, sent = self._keys, boot_time()
        try:
            with errors_of(self._url), self._durations.measured():
                names = [keys.job, keys.here, keys.changes, *keys.leases]
                ttl = int(self._ttl) + 1
                answer = SCRIPTS.call(client, "renew", names, name, ttl, figures, *tokens)
        except RedisAway:
            self._tell(None, sent)
            return _AWAY_WAIT
        self._tell(Renewal.of(answer), sent)
        return self._ttl * PERIOD

    def _tell(self, answer: Renewal | None, sent: float) -> None:
        if not self._is_ending:
            self._answers.append((answer, sent))
            self._wake.send()
