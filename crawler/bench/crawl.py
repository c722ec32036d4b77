"""
The cost of a crawl: our crawl, the bare loop as the lower limit, and other frameworks, on one site.

Each contender runs in a process of its own on one core; the server runs on another core. Repeats
are interleaved. A crawl that did not fetch every page exactly once is an error, not a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from statistics import median
from typing import Any

from .._distribution import install_command
from .contenders.ours import per_host
from .measuring.child import BenchError
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved
from .sites.served_site import ServedSite, run_on, served
from .sites.shape import Shape


@dataclass(frozen=True)
class Contender:
    """A program that crawls: *target* names a function of a shape and a concurrency."""

    name: str
    target: str
    #: More arguments of the function.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Whether it is another framework, which must not be monkey-patched.
    peer: bool = False


BARE = Contender("bare loop", "crawler.bench.contenders.bare_loop:crawl")
OURS = Contender("our crawl", "crawler.bench.contenders.ours:crawl")
RECORDS = Contender("our crawl, a record a page", OURS.target, {"records": True})
DURABLE = Contender("our crawl, durable", OURS.target, {"durable": True})
SCRAPY = Contender("Scrapy, tuned", "crawler.bench.contenders.scrapy_crawl:crawl", peer=True)
CRAWLEE = Contender(
    "Crawlee, as documented", "crawler.bench.contenders.crawlee_crawl:crawl", peer=True
)
TUNED_CRAWLEE = Contender("Crawlee, tuned", CRAWLEE.target, {"tuned": True}, peer=True)
#: By the name of the distribution.
PEERS = {"scrapy": (SCRAPY,), "crawlee": (CRAWLEE, TUNED_CRAWLEE)}

#: Targets: the CPU of one contender divided by that of another must be at most, or at least, a bound.
_BOUNDS = (
    ("CPU of our crawl ÷ CPU of the bare loop", OURS, BARE, 1.6, False),
    ("CPU of our crawl in memory ÷ CPU in a job directory", OURS, DURABLE, 0.8, True),
    (f"CPU of {SCRAPY.name} ÷ CPU of our crawl", SCRAPY, OURS, 8.0, True),
    (f"CPU of {CRAWLEE.name} ÷ CPU of our crawl", CRAWLEE, OURS, 15.0, True),
)


def peers(names: Iterable[str]) -> list[Contender]:
    """Return the contenders of these frameworks; raise ValueError for one that is unknown or missing."""
    found: list[Contender] = []
    for name in dict.fromkeys(names):
        if name not in PEERS:
            raise ValueError(f"{name!r} is not a known framework; known are {', '.join(PEERS)}")
        if find_spec(name) is None:
            raise ValueError(f"{name} is not installed: {install_command('bench')}")
        found += PEERS[name]
    return found


def run(
    shape: Shape,
    *,
    concurrency: int,
    repeats: int,
    others: Collection[Contender] = (),
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Measure all contenders, interleaved."""
    if others and shape.hosts > 1:
        raise BenchError("other frameworks cannot resolve the names of several hosts: use one host")
    contenders = {
        contender.name: contender for contender in (BARE, OURS, RECORDS, DURABLE, *others)
    }
    with served(shape) as site:
        rows, failures = interleaved(
            contenders,
            repeats,
            lambda name: sample(site, contenders[name], concurrency),
            show_progress,
        )
        setting = _setting(site, concurrency)
    return Report("crawl", setting, rows, _targets(rows), failures=failures)


def sample(site: ServedSite, contender: Contender, concurrency: int) -> dict[str, float]:
    """Let *contender* crawl *site* once; return the cost per page."""
    measured = crawled(site, contender, concurrency)
    pages = site.shape.pages
    return {
        "cpu_us": measured["cpu"] / pages * 1e6,
        "pages_per_second": pages / measured["seconds"],
        "rss_mb": measured["rss"],
    }


def crawled(site: ServedSite, contender: Contender, concurrency: int) -> dict[str, Any]:
    """Let *contender* crawl *site* once, and check that it fetched every page exactly once."""
    pages = site.shape.pages
    arguments = {"concurrency": concurrency, **contender.options}
    site.counts()
    measured = run_on(site, contender.target, arguments, pages, patched=not contender.peer)
    served_pages = site.counts()
    if (measured["pages"], *served_pages) != (pages, pages, pages):
        raise BenchError(
            f"not comparable: {contender.name} fetched {measured['pages']} of {pages} pages; "
            f"the server counted {served_pages[0]} pages in {served_pages[1]} requests"
        )
    return measured


def show(report: Report) -> str:
    """Show ratios first: unlike times, they hold on a busy or slow machine."""
    limit = report.rows.get(BARE.name)
    head = ("crawl", "× CPU of the bare loop", "µs of CPU per page", "pages/s", "MB at most")
    rows = [
        (
            name,
            ratio(samples, limit, "cpu_us"),
            spread(samples["cpu_us"]),
            spread(samples["pages_per_second"]),
            f"{max(samples['rss_mb']):.0f}",
        )
        for name, samples in report.rows.items()
    ]
    return text(report, f"{_described(report)}\n{table(head, rows)}")


def _described(report: Report) -> str:
    setting = report.setting
    repeats = len(next(iter(report.rows.values()))["cpu_us"])
    limit = f" (our crawl: {setting['per_host']} per host)" if setting["hosts"] > 1 else ""
    return (
        f"{setting['pages']:,} pages of {setting['size']:,} bytes and {setting['links']} links, "
        f"{setting['hosts']:,} host(s), {setting['concurrency']} requests in flight{limit}, "
        f"{setting['server']}; medians of {repeats} [minimum–maximum]"
    )


def _setting(site: ServedSite, concurrency: int) -> dict[str, object]:
    shape = asdict(site.shape)
    del shape["port"]
    most = per_host(site.shape.hosts, concurrency)
    return shape | {"concurrency": concurrency, "per_host": most, "server": site.server}


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    cpu = {name: samples["cpu_us"] for name, samples in rows.items()}
    return [
        Target(what, median(times(cpu[one.name], cpu[other.name])), bound, at_least)
        for what, one, other, bound, at_least in _BOUNDS
        if one.name in cpu and other.name in cpu
    ]
