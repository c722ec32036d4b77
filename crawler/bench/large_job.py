"""
What a job with many URLs costs: to continue it, in memory, and per page.

    crawler bench scale --urls 10000000

The bench fills the state of a job by the code of the store: half of the URLs are done, half wait. Then
a process continues the job, and fetches some pages without a network: from a function.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import gevent

from ..compose import stream
from ..data import Request, Response
from ..frontier.admission.fingerprint import Fingerprint
from ..frontier.durable.batch import Batch
from ..frontier.durable.rows import ended, seal
from ..frontier.durable.store import Store
from ..frontier.outcome import DONE
from ..headers import Headers
from ..job.directory import STATE, Job
from ..spider import PageSpider
from .measuring.child import Child, cpu
from .measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from .measuring.rounds import interleaved

#: The job that the others are compared with.
FEW = 20_000
MANY_HOSTS = 100_000
#: Targets: MB at most, seconds to continue, and the CPU per page divided by that of the small job.
MOST_MEGABYTES, MOST_SECONDS, MOST_TIMES = 400, 60, 1.2
#: How many rows are written in one transaction.
_GROUP = 10_000
#: Seconds that a child may take per URL, and at least.
_PER_URL, _LEAST = 0.001, 300.0
_HTML = Headers({"content-type": "text/html; charset=utf-8"})
_TEXT = b"<p class=text>" + b"amber basin cedar delta ember fjord grove harbor " * 200 + b"</p>"
#: The links of a page: to URLs that were met before, and to new ones.
_KNOWN, _NEW = 40, 2


class Size(NamedTuple):
    urls: int
    hosts: int

    def __str__(self) -> str:
        return f"{self.urls:,} URLs, {self.hosts:,} host{'s' * (self.hosts > 1)}"

    def host(self, number: int) -> str:
        return f"site-{number % self.hosts}.example"

    def url(self, number: int) -> str:
        return f"http://{self.host(number)}/pages/{number}.html"


def run(
    urls: int,
    pages: int,
    repeats: int,
    show_progress: Callable[[str], object] = lambda _: None,
) -> Report:
    """Continue a small job and one with so many *urls*, on one host and on many, for some *pages*."""
    many = Size(urls, max(1, min(MANY_HOSTS, urls // 100)))
    sizes = {str(size): size for size in (Size(min(FEW, urls), 1), Size(urls, 1), many)}
    with TemporaryDirectory(prefix="crawler-bench-") as folder:
        for name, size in sizes.items():
            show_progress(f"filling {name}")
            _child("fill", Path(folder) / name, size).run(_timeout(size))
        rows, failures = interleaved(
            sizes,
            repeats,
            lambda name: _sample(Path(folder) / name, sizes[name], pages),
            show_progress,
        )
    setting = {"sizes": list(sizes), "pages": pages}
    return Report("large job", setting, rows, _targets(rows), failures=failures)


def _sample(folder: Path, size: Size, pages: int) -> dict[str, float]:
    measured = _child("proceed", folder, size, pages=pages).run(_timeout(size))
    return {
        "cpu_us": measured["page_cpu"] / pages * 1e6,
        "rss_mb": measured["rss"],
        "continue_s": measured["continue"],
    }


def _child(name: str, folder: Path, size: Size, **more: int) -> Child:
    arguments = {"folder": str(folder), "size": size, **more}
    return Child(f"crawler.bench.large_job:{name}", arguments)


def _timeout(size: Size) -> float:
    return max(_LEAST, _PER_URL * size.urls)


def fill(folder: str, size: list[int]) -> None:
    """Make the state of a job, as a crawl would have left it."""
    path, shape, fingerprint = Path(folder), Size(*size), Fingerprint()
    path.mkdir(exist_ok=True)
    store = Store(path / STATE)
    for first in range(0, shape.urls, _GROUP):
        batch = Batch()
        numbers = range(first, min(first + _GROUP, shape.urls))
        batch.inserts = [_row(number, shape, fingerprint) for number in numbers]
        done = (number for number in numbers if number < shape.urls // 2)
        batch.ends = [ended(number + 1, DONE, answer=(200, 10_000, 0.1)) for number in done]
        store.commit(batch, {"fingerprint": fingerprint.to_dict()})
    store.close()


def _row(number: int, size: Size, fingerprint: Fingerprint) -> tuple[Any, ...]:
    url, found_on = size.url(number), size.url(number // 7) if number else None
    depth = number.bit_length() // 3
    known = (number + 1, fingerprint.of(url), url, size.host(number), depth, 0, found_on, None)
    return (*known, time.time(), seal(*known))


def proceed(folder: str, size: list[int], pages: int) -> dict[str, Any]:
    """Continue the job until *pages* more pages are fetched; return what that took."""
    site = _Site(Size(*size), pages)
    began = time.perf_counter()
    with Job(folder) as job:
        job.open_feed(str(Path(folder) / "pages.jsonl"), append=False)
        spider = PageSpider(start_urls=[site.size.url(0)], max_depth=None)
        result = stream(spider, job=job, fetch=site.fetch, **_settings(site.size))
        seconds = time.perf_counter() - began
        site.on_end = result.stop
        deque(result, maxlen=0)
        result.wait()
    return {"continue": seconds, "page_cpu": site.cpu}


def _settings(size: Size) -> dict[str, Any]:
    every_domain = {"domains": "*", "max_pages_per_host": None} if size.hosts > 1 else {}
    return {"delay": 0, "robots": False, "politeness.latency_factor": 0, **every_domain}


class _Site:
    """A site in memory; after *pages* pages it ends the crawl. The first fifth does not count."""

    def __init__(self, size: Size, pages: int) -> None:
        self.size = size
        self.on_end: Callable[[], object] = bool
        self.cpu = 0.0
        self._uncounted = pages // 5
        self._pages = pages + self._uncounted
        self._fetched = 0

    def fetch(self, request: Request) -> Response:
        self._fetched += 1
        if self._fetched == self._uncounted:
            self.cpu = -cpu()
        elif self._fetched == self._pages:
            self.cpu += cpu()
            gevent.spawn(self.on_end)
        number = int(request.url.rpartition("/")[2].removesuffix(".html"))
        hrefs = "".join(f'<a href="{url}">page</a>\n' for url in self._links(number))
        body = b"<title>A page</title>" + _TEXT + hrefs.encode()
        return Response(request.url, 200, _HTML, body, request, 0.001)

    def _links(self, number: int) -> Iterator[str]:
        for n in range(_KNOWN):
            yield self.size.url((number * 31 + n * 7919) % self.size.urls)
        for n in range(_NEW):
            yield self.size.url(self.size.urls + number * _NEW + n)


def _targets(rows: dict[str, Samples]) -> list[Target]:
    found = []
    first = next(iter(rows.values()))
    for name, samples in list(rows.items())[1:]:
        growth = median(times(samples["cpu_us"], first["cpu_us"]))
        found += [
            Target(f"MB with {name}", max(samples["rss_mb"]), MOST_MEGABYTES),
            Target(f"seconds to continue {name}", median(samples["continue_s"]), MOST_SECONDS),
            Target(f"CPU per page with {name} ÷ first row", growth, MOST_TIMES),
        ]
    return found


def show(report: Report) -> str:
    first = next(iter(report.rows.values()))
    head = ("a job, half of it done", "× first row", "µs of CPU per page", "MB", "s to continue")
    rows = [
        (
            name,
            ratio(samples, first, "cpu_us"),
            spread(samples["cpu_us"]),
            f"{max(samples['rss_mb']):.0f}",
            spread(samples["continue_s"], 1),
        )
        for name, samples in report.rows.items()
    ]
    return text(report, table(head, rows))
