"""
What analyzers in processes of their own are worth: pages a second, large pages, XPath.

The server has a process of its own and shares the cores with the crawl. The time is that of
the whole crawl, the start of the processes included; what they import has been compiled before,
as it is once and for all where a package is installed.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from statistics import median
from tempfile import TemporaryDirectory

from ...compose import CrawlResult, crawl
from ...testing import LoopbackSite
from ..measuring.child import BenchError
from ..measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from ..measuring.rounds import interleaved
from .cards_spider import Cards

#: How many analyzers to compare; 0 is this process.
_NUMBERS = (0, 2)
_RATE = "pages_per_second"
_SIZE = 250_000
_CARDS = 60
_LINKS = 20
_WORDS = [
    "amber",
    "basin",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbor",
    "island",
    "kettle",
]
_FREE = {
    "allow_private": True,
    "delay": 0.0,
    "per_host": 16,
    "politeness.latency_factor": 0,
    "robots": False,
    "max_body": 10_000_000,
}


def run(pages: int, repeats: int, told: Callable[[str], object] = bool) -> Report:
    numbers = {f"{number} analyzers": number for number in _NUMBERS}
    with _server(pages) as url, _compiled():
        for number in _NUMBERS:
            _crawled(url, number, depth=0)
        rows, failures = interleaved(
            numbers, repeats, lambda name: _sample(url, numbers[name], pages), told
        )
    return Report("analyzers", {"pages": pages}, rows, _targets(rows), failures=failures)


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    if len(rows) < len(_NUMBERS):
        return []
    without, two = (samples[_RATE] for samples in rows.values())
    what = "pages a second, 2 analyzers, of those without"
    return [Target(what, median(times(two, without)), 1.5, at_least=True)]


def show(report: Report) -> str:
    first = next(iter(report.rows.values()))
    rows = [
        (
            name,
            ratio(samples, first, _RATE),
            spread(samples[_RATE], 1),
            spread(samples["cpu_ms"], 1),
        )
        for name, samples in report.rows.items()
    ]
    told = f"{report.setting['pages']:,} pages of {_SIZE // 1000} kB, {_CARDS} items each"
    head = ("parsing by", "× pages/s of none", "pages/s", "ms of CPU a page")
    return text(report, f"{told}, {os.cpu_count()} cores\n{table(head, rows)}")


def _sample(url: str, analyzers: int, pages: int) -> dict[str, float]:
    began, cpu = time.perf_counter(), _cpu()
    result = _crawled(url, analyzers, depth=None)
    seconds, used = time.perf_counter() - began, _cpu() - cpu
    done, items = result.summary.urls.done, len(result.items)
    if (done, items) != (pages, pages * _CARDS):
        raise BenchError(f"{done} pages and {items} items: {result.errors[:3]}")
    return {_RATE: pages / seconds, "cpu_ms": used / pages * 1000}


def _crawled(url: str, analyzers: int, depth: int | None) -> CrawlResult:
    return crawl(Cards(start_urls=[url]), analyzers=analyzers, depth=depth, **_FREE)


def _cpu() -> float:
    """Return the seconds of CPU of this process and of the children that have ended."""
    return sum(os.times()[:4])


@contextmanager
def _compiled() -> Iterator[None]:
    """Let processes keep what they compile, whatever the environment says, until the end."""
    before = dict(os.environ)
    with TemporaryDirectory() as place:
        os.environ["PYTHONPYCACHEPREFIX"] = place
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


@contextmanager
def _server(pages: int) -> Iterator[str]:
    command = [sys.executable, "-m", "crawler.bench.parts.analyzers", str(pages)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin  # noqa: S101 - it was asked for
        assert server.stdout  # noqa: S101 - so was this
        yield server.stdout.readline().strip()
        server.stdin.close()


def _serve(pages: int) -> None:
    """Serve the site until stdin ends, and print where."""
    import gevent

    with LoopbackSite({_path(number): _page(number, pages) for number in range(pages)}) as site:
        print(site.url(), flush=True)
        gevent.get_hub().threadpool.apply(sys.stdin.read)


def _path(number: int) -> str:
    return f"/page/{number}" if number else "/"


def _page(number: int, pages: int) -> str:
    words = random.Random(number)
    text = (_SIZE - 8_000) // _CARDS - 300
    cards = "\n".join(_card(number, place, words, text) for place in range(_CARDS))
    targets = [(number * _LINKS + place + 1) % pages for place in range(_LINKS)]
    links = "".join(f'<li><a href="{_path(n)}">{n}</a></li>' for n in targets)
    head = f"<!doctype html><html><head><title>Page {number}</title></head><body>"
    return f"{head}<nav><ul>{links}</ul></nav>\n{cards}\n</body></html>"


def _card(number: int, place: int, words: random.Random, length: int) -> str:
    sentences = " ".join(words.choices(_WORDS, k=length // 7))
    paragraphs = "".join(
        f"<p>{sentences[start : start + 120]}</p>" for start in range(0, len(sentences), 120)
    )
    return (
        f'<div class="card"><h2>Card {number}.{place}</h2><span class="price">{place}.99</span>'
        f"<ul><li>{words.choice(_WORDS)}</li><li>{words.choice(_WORDS)}</li></ul>{paragraphs}"
        f'<a class="more" href="/card/{number}/{place}">more</a></div>'
    )


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
