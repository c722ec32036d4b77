"""
XML as it is found: read from left to right, forgiven what can be forgiven.

Nothing is declared, expanded or fetched: an entity is one of those everybody knows, or it is
text. Sitemaps and feeds are lists of records, and one record is all that is held at a time.
"""

from __future__ import annotations

import html
import re
from collections.abc import Collection, Iterator
from html.entities import html5

# Every alternative ends at the next "<" or at its own end mark, so no character is read often.
_TOKEN = re.compile(
    r"""
      <!\[CDATA\[ (?P<cdata> .*? ) (?: \]\]> | \Z )
    | <!-- .*? (?: --> | \Z )
    | <\? .*? (?: \?> | \Z )
    | <! [^\[>]*+ (?: \[ .*? (?: \]\s*+> | \Z ) | > | \Z )
    | < (?P<close> /?+ ) (?P<name> [^\s/<>"'=]++ )
        (?P<attributes> (?: [^<>"']++ | "[^"<]*+" | '[^'<]*+' )*+ ) >
    | (?P<text> [^<]++ | < )
    """,
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTE = re.compile(r"""([^\s=/"'<>]++)\s*+=\s*+(?:"([^"]*+)"|'([^']*+)')""")
_REFERENCE = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")


class Element:
    """
    A record, whose *fields* are the elements right below it, or one of those.

    *name* is in lower case and keeps its prefix; *text* is all there is inside a field.
    """

    __slots__ = ("_attributes", "_parts", "fields", "name")

    def __init__(self, name: str, attributes: str) -> None:
        self.name = name
        self.fields: list[Element] = []
        self._attributes = attributes
        self._parts: list[str] = []

    def add(self, text: str) -> None:
        self._parts.append(text)

    @property
    def text(self) -> str:
        return "".join(self._parts).strip()

    def attribute(self, name: str) -> str:
        """Return the value, "" if there is none."""
        for found, double, single in _ATTRIBUTE.findall(self._attributes):
            if found.lower() == name:
                return _unescape(double or single).strip()
        return ""

    def own(self, name: str) -> Iterator[Element]:
        """Yield the fields called *name* in the prefix of the record, whatever that is."""
        prefix, colon, _ = self.name.rpartition(":")
        name = prefix + colon + name
        return (field for field in self.fields if field.name == name)

    def value(self, *names: str) -> str | None:
        """Return the first text there is under any of *names*, which are tried in turn."""
        found = (field.text for name in names for field in self.own(name))
        return next(filter(None, found), None)


def root_name(text: str) -> str:
    """Return the name of the first element, without its prefix and in lower case."""
    for token in _TOKEN.finditer(text):
        if token["name"] and not token["close"]:
            return _local(token["name"].lower())
    return ""


def records(text: str, names: Collection[str]) -> Iterator[Element]:
    """
    Yield the elements called one of *names*, whatever their prefix, as they end.

    One also ends where the next begins, and where the text does; a field that never ends
    may be cut, and is left out.
    """
    reader = _Reader(names)
    for token in _TOKEN.finditer(text):
        if token["name"] is None:
            reader.characters(token)
        elif record := (reader.end if token["close"] else reader.start)(token):
            yield record
    if record := reader.record:
        yield record


class _Reader:
    """The record being read, if any, and the field of it."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self.record: Element | None = None
        self._field: Element | None = None

    def characters(self, token: re.Match[str]) -> None:
        if self._field is not None:
            self._field.add(token["cdata"] or _unescape(token["text"] or ""))

    def start(self, token: re.Match[str]) -> Element | None:
        """Begin what *token* opens; return the record that has to end for it."""
        element = Element(token["name"].lower(), token["attributes"])
        if _local(element.name) in self._names:
            ended, self.record, self._field = self.record, element, None
            return ended
        if self.record is not None and self._field is None:
            if token["attributes"].endswith("/"):
                self.record.fields.append(element)
            else:
                self._field = element
        return None

    def end(self, token: re.Match[str]) -> Element | None:
        """End what *token* closes; return it if it is the record."""
        name, record, field = token["name"].lower(), self.record, self._field
        if record is None:
            return None
        if field is not None and name in (field.name, record.name):
            record.fields.append(field)
            self._field = None
        if name != record.name:
            return None
        self.record = None
        return record


def _local(name: str) -> str:
    return name[name.rfind(":") + 1 :]


def _unescape(text: str) -> str:
    return _REFERENCE.sub(_character, text) if "&" in text else text


def _character(reference: re.Match[str]) -> str:
    """Read &amp;, &#38; and &eacute;, but not the "&copy" of "?a=1&copy=2"."""
    known = reference[0][1] == "#" or reference[0][1:] in html5
    return html.unescape(reference[0]) if known else reference[0]
