"""Our crawl: as ``crawler crawl`` runs it, without rests, and with everything off."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

# A crawl imports this when it first needs it; here it must not count for the crawl.
import selectolax.lexbor  # noqa: F401

from ...compose import stream
from ...frontier import Politeness
from ...job.directory import Job
from ...spider import Page, PageSpider, Spider


class Follow(Spider):
    """Follows every link."""

    def parse(self, response: Page) -> Iterator[Any]:
        yield from response.links()


def crawl(
    url: str, concurrency: int, *, hosts: int = 1, records: bool = True, rests: bool = True
) -> dict[str, Any]:
    """
    Crawl the site: with *records*, as ``crawler crawl`` does, in a job directory.

    All settings are the defaults, except for the delay: the *concurrency* counts without records
    only. A host that *rests* does so as long as it usually takes to answer, the default.
    """
    # The names of several hosts lead to this machine.
    settings: dict[str, Any] = {"delay": 0, "allow_private": hosts > 1}
    if not rests:
        settings["politeness.latency_factor"] = 0
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="crawler-bench-")))
        spider: Spider = Follow(start_urls=[url])
        if records:
            spider = PageSpider(start_urls=[url], max_depth=None)
            settings["job"] = job = stack.enter_context(Job(folder))
            job.open_feed(str(folder / "pages.jsonl"), append=False)
        else:
            settings |= {"concurrency": concurrency, "per_host": per_host(hosts, concurrency)}
        result = stream(spider, **settings)
        deque(result, maxlen=0)
        result.wait()
    return {}


def per_host(hosts: int, concurrency: int) -> int:
    """Return the requests in flight per host: all of them for one host, else the default."""
    return concurrency if hosts == 1 else Politeness().per_host
