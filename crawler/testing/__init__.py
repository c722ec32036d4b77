"""
Small real stand-ins for the web, for tests, examples and benchmarks.

Site answers from a dict, without a network; LoopbackSite is a real HTTP server on
127.0.0.1; faults holds the ways a server can misbehave.
"""

from . import faults
from .generated import generated_site
from .loopback import Hit, LoopbackSite
from .site import Page, Reply, Site
from .wire import End, Wire

__all__ = [
    "End",
    "Hit",
    "LoopbackSite",
    "Page",
    "Reply",
    "Site",
    "Wire",
    "faults",
    "generated_site",
]
