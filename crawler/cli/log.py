"""The log on stderr: one line for each record."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING, TextIO

from ..report.text import printable, printable_lines
from .json_log import JsonFormatter, LogLimit

if TYPE_CHECKING:
    from .session import Session


def log_to_stderr(level: str, session: Session) -> None:
    handler = _StderrHandler()
    if session.logs_json:
        lines = JsonFormatter(session.secrets)
        handler.setFormatter(lines)
        handler.addFilter(LogLimit(handler, lines))
    else:
        handler.setFormatter(_Formatter(session))
    logging.basicConfig(level=level, handlers=[handler], force=True)


class _StderrHandler(logging.StreamHandler[TextIO]):
    """Writes to what sys.stderr is at the moment: a view in place has to know what is printed."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]
        return sys.stderr


class _Formatter(logging.Formatter):
    """Adds an exception to the line of its record, or its traceback if the session is verbose."""

    def __init__(self, session: Session) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._session = session

    def format(self, record: logging.LogRecord) -> str:
        if self._session.verbose:
            return printable_lines(super().format(record))
        record.message = record.getMessage()
        record.asctime = self.formatTime(record)
        error = record.exc_info[1] if record.exc_info else None
        # A worker sends its exceptions as text.
        cause = f"{type(error).__name__}: {error}" if error else getattr(record, "cause", "")
        return printable(self.formatMessage(record) + (f": {cause}" if cause else ""))
