"""
The cost of a crawl: our crawl, the bare loop as the lower limit, wget2 and other frameworks.

Each contender runs in a process of its own on one core; the server runs on another core. Repeats
are interleaved. A crawl that did not fetch the same pages as the others is an error, not a row.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.util import find_spec
from shutil import which
from statistics import median
from typing import Any

from .._distribution import install_command
from .contenders.ours import per_host
from .contenders.wget2_crawl import PROGRAM
from .measuring.child import BenchError
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved
from .sites.docs import Docs
from .sites.served_site import ServedSite, run_on, served
from .sites.shape import Shape
from .sites.site import Site
from .sites.web_shape import WebShape


@dataclass(frozen=True)
class Contender:
    """A program that crawls: *target* names a function of a URL and a concurrency."""

    name: str
    target: str
    #: More arguments of the function.
    options: Mapping[str, Any] = field(default_factory=dict)
    #: Whether it is another program, which must not be monkey-patched.
    peer: bool = False


BARE = Contender("bare loop", "crawler.bench.contenders.bare_loop:crawl")
OURS = Contender("our crawl, as `crawler crawl`", "crawler.bench.contenders.ours:crawl")
UNRESTED = Contender("our crawl, without rests", OURS.target, {"rests": False})
OFF = Contender("our crawl, everything off", OURS.target, {"rests": False, "records": False})
OWN = (BARE, OURS, UNRESTED, OFF)
WGET2 = Contender("wget2", "crawler.bench.contenders.wget2_crawl:crawl", peer=True)
_SCRAPY = "crawler.bench.contenders.scrapy_crawl:crawl"
SCRAPY = Contender("Scrapy, tuned", _SCRAPY, {"tuned": True}, peer=True)
DEFAULT_SCRAPY = Contender("Scrapy, by default", _SCRAPY, peer=True)
_CRAWLEE = "crawler.bench.contenders.crawlee_crawl:crawl"
CRAWLEE = Contender("Crawlee, as documented", _CRAWLEE, peer=True)
TUNED_CRAWLEE = Contender("Crawlee, tuned", _CRAWLEE, {"tuned": True}, peer=True)
#: By the name of the program.
PEERS = {
    PROGRAM: (WGET2,),
    "scrapy": (SCRAPY, DEFAULT_SCRAPY),
    "crawlee": (CRAWLEE, TUNED_CRAWLEE),
}

#: By the kind of the site: the CPU of one contender divided by that of another must be at most, or at
#: least, a bound.
_BOUNDS: dict[type[Site], Sequence[tuple[Contender, Contender, float, bool]]] = {
    WebShape: ((OURS, BARE, 1.5, False), (OURS, UNRESTED, 1.1, False), (SCRAPY, OURS, 8.0, True)),
    Docs: ((OURS, BARE, 1.0, False), (OURS, WGET2, 1.5, False)),
    Shape: ((OFF, BARE, 1.6, False), (SCRAPY, OFF, 8.0, True), (CRAWLEE, OFF, 15.0, True)),
}
#: How far the number of pages of two contenders may differ on a site whose pages nobody has counted.
_TOLERANCE = 0.02


def peers(names: Iterable[str]) -> list[Contender]:
    """Return the contenders of these programs; raise ValueError for one that is unknown or missing."""
    found: list[Contender] = []
    for name in dict.fromkeys(names):
        if name not in PEERS:
            raise ValueError(f"{name!r} is not a known program; known are {', '.join(PEERS)}")
        if why := missing(name):
            raise ValueError(why)
        found += PEERS[name]
    return found


def missing(name: str) -> str:
    """Return why the program *name* cannot be measured; "" if it is installed."""
    if name == PROGRAM:
        return "" if which(name) else "wget2 is not installed"
    return "" if find_spec(name) else f"{name} is not installed: {install_command('bench')}"


def run(
    shape: Site,
    *,
    concurrency: int,
    repeats: int,
    others: Collection[Contender] = (),
    notes: Sequence[str] = (),
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Measure all contenders, interleaved."""
    if others and shape.hosts > 1:
        raise BenchError("other programs cannot resolve the names of several hosts: use one host")
    contenders = {contender.name: contender for contender in (*OWN, *others)}
    with served(shape) as site:
        rows, failures = interleaved(
            contenders,
            repeats,
            lambda name: sample(site, contenders[name], concurrency),
            show_progress,
        )
        setting = _setting(site, concurrency)
    failures += _differences(rows)
    return Report("crawl", setting, rows, _targets(shape, rows), notes, failures)


def sample(site: ServedSite, contender: Contender, concurrency: int) -> dict[str, float]:
    """Let *contender* crawl *site* once; return the cost per page."""
    measured = crawled(site, contender, concurrency)
    pages = measured["pages"]
    return {
        "cpu_us": measured["cpu"] / pages * 1e6,
        "pages_per_second": pages / measured["seconds"],
        "rss_mb": measured["rss"],
        "pages": pages,
    }


def crawled(site: ServedSite, contender: Contender, concurrency: int) -> dict[str, Any]:
    """
    Let *contender* crawl *site* once; return the cost, and the pages that the server counted.

    Of a generated site, every page must have been fetched, and few of them twice: Scrapy fetches the
    first page again when it finds a link to it.
    """
    shape = site.shape
    arguments = {"url": shape.url(0), "concurrency": concurrency, **contender.options}
    if shape.hosts > 1 and contender.target == OURS.target:
        arguments["hosts"] = shape.hosts
    site.counts()
    pages = shape.pages
    measured = run_on(site, contender.target, arguments, pages, patched=not contender.peer)
    found, requests = site.counts()
    if not found or found != (pages or found) or requests > found + max(1, found // 100):
        raise BenchError(
            f"not comparable: {contender.name} should fetch {pages or 'all'} pages once; "
            f"the server counted {found} pages in {requests} requests"
        )
    return measured | {"pages": found}


def show(report: Report) -> str:
    """Show ratios first: unlike times, they hold on a busy or slow machine."""
    limit = report.rows.get(BARE.name)
    head = (
        "crawl",
        "× CPU of the bare loop",
        "µs of CPU per page",
        "pages/s",
        "MB at most",
        "pages",
    )
    rows = [
        (
            name,
            ratio(samples, limit, "cpu_us"),
            spread(samples["cpu_us"]),
            spread(samples["pages_per_second"]),
            f"{max(samples['rss_mb']):.0f}",
            f"{median(samples['pages']):,.0f}",
        )
        for name, samples in report.rows.items()
    ]
    return text(report, f"{_described(report)}\n{table(head, rows)}")


def _described(report: Report) -> str:
    setting = report.setting
    repeats = len(next(iter(report.rows.values()))["cpu_us"])
    most = f"{setting['concurrency']} requests in flight"
    if setting.get("hosts", 1) > 1:
        most = f"{setting['hosts']:,} hosts, {most} (our crawl: {setting['per_host']} per host)"
    return f"{setting['site']}, {most}, {setting['server']}; medians of {repeats} [minimum–maximum]"


def _setting(site: ServedSite, concurrency: int) -> dict[str, object]:
    shape = site.shape
    fields = {name: value for name, value in asdict(shape).items() if name != "port"}
    most = per_host(shape.hosts, concurrency)
    common = {"concurrency": concurrency, "per_host": most, "server": site.server}
    return {"site": str(shape), **fields, **common}


def _differences(rows: dict[str, Samples]) -> list[str]:
    """Remove the rows that did not fetch as many pages as the first row; return the reasons."""
    pages = {name: median(samples["pages"]) for name, samples in rows.items()}
    usual = next(iter(pages.values()))
    failures = []
    for name, fetched in pages.items():
        if abs(fetched - usual) > usual * _TOLERANCE:
            failures.append(f"{name}: not comparable: fetched {fetched:.0f} pages, not {usual:.0f}")
            del rows[name]
    return failures


def _targets(shape: Site, rows: Mapping[str, Samples]) -> list[Target]:
    cpu = {name: samples["cpu_us"] for name, samples in rows.items()}
    return [
        Target(
            f"CPU of {one.name} ÷ CPU of {other.name}",
            median(times(cpu[one.name], cpu[other.name])),
            bound,
            at_least,
        )
        for one, other, bound, at_least in _BOUNDS[type(shape)]
        if one.name in cpu and other.name in cpu
    ]
