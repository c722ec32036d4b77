"""
What a long crawl keeps: its memory and its descriptors over time, on a site with faults.

    crawler bench soak --minutes 30

The site has pages without end on eight hosts and runs in this process; one page of ten has a
fault. The crawl is a process of its own, in a job directory, with records. The first page links to
as many others as wait in memory, so that the queues are full from the start. After the first third
of the time neither the resident memory of the crawl nor its descriptors may grow.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import gevent
from gevent import subprocess

from ..data import Request
from ..frontier.durable.stored_queues import WINDOW
from ..job.view import JobView
from ..testing import LoopbackSite, Reply, faults
from ..testing.site import Page
from .measuring.child import BenchError
from .measuring.report import Report, Samples, Target, table, text

#: How much larger the memory may become after the first third, and how many descriptors more.
_GROWTH, _DESCRIPTORS = 1.1, 16
#: The number of links of the first page, and in a run that is to be over soon.
FIRST, FIRST_IF_QUICK = WINDOW, 100
_HOSTS = tuple(f"127.0.0.{number}" for number in range(1, 9))
_MIB = 2**20
#: The faults, each on one page of a hundred.
_FAULTS: tuple[Page, ...] = (
    Reply(404),
    Reply(500),
    Reply(503, {"retry-after": "1"}),
    faults.reset(100),
    faults.truncated(),
    faults.garbage(),
    faults.truncated_gzip(),
    faults.silence(),
    faults.smuggled(),
    faults.ever_new,
)
_FAULTY = len(_FAULTS)
_SETTINGS = (
    *("delay=0.02", "politeness.latency_factor=0", "retries=2", "retries.wait=0.2", "timeout=2"),
    *("politeness.give_up_after=1000000", "politeness.backoff=0", "politeness.throttle=0.1"),
    *("depth=none", "max_chain=1000000000"),
)


class EndlessPages(Mapping[str, Page]):
    """
    Page 0 links to the *first* pages; each other to two new ones on two hosts, and to known ones.
    """

    def __init__(self, first: int) -> None:
        self._first = first

    def __getitem__(self, path: str) -> Page:
        if path in ("/robots.txt", "/"):
            return "" if path != "/" else self._page
        number = path.partition("?")[0].rpartition("/")[2]
        if not number.isdigit():
            raise KeyError(path)
        digest = hashlib.blake2b(number.encode(), digest_size=4).digest()
        fault = int.from_bytes(digest) % 100
        return _FAULTS[fault] if fault < len(_FAULTS) else self._page

    def _page(self, request: Request) -> str:
        place, _, number = request.url.rpartition("/")
        port = place.rpartition(":")[2].partition("/")[0]
        this = int(number.partition("?")[0] or 0)
        known = (this // 2, this // 3, max(0, this - 1))
        new = range(self._first + 2 * this - 1, self._first + 2 * this + 1)
        wanted = (*new, *known) if this else range(1, self._first + 1)
        links = "".join(
            f'<p><a href="http://{_HOSTS[n % len(_HOSTS)]}:{port}/p/{n}">{n}</a> text</p>'
            for n in wanted
        )
        return f"<title>{this}</title>{links}{'words ' * 200}"

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def run(
    seconds: float, *, every: float = 5.0, first: int = FIRST, show_progress: Any = bool
) -> Report:
    """
    Crawl for so many *seconds*, and measure the process *every* few of them.

    *first* is the number of pages that the first page links to.
    """
    samples: Samples = {"rss_mb": [], "descriptors": []}
    site = LoopbackSite(EndlessPages(first), addresses=_HOSTS)
    with tempfile.TemporaryDirectory(prefix="soak-") as folder, site:
        child = _start(site, Path(folder), seconds)
        try:
            for rest in _until(time.monotonic() + seconds, every):
                if child.poll() is not None:
                    break
                _measure(child.pid, samples)
                del site.requests[:]
                show_progress(f"{rest:.0f} s left, {samples['rss_mb'][-1]:.0f} MB")
            _, errors = child.communicate(timeout=60)
        finally:
            child.kill()
            child.wait()
        pages = _pages(Path(folder))
    if child.returncode not in (0, 1) or len(samples["rss_mb"]) < 3:
        raise BenchError(f"the crawl ended with {child.returncode}: {errors.decode()[-500:]}")
    notes = [f"{pages:,} pages, of which {_FAULTY} % have a fault"]
    return Report("soak", {"seconds": seconds}, {"crawl": samples}, _targets(samples), notes)


def _pages(folder: Path) -> int:
    """Return how many pages the crawl has ended, well or not."""
    with JobView(folder / "job") as job:
        counts = job.counts()
    return counts.done + sum(counts.failed.values())


def show(report: Report) -> str:
    samples = report.rows["crawl"]
    third = max(1, len(samples["rss_mb"]) // 3)
    rows = [
        (name, *(f"{max(part):.0f}" for part in (values[:third], values[third:])))
        for name, values in samples.items()
    ]
    return text(report, table(("at most", "first third", "after it"), rows))


def _start(site: LoopbackSite, folder: Path, seconds: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "crawler", "crawl", site.url("/")]
    domains = [word for host in _HOSTS for word in ("--domain", host)]
    outputs = ["--job", str(folder / "job"), "-O", str(folder / "pages.jsonl")]
    settings = [word for given in (*_SETTINGS, f"max_seconds={seconds}") for word in ("-s", given)]
    allowed = ["-s", f"allow_addresses={','.join(_HOSTS)}"]
    return subprocess.Popen(
        [*command, *domains, *outputs, *settings, *allowed],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def _until(end: float, every: float) -> Iterator[float]:
    """Yield the seconds that are left, *every* few seconds, until *end*."""
    while (rest := end - time.monotonic()) > 0:
        gevent.sleep(min(every, rest))
        yield max(0.0, end - time.monotonic())


def _measure(pid: int, samples: Samples) -> None:
    process = Path("/proc") / str(pid)
    try:
        pages = int((process / "statm").read_text().split()[1])
        descriptors = sum(1 for _ in (process / "fd").iterdir())
    except (OSError, IndexError):  # it has just ended
        return
    samples["rss_mb"].append(pages * os.sysconf("SC_PAGE_SIZE") / _MIB)
    samples["descriptors"].append(descriptors)


def _targets(samples: Samples) -> list[Target]:
    third = max(1, len(samples["rss_mb"]) // 3)
    memory, descriptors = samples["rss_mb"], samples["descriptors"]
    return [
        Target(
            "memory after the first third, of its maximum before",
            max(memory[third:]) / max(memory[:third]),
            _GROWTH,
        ),
        Target(
            "descriptors more than in the first third",
            max(descriptors[third:]) - max(descriptors[:third]),
            _DESCRIPTORS,
        ),
    ]
