"""The character encoding of a body, detected in the same order as in browsers."""

from __future__ import annotations

import codecs
import re
from functools import lru_cache

import webencodings

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
)
# Possessive, so that a run of blanks is read once. A label must end before the searched bytes do.
_HEADER = re.compile(r"charset\s*+=\s*+[\"']?+\s*+([^\s\"';,]++)", re.IGNORECASE)
_META = re.compile(
    rb"<meta[\s/][^>]*?charset\s*+=\s*+[\"']?+\s*+([A-Za-z0-9_:.\-]++)(?=[\s\S])", re.IGNORECASE
)
_XML = re.compile(rb"^\s*+<\?xml\s[^>]*?encoding\s*+=\s*+[\"']\s*+([A-Za-z0-9_:.\-]++)(?=[\s\S])")
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
#: The number of bytes in which browsers look for a declaration.
_PRESCAN = 1024


def detect(body: bytes, content_type: str = "") -> tuple[str, str]:
    """
    Return the encoding of *body* and the source of this information.

    The source is ``bom``, ``header``, ``meta``, ``xml`` or ``default``; an unknown label
    is ignored. By default, valid UTF-8 is UTF-8 and anything else is windows-1252.
    """
    for bom, encoding in _BOMS:
        if body.startswith(bom):
            return encoding, "bom"
    if (declared := _HEADER.search(content_type)) and (name := _codec(declared[1])):
        return name, "header"
    head = _COMMENT.sub(b"", body[:_PRESCAN])
    for pattern, source in ((_XML, "xml"), (_META, "meta")):
        for found in pattern.finditer(head):
            if name := _codec(found[1].decode("ascii")):
                # The declaration was readable as ASCII, so the body cannot be UTF-16.
                return ("utf-8" if name.startswith("utf-16") else name), source
    return _default(body), "default"


def decode(body: bytes, content_type: str = "") -> str:
    """Decode *body* and replace invalid bytes; never raise."""
    name, source = detect(body, content_type)
    text = body.decode(name, "replace")
    return text.removeprefix("\ufeff") if source == "bom" else text


@lru_cache(maxsize=256)
def _codec(label: str) -> str | None:
    """Return the codec for a label as browsers do: latin-1 is windows-1252, gb2312 is gbk."""
    try:
        encoding = webencodings.lookup(label)
        # Python has no codec for some encodings of browsers ("replacement").
        return None if encoding is None else codecs.lookup(encoding.codec_info.name).name
    except (LookupError, UnicodeError):
        return None


def _default(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
