"""Quota: the limits of a whole job, of which each scheduler gets a part at a time."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sized

import gevent
from gevent.event import Event

from ..data import Request
from ..errors import RedisAway
from ..frontier import Budget
from ..frontier.budget import is_begun
from .active_shard import ActiveShard
from .job_record import JobRecord
from .server import Server

log = logging.getLogger(__name__)

#: Seconds between two looks at the limits; and between two questions for pages, if none are left.
_LOOK = 1.0
_ASK = 0.2


class Quota:
    """
    How many pages this process may begin, of the *limits* of a job; and whether one was reached.

    A page counts when its first fetch begins. Redis knows how many were begun by the commits of all
    shards, and how many each scheduler may still begin; together they are never more than the
    limit. What a scheduler does not use it gives back. *on_limit* is called once with the limit
    that was reached, *wake* when it is worth while to ask whether a page may be begun.
    """

    def __init__(
        self,
        server: Server,
        record: JobRecord,
        limits: Budget,
        shards: dict[int, ActiveShard],
        *,
        id_: str,
        on_limit: Callable[[str], object],
        wake: Callable[[], object],
    ) -> None:
        #: The limit that was reached; "" if none was.
        self.reached = ""
        self._server = server
        self._record = record
        self._limits = limits
        self._shards = shards
        self._id = id_
        self._on_limit = on_limit
        self._wake = wake
        self._pages = 0
        self._used_lately = False
        self._is_wanted = Event()
        has_limits = (limits.pages, limits.bytes, limits.errors, limits.seconds) != (None,) * 4
        self._looking = gevent.spawn(self._look_again) if has_limits else None

    def may_begin(self, waiting: Sized) -> bool:
        """Return whether a page may be begun; ask for more if none may, and one is *waiting*."""
        if self._limits.pages is None or self._pages > 0 or self.reached or not len(waiting):
            return True
        self._is_wanted.set()
        return False

    def begin(self, request: Request) -> None:
        """Note that *request* was taken."""
        if not is_begun(request):
            self._pages -= 1
            self._used_lately = True

    def forget(self) -> None:
        """Begin nothing before Redis is asked again: it may have given our pages to others."""
        self._pages = 0

    def close(self) -> None:
        if self._looking is not None:
            self._looking.kill()

    def _look_again(self) -> None:
        while not self.reached:
            is_wanted = self._is_wanted.wait(_LOOK)
            self._is_wanted.clear()
            try:
                self._ask(wants_more=is_wanted)
            except RedisAway:
                log.debug("Redis went away while it was asked for pages")
            if self._pages <= 0 and is_wanted:
                gevent.sleep(_ASK)
                self._wake()

    def _ask(self, *, wants_more: bool) -> None:
        if not self._used_lately and not wants_more:
            self._pages = 0
        self._used_lately = False
        held = max(0, self._pages) + sum(shard.begun_lately for shard in self._shards.values())
        keys, limits = self._record.keys, self._limits
        wanted = (limits.pages, limits.bytes, limits.errors, limits.seconds)
        given = ["" if limit is None else limit for limit in wanted]
        ttl = int(self._record.ttl) + 1
        names = [keys.job, keys.quota, keys.here, *keys.leases]
        args = [self._id, ttl, *given, held, int(wants_more)]
        more, reached = self._server.call("grant", names, *args)
        self._pages = max(0, self._pages) + more
        if reached:
            self.reached = reached.decode()
            log.info("the job has reached its %s", self.reached)
            self._on_limit(self.reached)
        if more or reached:
            self._wake()
