"""Backoff: how long a host rests after an answer or a failure."""

from __future__ import annotations

from ...data import Response
from ...errors import ModuleError
from ...http.dates import retry_after
from ..retries import HOST_KINDS, THROTTLING
from .host import Host
from .host_schedule import HostSchedule
from .politeness import Politeness

#: The flags of a response for which the host was not asked.
FROM_CACHE = frozenset({"cached", "stale"})


class Backoff:
    """Lets a host rest: for its usual delay, as long as it asks, or longer with each failure."""

    def __init__(self, politeness: Politeness, hosts: HostSchedule) -> None:
        self._politeness = politeness
        self._hosts = hosts

    def fetched(self, host: Host, result: Response | ModuleError, now: float) -> None:
        """End a request of *host*; its *result* decides how long the host rests."""
        if isinstance(result, Response) and result.flags & FROM_CACHE:
            self._hosts.end(host, now, asked=False)
            return
        latency = None
        if isinstance(result, Response):
            latency = result.elapsed
            if result.status in THROTTLING:
                self._throttled(host, result, now)
            elif result.status < 500:
                host.failures = 0
        elif result.kind in HOST_KINDS:
            host.failures += 1
            wait = self._politeness.growing_wait(self._politeness.backoff, host.failures)
            self._hosts.rest(host, now, wait, result.kind)
        self._hosts.end(host, now, latency)

    def robots_failed(
        self, host: Host, asked: Host, result: Response | ModuleError, now: float
    ) -> None:
        """
        Let *host* rest because its robots.txt could not be fetched.

        *asked* is the host the request went to: after redirects it may be another. If it is the
        same, fetched() may have counted the failure already.
        """
        if isinstance(result, Response):
            counted = result.status in THROTTLING
        else:
            counted = result.kind in HOST_KINDS
        if host is not asked or not counted:
            host.failures += 1
            wait = self._politeness.growing_wait(self._politeness.throttle, host.failures)
            self._hosts.rest(host, now, wait, "robots.txt")

    def why_resting(self, host: Host) -> str:
        """Return the name of the rule by which *host*, which is not due yet, rests."""
        if host.due() > host.ready_at:
            return "retry"
        if host.why != "delay":
            return host.why
        usual = self._politeness.delay if host.delay is None else host.delay
        pause = self._politeness.pause_of(host)
        if pause <= usual:
            return "delay"
        return "crawl-delay" if pause == host.crawl_delay else "latency"

    def is_hopeless(self, host: Host) -> bool:
        return host.failures >= self._politeness.give_up_after

    def _throttled(self, host: Host, response: Response, now: float) -> None:
        host.failures += 1
        wait = retry_after(response)
        if wait is None:
            wait = self._politeness.growing_wait(self._politeness.throttle, host.failures)
        wait = min(wait, self._politeness.max_retry_after)
        self._hosts.rest(host, now, wait, str(response.status))
