"""What a worker logs and prints, passed on as if it had been logged and printed here."""

from __future__ import annotations

import logging
import sys
from contextlib import suppress
from typing import Any


def pass_on(message: dict[str, Any]) -> bool:
    """Log or print what *message* of a worker is about; return whether it was such a message."""
    if "log" in message:
        _log(message["log"])
        return True
    if "printed" in message:
        _print(*message["printed"])
        return True
    return False


def _log(fields: dict[str, Any]) -> None:
    """Give a record to the logger of its name: it is filtered and written like those of this process."""
    record = logging.makeLogRecord(fields)
    logger = logging.getLogger(record.name)
    if logger.isEnabledFor(record.levelno):
        logger.handle(record)


def _print(name: str, text: str) -> None:
    """Write *text* to sys.stdout or sys.stderr, whatever takes their place at the moment."""
    stream = getattr(sys, name)
    if stream is not None:
        with suppress(OSError, ValueError):  # a closed pipe does not fail the page
            stream.write(text)
            stream.flush()
