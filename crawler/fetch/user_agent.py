"""The default User-Agent."""

from __future__ import annotations

from .._distribution import __version__


def user_agent() -> str:
    return f"crawler/{__version__}"
