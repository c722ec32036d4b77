"""NextRequest: which request is begun next."""

from __future__ import annotations

from ..data import Request
from .budget import PAGE_LIMIT
from .contract import Taken
from .endings import Endings
from .hosts.host import Host
from .outcome import refused
from .parts import Parts
from .robots_fetches import RobotsFetches


class NextRequest:
    """
    Chooses the next request of the host that is due.

    A request that robots.txt forbids, or for which no page is left in the budget, ends here.
    """

    def __init__(self, parts: Parts, endings: Endings, robots: RobotsFetches) -> None:
        self._hosts = parts.hosts
        self._queues = parts.queues
        self._overflow = parts.journal.overflow
        self._spending = parts.spending
        self._suspects = parts.suspects
        self._endings = endings
        self._robots = robots if parts.rules.politeness.robots else None

    def take(self, now: float) -> Taken | None:
        """Return the request to begin now, which counts as in flight; None if none is due."""
        if now < self._spending.free_at:
            return None
        while host := self._hosts.ready(now):
            taken = self._choose(host, now)
            self._overflow.refill(host)
            if taken is not None:
                self._hosts.begin(host, now)
                taken.flight = self._hosts.shares.begin(host, now)
                return taken
            self._hosts.schedule(host, now)
        return None

    def _choose(self, host: Host, now: float) -> Taken | None:
        if host.robots_requests:
            return Taken(host.robots_requests.pop(), host, is_robots=True)
        while (request := self._queues.pull(host)) is not None:
            if self._robots is not None:
                allowed = self._robots.allows(host, request, now)
                if allowed is None:
                    return Taken(self._robots.ask(host, request), host, is_robots=True)
                if not allowed:
                    self._endings.drop(request, refused("robots"))
                    continue
            if self._spending.begin(request):
                return self._taken(request, host)
            self._endings.drop(request, refused(PAGE_LIMIT))
            self._endings.cut_off(PAGE_LIMIT)
        return None

    def _taken(self, request: Request, host: Host) -> Taken:
        return Taken(request, host, is_suspect=request.id in self._suspects)
