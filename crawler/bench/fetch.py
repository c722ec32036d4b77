"""
What a fetch costs: bare libcurl on the gevent hub as the limit, and what we put around it.

Every row has a process of its own; all fetch the same pages from a server on another core.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict
from functools import partial
from statistics import median
from typing import Any

import gevent

from ..buffer import Pool
from ..data import Request, Response
from ..errors import PoolClosed
from ..fetch import CurlFetch, SessionFetch
from ..module import Downloader
from . import bare
from .child import BenchError, Child, cpu
from .report import Report, Samples, Target, spread, table, text, times
from .shape import Shape
from .site import Site, served

CONCURRENCY = 64
_PAGES = 1000
_LIMIT, _WHOLE = "bare libcurl", "Downloader and pools"
#: Seconds a row may take for a request, and in any case.
_SLOWEST, _LEAST = 0.02, 60.0

#: Fetches all of some URLs, many at a time, and returns how many bytes those were.
FetchAll = Callable[[Iterable[str]], int]


@contextmanager
def bare_libcurl() -> Iterator[FetchAll]:
    curl = bare.Curl()
    yield lambda urls: _by_workers(lambda: bare.getter(curl), urls)


@contextmanager
def curl_fetch() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY) as fetch:
        yield lambda urls: _by_workers(lambda: lambda url: fetch(Request(url)).body, urls)


@contextmanager
def downloader() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY) as fetch:
        download = Downloader(fetch).download
        yield lambda urls: _by_workers(lambda: lambda url: download(Request(url)).body, urls)


@contextmanager
def downloader_and_pools() -> Iterator[FetchAll]:
    with CurlFetch(max_connections=CONCURRENCY) as fetch:
        yield partial(_through_pools, Downloader(fetch))


@contextmanager
def session_fetch() -> Iterator[FetchAll]:
    import requests

    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=CONCURRENCY))
        fetch = SessionFetch(session)
        yield lambda urls: _by_workers(lambda: lambda url: fetch(Request(url)).body, urls)


ROWS: dict[str, Callable[[], AbstractContextManager[FetchAll]]] = {
    _LIMIT: bare_libcurl,
    "CurlFetch": curl_fetch,
    "Downloader": downloader,
    _WHOLE: downloader_and_pools,
    "SessionFetch (requests)": session_fetch,
}


def _by_workers(getter: Callable[[], Callable[[str], bytes]], urls: Iterable[str]) -> int:
    """Let greenlets share *urls*; each has a function of its own to get one."""
    remaining, size = iter(urls), 0

    def work() -> None:
        nonlocal size
        get = getter()
        for url in remaining:
            body = get(url)
            size += len(body)  # not in one line, which would read the size before it waits

    gevent.joinall([gevent.spawn(work) for _ in range(CONCURRENCY)], raise_error=True)
    return size


def _through_pools(module: Downloader, urls: Iterable[str]) -> int:
    """Feed a pool of requests, download from it into one of responses, and empty that."""
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


def measure(row: str, site: dict[str, Any], requests: int) -> dict[str, Any]:
    """Fetch that many pages, after enough of them to have every connection open."""
    shape = Shape(**site)
    urls = [shape.url(number % shape.pages) for number in range(requests)]
    with ROWS[row]() as fetch_all:
        fetch_all(urls[: CONCURRENCY * 4])
        began = cpu()
        size = fetch_all(urls)
        return {"cpu": cpu() - began, "size": size}


def run(requests: int, repeats: int, told: Callable[[str], object] = lambda _: None) -> Report:
    rows: dict[str, Samples] = {name: {"cpu_us": []} for name in ROWS}
    with served(Shape(_PAGES)) as site:
        for repeat in range(repeats):
            for name, samples in rows.items():
                told(f"{repeat + 1}/{repeats} {name}")
                samples["cpu_us"].append(_sample(site, name, requests))
        setting = {"requests": requests, "concurrency": CONCURRENCY, "server": site.kind}
    ratio = median(times(rows[_WHOLE]["cpu_us"], rows[_LIMIT]["cpu_us"]))
    target = Target(f"CPU of {_WHOLE}, of {_LIMIT}'s", ratio, 1.4)
    return Report("fetch", setting, rows, [target])


def _sample(site: Site, row: str, requests: int) -> float:
    arguments = {"row": row, "site": asdict(site.shape), "requests": requests}
    child = Child("crawler.bench.fetch:measure", arguments)
    measured = child.run(max(_LEAST, _SLOWEST * requests))
    shape = site.shape
    sizes = [len(shape.page(number)) for number in range(min(requests, shape.pages))]
    expected = sum(sizes) * (requests // len(sizes)) + sum(sizes[: requests % len(sizes)])
    if measured["size"] != expected:
        raise BenchError(f"{row}: {measured['size']} bytes were fetched, not {expected}")
    return float(measured["cpu"]) / requests * 1e6


def show(report: Report) -> str:
    limit = report.rows[_LIMIT]["cpu_us"]
    rows = [
        (name, spread(times(samples["cpu_us"], limit), 2), spread(samples["cpu_us"], 1))
        for name, samples in report.rows.items()
    ]
    head = ("fetch", f"× CPU of {_LIMIT}", "µs of CPU a request")
    return text(report, table(head, rows))
