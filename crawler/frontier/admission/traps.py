"""
TrapGuard: finds URLs of sites that generate pages without end.

Each rule is cautious: it refuses only what hardly any honest site has, and its default limit
lets a large site through.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, Self

from ...errors import InvalidURL
from ...url import host
from .chains import Chains
from .domain_hosts import MOST_HOSTS, DomainHosts
from .recent_numbers import RecentNumbers

#: A position inside the host of any URL: the next slash after it begins the path.
_IN_HOST = len("https://")

#: A year with its month and perhaps its day: "2031/05", "2031-5-17", "2031&month=5". Digits
#: without separators are more often the number of an article. Calendars lead far into the future
#: and the past, one month at a time: from here they reach their limit before the year 1800.
_DATE = re.compile(
    r"""
    (?: 1[89] | 2[0-9] ) (?<! [0-9].. ) [0-9]{2}
    SEPARATOR (?: 1[0-2] | 0?[1-9] )
    (?: SEPARATOR (?: 3[01] | [12][0-9] | 0?[1-9] ) )?
    (?! [0-9] )
    """.replace("SEPARATOR", "(?: [-/_.] | %2F | & [a-z]{1,9} = )"),
    re.VERBOSE,
)

#: In SQL: whether *url* has a query, or perhaps a date. All URLs with a match of _DATE have one here.
HAS_FORM = """
instr(url, '?') OR url GLOB '*1[89][0-9][0-9][-/_.%&]*' OR url GLOB '*2[0-9][0-9][0-9][-/_.%&]*'
"""
#: How many different starts of URLs are counted before their hosts are.
_MOST_STARTS = 200_000

#: The default of *max_chain*. A daily comic of 25 years whose pages are linked one to the next
#: passes, and so does any list of which somebody has turned the pages.
MAX_CHAIN = 10_000

#: How many sample URLs are kept for each reason.
_SAMPLES = 3


_Found = tuple[str, int, str | None]


class UrlGroup(NamedTuple):
    """
    What is to be counted of some URLs that an earlier run let through.

    *starts* are the URLs up to their paths; *pages* those that they were found on; *with_form* at
    least the URLs that have one, by HAS_FORM. *one_by_one* gives each URL with its depth and page.
    """

    starts: Sequence[str]
    pages: Sequence[str]
    deepest: int
    with_form: Sequence[str]
    one_by_one: Callable[[], Iterable[_Found]]

    @classmethod
    def of(cls, found: Sequence[_Found]) -> Self:
        """Make a group of URLs, each with its depth and the page it was found on."""
        urls, depths, pages = zip(*found, strict=True) if found else ((), (), ())
        starts = starts_of(urls)
        on = [page for page in pages if page is not None]
        return cls(starts, on, max(depths, default=0), urls, lambda: found)


class TrapGuard:
    """
    Refuses URLs that lead deeper into a trap, or exceed the page limit of their host.

    Call refusal() once for each new URL, with its depth and the page it was found on, because
    each call counts:

    - trap_depth: the path has more than *max_segments* parts.
    - trap_repeat: one part occurs more than *max_repeats* times in the path, or a group of
      parts occurs *max_repeats* times in a row, as in ``/a/b/a/b/a/b``.
    - trap_calendar: more than *max_dates* URLs differ only in a date.
    - trap_query: more than *max_query_variants* URLs differ only in the query.
    - trap_chain: more than *max_chain* alike pages, each found on the one before, lead to it, or
      differ from it only in an id; None means no limit. See Chains.
    - trap_hosts: it has a new host, and *max_hosts_per_domain* others of its registered domain were
      let through; None means no limit.
    - host_cap: *max_pages_per_host* URLs of the host were let through; None means no limit.

    Dates, queries and chains are counted for the latest *most_counted* URLs without them; hosts
    are counted for the whole crawl. *samples* are the first few URLs of each reason.
    """

    def __init__(
        self,
        max_pages_per_host: int | None = None,
        *,
        max_segments: int = 30,
        max_repeats: int = 3,
        max_dates: int = 5 * 366,
        max_query_variants: int = 10_000,
        max_chain: int | None = MAX_CHAIN,
        max_hosts_per_domain: int | None = MOST_HOSTS,
        most_counted: int = 100_000,
    ) -> None:
        if max_pages_per_host is not None:
            _check("max_pages_per_host", max_pages_per_host)
        self.samples: dict[str, list[str]] = {}
        self._max_pages = max_pages_per_host
        self._max_segments = _check("max_segments", max_segments)
        self._max_repeats = _check("max_repeats", max_repeats, at_least=2)
        self._max_dates = _check("max_dates", max_dates)
        self._max_query_variants = _check("max_query_variants", max_query_variants)
        self._dates = RecentNumbers(_check("most_counted", most_counted, at_least=2))
        self._queries = RecentNumbers(most_counted)
        self._chains: Chains | None = None
        if max_chain is not None:
            self._chains = Chains(_check("max_chain", max_chain), most_counted)
        self._hosts: DomainHosts | None = None
        if max_hosts_per_domain is not None:
            self._hosts = DomainHosts(_check("max_hosts_per_domain", max_hosts_per_domain))
        self._pages: dict[str, int] = {}
        #: The host that count() has counted last.
        self._last_host = ""

    def refusal(self, url: str, depth: int = 0, found_on: str | None = None) -> str | None:
        """Return why *url*, canonical and new, should not be fetched; None if it may be."""
        reason = self._reason(url, depth, found_on)
        if reason is not None:
            sample = self.samples.setdefault(reason, [])
            if len(sample) < _SAMPLES:
                sample.append(url)
        return reason

    def count(self, url: str, depth: int = 0, found_on: str | None = None) -> None:
        """Count *url*, which an earlier run let through."""
        self._count_form(url)
        if self._chains is not None:
            self._chains.add(url, depth, found_on)
        if self._hosts is None and self._max_pages is None:
            return
        name = _host_of(start_of(url))
        if not name:
            return
        if self._hosts is not None and name != self._last_host:
            self._hosts.add(name)
            self._last_host = name
        if self._max_pages is not None:
            self._count_page(name)

    def count_all(self, groups: Iterable[UrlGroup]) -> None:
        """Count many URLs as count() does, in less time."""
        starts: Counter[str] = Counter()
        for group in groups:
            for url in group.with_form:
                self._count_form(url)
            if self._chains is not None and self._chains.may_count(group.pages, group.deepest):
                for found in group.one_by_one():
                    self._chains.add(*found)
            starts.update(group.starts)
            if len(starts) > _MOST_STARTS:
                self._count_starts(starts)
        self._count_starts(starts)

    def _count_form(self, url: str) -> None:
        """Count *url* without its query, and without its date."""
        query = url.find("?")
        if query >= 0:
            self._queries.add(url[:query])
        if _has_date(url):
            self._dates.add(_DATE.sub("", url))

    def _count_starts(self, starts: Counter[str]) -> None:
        for start, number in starts.items():
            if name := _host_of(start):
                self.count_pages(name, number)
        starts.clear()

    def count_pages(self, name: str, number: int) -> None:
        """Count *number* URLs of the host *name*, which an earlier run let through."""
        if self._hosts is not None:
            self._hosts.add(name)
        if self._max_pages is not None:
            self._pages[name] = min(self._max_pages, self._pages.get(name, 0) + number)

    def _reason(self, url: str, depth: int, found_on: str | None) -> str | None:
        query = url.find("?")
        end = len(url) if query < 0 else query
        segments = url.count("/", _IN_HOST, end - 1)
        if segments > self._max_segments:
            return "trap_depth"
        if segments > self._max_repeats and _repeats(url[:end], self._max_repeats):
            return "trap_repeat"
        if _has_date(url) and self._dates.add(_DATE.sub("", url)) > self._max_dates:
            return "trap_calendar"
        if query >= 0 and self._queries.add(url[:query]) > self._max_query_variants:
            return "trap_query"
        if self._chains is not None and self._chains.add(url, depth, found_on):
            return "trap_chain"
        if self._hosts is not None and not self._hosts.add(host(url)):
            return "trap_hosts"
        if self._max_pages is not None and not self._count_page(host(url)):
            return "host_cap"
        return None

    def _count_page(self, name: str) -> bool:
        """Count one more page of the host *name*; return False if it has all it may have."""
        pages = self._pages.get(name, 0)
        if pages == self._max_pages:
            return False
        self._pages[name] = pages + 1
        return True

    def __repr__(self) -> str:
        return f"<TrapGuard, {len(self._pages)} hosts, refused for {sorted(self.samples)}>"


def start_of(url: str) -> str:
    """Return *url* up to its path."""
    return url[: url.find("/", _IN_HOST) + 1] or url


def starts_of(urls: Sequence[str]) -> list[str]:
    starts = [url[: url.find("/", _IN_HOST) + 1] for url in urls]
    # A URL without a path is not canonical: others wrote it.
    return starts if all(starts) else [start_of(url) for url in urls]


@lru_cache(maxsize=1 << 14)
def _host_of(start: str) -> str:
    """Return the host of a URL of which the *start* is enough; "" if it is not valid."""
    try:
        return host(start)
    except InvalidURL:  # of a row that others wrote; it is set aside later
        return ""


def _has_date(url: str) -> bool:
    """Return whether *url* has a date; quickly for the many URLs without a year."""
    if "2" in url or "19" in url or "18" in url:
        return _DATE.search(url) is not None
    return False


def _repeats(url: str, most: int) -> bool:
    segments = url.split("/")
    if len(segments) - len(set(segments)) < most:
        return False
    segments = url.removesuffix("/").split("/")[3:]
    if any(segments.count(segment) > most for segment in segments):
        return True
    sizes = range(2, len(segments) // most + 1)
    return any(_longest_run(segments, size) >= size * (most - 1) for size in sizes)


def _longest_run(segments: list[str], size: int) -> int:
    """Return the longest run of segments that each equal the one *size* before."""
    longest = run = 0
    for segment, before in zip(segments[size:], segments, strict=False):
        run = run + 1 if segment == before else 0
        longest = max(longest, run)
    return longest


def _check(name: str, value: int, at_least: int = 1) -> int:
    if value < at_least:
        raise ValueError(f"{name} must be {at_least} or more, not {value!r}")
    return value
