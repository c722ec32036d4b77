"""The character encoding of a body, detected in the same order as in browsers."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from importlib import import_module

import webencodings

from .html_tokens import ATTRIBUTES, BLANK, attributes

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
# Possessive, so that a run of blanks is read once.
_HEADER = re.compile(r"charset\s*+=\s*+[\"']?+\s*+([^\s\"';,]++)", re.IGNORECASE)
_IS_XML = re.compile(r"[\w.-]++/(?:[\w.-]++\+)?+xml\b", re.IGNORECASE)
_XML = re.compile(
    r"\s*+<\?xml(?=[^>]*+>)[^>]*?encoding[\0-\x20]*+=[\0-\x20]*+"
    r"""(?:"([^"\0-\x20]*+)"|'([^'\0-\x20]*+)')"""
)
#: How XML in UTF-16 begins that has no byte order mark.
_XML_IN_UTF_16 = ((b"<\0?\0x\0", "utf-16-le"), (b"\0<\0?\0x", "utf-16-be"))
#: The number of bytes in which browsers look for a declaration.
_PRESCAN = 1024
#: The next meta element, after comments and other markup that has its end in the text.
_META = re.compile(
    r"[^<]*+(?:<(?:!(?=--)(?:[^>]*+>(?<!-->))*+[^>]*+>"
    rf"|(?!meta[\t\n\f\r /])/?+[a-z][^\t\n\f\r >]*+{ATTRIBUTES}>"
    r"|(?:!(?!--)|\?|/(?![a-z]))[^>]*+>|(?![a-z/!?]))[^<]*+)*+"
    rf"<meta(?=[\t\n\f\r /])({ATTRIBUTES})>",
    re.IGNORECASE | re.ASCII,
)
_CHARSET = re.compile(rf"charset{BLANK}*+={BLANK}*+", re.IGNORECASE | re.ASCII)
_LABEL = re.compile(r"""(?:"([^"]*+)"|'([^']*+)'|([^"'][^\t\n\f\r ;]*+))""")


def detect(body: bytes, content_type: str = "") -> tuple[str, str]:
    """
    Return the encoding of *body* and the source of this information.

    The source is ``bom``, ``header``, ``meta``, ``xml`` or ``default``; an unknown label
    is ignored. By default, valid UTF-8 is UTF-8 and anything else is windows-1252.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding, "bom"
    if (declared := _HEADER.search(content_type)) and (name := codec_of(declared[1])):
        return name, "header"
    return _declared(body, content_type) or (_default(body), "default")


def _declared(body: bytes, content_type: str) -> tuple[str, str] | None:
    """Return the encoding that the document names, and where: XML counts first only in XML."""
    for beginning, encoding in _XML_IN_UTF_16:
        if body.startswith(beginning):
            return encoding, "xml"
    text = body[:_PRESCAN].decode("latin-1")
    places = [("meta", _in_meta), ("xml", _in_xml)]
    if _IS_XML.match(content_type.strip()):
        places.reverse()
    for source, labels in places:
        for label in labels(text):
            if name := _readable(label):
                return name, source
    return None


def _in_meta(text: str) -> Iterator[str]:
    """Yield the labels of meta elements as the HTML standard finds them (13.2.3.2)."""
    if "charset" not in text.lower():
        return
    position = 0
    while found := _META.match(text, position):
        position = found.end()
        given = attributes(found[1])
        if "charset" in given:
            yield given["charset"]
        elif given.get("http-equiv", "").lower() == "content-type":
            yield _in_content(given.get("content", ""))


def _in_content(content: str) -> str:
    """Return the label in the content of a meta element; "" if there is none."""
    found = _CHARSET.search(content)
    label = _LABEL.match(content, found.end()) if found else None
    return (label[1] or label[2] or label[3] or "") if label else ""


def _in_xml(text: str) -> Iterator[str]:
    if found := _XML.match(text):
        yield found[1] or found[2] or ""


def _readable(label: str) -> str | None:
    """Return the codec for *label* in a declaration that could be read as ASCII."""
    if label.strip().lower() == "x-user-defined":
        return "cp1252"
    name = codec_of(label)
    return "utf-8" if name and name.startswith("utf-16") else name


def decode(body: bytes, content_type: str = "") -> str:
    """Decode *body* and replace invalid bytes; never raise."""
    name, source = detect(body, content_type)
    table = _table(name)
    text = (
        codecs.charmap_decode(body, "strict", table)[0] if table else body.decode(name, "replace")
    )
    return text.removeprefix("\ufeff") if source == "bom" else text


@lru_cache(maxsize=256)
def codec_of(label: str) -> str | None:
    """Return the codec for a label as browsers do: latin-1 is windows-1252, gb2312 is gbk."""
    try:
        encoding = webencodings.lookup(label)
        # Python has no codec for some encodings of browsers ("replacement").
        return None if encoding is None else codecs.lookup(encoding.codec_info.name).name
    except (LookupError, UnicodeError):
        return None


@cache
def _table(name: str) -> str | None:
    """
    Return the characters of all bytes if *name* is a codec of single bytes, else None.

    Python decodes a byte that means nothing a hundred times more slowly than others.
    """
    module = import_module(f"encodings.{name.replace('-', '_')}")
    table: str | None = getattr(module, "decoding_table", None)
    return table and table.replace("\ufffe", "\ufffd").ljust(256, "\ufffd")


def _default(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
