"""
Every setting: its name, what it may be, and what it does.

Defaults are not here: they are those of the values the settings end up in.
"""

from __future__ import annotations

from dataclasses import dataclass

from .value_types import (
    BYTES,
    COUNT,
    FILE,
    HEADER,
    LEVEL,
    LIST,
    NUMBER,
    RATE,
    SECONDS,
    SOME_SECONDS,
    STATUSES,
    SWITCH,
    TEXTS,
    Kind,
    one_of,
    or_none,
)


@dataclass(frozen=True, eq=False)
class Setting:
    """
    One setting, which users know by *name*.

    Its *path* leads to it from a Settings, "politeness.delay"; it is the name of whatever
    has no shorter one, and understood in its place everywhere.
    """

    name: str
    kind: Kind
    help: str
    path: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.path or self.name)

    @property
    def group(self) -> str:
        """The value of Settings that it is part of; empty if it stands by itself."""
        return self.path.rpartition(".")[0]

    @property
    def field(self) -> str:
        return self.path.rpartition(".")[2]


def _pool(prefix: str, what: str) -> tuple[Setting, Setting]:
    return (
        Setting(f"pools.{prefix}_buffer_cap", COUNT, f"How many {what} one buffer holds."),
        Setting(
            f"pools.{prefix}_max_buffer_number",
            COUNT,
            f"How many buffers the pool of {what} may grow to.",
        ),
    )


SECTIONS = {
    "What belongs to the crawl": (
        Setting(
            "depth",
            or_none(LEVEL),
            "How many links away from a first page to go; 0 is the first pages only.",
        ),
        Setting("domains", LIST, "Domains to accept besides those of the first pages."),
        Setting(
            "include", LIST, "Regular expressions: a URL is fetched only if one is found in it."
        ),
        Setting(
            "exclude", LIST, "Regular expressions: a URL is not fetched if one is found in it."
        ),
        Setting("max_pages_per_host", or_none(COUNT), "Pages to fetch from one host."),
    ),
    "Speed": (
        Setting("concurrency", COUNT, "Requests in flight at a time, in all."),
        Setting(
            "bandwidth",
            or_none(RATE),
            "How much to download a second, on average.",
            "budget.bandwidth",
        ),
        Setting("analyze_workers", COUNT, "Responses parsed at a time."),
        Setting(
            "analyzers",
            LEVEL,
            "Processes that parse, for pages that take long; 0 is to parse in this one.",
        ),
        Setting("pipeline_workers", COUNT, "Items processed at a time."),
        Setting(
            "time_limit",
            SOME_SECONDS,
            "How long a parser or a pipeline may take over one response or item.",
        ),
    ),
    "Manners": (
        Setting("per_host", COUNT, "Requests in flight to one host.", "politeness.per_host"),
        Setting(
            "delay",
            SECONDS,
            "Rest between two requests to one host, from the end of the last.",
            "politeness.delay",
        ),
        Setting("robots", SWITCH, "Whether to obey robots.txt.", "politeness.robots"),
        Setting(
            "user_agent",
            or_none(HEADER),
            "How to introduce oneself to servers; none is the crawler's own name and version.",
        ),
        Setting(
            "politeness.latency_factor",
            NUMBER,
            "Rest for this many times the host's usual latency, where that is longer than delay.",
        ),
        Setting("politeness.max_adaptive", SECONDS, "The longest rest because of latency."),
        Setting(
            "politeness.jitter", NUMBER, "The most that chance adds to a rest: 0.1 is a tenth."
        ),
        Setting(
            "politeness.share",
            one_of("host", "domain", "ip"),
            "What the limits of one host are kept for: each host, registered domain or address.",
        ),
        Setting("politeness.per_ip", or_none(COUNT), "Requests in flight to one address."),
        Setting("politeness.ip_delay", SECONDS, "Rest between two requests to one address."),
        Setting(
            "politeness.backoff",
            SECONDS,
            "Rest of a host that failed to answer; doubles while it goes on.",
        ),
        Setting(
            "politeness.throttle",
            SECONDS,
            "Rest of a host that said 429 or 503 and not for how long; doubles while it goes on.",
        ),
        Setting("politeness.max_backoff", SECONDS, "The longest such rest."),
        Setting("politeness.max_retry_after", SECONDS, "The longest Retry-After to obey."),
        Setting(
            "politeness.probe_after",
            COUNT,
            "Failures in a row after which a host is asked one request at a time.",
        ),
        Setting(
            "politeness.give_up_after",
            COUNT,
            "Failures in a row after which a host is given up.",
        ),
    ),
    "Retries": (
        Setting(
            "retries",
            COUNT,
            "How often to try a request, the first time included; 1 is no retry.",
            "retries.attempts",
        ),
        Setting(
            "retries.wait", SECONDS, "Rest before the first retry; doubles with each further one."
        ),
        Setting("retries.kinds", TEXTS, "Kinds of failure that call for a retry."),
        Setting("retries.statuses", STATUSES, "Status codes that call for a retry."),
    ),
    "Memory": (
        Setting(
            "memory_soft",
            or_none(BYTES),
            "Size of the process above which nothing new is taken while anything is in flight.",
            "memory.soft",
        ),
        Setting(
            "memory_hard",
            or_none(BYTES),
            "Size of the process at which the crawl is stopped.",
            "memory.hard",
        ),
        Setting(
            "max_in_flight_bytes",
            or_none(BYTES),
            "Bodies of pages that are not done with, all together, above which nothing new is taken.",
            "memory.in_flight",
        ),
    ),
    "Where the crawl ends": (
        Setting("max_pages", or_none(COUNT), "Stop after this many pages.", "budget.pages"),
        Setting("max_bytes", or_none(BYTES), "Stop after downloading this much.", "budget.bytes"),
        Setting("max_seconds", or_none(SOME_SECONDS), "Stop after this long.", "budget.seconds"),
        Setting("max_errors", or_none(COUNT), "Stop after this many errors.", "budget.errors"),
        Setting(
            "budget.min_rate", or_none(NUMBER), "Stop a crawl with fewer pages a second than this."
        ),
        Setting("budget.patience", SOME_SECONDS, "How long a crawl may be as slow as that."),
    ),
    "One exchange": (
        Setting("timeout", SOME_SECONDS, "From the name lookup to the last byte.", "limits.total"),
        Setting("limits.connect", SOME_SECONDS, "Until connected, the TLS handshake included."),
        Setting("limits.stall", SOME_SECONDS, "How long nothing may arrive."),
        Setting("max_body", BYTES, "The largest body, as sent and as decoded.", "limits.body"),
        Setting("limits.headers", BYTES, "The largest headers."),
        Setting("verify", SWITCH, "Whether to check the certificates of servers."),
        Setting(
            "ca_file",
            or_none(FILE),
            "Certificates to trust, instead of the system's.",
        ),
        Setting(
            "allow_private",
            SWITCH,
            "Whether links may lead into private networks and to this machine.",
        ),
        Setting(
            "allow_addresses",
            LIST,
            "Private hosts, addresses and networks (10.0.0.0/8) that links may lead to all the same.",
        ),
    ),
    "Pools": (
        *_pool("req", "requests"),
        *_pool("resp", "responses"),
        *_pool("item", "items"),
        *_pool("error", "errors"),
    ),
}
SETTINGS = tuple(setting for section in SECTIONS.values() for setting in section)

_BY_NAME = {name: setting for setting in SETTINGS for name in (setting.path, setting.name)}


def find(name: str) -> Setting:
    """Return the setting of this name or path; a ValueError suggests the nearest."""
    try:
        return _BY_NAME[name]
    except KeyError:
        near = nearest(name, 0.6)
        hint = f": did you mean {near!r}?" if near else ""
        raise ValueError(f"unknown setting {name!r}{hint}") from None


def nearest(name: str, likeness: float) -> str | None:
    """Return the setting whose name, with its group or without, is most like *name*."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed after a slip only

    names = {setting.field: setting.name for setting in SETTINGS}
    names |= {spelling: setting.name for spelling, setting in _BY_NAME.items()}
    found = get_close_matches(name.lower().replace("-", "_"), names, 1, likeness)
    return names[found[0]] if found else None
