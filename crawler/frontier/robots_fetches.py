"""RobotsFetches: the robots.txt of an origin is fetched before its first page."""

from __future__ import annotations

from .. import url as urls
from ..data import Request, Response
from ..errors import ModuleError
from .budget import ROBOTS_ATTEMPT
from .contract import Taken
from .endings import Endings
from .hosts.host import Host
from .hosts.robots_cache import RobotsCache, RobotsFacts
from .outcome import failed
from .parts import Parts
from .retries import HOST_KINDS


class RobotsFetches:
    """Lets a host wait for its robots.txt, and applies the answer."""

    def __init__(self, parts: Parts, endings: Endings) -> None:
        self._events = parts.events
        self._cache = RobotsCache(parts.rules.agent, parts.journal.learned)
        self._politeness = parts.rules.politeness
        self._retries = parts.rules.retries
        self._journal = parts.journal
        self._waiting = parts.waiting
        self._queues = parts.queues
        self._hosts = parts.hosts
        self._backoff = parts.backoff
        self._endings = endings

    def allows(self, host: Host, request: Request, now: float) -> bool | None:
        """Return whether *request* may be fetched; None if its robots.txt is not known."""
        return self._cache.allows(host, request, now)

    def ask(self, host: Host, request: Request) -> Request:
        """Return the request for the robots.txt that *request* and its *host* must wait for."""
        self._queues.put(host, request, first=True)
        self._hosts.park(host, "robots.txt")
        return self._cache.ask(host, urls.origin(request.url), request)

    def put_back(self, request: Request) -> None:
        """Forget a request for robots.txt that was not fetched: it is made again when needed."""
        self._journal.put_back(request)
        self._queues.unpark(self._cache.close(request).host)

    def recall(self, facts: RobotsFacts, now: float) -> None:
        self._cache.recall(facts.origin, now + facts.seconds, facts.body)

    def answered(self, taken: Taken, result: Response | ModuleError, now: float) -> None:
        """Take the answer to a request for robots.txt, and let the host that waits for it continue."""
        hop = self._cache.answered(taken.request, result, now)
        if hop is not None:
            self._queues.ask(hop, now)
            return
        self._journal.fetched_aside(taken.request)
        question = self._cache.close(taken.request)
        host = question.host
        rules = self._cache.rules(question.origin, now)
        if rules is None:
            self._backoff.robots_failed(host, taken.host, result, now)
            self._endings.give_up(host)
        else:
            self._cache.obey(host, rules)
            self._hosts.rest(host, now, self._politeness.pause_of(host), "delay")
        self._queues.unpark(host)
        if rules is None and isinstance(result, ModuleError) and result.kind in HOST_KINDS:
            self._count_attempt(host, result, now)

    def _count_attempt(self, host: Host, error: ModuleError, now: float) -> None:
        """
        Count an unreachable host as an attempt of the first request that waits for it.

        That request would have failed in the same way, and its callback may wait for the error.
        """
        request = self._queues.pull(host)
        if request is None:
            return
        attempts = (*request.attempts, f"{ROBOTS_ATTEMPT}{error.reason}")
        if self._retries.worth_another(error, len(attempts)):
            self._waiting.put(host, request.replace(attempts=attempts), first=True)
            return
        self._events.on_failure(request, error)
        self._endings.drop(request, failed(error.kind))
        self._hosts.schedule(host, now)
