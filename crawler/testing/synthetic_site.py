"""Generated sites with a known link structure."""

from __future__ import annotations

import random

_WORDS = (  # noqa: SIM905 - words are easier to read in a line
    "amber basin cedar delta ember fjord grove harbor island juniper kettle lantern meadow "
    "nectar orchard pebble quarry river summit timber"
).split()


def generated_site(*, pages: int = 100, links: int = 10, size: int = 13_000) -> dict[str, str]:
    """
    Return *pages* HTML pages by path, the same ones every time.

    Each has *links* links and about *size* bytes. Page n is linked from page (n - 1) // links, so
    every page is reachable from "/". The remaining links lead to pages spread over the site.
    """
    return {_path(number): _page(number, pages, links, size) for number in range(pages)}


def _path(number: int) -> str:
    return f"/page/{number}" if number else "/"


def _page(number: int, pages: int, links: int, size: int) -> str:
    targets = (_target(number, place, pages, links) for place in range(links))
    anchors = "\n".join(f'<li><a href="{_path(n)}">Page {n}</a></li>' for n in targets)
    head = f"<!doctype html>\n<html><head><title>Page {number}</title></head>\n<body>\n"
    tail = f"<ul>\n{anchors}\n</ul>\n</body></html>\n"
    return f"{head}<p>{_text(number, size - len(head) - len(tail) - 8)}</p>\n{tail}"


def _target(number: int, place: int, pages: int, links: int) -> int:
    child = number * links + place + 1
    return child if child < pages else (number * 7919 + place * 104_729) % pages


def _text(seed: int, length: int) -> str:
    words = random.Random(seed).choices(_WORDS, k=max(length, 0) // 5 + 1)
    return " ".join(words)[: max(length, 0)]
