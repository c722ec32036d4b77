"""
What pages made to take long cost, and whether another host is served meanwhile.

    crawler bench hostile

Each kind of page is read as a crawl reads it, and selected from. Then a host with ordinary pages is
crawled, alone and beside a host whose pages are all of these kinds, with the default politeness.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import process_time
from typing import Any

import gevent
from gevent import subprocess

from ..spider import Page
from ..testing import LoopbackSite, Reply
from ..testing.site import Page as ServedPage
from .measuring.child import BenchError, Child
from .measuring.report import Report, Samples, Target, spread, table, text
from .sites.hostile_pages import PAGES

#: Targets: seconds of CPU per megabyte, and the part of its rate that another host keeps.
MOST_SECONDS, LEAST_RATE = 0.5, 0.9
_GOOD, _HOSTILE = "127.0.0.1", "127.0.0.2"
_ALONE, _BESIDE = "a host alone", "the host beside a hostile one"
#: The timeout of each part of the benchmark in seconds.
_LONGEST = 600.0
#: How often a page is read; the least time counts.
_TRIES = 3
_SHOWN = 12


def read(page: Page) -> None:
    """Do what ``crawler crawl`` does with a page."""
    _ = page.title
    for _ in page.links():
        pass


def select(page: Page) -> None:
    page.css("title")


_ACTS: dict[str, Callable[[Page], None]] = {"read_s": read, "select_s": select}


def measure(size: int) -> dict[str, Any]:
    """Return the seconds of CPU per megabyte of each kind of page, by act."""
    return {"kinds": {name: _seconds(name, size) for name in PAGES}}


def _seconds(name: str, size: int) -> dict[str, float]:
    body, kind = PAGES[name].body(size), {"content-type": PAGES[name].content_type}
    found = {}
    for what, act in _ACTS.items():
        times = []
        for _ in range(_TRIES):
            page = Page("http://site.test/", 200, kind, body)
            began = process_time()
            act(page)
            times.append(process_time() - began)
        found[what] = min(times) / len(body) * 1e6
    return found


def run(
    size: int,
    pages: int,
    repeats: int,
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Measure each kind of page with *size* bytes, then crawl *pages* ordinary pages."""
    show_progress(f"{len(PAGES)} kinds of pages")
    child = Child("crawler.bench.hostile:measure", {"size": size})
    kinds = child.run(_LONGEST)["kinds"]
    rows: dict[str, Samples] = {
        name: {what: [seconds] for what, seconds in found.items()} for name, found in kinds.items()
    }
    rates: dict[str, list[float]] = {_ALONE: [], _BESIDE: []}
    for repeat in range(repeats):
        for name, found in rates.items():
            show_progress(f"{repeat + 1}/{repeats} {name}")
            found.append(_rate(size, pages, is_beside=name == _BESIDE))
    rows |= {name: {"pages_per_second": found} for name, found in rates.items()}
    setting = {"size": size, "pages": pages}
    return Report("hostile", setting, rows, _targets(rows))


def _rate(size: int, pages: int, *, is_beside: bool) -> float:
    """Crawl the ordinary pages; return how many of them were requested per second."""
    site = LoopbackSite(_site(size, pages), addresses=(_GOOD, _HOSTILE))
    with site, tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        starts = [site.url("/good")]
        if is_beside:
            starts.append(site.url("/hostile").replace(_GOOD, _HOSTILE))
        with _crawl(starts, folder) as child, gevent.Timeout(_LONGEST, BenchError("too slow")):
            while len(times := _times(site)) < pages:
                if child.poll() is not None:
                    raise BenchError(f"the crawl ended with {child.returncode}")
                gevent.sleep(0.2)
    return (len(times) - 1) / (times[-1] - times[0])


def _times(site: LoopbackSite) -> list[float]:
    """Return when the ordinary pages were requested."""
    return [hit.at for hit in site.requests if hit.path.startswith("/good/")]


def _site(size: int, pages: int) -> dict[str, ServedPage]:
    """Return ordinary pages, and enough hostile ones that they outlast them."""
    hostile = [_reply(name, size) for name in PAGES]
    many = range(4 * pages)
    return {
        "/good": "".join(f"<a href=/good/{n}>{n}</a> " for n in range(pages)),
        "/hostile": "".join(f"<a href=/hostile/{n}>{n}</a> " for n in many),
        **{f"/good/{n}": f"<title>{n}</title>{'<p>text' * 500}" for n in range(pages)},
        **{f"/hostile/{n}": hostile[n % len(hostile)] for n in many},
    }


def _reply(name: str, size: int) -> Reply:
    page = PAGES[name]
    return Reply(200, {"content-type": page.content_type}, page.body(size))


@contextmanager
def _crawl(starts: list[str], folder: str) -> Iterator[subprocess.Popen[bytes]]:
    """Crawl with one level of links, until the end of the context."""
    words = ["crawl", *starts, "--depth", "1", "-O", f"{folder}/pages.jsonl"]
    settings = ["-s", f"allow_addresses={_GOOD},{_HOSTILE}", "--job", f"{folder}/job"]
    child = subprocess.Popen(
        [sys.executable, "-m", "crawler", *words, *settings],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield child
    finally:
        child.kill()
        child.wait()


def _targets(rows: dict[str, Samples]) -> list[Target]:
    targets = []
    for what, act in _ACTS.items():
        name, worst = max(
            ((name, samples[what][0]) for name, samples in rows.items() if what in samples),
            key=lambda found: found[1],
        )
        targets.append(
            Target(f"CPU seconds per MB to {act.__name__} {name!r}", worst, MOST_SECONDS)
        )
    alone, beside = (median(rows[name]["pages_per_second"]) for name in (_ALONE, _BESIDE))
    kept = Target("rate beside a hostile host ÷ alone", beside / alone, LEAST_RATE, at_least=True)
    return [*targets, kept]


def show(report: Report) -> str:
    """Show the most expensive kinds of pages, and the rates."""
    kinds = {name: found for name, found in report.rows.items() if "read_s" in found}
    worst = sorted(kinds.items(), key=lambda kind: -max(map(max, kind[1].values())))[:_SHOWN]
    rows = [(repr(name), *(f"{found[what][0]:.3f}" for what in _ACTS)) for name, found in worst]
    head = (f"the {len(rows)} worst of {len(kinds)} kinds", "CPU s/MB to read", "to select")
    rates = [(name, spread(report.rows[name]["pages_per_second"], 1)) for name in (_ALONE, _BESIDE)]
    shown = f"{table(head, rows)}\n\n{table(('crawled', 'pages per second'), rates)}"
    return text(report, shown)
