"""Which request the current greenlet works on: log lines name it."""

from __future__ import annotations

from contextvars import ContextVar

from .data import Request

CURRENT_REQUEST: ContextVar[Request | None] = ContextVar("current_request", default=None)
