"""Log records as lines of JSON, without secrets, and bounded."""

from __future__ import annotations

import json
import logging
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from typing import Any

from ..credentials import hide_secrets
from ..current_request import CURRENT_REQUEST
from ..errors import CrawlerError
from ..url import host

#: The longest message and the longest traceback, in characters.
_LONGEST_MESSAGE, _LONGEST_TRACE = 8192, 32768
#: Bytes of lines after which records are dropped, and after which warnings are dropped too.
_MOST, _MOST_WARNINGS = 1 << 30, 1100 << 20


class JsonFormatter(logging.Formatter):
    """Makes a line of a record: time, level, logger, message, and the request if there is one."""

    def __init__(self, secrets: AbstractSet[str]) -> None:
        super().__init__()
        self._secrets = secrets
        #: The number of characters of all lines.
        self.made = 0

    def format(self, record: logging.LogRecord) -> str:
        at = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "ts": at.isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": self._safe(record.getMessage(), _LONGEST_MESSAGE),
            **_request_of(record),
        }
        if trace := self._trace(record):
            line["trace"] = self._safe(trace, _LONGEST_TRACE)
        if dropped := getattr(record, "dropped", 0):
            line |= {"event": "dropped", "dropped": dropped}
        text = json.dumps(line, ensure_ascii=False, default=str)
        self.made += len(text)
        return text

    def _trace(self, record: logging.LogRecord) -> str:
        if record.exc_info:
            return self.formatException(record.exc_info)
        return record.exc_text or ""  # of a worker, which sends it as text

    def _safe(self, text: str, longest: int) -> str:
        """Return *text* without secrets; they are replaced before it is cut, so none is cut in two."""
        for secret in self._secrets:
            text = text.replace(secret, "…")
        text = hide_secrets(text[: 2 * longest])
        return text if len(text) <= longest else f"{text[:longest]}… (cut)"


def _request_of(record: logging.LogRecord) -> dict[str, str]:
    """Return id, host and URL of the request that *record* is about, if there is one."""
    current = CURRENT_REQUEST.get()
    url = getattr(record, "url", "") or (current.url if current else "")
    if not url:
        return {}
    request = getattr(record, "request", "") or (current.id if current else "")
    return {"request": str(request), "host": _host(str(url)), "url": hide_secrets(str(url)[:4000])}


def _host(url: str) -> str:
    try:
        return host(url)
    except CrawlerError:
        return ""


class LogLimit(logging.Filter):
    """
    Drops records once *lines* has made a gigabyte, warnings a little later, and counts them.

    *handler* writes how many were dropped whenever their number has doubled.
    """

    def __init__(self, handler: logging.Handler, lines: JsonFormatter) -> None:
        super().__init__()
        self._handler = handler
        self._lines = lines
        self.dropped = 0

    def filter(self, record: logging.LogRecord) -> bool:
        limit = _MOST if record.levelno < logging.WARNING else _MOST_WARNINGS
        if self._lines.made <= limit or hasattr(record, "dropped"):
            return True
        self.dropped += 1
        if self.dropped & (self.dropped - 1) == 0:
            self._handler.handle(self._count())
        return False

    def _count(self) -> logging.LogRecord:
        text = f"the log is full: {self.dropped:,} lines were dropped so far"
        fields = {"msg": text, "name": __name__, "levelno": logging.WARNING}
        return logging.makeLogRecord(fields | {"levelname": "WARNING", "dropped": self.dropped})
