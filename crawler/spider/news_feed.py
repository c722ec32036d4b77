"""News feeds: RSS of every version, and Atom."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .. import charset
from ..url import resolve_or_keep
from .resolve_href import base_of
from .xml_records import Element, records

_ROOTS = frozenset({"rss", "rdf", "channel", "feed"})
_ENTRIES = frozenset({"item", "entry"})
#: The first of these that an entry has is its date of publication.
_DATES = ("pubdate", "published", "updated", "issued", "modified", "created")


class NewsEntry(NamedTuple):
    """One piece of news; *published* is the date as the news feed writes it."""

    link: str | None
    title: str | None = None
    published: str | None = None
    id: str | None = None


@dataclass(frozen=True)
class NewsFeed:
    """The title and the entries of a news feed, in their order; any other text has no entries."""

    title: str | None
    entries: tuple[NewsEntry, ...]


def parse_news_feed(body: bytes, url: str = "", *, content_type: str = "") -> NewsFeed:
    """
    Parse the news feed at *url*; its links are relative to *url* unless it has an xml:base.

    Never raises: a broken document is read as far as possible.
    """
    base, title, entries = url, None, []
    for record in records(charset.decode(body, content_type), _ROOTS | _ENTRIES):
        if record.name.rpartition(":")[2] in _ENTRIES:
            entries.append(_entry(record, base))
        else:
            base = _base(record, base)
            title = title or _line(record.values().get("title"))
    return NewsFeed(title, tuple(entries))


def news_links(text: str, url: str) -> Iterator[str]:
    """Yield the links of the entries of the news feed at *url*, reading *text* on the way."""
    base = url
    for record in records(text, _ROOTS | _ENTRIES):
        if record.name.rpartition(":")[2] not in _ENTRIES:
            base = _base(record, base)
        elif link := _link(record, _base(record, base)):
            yield link


def _entry(record: Element, base: str) -> NewsEntry:
    values = record.values()
    dates = (values[name] for name in _DATES if name in values)
    return NewsEntry(
        _link(record, _base(record, base)),
        _line(values.get("title")),
        next(dates, None) or _named(record, "dc:date"),
        values.get("guid") or values.get("id") or record.attribute("rdf:about") or None,
    )


def _link(record: Element, base: str) -> str | None:
    """Return the URL of the entry: its link, or else the guid if that is a URL."""
    if not record.fields:
        return None
    for field in record.own("link"):
        if field.attribute("rel").lower() in ("", "alternate"):
            href = field.attribute("href") or field.text
            if href:
                return resolve_or_keep(_base(field, base), href)
    for guid in record.own("guid"):
        if guid.attribute("ispermalink").lower() != "false" and guid.text.startswith("http"):
            return resolve_or_keep(base, guid.text)
    return None


def _named(record: Element, name: str) -> str | None:
    return next((field.text for field in record.fields if field.name == name), None)


def _line(text: str | None) -> str | None:
    return None if text is None else " ".join(text.split())


def _base(element: Element, base: str) -> str:
    given = element.attribute("xml:base")
    return base_of(base, given) if given else base
