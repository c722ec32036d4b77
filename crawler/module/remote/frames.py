"""Frames: the messages between two processes, each a JSON object and a body of bytes."""

from __future__ import annotations

import base64
import json
from struct import Struct
from typing import Any, TypeAlias

Frame: TypeAlias = "tuple[dict[str, Any], bytes]"

#: The file descriptors at which a child process finds its socket and the shared memory.
SOCKET_FD, MEMORY_FD = 3, 4

#: The sizes in bytes of the JSON text and of the body, which follow in this order.
_SIZES = Struct("!IQ")


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"JSON cannot represent a value of type {type(value).__name__}")


#: Values that contain themselves are refused before they get here: a second check would cost time.
_encode = json.JSONEncoder(default=_base64, separators=(",", ":"), check_circular=False).encode


def pack(message: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a frame; bytes within the *message* become base64 text."""
    text = _encode(message).encode()
    return b"".join((_SIZES.pack(len(text), len(body)), text, body))


class FrameParser:
    """Puts frames together from the pieces of them that arrive."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        self._bytes += piece

    def take(self) -> Frame | None:
        """Remove and return the first frame; None if part of it is missing."""
        start = _SIZES.size
        if len(self._bytes) < start:
            return None
        text_size, body_size = _SIZES.unpack_from(self._bytes)
        middle = start + text_size
        end = middle + body_size
        if len(self._bytes) < end:
            return None
        with memoryview(self._bytes) as view:
            message, body = json.loads(bytes(view[start:middle])), bytes(view[middle:end])
        del self._bytes[:end]
        return message, body
