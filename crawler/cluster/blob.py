"""Blobs: values of JSON as Redis holds them."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable
from typing import Any

#: The version of all that is stored in Redis. The dictionary below is part of it.
FORMAT = 2
#: What most blobs contain: 138 bytes of a URL become 30 to 40 with it.
_DICTIONARY = (
    b'"redirects":[],"attempts":["status 503","status 429","timed out"],"turned_away":{"seen":'
    b'"domain":"depth":"scheme":"nofollow":"callback":"parse","meta":{},"headers":[["","found_on":'
    b'.jpg.png.pdf.php.aspx.html",0,"https://www.com/index.html?page=&id=category/product/article/'
    b'"records":[{"url":"title":"status":"text":"name":"price":"https://","done","",200,'
    b'["e",["w",["h",["r","http://127.0.0.1:",null,null],["a","http://localhost",0,null],["a",'
)


#: The text of a value.
as_text: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":")).encode


def pack(value: Any) -> bytes:
    return _deflated(as_text(value))


def pack_texts(texts: Iterable[str]) -> bytes:
    """Return what pack() does for the list of values whose *texts* are given."""
    return _deflated(f"[{','.join(texts)}]")


def _deflated(text: str) -> bytes:
    deflate = zlib.compressobj(1, zdict=_DICTIONARY)
    return deflate.compress(text.encode()) + deflate.flush()


def unpack(blob: bytes) -> Any:
    inflate = zlib.decompressobj(zdict=_DICTIONARY)
    return json.loads(inflate.decompress(blob) + inflate.flush())
