"""How much memory a page takes while it is analysed, and which pages are large."""

from __future__ import annotations

import random

MIB = 2**20
#: Pages that take so many bytes are large.
LARGE = 32 * MIB
#: A shorter body takes at most 120 times its size, for the oddest of trees, and is not looked at.
#: Usual pages take so many times their size.
_SHORT, _USUAL = 256 * 1024, 16
#: Measured with trees of Lexbor: the bytes of an element with its text, and of an attribute.
_ELEMENT, _ATTRIBUTE = 330, 300
#: A body that is a gzip file may be a sitemap, which is unpacked up to this size. A byte of such a
#: file becomes up to so many.
_GZIP, _UNPACKED, _MOST_FROM_ONE = b"\x1f\x8b", 50 * MIB, 1032
#: To read so many bytes of markup takes long, however few elements they have.
_LONG = MIB
#: How many parts of a body are looked at, and how long they are.
_PARTS, _PART = 16, 2048


def analysis_size(body: bytes) -> int:
    """
    Return the bytes for the text and the tree of *body*, besides the body itself.

    Those of a gzip file are the most that it may have when it is unpacked.

    The elements and attributes of a long body are counted in parts of it, which are chosen by
    chance: no page can be written so that they are overlooked. Every blank or slash may come
    before an attribute; so text is taken for more than it is. Long markup counts as large.
    """
    size = len(body)
    if body.startswith(_GZIP):
        # Once as bytes, and twice as text.
        return 3 * min(size * _MOST_FROM_ONE, _UNPACKED)
    if size <= _SHORT:
        return size * _USUAL
    step = size / _PARTS
    starts = (int((part + random.random()) * step) for part in range(_PARTS))
    seen = b"".join(body[start : start + _PART] for start in starts)
    ends = seen.count(b"</")
    elements = seen.count(b"<") - ends
    blanks = len(seen) - len(seen.translate(None, b" \t\n\r\f/")) - ends
    attributes = max(blanks, seen.count(b"="))
    in_tree = elements * _ELEMENT + attributes * _ATTRIBUTE
    needed = size + in_tree * size // max(1, len(seen))
    return max(needed, LARGE) if elements and size >= _LONG else needed
