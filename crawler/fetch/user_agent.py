"""The default User-Agent."""

from __future__ import annotations

from functools import cache


@cache
def user_agent() -> str:
    from importlib.metadata import version  # noqa: PLC0415 - slow to import, needed once

    return f"crawler/{version('crawler')}"
