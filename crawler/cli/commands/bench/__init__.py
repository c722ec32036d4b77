"""``crawler bench``: the cost of a crawl and of its parts, on this machine."""

from __future__ import annotations

import signal
import sys

import click

from .child import child
from .cluster import cluster
from .crawls import crawl, profile, scale
from .history import history
from .hostile import hostile
from .kill import kill
from .parts import analyzers, fetch, frontier, links, pool
from .portal import portal
from .soak import soak


@click.group()
def bench() -> None:
    """Measure the cost of a crawl and of its parts, next to alternatives.

    Servers and measured programs run in processes of their own, each on a core of its own if the
    machine has two. Repeats are interleaved. Results are saved for `crawler bench history`. The
    exit code is 6 if a row failed or the result could not be saved; the other rows are printed.

    Example: crawler bench crawl --quick
    """
    # On these signals, as on Ctrl-C, child processes are ended and temporary files are removed.
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _exit)


def _exit(number: int, _frame: object) -> None:
    sys.exit(128 + number)


for _command in (
    *(crawl, scale, profile),
    *(fetch, links, pool, frontier, analyzers),
    *(cluster, kill, soak, hostile, portal, history, child),
):
    bench.add_command(_command)
