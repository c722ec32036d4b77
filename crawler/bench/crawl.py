"""
What a crawl costs: ours, the bare loop as the limit, and other frameworks, on one site.

Every contender has a process of its own on one core, the server another core. Repeats are
interleaved. A crawl that did not fetch every page once is an error, not a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from statistics import median
from typing import Any

from .contenders.ours import per_host
from .measuring.child import BenchError
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved
from .sites.served_site import Site, served, visit
from .sites.shape import Shape


@dataclass(frozen=True)
class Contender:
    """Who crawls: a function of a site and a concurrency, which returns how many pages it had."""

    name: str
    target: str
    #: Further arguments of the function.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Whether it is another framework.
    peer: bool = False


BARE = Contender("bare loop", "crawler.bench.contenders.bare_loop:crawl")
OURS = Contender("our crawl", "crawler.bench.contenders.ours:crawl")
RECORDS = Contender("our crawl, a record a page", OURS.target, {"records": True})
DURABLE = Contender("our crawl, durable", OURS.target, {"durable": True})
SCRAPY = Contender("Scrapy, tuned", "crawler.bench.contenders.scrapy_crawl:crawl", peer=True)
CRAWLEE = Contender(
    "Crawlee, as documented", "crawler.bench.contenders.crawlee_crawl:crawl", peer=True
)
LEAN_CRAWLEE = Contender("Crawlee, tuned", CRAWLEE.target, {"tuned": True}, peer=True)
#: By the distribution that each comes in.
PEERS = {"scrapy": (SCRAPY,), "crawlee": (CRAWLEE, LEAN_CRAWLEE)}

#: What the CPU of one contender may be, of that of another: at most, or at least.
_BOUNDS = (
    ("CPU of our crawl, of the bare loop's", OURS, BARE, 1.6, False),
    ("pages for the same CPU, durable, of those in memory", OURS, DURABLE, 0.8, True),
    (f"CPU of {SCRAPY.name}, of our crawl's", SCRAPY, OURS, 8.0, True),
    (f"CPU of {CRAWLEE.name}, of our crawl's", CRAWLEE, OURS, 15.0, True),
)


def peers(names: Iterable[str]) -> list[Contender]:
    """Return the other frameworks of these *names*; a ValueError says which cannot be had."""
    found: list[Contender] = []
    for name in dict.fromkeys(names):
        if name not in PEERS:
            raise ValueError(f"{name!r} is no peer; there are {', '.join(PEERS)}")
        if find_spec(name) is None:
            raise ValueError(f"{name} is not installed: pip install 'crawler[bench]'")
        found += PEERS[name]
    return found


def run(
    shape: Shape,
    *,
    concurrency: int,
    repeats: int,
    others: Collection[Contender] = (),
    told: Callable[[str], object] = lambda _: None,
) -> Report:
    """Measure all contenders, interleaved; *told* is called with what is about to be measured."""
    if others and shape.hosts > 1:
        raise BenchError("other frameworks cannot find several hosts on this machine: use one")
    contenders = {one.name: one for one in (BARE, OURS, RECORDS, DURABLE, *others)}
    with served(shape) as site:
        rows, failures = interleaved(
            contenders, repeats, lambda name: sample(site, contenders[name], concurrency), told
        )
        setting = _setting(site, concurrency)
    return Report("crawl", setting, rows, _targets(rows), failures=failures)


def sample(site: Site, contender: Contender, concurrency: int) -> dict[str, float]:
    """Let *contender* crawl *site* once; return what a page cost."""
    measured = crawled(site, contender, concurrency)
    pages = site.shape.pages
    return {
        "cpu_us": measured["cpu"] / pages * 1e6,
        "pages_per_second": pages / measured["seconds"],
        "rss_mb": measured["rss"],
    }


def crawled(site: Site, contender: Contender, concurrency: int) -> dict[str, Any]:
    """Let *contender* crawl *site* once, and make sure that it had every page."""
    pages = site.shape.pages
    arguments = {"concurrency": concurrency, **contender.options}
    site.counts()
    measured = visit(site, contender.target, arguments, pages, patched=not contender.peer)
    served_pages = site.counts()
    if (measured["pages"], *served_pages) != (pages, pages, pages):
        raise BenchError(
            f"not comparable: of {pages} pages {contender.name} had {measured['pages']}; "
            f"the server was asked for {served_pages[0]}, {served_pages[1]} times"
        )
    return measured


def show(report: Report) -> str:
    """Show ratios first: they hold on a machine that is busy or slow, and times do not."""
    limit = report.rows.get(BARE.name)
    head = ("crawl", "× CPU of the bare loop", "µs of CPU a page", "pages/s", "MB at most")
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
    limit = f", of ours {setting['per_host']} to a host" if setting["hosts"] > 1 else ""
    return (
        f"{setting['pages']:,} pages of {setting['size']:,} bytes and {setting['links']} links, "
        f"{setting['hosts']:,} host(s), {setting['concurrency']} requests at a time{limit}, "
        f"{setting['server']}; medians of {repeats} [least–most]"
    )


def _setting(site: Site, concurrency: int) -> dict[str, object]:
    shape = asdict(site.shape)
    del shape["port"]
    most = per_host(site.shape.hosts, concurrency)
    return shape | {"concurrency": concurrency, "per_host": most, "server": site.kind}


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    cpu = {name: samples["cpu_us"] for name, samples in rows.items()}
    return [
        Target(what, median(times(cpu[one.name], cpu[other.name])), bound, at_least)
        for what, one, other, bound, at_least in _BOUNDS
        if one.name in cpu and other.name in cpu
    ]
