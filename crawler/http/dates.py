"""Dates and delays in header fields."""

from __future__ import annotations

from datetime import UTC
from email.utils import parsedate_to_datetime
from time import time

from ..data import Response


def http_date(text: str) -> float | None:
    """Return the date *text*, in any form HTTP allows, as a time of time.time(); None if invalid."""
    try:
        when = parsedate_to_datetime(text)
        return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def retry_after(response: Response) -> float | None:
    """Return the seconds to wait that Retry-After asks for, as a number or as a date."""
    text = response.headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    when = http_date(text)
    return None if when is None else max(0.0, when - time())
