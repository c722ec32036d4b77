"""ForeignFetches: what self.fetch() does for a host whose shard another scheduler has."""

from __future__ import annotations

import logging
import secrets
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from typing import Any

import gevent

from ..data import Request, Response
from ..errors import CrawlerError, DownloadError, ModuleError, RedisAway, Refusal
from ..serialization import (
    error_from_dict,
    error_to_dict,
    request_from_dict,
    request_to_dict,
    response_from_dict,
    response_to_dict,
)
from .active_shard import ActiveShard
from .blob import pack, unpack
from .journal import OTHER_SHARD
from .leases import LeaseTable
from .redis import connect, errors_of
from .server import Server
from .shards import ShardMap

log = logging.getLogger(__name__)

Fetch = Callable[[Request], Response]

#: Seconds that one read waits for an answer; and milliseconds that an answer waits for its reader.
_BLOCK = 1
_KEPT = 600_000
_AWAY_WAIT = 0.2
#: How many questions are remembered.
_MOST_ANSWERED = 1_000
#: The answer of a scheduler that has given the shard away.
_AGAIN = {"again": True}


class ForeignFetches:
    """
    Asks the scheduler that has the shard of a host to fetch a page of it, and answers the others.

    So the limits of a host are kept by one process. A question is put again when the shard has
    changed hands: its former holder may have died. The page whose callback asks is outstanding
    meanwhile.
    """

    def __init__(
        self,
        server: Server,
        shards: dict[int, ActiveShard],
        shard_map: ShardMap,
        leases: LeaseTable,
    ) -> None:
        self._server = server
        self._shards = shards
        self._map = shard_map
        self._leases = leases
        self._fetch: Fetch
        self._waiting: Callable[[], AbstractContextManager[None]]
        #: The last questions that were or are being answered: one that is put again needs no other answer.
        self._answered: deque[str] = deque(maxlen=_MOST_ANSWERED)

    def around(self, fetch: Fetch, waiting: Callable[[], AbstractContextManager[None]]) -> Fetch:
        """Return *fetch*, which then fetches pages of all shards; other callbacks run while it is *waiting*."""
        self._fetch, self._waiting = fetch, waiting
        return self._fetch_anywhere

    def answer(self, question: str, fields: dict[str, Any]) -> None:
        """Fetch what another scheduler has asked for, and send it there."""
        if question not in self._answered:
            self._answered.append(question)
            gevent.spawn(self._answer, question, request_from_dict(fields))

    # -- asking -------------------------------------------------------------------------------

    def _fetch_anywhere(self, request: Request) -> Response:
        while True:
            shard = self._map.of(request.url)
            if shard is not None and shard not in self._shards:
                if request.save_to is not None:  # the file would be on another machine
                    raise Refusal(OTHER_SHARD, request.url)
                with self._waiting():
                    return _result(self._ask(shard, request))
            try:
                return self._fetch(request)
            except Refusal as refusal:
                if refusal.reason != OTHER_SHARD:  # it was given away this moment
                    raise

    def _ask(self, shard: int, request: Request) -> dict[str, Any]:
        with closing(connect(self._server.url)) as client:
            found = _AGAIN
            while found == _AGAIN:
                found = self._answer_of(client, shard, secrets.token_hex(8), request)
            return found

    def _answer_of(
        self, client: Any, shard: int, question: str, request: Request
    ) -> dict[str, Any]:
        """Put a *question*, again whenever the shard has another holder; return the answer."""
        while True:
            holder = self._leases.seen(shard).token
            self._server.post(shard, {"ask": [question, request_to_dict(request)]})
            while not holder or self._leases.seen(shard).token == holder:
                # Who claims a shard that is free reads its inbox from the beginning.
                holder = holder or self._leases.seen(shard).token
                answer = self._wait(client, question)
                if answer is not None:
                    found: dict[str, Any] = unpack(answer)
                    return found

    def _wait(self, client: Any, question: str) -> bytes | None:
        try:
            with errors_of(self._server.url):
                found = client.blpop(self._server.keys.answer(question), _BLOCK)
        except RedisAway:
            gevent.sleep(_AWAY_WAIT)
            return None
        return None if found is None else bytes(found[1])

    # -- answering ----------------------------------------------------------------------------

    def _answer(self, question: str, request: Request) -> None:
        try:
            key, blob = self._server.keys.answer(question), pack(self._answer_to(request))
            self._server.ask(lambda client: _put(client, key, blob))
        except RedisAway:
            log.debug("Redis went away while a question was answered")

    def _answer_to(self, request: Request) -> dict[str, Any]:
        """Return the answer: to ask again if another has the shard now, or this process ends."""
        try:
            return {"response": response_to_dict(self._fetch(request))}
        except Refusal as refusal:
            known = {"refusal": [refusal.reason, request.url]}
            return known if refusal.reason != OTHER_SHARD else _AGAIN
        except DownloadError as error:
            return {"error": error_to_dict(error)}
        except CrawlerError as error:
            log.debug("%s is not fetched for another scheduler: %s", request, error)
            return _AGAIN


def _put(client: Any, key: str, blob: bytes) -> None:
    with client.pipeline() as step:
        step.rpush(key, blob)
        step.pexpire(key, _KEPT)
        step.execute()


def _result(answer: dict[str, Any]) -> Response:
    """Return the response, or raise what the other scheduler has met."""
    if "response" in answer:
        return response_from_dict(answer["response"])
    if "refusal" in answer:
        raise Refusal(*answer["refusal"])
    error: ModuleError = error_from_dict(answer["error"])
    raise error
