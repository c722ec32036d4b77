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

# What is no text. Each ends at the next "<" or at its own end mark: no character is read often.
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
        name = self._prefix + name
        return (field for field in self.fields if field.name == name)

    def values(self) -> dict[str, str]:
        """Return the texts of its own fields by name, prefix apart: the first that is not empty."""
        start, values = self._prefix, dict[str, str]()
        for field in self.fields:
            if field.name.startswith(start) and (text := field.text):
                values.setdefault(field.name[len(start) :], text)
        return values

    @property
    def _prefix(self) -> str:
        return self.name[: self.name.rfind(":") + 1]


def without_dtd(text: str) -> str:
    """Return *text* without the declarations of its own that a parser might act on."""
    # A blank is left: nothing can be made of what stood before and behind.
    return _DTD.sub(" ", text)


def root_name(text: str) -> str:
    """Return the name of the first element, without its prefix and in lower case."""
    for token in _MARKUP.finditer(text):
        if token["name"] and not token["close"]:
            return _local(token["name"].lower())
    return ""


def records(text: str, names: Collection[str]) -> Iterator[Element]:
    """
    Yield the elements called one of *names*, whatever their prefix, as they end.

    One also ends where the next begins, and where the text does; a field that never ends
    may be cut, and is left out.
    """
    reader, end = _Reader(names), 0
    for token in _MARKUP.finditer(text):
        if reader.field is not None:
            reader.field.add(_unescape(text[end : token.start()]) + (token["cdata"] or ""))
        end = token.end()
        if token.lastgroup == "attributes":
            record = reader.end(token) if token["close"] else reader.start(token)
            if record is not None:
                yield record
    if reader.record is not None:
        yield reader.record


class _Reader:
    """The record being read, if any, and the field of it."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self.record: Element | None = None
        self.field: Element | None = None

    def start(self, token: re.Match[str]) -> Element | None:
        """Begin what *token* opens; return the record that has to end for it."""
        element = Element(token["name"].lower(), token["attributes"])
        if _local(element.name) in self._names:
            ended, self.record, self.field = self.record, element, None
            return ended
        if self.record is not None and self.field is None:
            if token["attributes"].endswith("/"):
                self.record.fields.append(element)
            else:
                self.field = element
        return None

    def end(self, token: re.Match[str]) -> Element | None:
        """End what *token* closes; return it if it is the record."""
        name, record, field = token["name"].lower(), self.record, self.field
        if record is None:
            return None
        if field is not None and name in (field.name, record.name):
            record.fields.append(field)
            self.field = None
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
