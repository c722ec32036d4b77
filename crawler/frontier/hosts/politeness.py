"""Politeness: the limits for each host, and its delay and number of requests at once."""

from __future__ import annotations

import random
from dataclasses import dataclass, fields
from typing import Literal

from .host import Host


@dataclass(frozen=True)
class Politeness:
    """
    Limits for each host; all times in seconds.

    A host rests after the end of each request: for *delay*, or for *latency_factor* times its
    average latency (at most *max_adaptive*) if that is longer. A Crawl-delay in robots.txt is
    obeyed, and allows one request at a time; if it is longer than *max_crawl_delay*, the pages
    it holds for are refused, and never fetched faster than asked.

    A host that answers 429 or 503 rests for as long as it asks, at most *max_retry_after*. If it
    does not say how long, it rests for *throttle* after a 429, and after a 503 once two URLs of
    an origin have answered so without a success in between; one URL alone is retried. An
    origin (a scheme, name and port) that cannot be reached rests for *backoff*, and the other
    origins of its host do not. These waits double with each failure in a row, up to
    *max_backoff*. After *probe_after* failures in a row of one origin a host gets one request at a
    time; after *give_up_after*, the requests for that origin are settled as failed.

    *share* says what the limits hold for: each host, each registered domain, or each IP
    address. *per_ip* also limits all hosts of one address together; None means no such limit.
    """

    per_host: int = 2
    delay: float = 0.1
    latency_factor: float = 1.0
    max_adaptive: float = 10.0
    jitter: float = 0.1
    share: Literal["host", "domain", "ip"] = "host"
    per_ip: int | None = None
    ip_delay: float = 0.0
    backoff: float = 1.0
    throttle: float = 30.0
    max_backoff: float = 3600.0
    max_retry_after: float = 86400.0
    max_crawl_delay: float = 300.0
    probe_after: int = 3
    give_up_after: int = 8
    robots: bool = True

    def __post_init__(self) -> None:
        for name in ("per_host", "probe_after", "give_up_after"):
            if type(getattr(self, name)) is not int or getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, not {getattr(self, name)!r}")
        if self.per_ip is not None and (type(self.per_ip) is not int or self.per_ip < 1):
            raise ValueError(f"per_ip must be at least 1 or None, not {self.per_ip!r}")
        for name in (f.name for f in fields(self) if f.type == "float"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise ValueError(f"{name} must be 0 or more seconds, not {getattr(self, name)!r}")
        if self.share not in ("host", "domain", "ip"):
            raise ValueError(f"share must be host, domain or ip, not {self.share!r}")

    @classmethod
    def off(cls, **changes: object) -> Politeness:
        """Return limits for your own site: no delay, no robots.txt, many requests at a time."""
        free: dict[str, object] = {
            "per_host": 1000,
            "delay": 0.0,
            "latency_factor": 0.0,
            "robots": False,
        }
        return cls(**(free | changes))  # type: ignore[arg-type]

    @property
    def by_address(self) -> bool:
        return self.per_ip is not None or self.share == "ip"

    @property
    def address_limit(self) -> int:
        return self.per_host if self.per_ip is None else self.per_ip

    @property
    def address_delay(self) -> float:
        return max(self.ip_delay, self.delay) if self.share == "ip" else self.ip_delay

    @property
    def longest_rest(self) -> float:
        """The longest rest that any rule can lead to."""
        longest = max(self.max_backoff, self.max_adaptive) * (1 + self.jitter)
        return max(longest, self.max_retry_after, self.max_crawl_delay, self.delay)

    def pause_of(self, host: Host) -> float:
        """Return the seconds that *host* rests after a request; jitter only ever adds."""
        crawl_delay = host.crawl_delay or 0.0
        if host.delay is not None:
            return max(host.delay, crawl_delay)
        adaptive = min(self.latency_factor * host.latency, self.max_adaptive)
        if adaptive:
            adaptive *= 1 + self.jitter * random.random()
        return max(self.delay, adaptive, crawl_delay)

    def limit_of(self, host: Host) -> int:
        """Return how many requests to *host* may be in flight: one if it fails or asks for a delay."""
        if host.crawl_delay or host.failures >= self.probe_after:
            return 1
        return self.per_host

    def why_resting(self, host: Host) -> str:
        """Return the name of the rule by which *host*, which is not due yet, rests."""
        why = host.why_not_due
        if why != "delay":
            return why
        usual = self.delay if host.delay is None else host.delay
        pause = self.pause_of(host)
        if pause <= usual:
            return "delay"
        return "crawl-delay" if pause == host.crawl_delay else "latency"

    def why_limited(self, host: Host) -> str:
        """Return why *host* gets one request at a time; "" if it gets as many as others."""
        if host.crawl_delay:
            return "crawl-delay"
        if host.failures < self.probe_after:
            return ""
        worst = max((host.failing or {}).values(), key=lambda one: one.failures, default=None)
        return "" if worst is None else worst.why

    def growing_wait(self, first: float, times: int) -> float:
        """Return *first* seconds, doubled for each time after the first, plus jitter."""
        wait = min(first * 2.0 ** min(times - 1, 40), self.max_backoff)
        return float(wait * (1 + self.jitter * random.random()))
