"""Server: calls the scripts of one job on a connection of its own, and knows the server's life."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import gevent
from gevent.lock import Semaphore

from ..credentials import hide_passwords
from ..errors import ClusterError, RedisAway
from ..frontier.durable.durations import Durations
from .blob import pack
from .keys import Keys
from .redis import connect, errors_of
from .scripts import SCRIPTS

log = logging.getLogger(__name__)

#: Seconds between two tries to reach a server that is away: at first, and at most.
_FIRST_WAIT = 0.1
_MOST_WAIT = 1.0
#: Seconds between two looks at a rewriting of the append-only file.
_REWRITE_WAIT = 0.05


class Server:
    """
    One connection to the server at *url*, for the job of *keys*.

    A restarted server has a new run id: its *life*. It may have lost the end of its history, so
    nothing is committed before the caller has compared its own state with it. *is_ended* is
    asked while the server is away: if it returns True, nobody waits for it any more.
    """

    def __init__(self, url: str, keys: Keys, is_ended: Callable[[], bool] = bool) -> None:
        self.url = url
        self.keys = keys
        #: The life that the caller's state was compared with.
        self.life = ""
        #: Since when the server has not answered, by time.time(); None if it answers.
        self.away_since: float | None = None
        #: How long the calls of each script took, answered or not.
        self.durations: defaultdict[str, Durations] = defaultdict(Durations)
        self.client = connect(url)
        self._is_ended = is_ended
        #: One command at a time.
        self._turn = Semaphore()

    def call(self, script: str, keys: list[str], *args: Any) -> Any:
        """Return the answer of a script; raise RedisAway if there was none."""
        with self._turn, errors_of(self.url), self.durations[script].measured():
            return SCRIPTS.call(self.client, script, keys, *args)

    def ask(self, function: Callable[[Any], Any]) -> Any:
        """Return what *function* returns for the client, which must only read."""
        return self.patiently(lambda: self._asked(function))

    def post(self, shard: int, what: Any) -> None:
        """Put *what* into the inbox of a shard; the job must not depend on it."""
        names = [self.keys.job, self.keys.leases[shard], self.keys.inboxes[shard]]
        self.patiently(lambda: self.call("post", names, pack([what])))

    def patiently(self, attempt: Callable[[], Any]) -> Any:
        """Return what *attempt* returns, again and again until the server answers."""
        wait = _FIRST_WAIT
        while True:
            try:
                answer = attempt()
            except RedisAway as error:
                self._note_away(error)
                if self._is_ended():
                    raise
                gevent.sleep(wait)
                wait = min(wait * 2, _MOST_WAIT)
            else:
                self._note_back()
                return answer

    def begin_life(self) -> str:
        """
        Return the run id of the server, after its history is known to be whole.

        Servers before Valkey 9.1.2 leave half of a script's effects in an append-only file that
        they load truncated, and the next restart applies it together with what came after. So
        the file is written anew before anything is committed in a new life.
        """
        return str(self.patiently(self._begin_life))

    def close(self) -> None:
        self.client.close()

    def _asked(self, function: Callable[[Any], Any]) -> Any:
        with self._turn, errors_of(self.url):
            return function(self.client)

    def _begin_life(self) -> str:
        run, life = self._asked(self._lives)
        if life is None:
            raise ClusterError(
                f"the job {self.keys.name!r} is not at {hide_passwords(self.url)}: it was never "
                "started there, was removed, or the server has lost its data; start it again"
            )
        if life != run:
            self._asked(_rewrite)
            self.call("mark", [self.keys.job], "life", run)
            return self._begin_life()
        return str(run)

    def _lives(self, client: Any) -> tuple[str, str | None]:
        """Return the run id of the server, and the life in which the job was last worked on."""
        life = client.hget(self.keys.job, "life")
        return client.info("server")["run_id"], None if life is None else life.decode()

    def _note_away(self, error: RedisAway) -> None:
        if self.away_since is None:
            self.away_since = time.time()
            log.warning("%s; the crawl waits for it", error)

    def _note_back(self) -> None:
        if self.away_since is not None:
            seconds = time.time() - self.away_since
            self.away_since = None
            log.warning("%s answers again, after %.0f s", hide_passwords(self.url), seconds)


def _rewrite(client: Any) -> None:
    """Have the append-only file written anew, and wait for it."""
    if client.info("persistence").get("aof_enabled") != 1:
        return
    with_error = _response_error()
    try:
        client.bgrewriteaof()
    except with_error:
        log.debug("the append-only file is being rewritten already")
    while True:
        state = client.info("persistence")
        if not (state["aof_rewrite_in_progress"] or state["aof_rewrite_scheduled"]):
            return
        gevent.sleep(_REWRITE_WAIT)


def _response_error() -> type[Exception]:
    from redis.exceptions import ResponseError  # noqa: PLC0415 - the extra is needed only here

    return ResponseError
