"""Blobs: values of JSON as Redis holds them."""

from __future__ import annotations

import json
import zlib
from typing import Any

#: The version of all that is stored in Redis. The dictionary below is part of it.
FORMAT = 1
#: What most blobs contain: 138 bytes of a URL become 30 to 40 with it.
_DICTIONARY = (
    b'"redirects":[],"attempts":["status 503","status 429","timed out"],"turned_away":{"seen":'
    b'"domain":"depth":"scheme":"nofollow":"callback":"parse","meta":{},"headers":[["","found_on":'
    b'.jpg.png.pdf.php.aspx.html",0,"https://www.com/index.html?page=&id=category/product/article/'
    b'"records":[{"url":"title":"status":"text":"name":"price":"https://","done","",200,'
    b'["e",["w",["h",["r","http://127.0.0.1:",null,null],["a","http://localhost",0,null],["a",'
)


def pack(value: Any) -> bytes:
    deflate = zlib.compressobj(1, zdict=_DICTIONARY)
    text = json.dumps(value, separators=(",", ":")).encode()
    return deflate.compress(text) + deflate.flush()


def unpack(blob: bytes) -> Any:
    inflate = zlib.decompressobj(zdict=_DICTIONARY)
    return json.loads(inflate.decompress(blob) + inflate.flush())
