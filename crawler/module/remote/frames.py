"""Frames: what two processes say to each other, a message of JSON and a body of bytes."""

from __future__ import annotations

import base64
import json
from struct import Struct
from typing import Any, TypeAlias

Frame: TypeAlias = "tuple[dict[str, Any], bytes]"

#: The descriptors at which a child finds its end of the line, and the memory it shares.
LINE, MEMORY = 3, 4

_LENGTHS = Struct("!IQ")


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"{type(value).__name__} is no value of JSON")


#: What contains itself is refused before it gets here, and need not be looked for again.
_encode = json.JSONEncoder(default=_base64, separators=(",", ":"), check_circular=False).encode


def pack(message: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a frame; bytes within the *message* become base64 text."""
    text = _encode(message).encode()
    return b"".join((_LENGTHS.pack(len(text), len(body)), text, body))


class Inbox:
    """Puts frames together from whatever pieces of them arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        self._bytes += piece

    def take(self) -> Frame | None:
        """Return the first frame, if all of it is here."""
        start = _LENGTHS.size
        if len(self._bytes) < start:
            return None
        text_size, body_size = _LENGTHS.unpack_from(self._bytes)
        middle = start + text_size
        end = middle + body_size
        if len(self._bytes) < end:
            return None
        with memoryview(self._bytes) as view:
            message, body = json.loads(bytes(view[start:middle])), bytes(view[middle:end])
        del self._bytes[:end]
        return message, body
