"""
The cost of a fetch: bare libcurl on the gevent hub as the lower limit, and each of our layers.

Each row is measured in a process of its own. All fetch the same pages from a server on another core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import Any

import gevent

from ..._distribution import install_command
from ...buffer import Pool
from ...data import Request, Response
from ...errors import PoolClosed
from ...fetch import CurlFetch, SessionFetch, any_address
from ...module import Downloader
from ..contenders import bare_loop as bare
from ..measuring.child import BenchError, cpu
from ..measuring.report import Report, Samples, Target, ratio, spread, table, text, times
from ..measuring.rounds import interleaved
from ..sites.served_site import ServedSite, run_on, served
from ..sites.shape import Shape

CONCURRENCY = 64
_SHAPE = Shape(1000)
_LIMIT, _WHOLE, _SESSION = "bare libcurl", "Downloader and pools", "SessionFetch (requests)"

#: Fetches all the given URLs, many at a time, and returns the total number of bytes.
FetchAll = Callable[[Iterable[str]], int]


@contextmanager
def bare_libcurl() -> Iterator[FetchAll]:
    curl = bare.Curl()
    yield lambda urls: _by_workers(lambda: bare.getter(curl), urls)


@contextmanager
def curl_fetch() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY, allow_address=any_address) as fetch:
        yield lambda urls: _by_workers(lambda: lambda url: fetch(Request(url)).body, urls)


@contextmanager
def downloader() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY, allow_address=any_address) as fetch:
        download = Downloader(fetch).download
        yield lambda urls: _by_workers(lambda: lambda url: download(Request(url)).body, urls)


@contextmanager
def downloader_and_pools() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY, allow_address=any_address) as fetch:
        yield partial(_through_pools, Downloader(fetch))


@contextmanager
def session_fetch() -> Iterator[FetchAll]:
    import requests

    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=CONCURRENCY))
        fetch = SessionFetch(session, allow_address=any_address)
        yield lambda urls: _by_workers(lambda: lambda url: fetch(Request(url)).body, urls)


ROWS: dict[str, Callable[[], AbstractContextManager[FetchAll]]] = {
    _LIMIT: bare_libcurl,
    "CurlFetch": curl_fetch,
    "Downloader": downloader,
    _WHOLE: downloader_and_pools,
    _SESSION: session_fetch,
}


def _by_workers(getter: Callable[[], Callable[[str], bytes]], urls: Iterable[str]) -> int:
    """Fetch *urls* with several greenlets; each has its own function from *getter*."""
    remaining, size = iter(urls), 0

    def work() -> None:
        nonlocal size
        get = getter()
        for url in remaining:
            body = get(url)
            size += len(body)  # a single line would read the size before it waits

    gevent.joinall([gevent.spawn(work) for _ in range(CONCURRENCY)], raise_error=True)
    return size


def _through_pools(module: Downloader, urls: Iterable[str]) -> int:
    """Put requests into one pool, download from it into another, and empty that one."""
    requests, responses = Pool[Request](64, 4), Pool[Response](64, 4)

    def feed() -> None:
        for url in urls:
            requests.put(Request(url))

    def work() -> None:
        with suppress(PoolClosed):
            while True:
                responses.put(module.download(requests.get()))

    workers = [gevent.spawn(work) for _ in range(CONCURRENCY)]
    feeder = gevent.spawn(feed)
    size = sum(len(responses.get().body) for _ in urls)
    feeder.get()
    requests.close()
    gevent.joinall(workers, raise_error=True)
    return size


def measure(row: str, shape: dict[str, Any], requests: int) -> dict[str, Any]:
    """Fetch that many pages, after a warm-up that opens every connection."""
    site = Shape(**shape)
    urls = [site.url(number % site.pages) for number in range(requests)]
    with ROWS[row]() as fetch_all:
        fetch_all(urls[: CONCURRENCY * 4])
        began = cpu()
        size = fetch_all(urls)
        return {"cpu": cpu() - began, "size": size}


def run(
    requests: int, repeats: int, show_progress: Callable[[str], object] = lambda _: None
) -> Report:
    names, notes = list(ROWS), []
    if find_spec("requests") is None:
        names.remove(_SESSION)
        notes = [f"{_SESSION} is left out: {install_command('requests')} to measure it"]
    with served(_SHAPE) as site:
        rows, failures = interleaved(
            names, repeats, lambda name: _sample(site, name, requests), show_progress
        )
        setting = {"requests": requests, "concurrency": CONCURRENCY, "server": site.server}
    return Report("fetch", setting, rows, _targets(rows), notes, failures)


def _targets(rows: Mapping[str, Samples]) -> list[Target]:
    if not {_WHOLE, _LIMIT} <= rows.keys():
        return []
    found = median(times(rows[_WHOLE]["cpu_us"], rows[_LIMIT]["cpu_us"]))
    return [Target(f"CPU of {_WHOLE} ÷ CPU of {_LIMIT}", found, 1.4)]


def _sample(site: ServedSite, row: str, requests: int) -> dict[str, float]:
    shape = replace(_SHAPE, port=site.shape.port)
    arguments = {"row": row, "shape": asdict(shape), "requests": requests}
    measured = run_on(site, "crawler.bench.parts.fetch:measure", arguments, requests)
    sizes = [len(shape.page(number)) for number in range(min(requests, shape.pages))]
    expected = sum(sizes) * (requests // len(sizes)) + sum(sizes[: requests % len(sizes)])
    if measured["size"] != expected:
        raise BenchError(f"fetched {measured['size']} bytes, not {expected}")
    return {"cpu_us": measured["cpu"] / requests * 1e6}


def show(report: Report) -> str:
    limit = report.rows.get(_LIMIT)
    rows = [
        (name, ratio(samples, limit, "cpu_us"), spread(samples["cpu_us"], 1))
        for name, samples in report.rows.items()
    ]
    head = ("fetch", f"× CPU of {_LIMIT}", "µs of CPU per request")
    return text(report, table(head, rows))
