"""
Small real stand-ins for the web, for tests, examples and benchmarks.

Site answers from a dict, without a network; LoopbackSite is a real HTTP server on
127.0.0.1; faults holds the ways a server can misbehave.
"""

from . import faults
from .loopback import Hit, LoopbackSite
from .scripted_reply import End, Wire
from .site import Page, Reply, Site
from .synthetic_site import generated_site

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
