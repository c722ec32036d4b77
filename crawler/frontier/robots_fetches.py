"""RobotsFetches: the robots.txt of an origin is fetched before its first page."""

from __future__ import annotations

from ..data import Request, Response
from ..errors import ModuleError
from ..http.robots_txt import Robots
from .after_fetch import described
from .budget import ROBOTS_ATTEMPT
from .contract import Taken
from .endings import Endings
from .hosts.host import Host
from .hosts.robots_cache import RobotsCache, RobotsFailure, is_answer
from .parts import Parts


class RobotsFetches:
    """
    Lets a host wait for the robots.txt of an origin, and applies the answer.

    A robots.txt that cannot be fetched is asked for again: after a 429 or 5xx until its origin
    is given up; after another failure as often as a page is, if that kind of failure is worth
    it. Then the pages of the origin fail for the same reason.
    """

    def __init__(self, parts: Parts, endings: Endings) -> None:
        self._politeness = parts.rules.politeness
        self.cache = RobotsCache(parts.rules.agent, self._politeness, parts.journal.learned)
        self._retries = parts.rules.retries
        self._journal = parts.journal
        self._queues = parts.queues
        self._hosts = parts.hosts
        self._backoff = parts.backoff
        self._endings = endings

    def ask(self, host: Host, origin: str, request: Request) -> Request:
        """Return the request for the robots.txt that *request* and its *host* must wait for."""
        self._queues.put(host, request, first=True)
        self._hosts.park(host, "robots.txt")
        return self.cache.ask(host, origin, request)

    def put_back(self, request: Request) -> None:
        """Forget a request for robots.txt that was not fetched: it is made again when needed."""
        self._journal.put_back(request)
        self._queues.unpark(self.cache.close(request).host)

    def answered(self, taken: Taken, result: Response | ModuleError, now: float) -> None:
        """Take the answer to a request for robots.txt, and let the host that waits for it continue."""
        hop = self.cache.answered(taken.request, result, now)
        if hop is not None:
            self._queues.ask(hop, now)
            return
        self._journal.fetched_aside(taken.request)
        question = self.cache.close(taken.request)
        host, origin = question.host, question.origin
        if is_answer(result):
            self._backoff.recovered(host, origin, now)
        rules = self.cache.rules(origin, now)
        if isinstance(rules, Robots):
            self.cache.obey(host, rules)
            self._hosts.rest(host, now, self._politeness.pause_of(host), "delay")
        else:
            self._failed(host, origin, taken.request, result, now)
        self._queues.unpark(host)

    def _failed(
        self,
        host: Host,
        origin: str,
        request: Request,
        result: Response | ModuleError,
        now: float,
    ) -> None:
        failing = self._backoff.robots_failed(host, origin, result, now)
        reason = _described(request, result)
        is_given_up = self._endings.give_up(host, origin, reason, now)
        if is_given_up or isinstance(result, Response):
            return
        if not self._retries.worth_another(result, failing.robots_attempts):
            failing.robots_attempts = 0
            failing.rests_until = now
            self.cache.fail(origin, RobotsFailure(result.kind, reason), now)


def _described(request: Request, result: Response | ModuleError) -> str:
    where = f"redirected to {request.url}: " if request.redirects else ""
    return f"{ROBOTS_ATTEMPT}{where}{described(result)}"
