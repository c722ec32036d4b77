"""
Every setting: its name, its type and its help.

The defaults are those of the classes that the settings end up in, such as Politeness.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..frontier.admission.seen import DUPLICATE_FILTERS
from ..http.referrer_policy import POLICIES
from . import scrapy_names
from .value_types import (
    BYTES,
    CONTACT,
    COUNT,
    FILE,
    HEADER,
    HEADERS,
    LEVEL,
    LIST,
    NUMBER,
    PIPELINES,
    PROXY,
    RATE,
    SECONDS,
    SERVER,
    SOME_SECONDS,
    STATUSES,
    SWITCH,
    TEXTS,
    HeaderFields,
    Kind,
    one_of,
    or_none,
)


@dataclass(frozen=True, eq=False)
class Setting:
    """
    One setting, which users know by *name*.

    *path* is its place in a Settings, such as "politeness.delay". It is accepted everywhere instead
    of the name, and is the name of a setting without a shorter one.
    """

    name: str
    kind: Kind
    help: str
    path: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", self.path or self.name)

    @property
    def group(self) -> str:
        """The field of Settings that it is part of; empty if it is a field itself."""
        return self.path.rpartition(".")[0]

    @property
    def field(self) -> str:
        return self.path.rpartition(".")[2]


def _pool(prefix: str, what: str) -> tuple[Setting, Setting]:
    return (
        Setting(
            f"pools.{prefix}_buffer_cap", COUNT, f"The number of {what} that one buffer holds."
        ),
        Setting(
            f"pools.{prefix}_max_buffer_number",
            COUNT,
            f"The maximum number of buffers of the pool of {what}.",
        ),
    )


SECTIONS = {
    "Scope": (
        Setting(
            "depth",
            or_none(LEVEL),
            "The maximum depth: the number of links from a start URL. 0 fetches only the start URLs.",
        ),
        Setting(
            "domains",
            LIST,
            "Domains to accept besides those of the start URLs. * accepts every domain.",
        ),
        Setting(
            "include",
            LIST,
            "Regular expressions: only a URL in which one of them is found is fetched.",
        ),
        Setting(
            "exclude",
            LIST,
            "Regular expressions: a URL in which one of them is found is not fetched.",
        ),
        Setting(
            "max_pages_per_host",
            or_none(COUNT),
            "The maximum number of pages to fetch from one host. If domains is *, it is 1000 unless it is set.",
        ),
        Setting(
            "max_links_per_page",
            or_none(COUNT),
            "The maximum number of links and requests followed from one page. A sitemap may have 50,000.",
        ),
        Setting(
            "max_chain",
            or_none(COUNT),
            "The maximum number of alike pages, each found on the one before, such as /day/1, /day/2. Alike URLs differ only in numbers, or in the ids of sessions.",
        ),
        Setting(
            "max_hosts_per_domain",
            or_none(COUNT),
            "The maximum number of hosts of one registered domain to fetch pages from.",
        ),
        Setting(
            "fingerprint",
            one_of("blake2b", "mmh3"),
            "The hash that recognizes URLs that were met before. blake2b has a secret key. mmh3 is faster, but a hostile page can hide another one with it. A job keeps the one that it began with.",
        ),
        Setting(
            "duplicate_filter",
            one_of(*DUPLICATE_FILTERS),
            "How the crawl remembers the URLs that it has met. bloom takes 6 to 12 bytes of memory for each, and mistakes one of 10^9 new URLs for an old one. mmap is the same in mapped files in the job directory (needs the extra mmap). exact takes 100 bytes and makes no mistakes. off fetches each link again, wherever it is found: set a depth or max_pages too.",
        ),
    ),
    "Speed": (
        Setting("concurrency", COUNT, "The maximum number of requests in flight, in total."),
        Setting(
            "bandwidth",
            or_none(RATE),
            "The maximum average download rate.",
            "budget.bandwidth",
        ),
        Setting("analyze_workers", COUNT, "The number of responses parsed at a time."),
        Setting(
            "analyzers",
            LEVEL,
            "The number of separate processes that parse, for pages that take long to parse. 0 parses in the crawler's process.",
        ),
        Setting("pipeline_workers", COUNT, "The number of items processed at a time."),
        Setting(
            "time_limit",
            SOME_SECONDS,
            "The maximum time that a callback may take for one response, or a pipeline for one item.",
        ),
    ),
    "Politeness": (
        Setting(
            "per_host",
            COUNT,
            "The maximum number of requests in flight to one host.",
            "politeness.per_host",
        ),
        Setting(
            "delay",
            SECONDS,
            "The time between two requests to one host, from the end of the first to the start of the second.",
            "politeness.delay",
        ),
        Setting("robots", SWITCH, "Whether to obey robots.txt.", "politeness.robots"),
        Setting(
            "nofollow",
            SWITCH,
            "Whether to leave out the links that a page asks not to follow, by rel=nofollow, the robots meta element or X-Robots-Tag.",
        ),
        Setting(
            "user_agent",
            or_none(HEADER),
            "The User-Agent header. none sends the crawler's name and version.",
        ),
        Setting(
            "contact",
            or_none(CONTACT),
            "Your mail address, or a page about your crawl, for those who run the sites: it is added to the User-Agent.",
        ),
        Setting(
            "politeness.latency_factor",
            NUMBER,
            "The delay of a host is at least its usual latency multiplied by this.",
        ),
        Setting("politeness.max_adaptive", SECONDS, "The longest delay because of latency."),
        Setting(
            "politeness.jitter",
            NUMBER,
            "The maximum random addition to a delay: 0.1 adds up to a tenth.",
        ),
        Setting(
            "politeness.share",
            one_of("host", "domain", "ip"),
            "What the limits per host apply to: each host, registered domain or IP address.",
        ),
        Setting(
            "politeness.per_ip",
            or_none(COUNT),
            "The maximum number of requests in flight to one IP address.",
        ),
        Setting("politeness.ip_delay", SECONDS, "The time between two requests to one IP address."),
        Setting(
            "politeness.backoff",
            SECONDS,
            "The first wait after an origin failed to answer. It doubles with each further failure.",
        ),
        Setting(
            "politeness.throttle",
            SECONDS,
            "The first wait after a host answered 429, or 503 at several URLs, without Retry-After. It doubles each time.",
        ),
        Setting(
            "politeness.max_backoff",
            SECONDS,
            "The longest wait that politeness.backoff and politeness.throttle lead to.",
        ),
        Setting("politeness.max_retry_after", SECONDS, "The longest Retry-After that is obeyed."),
        Setting(
            "politeness.max_crawl_delay",
            SECONDS,
            "The longest Crawl-delay that is obeyed. Pages of a host that asks for a longer one are refused.",
        ),
        Setting(
            "politeness.probe_after",
            COUNT,
            "The number of failures in a row of one origin after which its host gets only one request at a time.",
        ),
        Setting(
            "politeness.give_up_after",
            COUNT,
            "The number of failures in a row after which all requests to an origin (scheme, host and port) fail.",
        ),
    ),
    "Retries": (
        Setting(
            "retries",
            COUNT,
            "The maximum number of attempts per request, including the first. 1 means no retry.",
            "retries.attempts",
        ),
        Setting(
            "retries.wait",
            SECONDS,
            "The wait before the first retry. It doubles with each further retry.",
        ),
        Setting("retries.kinds", TEXTS, "The kinds of failure that are retried."),
        Setting("retries.statuses", STATUSES, "The status codes that are retried."),
    ),
    "Memory": (
        Setting(
            "memory_soft",
            or_none(BYTES),
            "Above this size of the process, no request is started while another is in flight.",
            "memory.soft",
        ),
        Setting(
            "memory_hard",
            or_none(BYTES),
            "At this size of the process, the crawl is stopped.",
            "memory.hard",
        ),
        Setting(
            "max_in_flight_bytes",
            or_none(BYTES),
            "Above this total size of unfinished pages, with what their analysis needs, no request is started.",
            "memory.in_flight",
        ),
    ),
    "Limits of the crawl": (
        Setting(
            "max_pages",
            or_none(COUNT),
            "Stop after this many pages. A page that redirects counts as one, also if it leads to a page that was met before.",
            "budget.pages",
        ),
        Setting(
            "max_bytes", or_none(BYTES), "Stop after downloading this many bytes.", "budget.bytes"
        ),
        Setting("max_seconds", or_none(SOME_SECONDS), "Stop after this time.", "budget.seconds"),
        Setting("max_errors", or_none(COUNT), "Stop after this many errors.", "budget.errors"),
        Setting(
            "budget.min_rate",
            or_none(NUMBER),
            "Stop a crawl that fetches fewer pages per second than this.",
        ),
        Setting(
            "budget.patience",
            SOME_SECONDS,
            "How long a crawl may be slower than budget.min_rate before it is stopped.",
        ),
    ),
    "One request": (
        Setting(
            "timeout",
            SOME_SECONDS,
            "The maximum time from the name lookup to the last byte.",
            "limits.total",
        ),
        Setting(
            "limits.connect",
            SOME_SECONDS,
            "The maximum time to connect, including the TLS handshake.",
        ),
        Setting("limits.stall", SOME_SECONDS, "The maximum time without any data received."),
        Setting(
            "max_body",
            BYTES,
            "The maximum size of a body, both as sent and as decoded.",
            "limits.body",
        ),
        Setting("limits.headers", BYTES, "The maximum size of all headers."),
        Setting(
            "max_file",
            BYTES,
            "The maximum size of a body that is saved to a file, both as sent and as decoded.",
            "limits.file",
        ),
        Setting(
            "file_timeout",
            SOME_SECONDS,
            "The maximum time for a body that is saved to a file, instead of timeout.",
            "limits.file_total",
        ),
        Setting(
            "max_redirects",
            LEVEL,
            "The maximum number of redirects that are followed for one request. 0 follows none.",
        ),
        Setting(
            "cookies", SWITCH, "Whether to keep cookies and send them to the hosts they belong to."
        ),
        Setting(
            "auth",
            one_of("basic", "digest"),
            "How the user and password of a start URL, of HttpAuth or of --auth are sent. digest (RFC 7616) never sends the password itself.",
        ),
        Setting(
            "referer",
            one_of("no", *POLICIES),
            "How much of the URL of the page with the link is sent: a policy of the Referrer Policy standard. no sends nothing.",
        ),
        Setting(
            "headers",
            HEADERS,
            "Header fields for every request that does not have them, such as Accept-Language: en. Every host sees them.",
        ),
        Setting(
            "proxy",
            or_none(PROXY),
            "The proxy for every request that has no other one: http, https, socks4 or socks5, with user and password if it needs them.",
        ),
        Setting("verify", SWITCH, "Whether to verify the certificates of servers."),
        Setting(
            "ca_file",
            or_none(FILE),
            "A file with the certificates to trust instead of the system's.",
        ),
        Setting(
            "allow_private",
            SWITCH,
            "Whether all requests may reach private networks and this machine.",
        ),
        Setting(
            "allow_addresses",
            LIST,
            "Private hosts, IP addresses and networks (10.0.0.0/8) that requests may reach anyway.",
        ),
    ),
    "Items": (
        Setting(
            "pipelines",
            PIPELINES,
            "What is done to each item before the pipelines of the spider: MODULE:NAME of functions or classes.",
        ),
    ),
    "Pools": (
        *_pool("req", "requests"),
        *_pool("resp", "responses"),
        *_pool("item", "items"),
        *_pool("error", "errors"),
    ),
    "Cluster": (
        Setting(
            "redis",
            or_none(SERVER),
            "The Redis or Valkey server of a cluster, with user and password if it needs them; --redis comes first.",
            "cluster.redis",
        ),
        Setting(
            "cluster.ttl",
            SOME_SECONDS,
            "After how long the shards of a scheduler that has died are claimed, in a job that is created.",
        ),
        Setting(
            "cluster.shards",
            COUNT,
            "The number of parts that the hosts of a job that is created are divided into.",
        ),
    ),
}
SETTINGS = tuple(setting for section in SECTIONS.values() for setting in section)
#: The settings that are a mapping themselves, and not a table of settings.
MAPPINGS = frozenset(s.name for s in SETTINGS if isinstance(s.kind, HeaderFields))

_BY_NAME = {name: setting for setting in SETTINGS for name in (setting.path, setting.name)}


def find(name: str) -> Setting:
    """Return the setting with this name or path; a ValueError suggests another name."""
    try:
        return _BY_NAME[name]
    except KeyError:
        raise ValueError(f"unknown setting {name!r}: {_hint(name)}") from None


def _hint(unknown: str) -> str:
    if known := scrapy_names.hint(unknown):
        return known
    near = nearest(unknown, 0.6)
    return f"did you mean {near!r}?" if near else "`crawler settings` lists all"


def nearest(name: str, likeness: float) -> str | None:
    """Return the setting whose name, with or without its group, is most similar to *name*."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed only for a misspelt name

    names = {setting.field: setting.name for setting in SETTINGS}
    names |= {spelling: setting.name for spelling, setting in _BY_NAME.items()}
    found = get_close_matches(name.lower().replace("-", "_"), names, 1, likeness)
    return names[found[0]] if found else None
