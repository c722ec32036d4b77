"""
How the cost of a page and the memory grow with the number of pages and of hosts.

More hosts need more connections, which cost the bare loop more too, so each row shows it as well.
A row is named by its pages and hosts; all links are absolute URLs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from .contenders.ours import per_host
from .crawl import BARE, OFF, sample
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved
from .sites.served_site import ServedSite, served, server_name
from .sites.shape import Shape

#: Target: the cost of a page in any row, divided by that in the first row.
MOST_TIMES = 1.15
#: Targets: the MB in use with PAGES pages, and the MB more per further 100,000 URLs.
PAGES, MOST_MEGABYTES, MOST_MORE = 20_000, 70, 15
CONCURRENCY = 64
#: The minimum number of pages per sample. All rows are compared with the first, and a crawl of
#: 2,000 pages is too short to average over the fast and slow phases of a machine.
_ENOUGH = 10_000
_TERMS = (
    f"{CONCURRENCY} requests in flight; our crawl of several hosts: "
    f"{per_host(2, CONCURRENCY)} per host"
)


class Size(NamedTuple):
    pages: int
    hosts: int

    def __str__(self) -> str:
        return f"{self.pages:,} pages, {self.hosts:,} host{'s' * (self.hosts > 1)}"


SIZES = (Size(2000, 1), Size(20_000, 1), Size(120_000, 1), Size(20_000, 100), Size(120_000, 10_000))
QUICK = (Size(1000, 1), Size(4000, 1), Size(4000, 100))


def run(
    sizes: Sequence[Size],
    repeats: int,
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Crawl a site of each size with our crawl and the bare loop, interleaved."""
    by_name = {str(size): size for size in sizes}
    rows, failures = interleaved(
        by_name, repeats, lambda name: _sample(by_name[name]), show_progress
    )
    setting = {"sizes": list(by_name), "concurrency": CONCURRENCY, "server": server_name()}
    targets = [*_targets(rows), *_memory(sizes, rows)]
    return Report("scale", setting, rows, targets, [_TERMS], failures)


def _sample(size: Size) -> dict[str, float]:
    """Crawl the site, a small one several times; return the medians."""
    with served(Shape(size.pages, hosts=size.hosts, absolute=True)) as site:
        crawls = [_crawls(site) for _ in range(max(1, _ENOUGH // size.pages))]
    return {measure: median(crawl[measure] for crawl in crawls) for measure in crawls[0]}


def _crawls(site: ServedSite) -> dict[str, float]:
    ours, bare = (sample(site, contender, CONCURRENCY) for contender in (OFF, BARE))
    return ours | {f"bare_{measure}": value for measure, value in bare.items()}


def _targets(rows: dict[str, Samples]) -> list[Target]:
    first, *others = (samples["cpu_us"] for samples in rows.values())
    return [
        Target(f"CPU per page with {name} ÷ first row", median(times(cpu, first)), MOST_TIMES)
        for name, cpu in zip(list(rows)[1:], others, strict=True)
    ]


def _memory(sizes: Sequence[Size], rows: dict[str, Samples]) -> list[Target]:
    """Return targets for the growth of memory with the URLs seen, on one host; none for few pages."""
    used = {
        size.pages: median(rows[str(size)]["rss_mb"])
        for size in sizes
        if size.hosts == 1 and size.pages >= PAGES and str(size) in rows
    }
    if len(used) < 2 or PAGES not in used:
        return []
    most = max(used)
    more = (used[most] - used[PAGES]) / (most - PAGES) * 100_000
    return [
        Target(f"MB with {PAGES:,} pages", used[PAGES], MOST_MEGABYTES),
        Target("MB more per further 100,000 URLs seen", more, MOST_MORE),
    ]


def show(report: Report) -> str:
    first = next(iter(report.rows.values()))
    rows = [
        (
            name,
            ratio(samples, first, "cpu_us"),
            spread(times(samples["cpu_us"], samples["bare_cpu_us"]), 2),
            spread(samples["cpu_us"]),
            spread(samples["bare_cpu_us"]),
            f"{max(samples['rss_mb']):.0f}",
        )
        for name, samples in report.rows.items()
    ]
    head = (
        "our crawl",
        "× first row",
        "× bare loop",
        "µs of CPU per page",
        "bare loop",
        "MB at most",
    )
    return text(report, table(head, rows))
