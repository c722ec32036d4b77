"""
What a fetch costs: microseconds of CPU a request, on the loopback interface.

    python -m crawler.bench.fetch [--requests N] [--repeats N] [--json]

The server runs in a process, and on a core, of its own. Repeats are interleaved, so
that a slow moment of the machine is shared by all.
"""

from __future__ import annotations

from gevent import monkey

if __name__ == "__main__":
    monkey.patch_all()  # for requests; libcurl needs nothing patched

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import gevent
import pycurl
from gevent import get_hub

from crawler import CurlFetch, Downloader, Request, SessionFetch
from crawler.fetch.multi import Multi
from crawler.testing import LoopbackSite, generated_site

CONCURRENCY = 64
PAGE_SIZE = 13_000

#: Fetches a request and returns the size of the body.
Fetch = Callable[[Request], int]


@contextmanager
def bare_curl() -> Iterator[Fetch]:
    """Easy handles on the hub and nothing around them: what no fetcher here can beat."""
    multi = Multi(get_hub(), CONCURRENCY)
    idle: list[tuple[pycurl.Curl, list[bytes]]] = []

    def fetch(request: Request) -> int:
        easy, chunks = idle.pop() if idle else _bare_handle()
        easy.setopt(pycurl.URL, request.url)
        multi.perform(easy)
        size = len(b"".join(chunks))
        chunks.clear()
        idle.append((easy, chunks))
        return size

    yield fetch
    multi.close()


def _bare_handle() -> tuple[pycurl.Curl, list[bytes]]:
    easy, chunks = pycurl.Curl(), list[bytes]()
    easy.setopt(pycurl.NOSIGNAL, 1)
    easy.setopt(pycurl.WRITEFUNCTION, chunks.append)
    return easy, chunks


@contextmanager
def curl_fetch() -> Iterator[Fetch]:
    with CurlFetch() as fetch:
        yield lambda request: len(fetch(request).body)


@contextmanager
def downloader() -> Iterator[Fetch]:
    with CurlFetch() as fetch:
        module = Downloader(fetch)
        yield lambda request: len(module.download(request).body)


@contextmanager
def session_fetch() -> Iterator[Fetch]:
    import requests

    with requests.Session() as session:
        session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=CONCURRENCY))
        fetch = SessionFetch(session)
        yield lambda request: len(fetch(request).body)


ROWS: dict[str, Callable[[], AbstractContextManager[Fetch]]] = {
    "bare libcurl": bare_curl,
    "CurlFetch": curl_fetch,
    "Downloader(CurlFetch)": downloader,
    "SessionFetch": session_fetch,
}


def measure(fetch: Fetch, request: Request, requests: int) -> float:
    """Return the CPU microseconds of one request, out of many at once."""
    numbers = iter(range(requests))

    def work() -> None:
        for _ in numbers:
            if fetch(request) != PAGE_SIZE:
                raise RuntimeError("a page is not what it should be")

    began = time.process_time()
    gevent.joinall([gevent.spawn(work) for _ in range(CONCURRENCY)], raise_error=True)
    return (time.process_time() - began) / requests * 1e6


def run(requests: int, repeats: int) -> dict[str, list[float]]:
    """Return the samples of each row."""
    samples: dict[str, list[float]] = {name: [] for name in ROWS}
    with server() as url:
        pin(0)
        for _ in range(repeats):
            for name, row in ROWS.items():
                with row() as fetch:
                    measure(fetch, Request(url), CONCURRENCY * 4)
                    samples[name].append(measure(fetch, Request(url), requests))
    return samples


@contextmanager
def server() -> Iterator[str]:
    """Serve the page from another process, until the end."""
    command = [
        sys.executable,
        "-m",
        __spec__.name if __spec__ else "crawler.bench.fetch",
        "--serve",
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        if child.stdout is None or child.stdin is None:
            raise RuntimeError("the server has no pipes")
        yield child.stdout.readline().strip()
        child.stdin.close()


def serve() -> None:
    """Print the URL and serve until standard input ends."""
    pin(-1)
    with LoopbackSite({"/": generated_site(pages=100, links=70, size=PAGE_SIZE)["/"]}) as site:
        print(site.url(), flush=True)
        gevent.get_hub().threadpool.apply(sys.stdin.read)


def pin(place: int) -> None:
    """Stay on one core, if there are two."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    if len(cores) > 1:
        os.sched_setaffinity(0, {cores[place]})


def table(samples: dict[str, list[float]]) -> str:
    """Show median and best: what else runs on the machine only ever adds to a sample."""
    limit = min(min(values) for values in samples.values())
    head = f"{'µs of CPU a request':<24}{'median':>10}{'best':>10}{'× the limit':>14}"
    rows = (
        f"{name:<24}{statistics.median(values):>10.1f}{min(values):>10.1f}{min(values) / limit:>14.2f}"
        for name, values in samples.items()
    )
    return "\n".join((head, *rows))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m crawler.bench.fetch", description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    samples = run(options.requests, options.repeats)
    print(json.dumps(samples) if options.json else table(samples))


if __name__ == "__main__":
    main()
