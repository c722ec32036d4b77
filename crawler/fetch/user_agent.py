"""The User-Agent, and how to reach the person who runs the crawler."""

from __future__ import annotations

from .._distribution import __version__


def user_agent(product: str | None = None, contact: str | None = None) -> str:
    """Return *product*, or the crawler's name and version, and the *contact* if there is one."""
    name = product or f"crawler/{__version__}"
    return name if contact is None or contact in name else f"{name} (+{contact})"
