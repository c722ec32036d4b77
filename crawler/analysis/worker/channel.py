"""Channel: the worker's end of the socket, and the memory that it shares with the parent."""

from __future__ import annotations

import os
import threading
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
        self._sending = threading.Lock()
        self._sender: int | None = None
        self._postponed: list[dict[str, Any]] = []

    def send(self, message: dict[str, Any]) -> None:
        """Send *message*; any thread may call this, even while it is in here already."""
        if self._sender == threading.get_ident():  # a destructor or a signal handler logs something
            self._postponed.append(message)
            return
        with self._sending:
            self._sender = threading.get_ident()
            try:
                self._write(message)
                while self._postponed:
                    self._write(self._postponed.pop(0))
            finally:
                self._sender = None

    def _write(self, message: dict[str, Any]) -> None:
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
