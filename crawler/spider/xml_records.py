"""
XML of sitemaps and news feeds, which may be broken: read from left to right, with few demands.

Nothing is declared, expanded or fetched: an entity is a predefined one of HTML, or it is text.
Sitemaps and news feeds are lists of records; only one record is held in memory at a time.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from html.entities import html5

from .turns import in_turns

# Everything but text. A match ends at the next "<" or at its end mark: the time is linear.
_MARKUP = re.compile(
    r"""
      < (?P<close> /?+ ) (?P<name> [^\s/<>"'=!?]++ )
        (?P<attributes> (?: [^<>"']++ | "[^"<]*+" | '[^'<]*+' )*+ ) >
    | <!\[CDATA\[ (?P<cdata> .*? ) (?: \]\]> | \Z )
    | <!-- .*? (?: --> | \Z )
    | <\? .*? (?: \?> | \Z )
    | <! [^\[>]*+ (?: \[ .*? (?: \]\s*+> | \Z ) | > | \Z )
    """,
    re.VERBOSE | re.DOTALL,
)
_DTD = re.compile(r"<!DOCTYPE[^\[<>]*+\[.*?(?:\]\s*+>|\Z)", re.DOTALL)
#: A search that fails begins again after the word, and not in it: the time is linear.
_ATTRIBUTE = re.compile(r"""(?<![^\s=/"'<>])([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
#: The ";" is required: the "&copy" of "?a=1&copy=2" is text.
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
#: The most fields of a record, pieces of text in a field, and characters of attributes; more are
#: left out. An entry of a sitemap may have 1,000 images.
_MOST_FIELDS, _MOST_PIECES, _MOST_ATTRIBUTES = 5000, 10_000, 64 * 1024


class Element:
    """
    A record, whose *fields* are the elements directly inside it; or one of these fields.

    *name* is in lower case and keeps its prefix; *text* is the text inside a field.
    """

    __slots__ = ("_attributes", "_parts", "fields", "name")

    def __init__(self, name: str, attributes: str) -> None:
        self.name = name
        self.fields: list[Element] = []
        self._attributes = attributes[:_MOST_ATTRIBUTES]
        self._parts: list[str] = []

    def add_text(self, text: str) -> None:
        if text and len(self._parts) < _MOST_PIECES:
            self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts).strip()

    def attribute(self, name: str) -> str:
        """Return the value of the attribute; "" if it is missing."""
        if "=" not in self._attributes:
            return ""
        for found, double, single in _ATTRIBUTE.findall(self._attributes):
            if found.lower() == name:
                return _unescape(double or single).strip()
        return ""

    def own(self, name: str) -> Iterator[Element]:
        """Yield the fields called *name* that have the same prefix as the record."""
        name = self._prefix + name
        return (field for field in self.fields if field.name == name)

    def values(self) -> dict[str, str]:
        """Return the first text that is not empty of each such field, by name without prefix."""
        start, values = self._prefix, dict[str, str]()
        for field in self.fields:
            if field.name.startswith(start) and (text := field.text):
                values.setdefault(field.name[len(start) :], text)
        return values

    @property
    def _prefix(self) -> str:
        return self.name[: self.name.rfind(":") + 1]


def without_dtd(text: str) -> str:
    """Return *text* without its document type declaration, which a parser might act on."""
    # A blank stays: the text before and the text after must not join to new markup.
    return _DTD.sub(" ", text)


def root_name(text: str) -> str:
    """Return the name of the first element, without its prefix and in lower case."""
    for token in _MARKUP.finditer(text):
        if token["name"] and not token["close"]:
            return _local(token["name"].lower())
    return ""


def records(text: str, names: Collection[str]) -> Iterator[Element]:
    """
    Yield the elements whose name without prefix is in *names*, as they end.

    A record also ends where the next one begins, and where the text ends. A field without an
    end is left out, because it may be cut.
    """
    record: Element | None = None
    field: Element | None = None
    end = 0
    for token in in_turns(_MARKUP.finditer(text)):
        close, tag, attributes, cdata = token.groups()
        if field is not None:
            field.add_text(_unescape(text[end : token.start()]) + (cdata or ""))
        end = token.end()
        if tag is None or (record is None and close):
            continue
        name = tag.lower()
        if close:
            if record and field and name in (field.name, record.name):
                record.fields.append(field)
                field = None
            if record and name == record.name:
                yield record
                record = None
        elif _local(name) in names:
            if record:
                yield record
            record, field = Element(name, attributes), None
        elif record and not field and len(record.fields) < _MOST_FIELDS:
            field = Element(name, attributes)
            if attributes.endswith("/"):
                record.fields.append(field)
                field = None
    if record:
        yield record


def _local(name: str) -> str:
    return name[name.rfind(":") + 1 :] if ":" in name else name


def _unescape(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    """Return the character of &amp;, &#38; or &eacute;; unknown names stay as they are."""
    known = reference[0][1] == "#" or reference[0][1:] in html5
    return html.unescape(reference[0]) if known else reference[0]
