"""
The gain of analyzer processes: pages per second, on large pages parsed with XPath.

The server runs in a process of its own and shares the cores with the crawl. The time is that of the
whole crawl, including the start of the processes. Their modules are compiled before, as the modules
of an installed package are.
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

from ...compose import crawl
from ...result import CrawlResult
from ...testing import LoopbackSite
from ..measuring.child import BenchError
from ..measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from ..measuring.rounds import interleaved
from .cards_spider import Cards

#: The numbers of analyzer processes that are compared; 0 parses in this process.
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
_SETTINGS = {
    "allow_private": True,
    "delay": 0.0,
    "per_host": 16,
    "politeness.latency_factor": 0,
    "robots": False,
    "max_body": 10_000_000,
}


def run(pages: int, repeats: int, show_progress: Callable[[str], object] = bool) -> Report:
    numbers = {f"{number} analyzers": number for number in _NUMBERS}
    with _server(pages) as url, _compiled():
        for number in _NUMBERS:
            _crawled(url, number, depth=0)
        rows, failures = interleaved(
            numbers, repeats, lambda name: _sample(url, numbers[name], pages), show_progress
        )
    return Report("analyzers", {"pages": pages}, rows, _targets(rows), failures=failures)


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    if len(rows) < len(_NUMBERS):
        return []
    without, two = (samples[_RATE] for samples in rows.values())
    what = "pages per second with 2 analyzers ÷ without"
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
    title = f"{report.setting['pages']:,} pages of {_SIZE // 1000} kB, {_CARDS} items each"
    head = ("parsing by", "× pages/s of 0 analyzers", "pages/s", "ms of CPU per page")
    return text(report, f"{title}, {os.cpu_count()} cores\n{table(head, rows)}")


def _sample(url: str, analyzers: int, pages: int) -> dict[str, float]:
    began, cpu = time.perf_counter(), _cpu()
    result = _crawled(url, analyzers, depth=None)
    seconds, used = time.perf_counter() - began, _cpu() - cpu
    done, items = result.summary.urls.done, len(result.items)
    if (done, items) != (pages, pages * _CARDS):
        raise BenchError(f"got {done} pages and {items} items: {result.errors[:3]}")
    return {_RATE: pages / seconds, "cpu_ms": used / pages * 1000}


def _crawled(url: str, analyzers: int, depth: int | None) -> CrawlResult:
    return crawl(Cards(start_urls=[url]), analyzers=analyzers, depth=depth, **_SETTINGS)


def _cpu() -> float:
    """Return the CPU seconds of this process and of its ended children."""
    return sum(os.times()[:4])


@contextmanager
def _compiled() -> Iterator[None]:
    """Let child processes cache compiled modules in a temporary folder, whatever the environment says."""
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
        assert server.stdin  # noqa: S101 - it is a pipe
        assert server.stdout  # noqa: S101 - it is a pipe
        yield server.stdout.readline().strip()
        server.stdin.close()


def _serve(pages: int) -> None:
    """Print the URL of the site, and serve it until stdin ends."""
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
