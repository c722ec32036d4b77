"""
Small web sites for tests, examples and benchmarks.

A Site answers from a dict, without a network. A LoopbackSite is a real HTTP server on 127.0.0.1.
The module faults has replies of servers that misbehave.
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
