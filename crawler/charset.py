"""Which encoding a body is in, decided in the order browsers decide it."""

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
# Possessive, so that a run of blanks is read once; a label must end before the bytes looked at do.
_HEADER = re.compile(r"charset\s*+=\s*+[\"']?+\s*+([^\s\"';,]++)", re.IGNORECASE)
_META = re.compile(
    rb"<meta[\s/][^>]*?charset\s*+=\s*+[\"']?+\s*+([A-Za-z0-9_:.\-]++)(?=[\s\S])", re.IGNORECASE
)
_XML = re.compile(rb"^\s*+<\?xml\s[^>]*?encoding\s*+=\s*+[\"']\s*+([A-Za-z0-9_:.\-]++)(?=[\s\S])")
_COMMENT = re.compile(rb"<!--.*?(?:-->|$)", re.DOTALL)
#: How far into a document browsers look for a declaration, in bytes.
_PRESCAN = 1024


def detect(body: bytes, content_type: str = "") -> tuple[str, str]:
    """
    Return the encoding of *body* and what told it.

    The source is ``bom``, ``header``, ``meta``, ``xml`` or ``default``; an unknown label
    is passed over. Without any, valid UTF-8 is UTF-8 and anything else windows-1252.
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
                # The declaration itself was readable as ASCII, so it cannot be UTF-16.
                return ("utf-8" if name.startswith("utf-16") else name), source
    return _default(body), "default"


def decode(body: bytes, content_type: str = "") -> str:
    """Decode *body*, replacing what cannot be decoded; never raises."""
    name, source = detect(body, content_type)
    text = body.decode(name, "replace")
    return text.removeprefix("\ufeff") if source == "bom" else text


@lru_cache(maxsize=256)
def _codec(label: str) -> str | None:
    """Map a label as browsers do: latin-1 means windows-1252, gb2312 means gbk."""
    try:
        encoding = webencodings.lookup(label)
        # Some of the encodings browsers know ("replacement") are none that Python can decode.
        return None if encoding is None else codecs.lookup(encoding.codec_info.name).name
    except (LookupError, UnicodeError):
        return None


def _default(body: bytes) -> str:
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
