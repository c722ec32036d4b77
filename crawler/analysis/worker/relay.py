"""What the worker logs and prints goes to the parent, which alone writes to the terminal."""

from __future__ import annotations

import codecs
import io
import logging
import sys
import traceback
from contextlib import suppress
from typing import Any

from ...current_request import CURRENT_REQUEST
from .channel import Channel

#: What is sent of a log record, beside its message and its exception.
_FIELDS = (
    *("name", "levelno", "levelname", "created", "pathname", "filename", "module", "lineno"),
    *("funcName", "process", "processName", "thread", "threadName", "stack_info"),
)


def relay_output(channel: Channel, level: int) -> None:
    """Send all that is logged at *level* or above, and all that is printed, by *channel*."""
    root = logging.getLogger()
    root.handlers[:] = [_RelayHandler(channel)]
    root.setLevel(level)
    sys.stdout, sys.stderr = _stream(channel, "stdout", 1), _stream(channel, "stderr", 2)


class _RelayHandler(logging.Handler):
    """Sends each record; the parent gives it to the logger of the same name."""

    def __init__(self, channel: Channel) -> None:
        super().__init__()
        self._channel = channel

    def emit(self, record: logging.LogRecord) -> None:
        try:
            fields = {name: getattr(record, name) for name in _FIELDS}
            fields["msg"] = record.getMessage()
            if (request := CURRENT_REQUEST.get()) is not None:
                fields |= {"request": request.id, "url": request.url}
            self._channel.send({"log": fields | _exception(record)})
        except OSError:
            pass  # the parent has ended
        except Exception:  # as handlers of the standard library do
            self.handleError(record)


def _exception(record: logging.LogRecord) -> dict[str, Any]:
    """Return the exception of *record* as text: as one line, and as a traceback."""
    error = record.exc_info[1] if record.exc_info else None
    if error is None:
        return {}
    trace = "".join(traceback.format_exception(error)).rstrip()
    return {"cause": f"{type(error).__name__}: {error}", "exc_text": trace}


def _stream(channel: Channel, name: str, descriptor: int) -> io.TextIOWrapper:
    raw = _RelayedBytes(channel, name, descriptor)
    buffer = io.BufferedWriter(raw)
    return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True)


class _RelayedBytes(io.RawIOBase):
    """Sends what is written as text that was printed on the stream *name*."""

    def __init__(self, channel: Channel, name: str, descriptor: int) -> None:
        super().__init__()
        self.name = name
        self._channel = channel
        self._descriptor = descriptor
        #: A character may be written in two pieces.
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def write(self, piece: Any) -> int:
        text = self._decoder.decode(bytes(piece))
        with suppress(OSError):  # the parent has ended
            self._channel.send({"printed": [self.name, text]})
        return len(piece)
