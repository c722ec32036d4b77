"""
Where a site goes on for ever: pages that are made up as fast as they are fetched.

Each guess errs on the side of the site: only what hardly any honest site has is taken for a
trap, and the default limits let a large site through.
"""

from __future__ import annotations

import re

from ...url import host

#: Where the host of any URL has begun, so that the next slash begins the path.
_IN_HOST = len("https://")

#: A year with its month and perhaps its day: "2031/05", "2031-5-17", "2031&month=5". Digits
#: in one row are more often the number of an article. What it begins with is quick to find.
_DATE = re.compile(
    r"""
    (?: 19 | 20 ) (?<! [0-9].. ) [0-9]{2}
    SEPARATOR (?: 1[0-2] | 0?[1-9] )
    (?: SEPARATOR (?: 3[01] | [12][0-9] | 0?[1-9] ) )?
    (?! [0-9] )
    """.replace("SEPARATOR", "(?: [-/_.] | %2F | & [a-z]{1,9} = )"),
    re.VERBOSE,
)

#: How many URLs are kept for each reason.
_SAMPLES = 3


class TrapGuard:
    """
    Says of a URL whether it leads deeper into a trap, or is one too many for its host.

    It wants to be asked once about each URL that is new, because asking counts:

    - trap_depth: the path has more than *max_segments* parts.
    - trap_repeat: one part comes more than *max_repeats* times in the path, or several
      together *max_repeats* times in a row, as in ``/a/b/a/b/a/b``.
    - trap_calendar: more than *max_dates* URLs differ in nothing but a date.
    - trap_query: more than *max_query_variants* URLs differ in nothing but the query.
    - host_cap: *max_pages_per_host* URLs of the host were let through; None is no limit.

    Of dates and of queries, it keeps count for the last *most_counted* at most; the numbers
    of the hosts are kept for good. *samples* are the first few URLs of each reason.
    """

    def __init__(
        self,
        max_pages_per_host: int | None = None,
        *,
        max_segments: int = 30,
        max_repeats: int = 3,
        max_dates: int = 5 * 366,
        max_query_variants: int = 10_000,
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
        self._dates = _Counts(_check("most_counted", most_counted, at_least=2))
        self._queries = _Counts(most_counted)
        self._pages: dict[str, int] = {}

    def refusal(self, url: str) -> str | None:
        """Say why *url*, canonical and new, should not be fetched; None if it may be."""
        reason = self._judge(url)
        if reason is not None:
            sample = self.samples.setdefault(reason, [])
            if len(sample) < _SAMPLES:
                sample.append(url)
        return reason

    def count(self, url: str) -> None:
        """Count *url*, which was let through earlier."""
        query = url.find("?")
        if query >= 0:
            self._queries.add(url[:query])
        if _has_date(url):
            self._dates.add(_DATE.sub("", url))
        if self._max_pages is not None:
            self._is_full(host(url))

    def _judge(self, url: str) -> str | None:
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
        return "host_cap" if self._max_pages is not None and self._is_full(host(url)) else None

    def _is_full(self, name: str) -> bool:
        pages = self._pages.get(name, 0)
        if pages == self._max_pages:
            return True
        self._pages[name] = pages + 1
        return False

    def __repr__(self) -> str:
        return f"<TrapGuard, {len(self._pages)} hosts, refused for {sorted(self.samples)}>"


class _Counts:
    """
    Counts by name, for *most* names at most: those not met for longest are forgotten.

    Names live in two dicts, and move to the younger one when met. Once that has half of
    all, it becomes the older one, and the names that are in that one go.
    """

    def __init__(self, most: int) -> None:
        self._half = most // 2
        self._young: dict[int, int] = {}
        self._old: dict[int, int] = {}

    def add(self, name: str) -> int:
        """Count *name* once more, and say how often that was; its hash is all that is kept."""
        key = hash(name)
        count = self._young.get(key)
        if count is None:
            count = self._old.pop(key, 0)
            if len(self._young) >= self._half:
                self._old, self._young = self._young, {}
        self._young[key] = count + 1
        return count + 1

    def __len__(self) -> int:
        return len(self._young) + len(self._old)


def _has_date(url: str) -> bool:
    """Say so, and quickly of the many that do not even have a century."""
    return ("20" in url or "19" in url) and _DATE.search(url) is not None


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
