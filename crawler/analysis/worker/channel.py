"""Channel: the worker's end of the socket, and the memory that it shares with the parent."""

from __future__ import annotations

import os
from mmap import ACCESS_READ, mmap
from typing import Any

from ...module.remote.frames import Frame, FrameParser, pack

_READ_SIZE = 1 << 18


class Channel:
    """Blocks the whole process while it sends or waits, even if the standard library is patched."""

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
        """Return the next frame; None if the parent has closed the socket."""
        while (frame := self._parser.take()) is None:
            piece = os.read(self._descriptor, _READ_SIZE)
            if not piece:
                return None
            self._parser.add(piece)
        message, body = frame
        if "at" in message:
            offset, size = message["at"]
            body = self._memory[offset : offset + size]
        return message, body
