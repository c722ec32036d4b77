"""
The settings of a crawl: their names, types, defaults and sources.

A setting has the same name everywhere: ``delay = 0.5`` in crawler.toml, ``CRAWLER_DELAY=0.5``,
``-s delay=0.5``, ``delay=0.5`` in code. Common settings have short names; the others are named
after the value that they are part of, such as ``politeness.backoff``.
"""

from .cluster_group import ClusterGroup
from .explain import Described, Explained
from .reference import reference_markdown
from .settings import Settings
from .sources import Given, find_toml
from .table import SETTINGS, Setting, find

__all__ = [
    "SETTINGS",
    "ClusterGroup",
    "Described",
    "Explained",
    "Given",
    "Setting",
    "Settings",
    "find",
    "find_toml",
    "reference_markdown",
]
