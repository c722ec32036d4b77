"""Line: the child's end of it, and the memory beside it."""

from __future__ import annotations

import os
from mmap import ACCESS_READ, mmap
from typing import Any

from ...module.remote.frames import Frame, FrameParser, pack

_PIECE = 1 << 18


class Line:
    """Sends and waits with all of the process, also where the standard library is patched."""

    def __init__(self, descriptor: int, memory: int) -> None:
        self._descriptor = descriptor
        self._memory = mmap(memory, 0, access=ACCESS_READ)
        os.close(memory)
        self._parser = FrameParser()

    def send(self, message: dict[str, Any]) -> None:
        rest = memoryview(pack(message))
        while rest:
            rest = rest[os.write(self._descriptor, rest) :]

    def receive(self) -> Frame | None:
        """Return the next frame; None if there will be no more."""
        while (frame := self._parser.take()) is None:
            piece = os.read(self._descriptor, _PIECE)
            if not piece:
                return None
            self._parser.add(piece)
        message, body = frame
        if "at" in message:
            place, size = message["at"]
            body = self._memory[place : place + size]
        return message, body
