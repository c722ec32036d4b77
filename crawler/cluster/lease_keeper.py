"""LeaseKeeper: renews the leases of this process, claims free ones, and knows when to stop."""

from __future__ import annotations

import json
import logging
import os
import socket
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

import gevent
from gevent.event import Event
from gevent.lock import Semaphore

from ..credentials import hide_passwords
from ..data import Link, Request
from ..errors import ClusterError, CrawlerError, RedisAway
from ..frontier.hosts.wakeup import Wakeup
from .held_shards import HeldShards
from .job_record import JobRecord
from .leases import LeaseTable, Renewal
from .renewals import PERIOD, Renewals, boot_time
from .server import Server

log = logging.getLogger(__name__)

#: The part of a lease's time, and the most seconds, that a process stops before its end.
_MARGIN_SHARE = 0.2
_MARGIN = 2.0
#: The most seconds that a process which ends waits for a claim that is under way.
_CLAIM_END = 10.0


class _Proof:
    """
    For how many seconds leases that last *ttl* seconds cannot have run out, by our own clock.

    *on_silence* is called when that is over: what is in flight then must not go on.
    """

    def __init__(self, ttl: float, on_silence: Callable[[], object]) -> None:
        self._lasts = ttl - min(_MARGIN, ttl * _MARGIN_SHARE)
        self._on_silence = on_silence
        #: How often it was over, and renewed afterwards.
        self.rejoins = 0
        self._is_over = False
        #: When the last renewal was sent that was answered.
        self._sent = 0.0
        self._is_renewed = Event()
        self._watching = gevent.spawn(self._watch)

    @property
    def seconds(self) -> float:
        return self._sent + self._lasts - boot_time()

    def renew(self, sent: float) -> None:
        self._sent = sent
        self.rejoins += self._is_over
        self._is_over = False
        self._is_renewed.set()

    def close(self) -> None:
        self._watching.kill()

    def _watch(self) -> None:
        while True:
            self._is_renewed.clear()
            self._is_renewed.wait()
            while (seconds := self.seconds) > 0.0:
                gevent.sleep(seconds)
            self._is_over = True
            self._on_silence()


class LeaseKeeper:
    """
    Keeps the leases of *held*, and takes its share of those that are free or have run out.

    *first* returns the first requests of the job, which the scheduler with their lease sends to their
    shards. *figures* returns what the others see of this process. At each answer *on_status* is
    called with the job's status, *on_restarts* with the number of its restarts; *on_silence* is
    called when the leases may have run out, since Redis does not answer, *on_failure* when no lease
    can be kept any more.
    """

    def __init__(
        self,
        server: Server,
        record: JobRecord,
        leases: LeaseTable,
        held: HeldShards,
        wakeup: Wakeup,
        *,
        first: Callable[[], Iterable[Request | Link]],
        figures: Callable[[], Mapping[str, Any]],
        on_status: Callable[[str], object],
        on_silence: Callable[[], object],
        on_restarts: Callable[[int], object],
        on_failure: Callable[[CrawlerError], object],
    ) -> None:
        #: The name of this process among the schedulers of the job.
        self.id = f"{socket.gethostname()}:{os.getpid()}:{os.urandom(4).hex()}"
        #: Whether the server has little room left, as it last said.
        self.is_full = False
        self._server = server
        self._record = record
        self._leases = leases
        self._held = held
        self._wakeup = wakeup
        self._first = first
        self._figures = figures
        self._on_status = on_status
        self._on_restarts = on_restarts
        self._on_failure = on_failure
        self._proof = _Proof(record.ttl, on_silence)
        #: Since when there is a connection.
        self._connected = boot_time()
        #: Redis' time less ours.
        self._offset = 0.0
        self._is_closing = False
        self._claiming = Semaphore()
        times = server.durations["renew"]
        self._renewals = Renewals(
            server.url, record.keys, record.ttl, self._renewal_args, self._renewed, times
        )

    def now(self) -> float:
        """Return Redis' time."""
        return boot_time() + self._offset

    @property
    def is_proved(self) -> bool:
        """Whether the leases of this process cannot have run out yet."""
        return self._proof.seconds > 0.0

    @property
    def rejoins(self) -> int:
        """How often this process went on after its leases might have run out."""
        return self._proof.rejoins

    def claim_no_more(self) -> None:
        """End with the claim that is under way: what it gets is then given back with the others."""
        self._is_closing = True
        self._claiming.acquire(timeout=_CLAIM_END)

    def hurry(self) -> None:
        """Renew now, so that the others see our figures."""
        self._renewals.hurry()

    def close(self) -> None:
        self._is_closing = True
        self._proof.close()
        self._renewals.close()
        with suppress(RedisAway):  # then it is forgotten when its last renewal is old
            keys = self._record.keys
            self._server.call("leave", [keys.job, keys.here, keys.changes], self.id)

    # -- renewing -----------------------------------------------------------------------------

    def _renewal_args(self) -> tuple[str, str, list[str]]:
        return self.id, json.dumps(self._figures()), self._leases.tokens()

    def _renewed(self, answer: Renewal | None, sent: float) -> None:
        """Take the answer to a renewal: lose, claim and drain shards."""
        if self._renewals.failure is not None:
            self._on_failure(self._renewals.failure)
            return
        now = boot_time()
        if answer is None:
            self._observe_anew(now)
            return
        try:
            if answer.run != self._server.life:
                self._held.commits.compare()
                self._observe_anew(boot_time())
                return
            self._take_answer(answer, sent, now)
        except RedisAway:
            log.debug("Redis went away while a renewal was handled")

    def _observe_anew(self, now: float) -> None:
        self._connected = now
        self._leases.forget(now)

    def _take_answer(self, answer: Renewal, sent: float, now: float) -> None:
        self._leases.observe(answer.leases, now)
        self._offset = answer.now - now
        for number in self._leases.lost(sent):
            self._held.lose(number)
        self._proof.renew(sent)
        self._note_room(is_full=answer.is_full)
        self._on_restarts(answer.restarts)
        self._on_status(answer.status)
        self._wakeup.wake()
        if answer.calm != answer.run and now - self._connected >= self._record.ttl:
            self._server.call("mark", [self._record.keys.job], "calm", answer.run)
        share = -(-self._record.keys.shards // max(1, answer.live))
        self._held.drain(share)
        if answer.status != "finished":
            # Loading takes long, and the next renewal must be handled meanwhile.
            gevent.spawn(self._claim, share, now)
            self._look_at_expiry(now)

    def _look_at_expiry(self, now: float) -> None:
        """Renew when the lease of another runs out, if that is before the next renewal: it is claimed then."""
        seconds = self._leases.next_expiry(now)
        if seconds is not None and seconds < self._record.ttl * PERIOD:
            gevent.spawn_later(seconds, self.hurry)

    def _note_room(self, *, is_full: bool) -> None:
        if is_full and not self.is_full:
            log.warning(
                "%s has used more than 80 %% of its maxmemory: nothing more is taken; raise "
                "maxmemory, or remove old jobs with `crawler cluster rm`",
                hide_passwords(self._server.url),
            )
        self.is_full = is_full

    # -- claiming -----------------------------------------------------------------------------

    def _claim(self, share: int, now: float) -> None:
        if self._is_closing or self._claiming.locked():
            return
        try:
            with self._claiming:
                wanted = (n for n in list(self._leases.claimable(now)) if self._is_wanted(n, share))
                if [number for number in wanted if self._claim_one(number)]:
                    self.hurry()
        except RedisAway:
            log.debug("Redis went away while shards were claimed")
        except CrawlerError as error:
            self._on_failure(error)
        except ValueError as error:
            self._on_failure(ClusterError(str(error)))

    def _is_wanted(self, number: int, share: int) -> bool:
        if self._is_closing:
            return False
        if number == self._record.keys.shards:
            return self._leases.seen(number).pending != "0"
        return len(self._held.kept) < share and not self._held.is_orphaned(number)

    def _claim_one(self, number: int) -> bool:
        """Claim a shard and load it; return whether its lease was given to us."""
        seen, token, keys = self._leases.seen(number), self._leases.new_token(), self._record.keys
        wanted = [keys.job, keys.leases[number]]
        answer: Any = self._server.call("claim", wanted, token, seen.token, seen.beat)
        if answer[0] != b"OK":
            return False
        self._leases.mine[number] = (token, boot_time())
        if number == keys.shards:
            self._held.send_first(number, token, answer[1], self._first())
        else:
            self._held.load(number, token, answer[1])
        return True
