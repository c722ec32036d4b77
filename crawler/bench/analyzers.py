"""
What analyzers in processes of their own are worth: pages a wall second, large pages, XPath.

    python -m crawler.bench.analyzers [--pages N] [--repeats N] [--analyzers N,N] [--json]

The server has a process of its own and shares the cores with the crawl. Repeats are
interleaved, so that a slow moment of the machine is shared by all. The time is that of the
whole crawl, the start of the processes included.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from crawler import Page, Spider, crawl
from crawler.testing import LoopbackSite

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
    "depth": None,
}


class Cards(Spider):
    """Takes four fields of each card of a page, and follows the links."""

    name = "cards"

    def parse(self, response: Page) -> Iterator[Any]:
        for card in response.xpath("//div[@class='card']"):
            yield {
                "page": response.url,
                "title": card.xpath(".//h2/text()").get(),
                "price": card.xpath("normalize-space(.//span[@class='price'])").get(),
                "link": card.xpath(".//a[@class='more']/@href").get(),
                "tags": card.xpath(".//ul/li/text()").getall(),
            }
        yield from response.follow_all(xpath="//nav//a")


def main(arguments: Sequence[str] | None = None) -> None:
    options = _options(arguments)
    if options.serve:
        _serve(options.pages)
        return
    variants = [int(number) for number in options.analyzers.split(",")]
    with _server(options.pages) as url:
        samples = [
            {"analyzers": number} | _sample(url, number, options.pages)
            for _ in range(options.repeats)
            for number in variants
        ]
    if options.json:
        print(json.dumps(samples))
    else:
        _print(samples, variants, options.pages)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="crawler bench analyzers")
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--analyzers", default="0,2", help="numbers of processes to compare")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def _sample(url: str, analyzers: int, pages: int) -> dict[str, float]:
    began, cpu = time.perf_counter(), _cpu()
    result = crawl(Cards(start_urls=[url]), analyzers=analyzers, **_FREE)
    seconds, used = time.perf_counter() - began, _cpu() - cpu
    done, items = result.summary.urls.done, len(result.items)
    if (done, items) != (pages, pages * _CARDS):
        raise RuntimeError(f"{done} pages and {items} items: {result.errors[:3]}")
    return {"pages/s": pages / seconds, "cpu ms/page": used / pages * 1000}


def _cpu() -> float:
    """Return the seconds of CPU of this process and of the children that have ended."""
    return sum(os.times()[:4])


def _print(samples: Sequence[dict[str, float]], variants: Sequence[int], pages: int) -> None:
    print(f"{pages} pages of {_SIZE // 1000} kB, {_CARDS} items each, {os.cpu_count()} cores")
    print(f"{'analyzers':>9} {'pages/s':>9} {'best':>9} {'ms CPU/page':>12} {'gain':>6}")
    medians = {}
    for number in variants:
        own = [sample for sample in samples if sample["analyzers"] == number]
        rates = [sample["pages/s"] for sample in own]
        medians[number] = statistics.median(rates)
        cpu = statistics.median(sample["cpu ms/page"] for sample in own)
        gain = medians[number] / medians[variants[0]]
        print(f"{number:>9} {medians[number]:>9.1f} {max(rates):>9.1f} {cpu:>12.1f} {gain:>5.2f}x")


@contextmanager
def _server(pages: int) -> Iterator[str]:
    command = [sys.executable, "-m", "crawler.bench.analyzers", "--serve", "--pages", str(pages)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        if server.stdin is None or server.stdout is None:
            raise RuntimeError("the server has no pipes")
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
    main()
