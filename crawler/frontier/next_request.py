"""NextRequest: which request is begun next."""

from __future__ import annotations

from .. import url as urls
from ..data import Request
from ..errors import DownloadError, FetchError
from .budget import PAGE_LIMIT
from .contract import Taken
from .endings import PER_TURN, Endings
from .hosts.host import Host
from .hosts.robots_cache import RobotsFailure
from .outcome import refused
from .parts import Parts
from .robots_fetches import RobotsFetches

#: How many requests of an origin that rests are put off one by one; if there are more, their
#: host rests as well.
_MOST_PUT_OFF = 256


class NextRequest:
    """
    Chooses the next request of the host that is due.

    A request that robots.txt forbids, or for which no page is left in the budget, ends here.
    One whose origin was given up, or has no robots.txt, is taken with its failure.
    """

    def __init__(self, parts: Parts, endings: Endings, robots: RobotsFetches) -> None:
        self._admission = parts.admission
        self._hosts = parts.hosts
        self._queues = parts.queues
        self._overflow = parts.journal.overflow
        self._spending = parts.spending
        self._suspects = parts.suspects
        self._endings = endings
        self._robots = robots if parts.rules.politeness.robots else None
        #: How many requests may still be looked at before other greenlets run.
        self._left = PER_TURN

    @property
    def has_more(self) -> bool:
        """Whether take() returned None only to let other greenlets run."""
        return not self._left

    def take(self, now: float) -> Taken | None:
        """Return the request to begin now, or one that has failed; None if there is none."""
        self._left = PER_TURN
        if now < self._spending.free_at:
            return None
        while self._left and (host := self._hosts.ready(now)):
            taken = self._choose(host, now)
            self._overflow.refill(host)
            if taken is not None and taken.is_in_flight:
                self._hosts.begin(host, now)
                taken.flight = self._hosts.shares.begin(host, now)
                return taken
            # It is the turn of the other hosts that are due.
            host.batch_left = 0
            self._hosts.schedule(host, now)
            if taken is not None:
                return taken
        return None

    def _choose(self, host: Host, now: float) -> Taken | None:
        if host.robots_requests:
            return Taken(host.robots_requests.pop(), host, is_robots=True)
        while self._left and host.ready_at <= now:
            request = self._queues.pull(host)
            if request is None:
                return None
            taken = self._decide(request, host, now)
            if taken is not None:
                return taken
            self._left -= 1
        return None

    def _decide(self, request: Request, host: Host, now: float) -> Taken | None:
        """Return *request* if it is taken; None if it was ended or put off."""
        if self._admission.shut is not None and (reason := self._admission.stops(request)):
            self._endings.drop(request, refused(reason))
            return None
        if self._robots is not None or host.failing or self._queues.dead:
            origin = urls.origin(request.url)
            if (reason := self._queues.dead.get(origin)) is not None:
                return _failed(request, host, "host", reason)
            if host.failing and self._is_put_off(request, host, origin, now):
                return None
            if self._robots is not None:
                return self._ask(self._robots, request, host, origin, now)
        return self._begin(request, host)

    def _ask(
        self, robots: RobotsFetches, request: Request, host: Host, origin: str, now: float
    ) -> Taken | None:
        rules = robots.cache.rules(origin, now)
        if rules is None:
            return Taken(robots.ask(host, origin, request), host, is_robots=True)
        if isinstance(rules, RobotsFailure):
            return _failed(request, host, rules.kind, rules.reason)
        reason = robots.cache.refusal(host, rules, request.url)
        if reason is not None:
            self._endings.drop(request, refused(reason))
            return None
        return self._begin(request, host)

    def _begin(self, request: Request, host: Host) -> Taken | None:
        if self._spending.begin(request):
            return Taken(request, host, is_suspect=request.id in self._suspects)
        self._endings.drop(request, refused(PAGE_LIMIT))
        self._endings.cut_off(PAGE_LIMIT)
        return None

    def _is_put_off(self, request: Request, host: Host, origin: str, now: float) -> bool:
        """Return whether *request* must wait until its *origin* has rested; if so, let it."""
        failing = host.failing.get(origin) if host.failing else None
        if failing is None or failing.rests_until <= now:
            return False
        self._queues.put_later(host, request, failing.rests_until, now)
        failing.put_off += 1
        if failing.put_off >= _MOST_PUT_OFF:
            self._hosts.rest(host, now, failing.rests_until - now, failing.why)
            failing.host_rests_until = host.ready_at
        return True


def _failed(request: Request, host: Host, kind: str, reason: str) -> Taken:
    request = request.replace(attempts=(*request.attempts, reason))
    failure = DownloadError("frontier", request, reason, kind)
    failure.__cause__ = FetchError(kind, reason)
    return Taken(request, host, failure=failure)
