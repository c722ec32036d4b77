"""Backoff: how long a host, or one origin of it, rests after an answer or a failure."""

from __future__ import annotations

from collections.abc import Callable

from ... import url as urls
from ...data import Response
from ...errors import ModuleError, Retry
from ...http.dates import retry_after
from ..retries import HOST_KINDS, THROTTLING
from .host import Host, HostFacts
from .host_schedule import HostSchedule
from .origins import FailingOrigin
from .politeness import Politeness

#: The flags of a response for which the host was not asked.
FROM_CACHE = frozenset({"cached", "stale"})
_TOO_MANY_REQUESTS = 429
#: How many failing origins of one host are remembered; of more, the first is forgotten.
_MOST_FAILING = 1000


class Backoff:
    """
    Decides on rests: of a host for its usual delay, or as long as it asks; of an origin that
    fails, longer with each failure.

    A single URL that answers 503 says little about its host. So the host rests only if
    several URLs of one origin answer so before another one succeeds. *learned* is called with
    the failures of an origin whenever they change.
    """

    def __init__(
        self,
        politeness: Politeness,
        hosts: HostSchedule,
        learned: Callable[[HostFacts], object],
    ) -> None:
        self._politeness = politeness
        self._hosts = hosts
        self._learned = learned

    # -- pages --------------------------------------------------------------------------------

    def fetched(self, host: Host, url: str, result: Response | ModuleError, now: float) -> None:
        """End a request of *host* for *url*; its *result* decides who rests, and how long."""
        latency = None
        if isinstance(result, Response):
            if result.flags & FROM_CACHE:
                self._hosts.end(host, now, asked=False)
                return
            latency = result.elapsed
            if result.status in THROTTLING:
                self._throttled(host, url, result, now)
            elif result.status < 500 and host.failing:
                self.recovered(host, urls.origin(url), now)
        elif result.kind in HOST_KINDS:
            origin = urls.origin(url)
            failing = self._count(host, origin)
            self._rest(failing, self._politeness.backoff, result.kind, now)
            self._tell(origin, failing, now)
        self._hosts.end(host, now, latency)

    def recovered(self, host: Host, origin: str, now: float) -> None:
        """Forget the failures of *origin*: it has answered as it should."""
        failing = self._forget(host, origin)
        if failing is None:
            return
        if failing.host_rests_until == host.ready_at:
            self._end_rest(host, now)
        self._learned(HostFacts(origin, 0, 0.0, ""))

    def _throttled(self, host: Host, url: str, response: Response, now: float) -> None:
        origin, politeness = urls.origin(url), self._politeness
        is_asked = response.status == _TOO_MANY_REQUESTS
        failing = self._failing(host, origin)
        if is_asked or failing.add_unavailable(url):
            self._count(host, origin)
        failing.why = str(response.status)
        wait = self._asked_wait(response)
        others = len(failing.unavailable) - 1
        if wait is not None:
            self._hosts.rest(host, now, wait, failing.why)
        elif is_asked:
            wait = politeness.growing_wait(politeness.throttle, failing.failures)
            self._hosts.rest(host, now, wait, failing.why)
        elif others:
            before, wait = host.ready_at, politeness.growing_wait(politeness.throttle, others)
            self._hosts.rest(host, now, wait, failing.why)
            if host.ready_at > before:
                failing.host_rests_until = host.ready_at
        self._tell(origin, failing, now)

    # -- robots.txt ---------------------------------------------------------------------------

    def robots_fetched(self, asked: Host, result: Response | ModuleError, now: float) -> None:
        """
        End a request for a robots.txt; *asked* may be a host that it was redirected to.

        This says nothing about the host that waits for the answer: see robots_failed().
        """
        wait = self._asked_wait(result)
        if wait is not None and isinstance(result, Response):
            self._hosts.rest(asked, now, wait, str(result.status))
        self._hosts.end(asked, now, result.elapsed if isinstance(result, Response) else None)

    def robots_failed(
        self, host: Host, origin: str, result: Response | ModuleError, now: float
    ) -> FailingOrigin:
        """Let *origin* of *host* rest because its robots.txt could not be fetched."""
        failing = self._failing(host, origin)
        failing.robots_attempts += 1
        if isinstance(result, Response) or result.kind in HOST_KINDS:
            self._count(host, origin)
        wait, why = self._robots_wait(failing, result)
        failing.rest(now + wait, why)
        self._tell(origin, failing, now)
        return failing

    def _robots_wait(
        self, failing: FailingOrigin, result: Response | ModuleError
    ) -> tuple[float, str]:
        """Return for how many seconds and why an origin rests whose robots.txt failed."""
        politeness, times = self._politeness, max(failing.failures, failing.robots_attempts)
        if isinstance(result, Response):
            asked = self._asked_wait(result)
            wait = politeness.growing_wait(politeness.throttle, times)
            return wait if asked is None else asked, "robots.txt"
        cause = result.__cause__
        least = cause.delay if isinstance(cause, Retry) else 0.0
        return max(least, politeness.growing_wait(politeness.backoff, times)), result.kind

    # -- what is known ------------------------------------------------------------------------

    def recall(self, host: Host, facts: HostFacts, now: float) -> None:
        """Continue with what an earlier process knew of an origin of *host*."""
        failing = self._failing(host, facts.name)
        failing.failures = facts.failures
        failing.rest(now + self._capped(facts.seconds), facts.why)
        host.failures = max(host.failures, facts.failures)

    def recall_rest(self, host: Host, facts: HostFacts, now: float) -> None:
        """Continue the rest of *host*; a clock may have been wrong when it was stored."""
        host.ready_at, host.why = now + self._capped(facts.seconds), facts.why

    def give_up(self, host: Host, origin: str, now: float) -> None:
        """Forget *origin*: no request is sent to it any more, so nobody has to rest for it."""
        self._forget(host, origin)
        host.release_retries(lambda request: urls.origin(request.url) == origin)
        self._end_rest(host, now)

    def is_hopeless(self, failures: int) -> bool:
        return failures >= self._politeness.give_up_after

    def _failing(self, host: Host, origin: str) -> FailingOrigin:
        host.failing = host.failing or {}
        failing = host.failing.get(origin)
        if failing is None:
            if len(host.failing) >= _MOST_FAILING:
                self._forget(host, next(iter(host.failing)))
            failing = host.failing[origin] = FailingOrigin()
        return failing

    def _count(self, host: Host, origin: str) -> FailingOrigin:
        """Count one more failure of *origin*."""
        failing = self._failing(host, origin)
        failing.failures += 1
        host.failures = max(host.failures, failing.failures)
        return failing

    def _forget(self, host: Host, origin: str) -> FailingOrigin | None:
        failing = host.failing.pop(origin, None) if host.failing else None
        if failing is not None:
            host.failing = host.failing or None
            host.failures = max((f.failures for f in (host.failing or {}).values()), default=0)
        return failing

    def _tell(self, origin: str, failing: FailingOrigin, now: float) -> None:
        seconds = max(0.0, failing.rests_until - now)
        self._learned(HostFacts(origin, failing.failures, seconds, failing.why))

    # -- rests --------------------------------------------------------------------------------

    def _rest(self, failing: FailingOrigin, first: float, why: str, now: float) -> None:
        failing.rest(now + self._politeness.growing_wait(first, failing.failures), why)

    def _asked_wait(self, result: Response | ModuleError) -> float | None:
        """Return the seconds of the Retry-After of a 429 or 503, as far as it is obeyed."""
        if isinstance(result, ModuleError) or result.status not in THROTTLING:
            return None
        wait = retry_after(result)
        return None if wait is None else min(wait, self._politeness.max_retry_after)

    def _end_rest(self, host: Host, now: float) -> None:
        """Let *host* rest no longer than after any request."""
        pause = self._politeness.pause_of(host)
        if host.ready_at > now + pause:
            host.ready_at, host.why = now + pause, "delay"
        self._hosts.schedule(host, now)

    def _capped(self, seconds: float) -> float:
        return max(0.0, min(seconds, self._politeness.longest_rest))
