"""The cost of parsing a page and extracting its links: our code, and other parsers."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from time import process_time
from typing import Any
from urllib.parse import urldefrag, urljoin

from ...data import Request
from ...headers import Headers
from ...spider import Page
from ...url import canonicalize
from ..contenders import bare_loop as bare
from ..measuring.child import BenchError, Child
from ..measuring.report import Report, Samples, spread, table, text, times
from ..sites.shape import OWN, Shape

_HTML = Headers({"content-type": "text/html; charset=utf-8"})
#: Not the default port, which URLs would omit.
_PORT = 8080
_BY_HAND = "selectolax, joined by hand"
#: The timeout of the benchmark in seconds.
_LONGEST = 600.0


def ours(url: str, body: bytes) -> Iterable[str]:
    """Do the same as ``response.links()`` in a spider, starting from the bytes."""
    return Page(url, 200, _HTML, body, Request(url), 0.0).links()


def by_selectolax(url: str, body: bytes) -> Iterable[str]:
    return bare.links(url, body)


def by_lxml(url: str, body: bytes) -> Iterable[str]:
    from lxml import html

    return [_whole(url, href) for href in html.fromstring(body).xpath("//a/@href")]


def by_parsel(url: str, body: bytes) -> Iterable[str]:
    from parsel import Selector

    hrefs = Selector(body=body, base_url=url).xpath("//a/@href").getall()
    return [_whole(url, href) for href in hrefs]


def _whole(url: str, href: str) -> str:
    return urldefrag(urljoin(url, href)).url


ROWS: dict[str, Callable[[str, bytes], Iterable[str]]] = {
    "ours": ours,
    _BY_HAND: by_selectolax,
    "lxml and urllib": by_lxml,
    "parsel and urllib": by_parsel,
}


def measure(pages: int, repeats: int) -> dict[str, Any]:
    """Return µs of CPU per page by row, one sample per repeat; repeats are interleaved."""
    shape = Shape(max(pages, 1000), port=_PORT)
    bodies = [(shape.url(number), shape.page(number)) for number in range(pages)]
    _verify(bodies)
    samples: dict[str, list[float]] = {name: [] for name in ROWS}
    for _ in range(repeats):
        for name, find in ROWS.items():
            began = process_time()
            for url, body in bodies:
                for _ in find(url, body):
                    pass
            samples[name].append((process_time() - began) / pages * 1e6)
    return {"samples": samples}


def _verify(bodies: list[tuple[str, bytes]]) -> None:
    """Check that all rows find the same links; the bare loop omits links to other sites."""
    for url, body in bodies[:20]:
        found = {
            name: [canonicalize(link) for link in find(url, body)] for name, find in ROWS.items()
        }
        local = [link for link in found["ours"] if link.startswith(OWN)]
        wanted = dict.fromkeys(found, found["ours"]) | {_BY_HAND: local}
        if found != wanted:
            raise BenchError(f"the rows find different links on {url}")


def run(pages: int, repeats: int) -> Report:
    child = Child("crawler.bench.parts.links:measure", {"pages": pages, "repeats": repeats})
    found = child.run(_LONGEST)["samples"]
    rows: dict[str, Samples] = {name: {"cpu_us": found[name]} for name in ROWS}
    return Report("links", {"pages": pages}, rows)


def show(report: Report) -> str:
    first = report.rows["ours"]["cpu_us"]
    rows = [
        (name, spread(times(samples["cpu_us"], first), 2), spread(samples["cpu_us"]))
        for name, samples in report.rows.items()
    ]
    return text(report, table(("parse and links", "× ours", "µs of CPU per page"), rows))
