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

from .child import BenchError, Child
from .report import Report, Samples, Target, spread, table, text, times
from .shape import LINKS, Shape
from .site import Site, served

#: Seconds a crawl may take for a page before it counts as hung, and in any case.
_SLOWEST, _LEAST = 0.03, 60.0


@dataclass(frozen=True)
class Contender:
    """Who crawls: a function of a site and a concurrency, which returns how many pages it had."""

    name: str
    target: str
    #: Further arguments of the function.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: The distribution that another framework comes in.
    peer: str = ""


BARE = Contender("bare loop", "crawler.bench.bare:crawl")
OURS = Contender("our crawl", "crawler.bench.ours:crawl")
RECORDS = Contender("our crawl, a record a page", OURS.target, {"records": True})
DURABLE = Contender("our crawl, durable", OURS.target, {"durable": True})
PEERS = {
    "scrapy": Contender("Scrapy, tuned", "crawler.bench.peer_scrapy:crawl", peer="scrapy"),
    "crawlee": Contender("Crawlee, parsel", "crawler.bench.peer_crawlee:crawl", peer="crawlee"),
}


def peers(names: Iterable[str]) -> list[Contender]:
    """Return the other frameworks of these *names*; a ValueError says which cannot be had."""
    found = []
    for name in names:
        if name not in PEERS:
            raise ValueError(f"{name!r} is no peer; there are {', '.join(PEERS)}")
        if find_spec(PEERS[name].peer) is None:
            raise ValueError(f"{name} is not installed: pip install 'crawler[bench]'")
        found.append(PEERS[name])
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
    contenders = (BARE, OURS, RECORDS, DURABLE, *others)
    rows: dict[str, Samples] = {contender.name: {} for contender in contenders}
    with served(shape) as site:
        for repeat in range(repeats):
            for contender in contenders:
                told(f"{repeat + 1}/{repeats} {contender.name}")
                for measure, value in sample(site, contender, concurrency).items():
                    rows[contender.name].setdefault(measure, []).append(value)
        setting = _setting(site, concurrency)
    return Report("crawl", setting, rows, _targets(rows))


def sample(site: Site, contender: Contender, concurrency: int) -> dict[str, float]:
    """Let *contender* crawl *site* once; return what a page cost."""
    arguments = {"site": asdict(site.shape), "concurrency": concurrency, **contender.options}
    child = Child(contender.target, arguments, patched=not contender.peer)
    pages = site.shape.pages
    site.counts()
    measured = child.run(max(_LEAST, _SLOWEST * pages))
    served_pages = site.counts()
    if (measured["pages"], *served_pages) != (pages, pages, pages):
        raise BenchError(
            f"{contender.name} is not comparable: of {pages} pages it had {measured['pages']}; "
            f"the server was asked for {served_pages[0]}, {served_pages[1]} times"
        )
    return {
        "cpu_us": measured["cpu"] / pages * 1e6,
        "pages_per_second": pages / measured["seconds"],
        "rss_mb": measured["rss"],
    }


def show(report: Report) -> str:
    """Show ratios first: they hold on a machine that is busy or slow, and times do not."""
    limit = report.rows[BARE.name]["cpu_us"]
    head = ("crawl", "× CPU of the bare loop", "µs of CPU a page", "pages/s", "MB at most")
    rows = [
        (
            name,
            spread(times(samples["cpu_us"], limit), 2),
            spread(samples["cpu_us"]),
            spread(samples["pages_per_second"]),
            f"{max(samples['rss_mb']):.0f}",
        )
        for name, samples in report.rows.items()
    ]
    return text(report, f"{_described(report)}\n{table(head, rows)}")


def _described(report: Report) -> str:
    setting = report.setting
    return (
        f"{setting['pages']:,} pages of {setting['size']:,} bytes and {LINKS} links, "
        f"{setting['hosts']:,} host(s), {setting['concurrency']} requests at a time, "
        f"{setting['server']}; medians of {_repeats(report)} [least–most]"
    )


def _repeats(report: Report) -> int:
    return len(report.rows[BARE.name]["cpu_us"])


def _setting(site: Site, concurrency: int) -> dict[str, object]:
    shape = asdict(site.shape)
    del shape["port"]
    return shape | {"concurrency": concurrency, "server": site.kind}


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    cpu = {name: samples["cpu_us"] for name, samples in rows.items()}
    ours = cpu[OURS.name]
    found = [
        Target("CPU of our crawl, of the bare loop's", median(times(ours, cpu[BARE.name])), 1.6)
    ]
    if DURABLE.name in rows:
        speed = median(times(ours, cpu[DURABLE.name]))
        text = "pages for the same CPU, durable, of those in memory"
        found.append(Target(text, speed, 0.8, at_least=True))
    for name, bound in (("scrapy", 8.0), ("crawlee", 15.0)):
        peer = PEERS[name].name
        if peer in rows:
            ratio = median(times(cpu[peer], ours))
            found.append(Target(f"CPU of {peer}, of our crawl's", ratio, bound, at_least=True))
    return found
