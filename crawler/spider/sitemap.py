"""Sitemaps: the lists of its pages that a site publishes (sitemaps.org)."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from .. import charset
from .xml_records import Element, records, root_name

Kind = Literal["urlset", "index", "text"]

#: The most bytes that the protocol allows a sitemap to have, unpacked.
MAX_SIZE = 50 * 1024 * 1024
GZIP = b"\x1f\x8b"

_KINDS: dict[str, tuple[Kind, str]] = {
    "urlset": ("urlset", "url"),
    "sitemapindex": ("index", "sitemap"),
}
_SLICE = 1 << 16


class SitemapEntry(NamedTuple):
    """A page, or another sitemap; *lastmod* and *changefreq* are as the site writes them."""

    loc: str
    lastmod: str | None = None
    changefreq: str | None = None
    priority: float | None = None


@dataclass(frozen=True)
class Sitemap:
    """
    The entries of a sitemap. *entries* can be iterated once, and reads the text as it goes.

    The entries of an ``index`` are sitemaps themselves. *kind* is None if the text is not a
    sitemap; *truncated* is set if the sitemap is longer than the most bytes to read.
    """

    kind: Kind | None
    entries: Iterator[SitemapEntry]
    truncated: bool = False


def parse_sitemap(body: bytes, *, max_size: int = MAX_SIZE) -> Sitemap:
    """
    Parse a sitemap of XML or of lines of text, gzipped or not; never raises.

    At most *max_size* bytes are unpacked and read; a broken sitemap is read as far as possible.
    """
    body, truncated = _unpacked(body, max_size)
    text = charset.decode(body)
    kind, entries = _read(text)
    return Sitemap(kind, entries, truncated)


def _read(text: str) -> tuple[Kind | None, Iterator[SitemapEntry]]:
    start = text[:_SLICE].lstrip("\ufeff \t\r\n")
    if start.startswith(("http://", "https://")):
        return "text", _lines(text)
    if start.startswith("<") and (found := _KINDS.get(root_name(text))):
        kind, name = found
        return kind, filter(None, map(_entry, records(text, {name})))
    return None, iter(())


def _entry(record: Element) -> SitemapEntry | None:
    values = record.values()
    if "loc" not in values:
        return None
    priority = _number(values["priority"]) if "priority" in values else None
    return SitemapEntry(values["loc"], values.get("lastmod"), values.get("changefreq"), priority)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _lines(text: str) -> Iterator[SitemapEntry]:
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end].strip("\ufeff \t\r")
        if line.startswith(("http://", "https://")):
            yield SitemapEntry(line)
        start = end + 1


def _unpacked(body: bytes, max_size: int) -> tuple[bytes, bool]:
    """Return up to *max_size* bytes, cut after a whole tag or line, and whether they were cut."""
    if body.startswith(GZIP):
        body = _gunzip(body, max_size + 1)
    if len(body) <= max_size:
        return body, False
    whole = max(body.rfind(b">", 0, max_size), body.rfind(b"\n", 0, max_size)) + 1
    return body[:whole], True


def _gunzip(body: bytes, max_size: int) -> bytes:
    """Unpack as much as possible: of a broken archive, the part before the break."""
    unpacked = bytearray()
    packed = memoryview(body)
    inflate = zlib.decompressobj(wbits=31)
    while packed and len(unpacked) < max_size:
        try:
            unpacked += inflate.decompress(packed[:_SLICE], max_size - len(unpacked))
        except zlib.error:
            break
        rest = len(inflate.unused_data if inflate.eof else inflate.unconsumed_tail)
        packed = packed[min(_SLICE, len(packed)) - rest :]
        if inflate.eof:
            inflate = zlib.decompressobj(wbits=31)
    return bytes(unpacked)
