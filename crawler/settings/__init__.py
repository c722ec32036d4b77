"""
Everything about a crawl that can be set: its name, its default, and who set it.

A setting has one name on every way in: ``delay = 0.5`` in crawler.toml, ``CRAWLER_DELAY=0.5``,
``-s delay=0.5``, ``delay=0.5`` in code. What is set every day has a short name; the rest is
named after the value it is part of, as in ``politeness.backoff``.
"""

from .explain import Described, Explained
from .reference import reference_markdown
from .settings import Settings
from .sources import Given, find_toml
from .table import SETTINGS, Setting, find

__all__ = [
    "SETTINGS",
    "Described",
    "Explained",
    "Given",
    "Setting",
    "Settings",
    "find",
    "find_toml",
    "reference_markdown",
]
