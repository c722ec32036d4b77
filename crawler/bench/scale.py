"""
Whether a page costs the same on small sites and large ones, on one host and on many; and memory.

More hosts mean more connections, which cost even the bare loop: so each row has that beside it.
A row is named by its pages and hosts; links are whole URLs throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import median
from typing import NamedTuple

from .crawl import BARE, OURS, sample
from .report import Report, Samples, Target, spread, table, text, times
from .shape import Shape
from .site import served

#: How much more than the first row a page may cost in any other.
MOST_TIMES = 1.15
CONCURRENCY = 64


class Size(NamedTuple):
    pages: int
    hosts: int

    def __str__(self) -> str:
        return f"{self.pages:,} pages, {self.hosts:,} host{'s' * (self.hosts > 1)}"


SIZES = (Size(2000, 1), Size(20_000, 1), Size(120_000, 1), Size(20_000, 100), Size(120_000, 10_000))
QUICK = (Size(1000, 1), Size(4000, 1), Size(4000, 100))


def run(
    sizes: Sequence[Size], repeats: int, told: Callable[[str], object] = lambda _: None
) -> Report:
    """Crawl a site of each size with our crawl and the bare loop, interleaved."""
    rows: dict[str, Samples] = {str(size): {} for size in sizes}
    for repeat in range(repeats):
        for size in sizes:
            with served(Shape(size.pages, hosts=size.hosts, absolute=True)) as site:
                for contender, prefix in ((OURS, ""), (BARE, "bare_")):
                    told(f"{repeat + 1}/{repeats} {size}, {contender.name}")
                    found = sample(site, contender, CONCURRENCY)
                    for measure, value in found.items():
                        rows[str(size)].setdefault(prefix + measure, []).append(value)
                kind = site.kind
    setting = {"sizes": list(map(str, sizes)), "concurrency": CONCURRENCY, "server": kind}
    return Report("scale", setting, rows, _targets(rows), _memory(sizes, rows))


def _targets(rows: dict[str, Samples]) -> list[Target]:
    first, *others = (samples["cpu_us"] for samples in rows.values())
    return [
        Target(f"CPU a page, {name}, of the first row's", median(times(cpu, first)), MOST_TIMES)
        for name, cpu in zip(list(rows)[1:], others, strict=True)
    ]


def _memory(sizes: Sequence[Size], rows: dict[str, Samples]) -> list[str]:
    """Say how memory grows with the URLs seen, on one host."""
    alone = [size for size in sizes if size.hosts == 1]
    few, many = alone[-2:]
    less, more = (median(rows[str(size)]["rss_mb"]) for size in (few, many))
    growth = (more - less) / (many.pages - few.pages) * 100_000
    return [
        f"{less:.0f} MB at {few.pages:,} pages; {growth:+.1f} MB for each further 100,000 URLs seen"
    ]


def show(report: Report) -> str:
    first = next(iter(report.rows.values()))["cpu_us"]
    rows = [
        (
            name,
            spread(times(samples["cpu_us"], first), 2),
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
        "µs of CPU a page",
        "bare loop",
        "MB at most",
    )
    return text(report, table(head, rows))
